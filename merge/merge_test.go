package merge_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/braid/merge"
)

var deployment = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}

func rules(t testing.TB, kind schema.GroupVersionKind) *merge.Schema {
	t.Helper()
	s, err := merge.SchemaFor(kind)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func merger(t testing.TB, o merge.Options) *merge.Merger {
	t.Helper()
	m, err := merge.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func parse(t testing.TB, json string) *merge.Doc {
	t.Helper()
	d, err := merge.Parse([]byte(json))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// The same object gives the same Doc whichever way it comes.
func TestDocSources(t *testing.T) {
	typed := &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
	}
	fromObject, err := merge.FromObject(typed)
	if err != nil {
		t.Fatal(err)
	}
	fromJSON := parse(t, string(fromObject.JSON()))
	fromYAML, err := merge.ParseYAML(fromObject.JSON())
	if err != nil {
		t.Fatal(err)
	}
	fromMap, err := merge.FromMap(fromObject.Map())
	if err != nil {
		t.Fatal(err)
	}
	for name, d := range map[string]*merge.Doc{"JSON": fromJSON, "YAML": fromYAML, "map": fromMap} {
		if !d.Equal(fromObject) || !bytes.Equal(d.JSON(), fromObject.JSON()) {
			t.Errorf("from %s: %s, want %s", name, d.JSON(), fromObject.JSON())
		}
		if d.GVK() != deployment {
			t.Errorf("from %s: GVK %v", name, d.GVK())
		}
	}
	var back appsv1.Deployment
	if err := fromMap.Decode(&back); err != nil || back.Name != "web" {
		t.Errorf("Decode: %v, name %q", err, back.Name)
	}
}

// Bad input is an *Error with document, path and rule, and never quotes a value.
func TestBadInput(t *testing.T) {
	pod := rules(t, schema.GroupVersionKind{Version: "v1", Kind: "Pod"})
	small := merge.Parser{Limits: merge.Limits{Bytes: 100, Depth: 5, Nodes: 10}}
	for _, c := range []struct {
		name string
		run  func() error
		rule error
		want string // part of the message
	}{
		{"truncated", func() error { _, err := merge.Parse([]byte(`{"a":`)); return err }, merge.ErrSyntax, "byte 5"},
		{"empty", func() error { _, err := merge.Parse(nil); return err }, merge.ErrSyntax, "empty"},
		{"repeated key", func() error { _, err := merge.Parse([]byte(`{"a":{"b":1,"b":2}}`)); return err }, merge.ErrDuplicateKey, "a.b"},
		{"too large", func() error { _, err := small.Parse(bytes.Repeat([]byte(" "), 101)); return err }, merge.ErrLimit, "101"},
		{"too deep", func() error { _, err := small.Parse([]byte(`[[[[[[1]]]]]]`)); return err }, merge.ErrLimit, "deeper than 5"},
		{"too many", func() error { _, err := small.Parse([]byte(`[1,2,3,4,5,6,7,8,9,10]`)); return err }, merge.ErrLimit, "more than 10"},
		{"no object", func() error {
			_, err := merge.ThreeWay(merge.StrategicPatch, nil, []byte(`[1]`), []byte(`{}`), merge.Options{Schema: pod})
			return err
		}, merge.ErrType, "live: "},
		{"no desired", func() error {
			_, err := merge.ThreeWay(merge.StrategicPatch, nil, []byte(`{}`), nil, merge.Options{Schema: pod})
			return err
		}, merge.ErrSyntax, "desired: "},
		{"nil desired, live as bytes", func() error {
			_, err := merger(t, merge.Options{Schema: pod}).PatchLive(merge.StrategicPatch, nil, []byte(`{}`), nil)
			return err
		}, merge.ErrType, "desired: "},
		{"bad live as bytes", func() error {
			_, err := merger(t, merge.Options{Schema: pod}).PatchLive(merge.StrategicPatch, nil, []byte(`{"a":1,"a":2}`), parse(t, `{}`))
			return err
		}, merge.ErrDuplicateKey, "live: "},
		{"no desired object", func() error {
			_, err := merger(t, merge.Options{Schema: pod}).PatchObjects(merge.StrategicPatch, nil, &corev1.Pod{}, (*corev1.Pod)(nil))
			return err
		}, merge.ErrType, "desired: "},
		{"bad last as an object", func() error {
			_, err := merger(t, merge.Options{Schema: pod}).PatchObjects(merge.StrategicPatch, map[string]any{"a": func() {}}, nil, &corev1.Pod{})
			return err
		}, merge.ErrValue, "last: a: "},
		{"nil desired", func() error { _, err := merger(t, merge.Options{Schema: pod}).ThreeWay(nil, nil, nil); return err }, merge.ErrType, "desired: "},
		{"wrong type", func() error {
			_, err := merge.ThreeWay(merge.StrategicPatch, nil, []byte(`{}`), []byte(`{"spec":{"hostNetwork":"hunter2"}}`), merge.Options{Schema: pod})
			return err
		}, merge.ErrType, "desired: spec.hostNetwork: "},
		{"no key", func() error {
			_, err := merge.ThreeWay(merge.StrategicPatch, nil, []byte(`{}`), []byte(`{"spec":{"containers":[{"image":"hunter2"}]}}`), merge.Options{Schema: pod})
			return err
		}, merge.ErrKey, "desired: spec.containers[0]: "},
		{"not a number", func() error { _, err := merge.FromMap(map[string]any{"a": []any{1, make(chan int)}}); return err }, merge.ErrValue, "a[1]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.run()
			var e *merge.Error
			if !errors.As(err, &e) || !errors.Is(err, c.rule) {
				t.Fatalf("got %v, want an *Error of rule %v", err, c.rule)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%q does not say %q", err, c.want)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%q quotes a value", err)
			}
		})
	}
}

