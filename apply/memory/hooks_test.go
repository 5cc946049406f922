package memory_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"example.com/braid/apply"
	"example.com/braid/apply/memory"
)

// A hook can default as a server does: what it adds is there from the first write on, and adds
// nothing to later ones.
func TestHookDefaults(t *testing.T) {
	c := memory.New(memory.Options{Mutate: []memory.Hook{func(_ context.Context, a *memory.Admission) error {
		if a.Object == nil {
			return nil
		}
		if _, found, _ := unstructured.NestedString(a.Object.Object, "data", "color"); !found {
			return unstructured.SetNestedField(a.Object.Object, "red", "data", "color")
		}
		return nil
	}}})
	made := create(t, c, a)
	if got, _, _ := unstructured.NestedString(made.Object, "data", "color"); got != "red" {
		t.Errorf("created with color %q", got)
	}
	if now := patch(t, c, made, `{"data":{"color":null}}`); now.GetResourceVersion() != made.GetResourceVersion() {
		t.Error("to remove a default is no change")
	}
}

// Hooks see writes in order, mutating ones first, with what was and what will be.
func TestHooksInOrder(t *testing.T) {
	var seen []string
	see := func(name string) memory.Hook {
		return func(_ context.Context, a *memory.Admission) error {
			value := func(u *unstructured.Unstructured) string {
				if u == nil {
					return "–"
				}
				v, _, _ := unstructured.NestedString(u.Object, "data", "key")
				_ = unstructured.SetNestedField(u.Object, v+name, "data", "key")
				return v
			}
			seen = append(seen, fmt.Sprintf("%s %s %s by %q: %s → %s", name, a.Verb, a.ID.Name, a.Manager, value(a.Old), value(a.Object)))
			return nil
		}
	}
	c := memory.New(memory.Options{
		Mutate:   []memory.Hook{see("m"), see("n")},
		Validate: []memory.Hook{see("v"), see("w")},
	})
	made := create(t, c, a)
	if _, err := c.Patch(t.Context(), apply.IDOf(made), types.MergePatchType, []byte(`{"data":{"key":"2"}}`), apply.WriteOptions{FieldManager: "me"}); err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(t.Context(), apply.IDOf(made), apply.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	want := []string{
		`m create a by "": – → 1`, `n create a by "": – → 1m`, `v create a by "": – → 1mn`, `w create a by "": – → 1mn`,
		`m replace a by "me": 1mn → 2`, `n replace a by "me": 1mn → 2m`, `v replace a by "me": 1mn → 2mn`, `w replace a by "me": 1mn → 2mn`,
		`m delete a by "": 2mn → –`, `n delete a by "": 2mn → –`, `v delete a by "": 2mn → –`, `w delete a by "": 2mn → –`,
	}
	if !slices.Equal(seen, want) {
		t.Errorf("got\n%q\nwant\n%q", seen, want)
	}
}

// A hook refuses a write, also a dry one, with a status of its own or as forbidden; and what it
// leaves must still be the object that was asked for.
func TestHookRefuses(t *testing.T) {
	for _, tc := range []struct {
		why    string
		mutate bool
		hook   func(*memory.Admission) error
		code   int32
	}{
		{"any error", false, func(*memory.Admission) error { return errors.New("no") }, 403},
		{"a status", true, func(*memory.Admission) error { return apierrors.NewTooManyRequests("later", 1) }, 429},
		{"a name", true, func(a *memory.Admission) error { a.Object.SetName("b"); return nil }, 422},
		{"a uid", true, func(a *memory.Admission) error { a.Object.SetUID("b"); return nil }, 422},
		{"a label", true, func(a *memory.Admission) error { a.Object.SetLabels(map[string]string{"!": ""}); return nil }, 422},
		{"nothing", true, func(a *memory.Admission) error { a.Object = nil; return nil }, 500},
		{"no object", true, func(a *memory.Admission) error { a.Object.Object["metadata"] = int64(1); return nil }, 500},
	} {
		hook := func(_ context.Context, a *memory.Admission) error {
			if a.Verb == memory.Create {
				return nil
			}
			return tc.hook(a)
		}
		o := memory.Options{Validate: []memory.Hook{hook}}
		if tc.mutate {
			o = memory.Options{Mutate: []memory.Hook{hook}}
		}
		c := memory.New(o)
		made := create(t, c, a)
		for _, dry := range []bool{true, false} {
			_, err := c.Patch(t.Context(), apply.IDOf(made), types.MergePatchType, []byte(`{"data":{"key":"2"}}`), apply.WriteOptions{DryRun: dry})
			want := tc.code
			if code(err) != want {
				t.Errorf("%s: status %d, want %d: %v", tc.why, code(err), want, err)
			}
		}
		if now, _ := c.Get(t.Context(), apply.IDOf(made)); now.GetResourceVersion() != made.GetResourceVersion() {
			t.Errorf("%s: it was stored", tc.why)
		}
	}
}

// A hook may write itself. What it interferes with is made again of the state that it left.
func TestHookWrites(t *testing.T) {
	var c *memory.Cluster
	times := 0
	c = memory.New(memory.Options{Validate: []memory.Hook{func(ctx context.Context, a *memory.Admission) error {
		if a.Manager != "outer" {
			return nil
		}
		if times++; times > 1 {
			return nil
		}
		_, err := c.Patch(ctx, a.ID, types.MergePatchType, []byte(`{"data":{"inner":"1"}}`), plain)
		return err
	}}})
	made := create(t, c, a)
	now, err := c.Patch(t.Context(), apply.IDOf(made), types.MergePatchType, []byte(`{"data":{"outer":"1"}}`), apply.WriteOptions{FieldManager: "outer"})
	if err != nil {
		t.Fatal(err)
	}
	if data, _, _ := unstructured.NestedStringMap(now.Object, "data"); len(data) != 3 || times != 2 {
		t.Errorf("%v after %d rounds", data, times)
	}
	stale := fmt.Sprintf(`{"metadata":{"resourceVersion":%q},"data":{"outer":"2"}}`, now.GetResourceVersion())
	times = 0
	_ = patch(t, c, now, `{"data":{"inner":null}}`)
	if _, err := c.Patch(t.Context(), apply.IDOf(made), types.MergePatchType, []byte(stale), apply.WriteOptions{FieldManager: "outer"}); !apierrors.IsConflict(err) {
		t.Errorf("a patch for one version met another: %v", err)
	}
}

// Every call passes the interceptor, and gets what it returns.
func TestInterceptor(t *testing.T) {
	boom := errors.New("boom")
	var calls []string
	var intercept memory.Interceptor
	c := memory.New(memory.Options{Intercept: func(ctx context.Context, call memory.Call, next func() error) error {
		calls = append(calls, fmt.Sprintf("%s %s %s", call.Verb, call.ID, call.Patch))
		return intercept(ctx, call, next)
	}})
	obj := parse(t, a)
	id := apply.IDOf(obj)
	verbs := []func() error{
		func() error { _, err := c.Create(t.Context(), obj, plain); return err },
		func() error { _, err := c.Get(t.Context(), id); return err },
		func() error { _, err := c.Replace(t.Context(), obj, plain); return err },
		func() error {
			_, err := c.Patch(t.Context(), id, types.MergePatchType, []byte(`{"data":{"key":"2"}}`), plain)
			return err
		},
		func() error {
			_, err := c.List(t.Context(), configMaps, apply.ListOptions{Namespace: "default"})
			return err
		},
		func() error { _, err := c.Watch(t.Context(), configMaps, apply.WatchOptions{}); return err },
		func() error { return c.Delete(t.Context(), id, apply.DeleteOptions{}) },
	}

	intercept = func(context.Context, memory.Call, func() error) error { return boom }
	for i, verb := range verbs {
		if err := verb(); err != boom {
			t.Errorf("verb %d: lost request: %v", i, err)
		}
	}
	want := []string{
		"create v1 ConfigMap default/a ", "get v1 ConfigMap default/a ", "replace v1 ConfigMap default/a ",
		`patch v1 ConfigMap default/a {"data":{"key":"2"}}`, "list v1 ConfigMap default/ ", "watch v1 ConfigMap  ",
		"delete v1 ConfigMap default/a ",
	}
	if !slices.Equal(calls, want) {
		t.Errorf("got\n%q\nwant\n%q", calls, want)
	}

	intercept = func(_ context.Context, _ memory.Call, next func() error) error {
		if err := next(); err != nil {
			return err
		}
		return boom
	}
	for i, verb := range verbs {
		if err := verb(); err != boom {
			t.Errorf("verb %d: lost answer: %v", i, err)
		}
	}
	intercept = func(_ context.Context, _ memory.Call, next func() error) error { return next() }
	if _, err := c.Get(t.Context(), id); !apierrors.IsNotFound(err) {
		t.Errorf("deleted with a lost answer: %v", err)
	}
	intercept = func(_ context.Context, _ memory.Call, next func() error) error { _ = next(); return nil }
	if _, err := c.Get(t.Context(), id); !apierrors.IsNotFound(err) {
		t.Errorf("an interceptor cannot make a success of an error: %v", err)
	}
	intercept = func(context.Context, memory.Call, func() error) error { return nil }
	if _, err := c.Get(t.Context(), id); !apierrors.IsInternalError(err) {
		t.Errorf("an interceptor that does nothing: %v", err)
	}
}
