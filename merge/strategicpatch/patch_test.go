package strategicpatch_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/mergepatch"
	upstream "k8s.io/apimachinery/pkg/util/strategicpatch"

	"example.com/braid/internal/schema"
	"example.com/braid/internal/twin"
	"example.com/braid/merge"
	"example.com/braid/merge/strategicpatch"
)

func Example() {
	last := []byte(`{"spec":{"replicas":1}}`)
	live := []byte(`{"spec":{"replicas":1,"revisionHistoryLimit":10}}`)
	desired := []byte(`{"spec":{"replicas":2}}`)
	meta, err := strategicpatch.NewPatchMetaFromStruct(appsv1.Deployment{})
	if err != nil {
		panic(err)
	}
	patch, err := strategicpatch.CreateThreeWayMergePatch(last, desired, live, meta, true)
	fmt.Println(string(patch), err)
	// Output: {"spec":{"replicas":2}} <nil>
}

const (
	one = `{"spec":{"template":{"spec":{"containers":[{"name":"a","image":"i"}]}}}}`
	two = `{"spec":{"template":{"spec":{"containers":[{"name":"a","image":"j"}]}}}}`
	new = `{"spec":{"template":{"spec":{"containers":[{"image":"j","name":"a"}]}}}}`
)

func TestTwoWay(t *testing.T) {
	patch, err := strategicpatch.CreateTwoWayMergePatch([]byte(one), []byte(two), appsv1.Deployment{})
	if err != nil || string(patch) != new {
		t.Errorf("%s %v", patch, err)
	}
	var from, to strategicpatch.JSONMap
	for text, m := range map[string]*strategicpatch.JSONMap{one: &from, two: &to} {
		if err := json.Unmarshal([]byte(text), m); err != nil {
			t.Fatal(err)
		}
	}
	m, err := strategicpatch.CreateTwoWayMergeMapPatch(from, to, &appsv1.Deployment{})
	if text, _ := json.Marshal(m); err != nil || string(text) != new {
		t.Errorf("%s %v", text, err)
	}
	got, err := strategicpatch.StrategicMergeMapPatch(from, m, appsv1.Deployment{})
	if err != nil || !reflect.DeepEqual(got, to) {
		t.Errorf("%v %v", got, err)
	}
	if text, _ := json.Marshal(from); string(text) != `{"spec":{"template":{"spec":{"containers":[{"image":"i","name":"a"}]}}}}` {
		t.Errorf("the argument is now %s", text)
	}
}

func TestErrorsOfMergepatch(t *testing.T) {
	meta, err := strategicpatch.NewPatchMetaFromStruct(appsv1.Deployment{})
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{`{`, `[]`, `1`} {
		if _, err := strategicpatch.CreateThreeWayMergePatch(nil, []byte(bad), nil, meta, true); err != mergepatch.ErrBadJSONDoc {
			t.Errorf("%s: %v", bad, err)
		}
		if _, err := strategicpatch.StrategicMergePatch([]byte(bad), nil, appsv1.Deployment{}); err != mergepatch.ErrBadJSONDoc {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if _, err := strategicpatch.StrategicMergePatch([]byte(one), []byte(two), []byte{}); err == nil || err.Error() != mergepatch.ErrBadArgKind(struct{}{}, []byte{}).Error() {
		t.Errorf("no struct: %v", err)
	}
	if _, err := strategicpatch.StrategicMergeMapPatch(nil, nil, &unstructured.Unstructured{}); err != mergepatch.ErrUnsupportedStrategicMergePatchFormat {
		t.Errorf("unstructured: %v", err)
	}
	_, err = strategicpatch.CreateTwoWayMergePatch([]byte(one), []byte(`{"kind":"x"}`), appsv1.Deployment{}, mergepatch.RequireKeyUnchanged("kind"))
	if !mergepatch.IsPreconditionFailed(err) {
		t.Errorf("precondition: %v", err)
	}
	live := `{"spec":{"template":{"spec":{"containers":[{"name":"a","image":"theirs"}]}}}}`
	if _, err := strategicpatch.CreateThreeWayMergePatch([]byte(one), []byte(two), []byte(live), meta, false); !mergepatch.IsConflict(err) {
		t.Errorf("conflict: %v", err)
	}
	noKey := `{"spec":{"template":{"spec":{"containers":[{"image":"i"}]}}}}`
	var where *merge.Error
	if _, err := strategicpatch.CreateThreeWayMergePatch(nil, []byte(noKey), []byte(one), meta, true); !errors.As(err, &where) || where.Path.String() != "spec.template.spec.containers[0]" {
		t.Errorf("no key: %v", err)
	}
}

// asked hides that its rules come from a Go type, so that they are looked up.
type asked struct{ strategicpatch.LookupPatchMeta }

// Rules that are looked up one by one merge as those of the Go type do.
func TestLookups(t *testing.T) {
	meta, err := upstream.NewPatchMetaFromStruct(twin.Kind{})
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(2000) {
		r := twin.NewRandom(seed)
		r.Nulls, r.Repeats = seed&2 != 0, seed&4 != 0
		var docs [3][]byte
		last, live, desired := r.Triple(kind)
		for i, m := range []map[string]any{last, desired, live} {
			docs[i], _ = json.Marshal(withoutMaps(m))
		}
		for _, overwrite := range []bool{true, false} {
			direct, err := strategicpatch.CreateThreeWayMergePatch(docs[0], docs[1], docs[2], meta, overwrite)
			looked, err2 := strategicpatch.CreateThreeWayMergePatch(docs[0], docs[1], docs[2], asked{meta}, overwrite)
			if (err == nil) != (err2 == nil) || string(direct) != string(looked) {
				t.Fatalf("seed %d: %s %v, looked up %s %v\n%s\n%s\n%s", seed, direct, err, looked, err2, docs[0], docs[2], docs[1])
			}
		}
	}
}

// withoutMaps drops Go maps, which a lookup cannot tell from structs.
func withoutMaps(v any) any {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "byName")
		delete(v, "labels")
		for _, e := range v {
			withoutMaps(e)
		}
	case []any:
		for _, e := range v {
			withoutMaps(e)
		}
	}
	return v
}

var kind = func() *schema.Schema {
	s, err := schema.FromType(reflect.TypeFor[twin.Kind]())
	if err != nil {
		panic(err)
	}
	return s
}()