func TestOptions(t *testing.T) {
	bad := merge.Apply
	bad[merge.WeAdd] = 7
	for name, o := range map[string]merge.Options{
		"no schema": {},
		"model":     {Schema: merge.Schemaless(), Model: 9},
		"policy":    {Schema: merge.Schemaless(), Policy: &bad},
		"equality":  {Schema: merge.Schemaless(), Equality: 9},
		"nulls":     {Schema: merge.Schemaless(), Nulls: 9},
		"guard":     {Schema: merge.Schemaless(), Guard: 9},
		"ignore":    {Schema: merge.Schemaless(), Ignore: []string{"spec.containers[name=x"}},
		"hand-over": {Schema: merge.Schemaless(), HandOver: []string{""}},
	} {
		if _, err := merge.New(o); !errors.Is(err, merge.ErrOption) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := merge.SchemaFor(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Unheard"}); !errors.Is(err, merge.ErrNoSchema) {
		t.Error(err)
	}
	var r merge.Result
	if _, err := r.Patch(9); !errors.Is(err, merge.ErrOption) {
		t.Errorf("format: %v", err)
	}
	if _, err := merge.ApplyPatch(merge.ApplyConfiguration, []byte(`{}`), []byte(`{}`), merge.Options{Schema: merge.Schemaless()}); !errors.Is(err, merge.ErrOption) {
		t.Errorf("apply configuration: %v", err)
	}
	// A Merger keeps its own copy of the policy.
	mine := merge.Apply
	m := merger(t, merge.Options{Schema: merge.Schemaless(), Policy: &mine})
	mine[merge.WeSet] = merge.Clash
	if r, err := m.TwoWay(parse(t, `{"a":1}`), parse(t, `{"a":2}`)); err != nil || len(r.Conflicts()) > 0 {
		t.Error("the policy of a Merger changed from outside", err)
	}
}

// Nothing about a Secret's content is shown, and nothing of it is lost.
func TestSecretsAreMasked(t *testing.T) {
	secret := func(v, note string) *merge.Doc {
		return parse(t, fmt.Sprintf(`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s","annotations":{"last":%q}},"data":{"k":%q},"type":"Opaque"}`, note, v))
	}
	kind := schema.GroupVersionKind{Version: "v1", Kind: "Secret"}
	m := merger(t, merge.Options{Schema: rules(t, kind), Policy: &merge.Branch})
	r, err := m.ThreeWay(secret("hunter1", "hunter1"), secret("hunter2", "hunter2"), secret("hunter3", "hunter3"))
	if err != nil {
		t.Fatal(err)
	}
	var shown bytes.Buffer
	if err := r.WriteReport(&shown, true); err != nil {
		t.Fatal(err)
	}
	_, err = r.Merged()
	fmt.Fprintln(&shown, err, r.Conflicts(), r.Edits())
	_, err = merge.ThreeWay(merge.StrategicPatch, secret("hunter1", "").JSON(), secret("hunter2", "").JSON(), secret("hunter3", "").JSON(), merge.Options{Schema: rules(t, kind), Policy: &merge.Strict})
	fmt.Fprintln(&shown, err)
	if strings.Contains(shown.String(), "hunter") {
		t.Errorf("a value of a Secret is shown:\n%s", shown.String())
	}
	var conflict *merge.ConflictError
	if !errors.As(err, &conflict) || string(conflict.Conflicts[0].Desired.JSON()) != `"hunter3"` {
		t.Errorf("the value is there for programs: %v", err)
	}
}

// A Result of ThreeWay on bytes must not see what a later call reads into the same
// memory.
func TestBytesDoNotLeak(t *testing.T) {
	o := merge.Options{Schema: merge.Schemaless(), Policy: &merge.Strict}
	call := func(v string) error {
		doc := func(x string) []byte { return fmt.Appendf(nil, `{"field%s":"%s-%s"}`, v, x, v) }
		_, err := merge.ThreeWay(merge.StrategicPatch, doc("last"), doc("live"), doc("desired"), o)
		return err
	}
	first := call("one")
	want := first.Error()
	for range 100 {
		if err := call("two"); !strings.Contains(err.Error(), "live-two") {
			t.Fatal(err)
		}
	}
	if first.Error() != want || !strings.Contains(want, `"live-one"`) {
		t.Errorf("the first error changed:\n%s\nwas\n%s", first, want)
	}
}

// Docs, Schemas and Mergers are shared by any number of goroutines.
func TestConcurrentUse(t *testing.T) {
	m := merger(t, merge.Options{Schema: rules(t, deployment)})
	live := parse(t, `{"apiVersion":"apps/v1","kind":"Deployment","spec":{"replicas":1,"template":{"spec":{"containers":[{"name":"a","image":"1"},{"name":"b","image":"1"}]}}}}`)
	desired := parse(t, `{"apiVersion":"apps/v1","kind":"Deployment","spec":{"template":{"spec":{"containers":[{"name":"b","image":"2"},{"name":"a","image":"1"}]}}}}`)
	want := ""
	var wg sync.WaitGroup
	var mu sync.Mutex
	for range 8 {
		wg.Go(func() {
			for range 200 {
				r, err := m.ThreeWay(desired, live, desired)
				if err != nil {
					t.Error(err)
					return
				}
				patch, err := r.Patch(merge.StrategicPatch)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				if want == "" {
					want = string(patch)
				}
				if string(patch) != want {
					t.Errorf("%s, want %s", patch, want)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}

// The hot paths allocate what they must and no more.
func TestAllocations(t *testing.T) {
	m := merger(t, merge.Options{Schema: rules(t, deployment)})
	var d appsv1.Deployment
	for i := range 20 {
		c := corev1.Container{Name: fmt.Sprintf("c%d", i), Image: "i"}
		for j := range 20 {
			c.Env = append(c.Env, corev1.EnvVar{Name: fmt.Sprintf("E%d", j), Value: "v"})
		}
		d.Spec.Template.Spec.Containers = append(d.Spec.Template.Spec.Containers, c)
	}
	desired, err := merge.FromObject(&d)
	if err != nil {
		t.Fatal(err)
	}
	d.Spec.Template.Spec.SchedulerName = "default-scheduler"
	d.Status.Replicas = 3
	live, err := merge.FromObject(&d)
	if err != nil {
		t.Fatal(err)
	}
	d.Spec.Template.Spec.Containers[7].Image = "j"
	changed, err := merge.FromObject(&d)
	if err != nil {
		t.Fatal(err)
	}
	last, liveJSON, changedJSON := desired.JSON(), live.JSON(), changed.JSON()
	o := merge.Options{Schema: rules(t, deployment)}
	for _, c := range []struct {
		name string
		most float64
		run  func()
	}{
		{"no-op on prepared documents", 0, func() {
			if r, err := m.ThreeWay(desired, live, desired); err != nil || r.Changed() {
				t.Fatal("not a no-op", err)
			}
		}},
		{"one change on prepared documents, and its patch", 5, func() {
			r, err := m.ThreeWay(desired, live, changed)
			if err != nil || !r.Changed() {
				t.Fatal(err)
			}
			if _, err := r.Patch(merge.StrategicPatch); err != nil {
				t.Fatal(err)
			}
		}},
		{"one change from bytes, whatever the size", 12, func() {
			if _, err := merge.ThreeWay(merge.StrategicPatch, last, liveJSON, changedJSON, o); err != nil {
				t.Fatal(err)
			}
		}},
		{"one change to a live that is bytes", 5, func() {
			if _, err := m.PatchLive(merge.StrategicPatch, desired, liveJSON, changed); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		if got := testing.AllocsPerRun(50, c.run); got > c.most && !raceEnabled {
			t.Errorf("%s: %v allocations, at most %v", c.name, got, c.most)
		}
	}
}

func TestAt(t *testing.T) {
	doc, err := merge.Parse([]byte(`{"kind":"Pod","spec":{"hostNetwork":true,"none":null,"n":[{"b":1,"a":"x"}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		fields []string
		want   string
	}{
		{[]string{"spec", "hostNetwork"}, "true"},
		{[]string{"spec", "none"}, "null"},
		{[]string{"spec", "n"}, `[{"a":"x","b":1}]`},
		{[]string{"spec", "n", "a"}, "–"},
		{[]string{"spec", "other"}, "–"},
	} {
		got := doc.At(tc.fields...)
		if got.String() != tc.want || got.Present() != (tc.want != "–") {
			t.Errorf("At(%q) is %s, present %t; want %s", tc.fields, got, got.Present(), tc.want)
		}
	}
	secret, err := merge.Parse([]byte(`{"apiVersion":"v1","kind":"Secret","data":{"a":"c2VjcmV0"}}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := secret.At("data").String(); got != "(secret)" {
		t.Errorf("what a Secret holds is shown as %s", got)
	}
}
