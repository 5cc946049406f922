package memory_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"example.com/braid/apply"
	"example.com/braid/apply/memory"
	"example.com/braid/internal/conformance"
	"example.com/braid/merge"
)

func TestConformance(t *testing.T) { conformance.Run(t, memory.New(memory.Options{})) }

var (
	plain      = apply.WriteOptions{}
	configMaps = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
)

// parse reads an object from YAML.
func parse(t testing.TB, yaml string) *unstructured.Unstructured {
	t.Helper()
	doc, err := merge.ParseYAML([]byte(yaml))
	if err != nil {
		t.Fatal(err)
	}
	return &unstructured.Unstructured{Object: doc.Map()}
}

// text returns an object as JSON.
func text(t testing.TB, obj *unstructured.Unstructured) string {
	t.Helper()
	doc, err := merge.FromMap(obj.Object)
	if err != nil {
		t.Fatal(err)
	}
	return string(doc.JSON())
}

func create(t testing.TB, c apply.Client, yaml string) *unstructured.Unstructured {
	t.Helper()
	made, err := c.Create(t.Context(), parse(t, yaml), plain)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func patch(t testing.TB, c apply.Client, of *unstructured.Unstructured, patch string) *unstructured.Unstructured {
	t.Helper()
	now, err := c.Patch(t.Context(), apply.IDOf(of), types.MergePatchType, []byte(patch), plain)
	if err != nil {
		t.Fatal(err)
	}
	return now
}

const a = `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default}, data: {key: "1"}}`

// What is stored says nothing of when or where it was stored.
func TestSameCallsSameBytes(t *testing.T) {
	history := func() string {
		c := memory.New(memory.Options{})
		made := create(t, c, a)
		named := create(t, c, `{apiVersion: v1, kind: ConfigMap, metadata: {generateName: x-, namespace: default}}`)
		return text(t, patch(t, c, made, `{"data":{"key":"2"}}`)) + "\n" + text(t, named)
	}
	want := `{"apiVersion":"v1","data":{"key":"2"},"kind":"ConfigMap","metadata":{"creationTimestamp":"2000-01-01T00:00:01Z","name":"a","namespace":"default","resourceVersion":"4","uid":"00000000-0000-4000-8000-000000000001"}}
{"apiVersion":"v1","kind":"ConfigMap","metadata":{"creationTimestamp":"2000-01-01T00:00:02Z","generateName":"x-","name":"x-cbbbb","namespace":"default","resourceVersion":"3","uid":"00000000-0000-4000-8000-000000000002"}}`
	for range 2 {
		if diff := cmp.Diff(want, history()); diff != "" {
			t.Error(diff)
		}
	}
}

func TestClock(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	c := memory.New(memory.Options{Now: func() time.Time { return at }})
	if got := create(t, c, a).GetCreationTimestamp(); !got.Time.Equal(at) {
		t.Errorf("created at %v, want %v", got, at)
	}
}

// Numbers keep the digits that no float64 has, from the object that is created to the one that
// is read.
func TestNumbersKeepTheirDigits(t *testing.T) {
	c := memory.New(memory.Options{})
	made := create(t, c, `{apiVersion: example.com/v1, kind: Thing, metadata: {name: a}, spec: {big: 123456789012345678901234567890}}`)
	now := patch(t, c, made, `{"spec":{"m":9007199254740993}}`)
	if got := text(t, now); !strings.Contains(got, `{"big":123456789012345678901234567890,"m":9007199254740993}`) {
		t.Error(got)
	}
	if same := patch(t, c, made, `{"spec":{"m":9007199254740993.0}}`); same.GetResourceVersion() != now.GetResourceVersion() {
		t.Error("the same number was written again")
	}
}

func TestScopes(t *testing.T) {
	c := memory.New(memory.Options{})
	for _, tc := range []struct {
		why, yaml string
		code      int32 // 0: created
		namespace string
	}{
		{"a cluster-scoped kind has no namespace", `{apiVersion: v1, kind: Namespace, metadata: {name: a, namespace: b}}`, 0, ""},
		{"a namespaced kind has one", `{apiVersion: v1, kind: Secret, metadata: {name: a}}`, 405, ""},
		{"its namespace need not exist", `{apiVersion: v1, kind: Secret, metadata: {name: a, namespace: nowhere}}`, 0, "nowhere"},
		{"an unknown kind is what the request says", `{apiVersion: example.com/v1, kind: Thing, metadata: {name: a, namespace: b}}`, 0, "b"},
		{"even if that differs", `{apiVersion: example.com/v1, kind: Thing, metadata: {name: a}}`, 0, ""},
		{"a kind needs a version", `{kind: Thing, metadata: {name: a}}`, 404, ""},
	} {
		obj := parse(t, tc.yaml)
		made, err := c.Create(t.Context(), obj, plain)
		if got := code(err); got != tc.code {
			t.Errorf("%s: status %d, want %d: %v", tc.why, got, tc.code, err)
			continue
		}
		if err == nil && made.GetNamespace() != tc.namespace {
			t.Errorf("%s: namespace %q, want %q", tc.why, made.GetNamespace(), tc.namespace)
		}
		if _, err := c.Get(t.Context(), apply.IDOf(obj)); (err == nil) != (tc.code == 0) {
			t.Errorf("%s: get under the ID that was created: %v", tc.why, err)
		}
	}
}

// code returns the status code of an error, 0 for none and -1 for another one.
func code(err error) int32 {
	if err == nil {
		return 0
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return -1
	}
	return status.Status().Code
}

const crd = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  scope: Cluster
  names: {kind: Thing, plural: things}
  versions:
  - {name: v1, served: true, storage: true, subresources: {status: {}}, schema: {openAPIV3Schema: {type: object}}}
  - {name: v2, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}
  - {name: v3, served: false, storage: false, schema: {openAPIV3Schema: {type: object}}}
`

// A CustomResourceDefinition makes known which versions its kind has, their scope, schema and
// subresources, for as long as it is stored.
func TestCustomResourceDefinition(t *testing.T) {
	c := memory.New(memory.Options{})
	definition := create(t, c, crd)
	thing := func(version string) *unstructured.Unstructured {
		return parse(t, `{apiVersion: example.com/`+version+`, kind: Thing, metadata: {name: a, namespace: dropped}, spec: {size: 1}, status: {size: 1}}`)
	}
	made, err := c.Create(t.Context(), thing("v1"), plain)
	if err != nil {
		t.Fatal(err)
	}
	if made.GetNamespace() != "" || made.Object["status"] != nil {
		t.Errorf("created %v", made.Object)
	}
	if schema, err := c.Schema(made.GroupVersionKind()); err != nil || !strings.Contains(schema.Name(), "Thing") {
		t.Errorf("schema %v, %v", schema, err)
	}
	status := apply.WriteOptions{Subresource: "status"}
	v2 := apply.IDOf(thing("v2"))
	for id, want := range map[apply.ID]int32{apply.IDOf(made): 0, v2: 404, apply.IDOf(thing("v3")): 404} {
		if _, err := c.Patch(t.Context(), id, types.MergePatchType, []byte(`{"status":{"size":2}}`), status); code(err) != want {
			t.Errorf("%v: status %d, want %d: %v", id, code(err), want, err)
		}
	}
	got, err := c.Get(t.Context(), v2)
	if err != nil {
		t.Fatal(err)
	}
	if got.GetAPIVersion() != "example.com/v2" || got.GetUID() != made.GetUID() {
		t.Errorf("under another version it is %v", got.Object)
	}
	if _, err := c.Patch(t.Context(), v2, types.MergePatchType, []byte(`{"spec":{"size":1}}`), plain); err != nil {
		t.Error(err)
	}
	if now, _ := c.Get(t.Context(), v2); now.GetResourceVersion() != got.GetResourceVersion() {
		t.Error("the version under which an object is patched counts as a change")
	}
	if _, err := c.Patch(t.Context(), apply.IDOf(definition), types.MergePatchType, []byte(`{"spec":{"versions":[{"name":1}]}}`), plain); !apierrors.IsInvalid(err) {
		t.Errorf("a malformed definition: %v", err)
	}
	if err := c.Delete(t.Context(), apply.IDOf(definition), apply.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Schema(made.GroupVersionKind()); !errors.Is(err, merge.ErrNoSchema) {
		t.Errorf("the schema outlives its definition: %v", err)
	}
}

// Of a kind that nobody defined, status may be written through either door.
func TestUnknownKindHasStatus(t *testing.T) {
	c := memory.New(memory.Options{})
	made := create(t, c, `{apiVersion: example.com/v1, kind: Thing, metadata: {name: a}, spec: {size: 1}, status: {size: 1}}`)
	now, err := c.Patch(t.Context(), apply.IDOf(made), types.MergePatchType, []byte(`{"spec":{"size":2},"status":{"size":2}}`), apply.WriteOptions{Subresource: "status"})
	if err != nil {
		t.Fatal(err)
	}
	now = patch(t, c, now, `{"status":{"m":3}}`)
	if got := text(t, now); !strings.Contains(got, `"spec":{"size":1},"status":{"m":3,"size":2}`) || now.GetGeneration() != 1 {
		t.Error(got)
	}
}

// A strategic patch is decoded into the Go type of the kind that is patched, whatever it says
// of its kind (k8s.io/apiserver, smpPatcher).
func TestStrategicPatchOverlooksKind(t *testing.T) {
	c := memory.New(memory.Options{})
	made := create(t, c, a)
	now, err := c.Patch(t.Context(), apply.IDOf(made), types.StrategicMergePatchType, []byte(`{"kind":"Secret"}`), plain)
	if err != nil || now.GetKind() != "ConfigMap" || now.GetResourceVersion() != made.GetResourceVersion() {
		t.Errorf("%v, %v", now, err)
	}
}

func TestBadPatches(t *testing.T) {
	c := memory.New(memory.Options{})
	made := create(t, c, `
{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, namespace: default},
 spec: {template: {spec: {containers: [{name: a}]}}}}`)
	for _, tc := range []struct {
		why   string
		t     types.PatchType
		patch string
		code  int32
	}{
		{"not the list that a JSON Patch is", types.JSONPatchType, `{}`, 400},
		{"not an operation", types.JSONPatchType, `[{"op":"wish","path":"/data"}]`, 422},
		{"nothing is left", types.JSONPatchType, `[{"op":"replace","path":"","value":null}]`, 422},
		{"no directive", types.StrategicMergePatchType, `{"spec":{"$patch":"wish"}}`, 400},
		{"no merge key", types.StrategicMergePatchType, `{"spec":{"template":{"spec":{"containers":[{"image":"x"}]}}}}`, 500},
		{"who applies is not known", types.ApplyYAMLPatchType, `{}`, 415},
	} {
		if _, err := c.Patch(t.Context(), apply.IDOf(made), tc.t, []byte(tc.patch), plain); code(err) != tc.code {
			t.Errorf("%s: status %d, want %d: %v", tc.why, code(err), tc.code, err)
		}
	}
}

func TestContext(t *testing.T) {
	c := memory.New(memory.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Create(ctx, parse(t, a), plain); !errors.Is(err, context.Canceled) {
		t.Errorf("create after the end of its context: %v", err)
	}
	if list, err := c.List(t.Context(), configMaps, apply.ListOptions{}); err != nil || len(list.Items) != 0 {
		t.Errorf("listed %v, %v", list, err)
	}
}

func TestID(t *testing.T) {
	got := []string{
		apply.IDOf(parse(t, a)).String(),
		apply.ID{GVK: schema.GroupVersionKind{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRole"}, Name: "system:node"}.String(),
	}
	if want := []string{"v1 ConfigMap default/a", "rbac.authorization.k8s.io/v1 ClusterRole system:node"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
