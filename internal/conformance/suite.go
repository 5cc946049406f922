package conformance

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"example.com/braid/apply"
)

// Cluster is what is held to the cases.
type Cluster interface {
	apply.Client
	apply.Lister
	apply.Watcher
}

// patience is how long a case waits for what must come. No case passes by waiting.
const patience = 30 * time.Second

// Run holds a cluster to all cases, as subtests of t.
func Run(t *testing.T, c Cluster) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ns, err := c.Create(ctx, object(namespaces, "", "", map[string]any{"metadata": map[string]any{"generateName": "braid-"}}), apply.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Create(ctx, crd(), apply.WriteOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) { // a server takes a moment to serve a new kind
		_, err := c.List(ctx, widgets, apply.ListOptions{})
		if err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
	for _, group := range [][]testCase{creating, replacing, patching, owning, deleting, watching, racing} {
		for _, tc := range group {
			t.Run(tc.name, func(t *testing.T) { tc.run(&env{T: t, c: c, ctx: ctx, ns: ns.GetName()}) })
		}
	}
}

type testCase struct {
	name string
	run  func(*env)
}

var (
	configMaps  = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	namespaces  = schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}
	deployments = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	widgets     = schema.GroupVersionKind{Group: "conformance.braid.example.com", Version: "v1", Kind: "Widget"} // with a status
	gadgets     = schema.GroupVersionKind{Group: "conformance.braid.example.com", Version: "v1", Kind: "Nothing"}
)

// env is what a case runs in. Its methods end the test if something goes wrong that the case
// is not about.
type env struct {
	*testing.T
	c   Cluster
	ctx context.Context
	ns  string
}

func object(kind schema.GroupVersionKind, namespace, name string, fields map[string]any) *unstructured.Unstructured {
	u := (&unstructured.Unstructured{Object: fields}).DeepCopy()
	if u.Object == nil {
		u.Object = map[string]any{}
	}
	u.SetGroupVersionKind(kind)
	if namespace != "" {
		u.SetNamespace(namespace)
	}
	if name != "" {
		u.SetName(name)
	}
	return u
}

func (e *env) configMap(name, value string) *unstructured.Unstructured {
	return object(configMaps, e.ns, name, map[string]any{"data": map[string]any{"key": value}})
}

func (e *env) widget(name string, size int64) *unstructured.Unstructured {
	return object(widgets, e.ns, name, map[string]any{"spec": map[string]any{"size": size}})
}

func (e *env) id(kind schema.GroupVersionKind, name string) apply.ID {
	return apply.ID{GVK: kind, Namespace: e.ns, Name: name}
}

func (e *env) create(u *unstructured.Unstructured) *unstructured.Unstructured {
	e.Helper()
	return e.must(e.c.Create(e.ctx, u, apply.WriteOptions{}))
}

func (e *env) get(of *unstructured.Unstructured) *unstructured.Unstructured {
	e.Helper()
	return e.must(e.c.Get(e.ctx, apply.IDOf(of)))
}

func (e *env) patch(of *unstructured.Unstructured, t types.PatchType, patch, subresource string) (*unstructured.Unstructured, error) {
	return e.c.Patch(e.ctx, apply.IDOf(of), t, []byte(patch), apply.WriteOptions{Subresource: subresource})
}

func (e *env) merge(of *unstructured.Unstructured, patch string) *unstructured.Unstructured {
	e.Helper()
	return e.must(e.patch(of, types.MergePatchType, patch, ""))
}

func (e *env) must(u *unstructured.Unstructured, err error) *unstructured.Unstructured {
	e.Helper()
	if err != nil {
		e.Fatal(err)
	}
	return u
}

// fails checks the code of an error, and what it says it is about.
func (e *env) fails(err error, code int32, reason metav1.StatusReason) {
	e.Helper()
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		e.Fatalf("want status %d %s, got %v", code, reason, err)
	}
	if got := status.Status(); got.Code != code || reason != "" && got.Reason != reason {
		e.Errorf("want status %d %s, got %d %s: %v", code, reason, got.Code, got.Reason, err)
	}
}

// is compares one field.
func (e *env) is(u *unstructured.Unstructured, want any, path ...string) {
	e.Helper()
	got, _, _ := unstructured.NestedFieldNoCopy(u.Object, path...)
	if got != want {
		e.Errorf("%v is %v, want %v", path, got, want)
	}
}

// untouched checks that what is stored is still the state that was returned.
func (e *env) untouched(was *unstructured.Unstructured) {
	e.Helper()
	if now := e.get(was); now.GetResourceVersion() != was.GetResourceVersion() {
		e.Errorf("resourceVersion was %s and is %s", was.GetResourceVersion(), now.GetResourceVersion())
	}
}

func (e *env) gone(u *unstructured.Unstructured) {
	e.Helper()
	_, err := e.c.Get(e.ctx, apply.IDOf(u))
	e.fails(err, 404, metav1.StatusReasonNotFound)
}

func names(list *unstructured.UnstructuredList) []string {
	var out []string
	for _, item := range list.Items {
		out = append(out, item.GetName())
	}
	slices.Sort(out)
	return out
}

func crd() *unstructured.Unstructured {
	return object(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"},
		"", "widgets."+widgets.Group, map[string]any{"spec": map[string]any{
			"group": widgets.Group, "scope": "Namespaced",
			"names": map[string]any{"kind": widgets.Kind, "listKind": "WidgetList", "plural": "widgets", "singular": "widget"},
			"versions": []any{map[string]any{
				"name": widgets.Version, "served": true, "storage": true,
				"subresources": map[string]any{"status": map[string]any{}},
				"schema": map[string]any{"openAPIV3Schema": map[string]any{
					"type": "object", "x-kubernetes-preserve-unknown-fields": true,
				}},
			}},
		}})
}
