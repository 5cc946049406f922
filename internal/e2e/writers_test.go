package e2e

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/braid/apply"
	"example.com/braid/merge"
)

// Many write to one object, each a key of its own: by replace they meet conflicts and have to
// begin again; by apply none does. Nothing is lost either way.
func TestWriters(t *testing.T) {
	const writers, rounds = 16, 25
	kind := schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	ns := namespace(t)
	for how, write := range map[string]func(id apply.ID, key, value string) (conflicts int64, err error){
		"replace": func(id apply.ID, key, value string) (conflicts int64, err error) {
			for {
				u, err := client.Get(t.Context(), id)
				if err != nil {
					return conflicts, err
				}
				if err := unstructured.SetNestedField(u.Object, value, "data", key); err != nil {
					return conflicts, err
				}
				if _, err = client.Replace(t.Context(), u, apply.WriteOptions{}); !apierrors.IsConflict(err) {
					return conflicts, err
				}
				conflicts++
			}
		},
		"apply": func(id apply.ID, key, value string) (int64, error) {
			applier, err := apply.NewApplier(client, apply.ApplierOptions{Options: apply.Options{Record: apply.Record{Name: key}}, FieldManager: key})
			if err != nil {
				return 0, err
			}
			u := &unstructured.Unstructured{Object: map[string]any{"data": map[string]any{key: value}}}
			u.SetGroupVersionKind(id.GVK)
			u.SetNamespace(id.Namespace)
			u.SetName(id.Name)
			desired, err := merge.FromMap(u.Object)
			if err != nil {
				return 0, err
			}
			outcomes, err := applier.Apply(t.Context(), desired)
			if err != nil {
				return 0, err
			}
			return int64(outcomes[0].Attempts - 1), nil
		},
	} {
		t.Run(how, func(t *testing.T) {
			id := apply.ID{GVK: kind, Namespace: ns, Name: how}
			u := &unstructured.Unstructured{}
			u.SetGroupVersionKind(kind)
			u.SetNamespace(ns)
			u.SetName(how)
			if _, err := client.Create(t.Context(), u, apply.WriteOptions{}); err != nil {
				t.Fatal(err)
			}
			var again atomic.Int64
			var all sync.WaitGroup
			for w := range writers {
				all.Go(func() {
					for round := range rounds {
						n, err := write(id, fmt.Sprintf("writer-%d", w), fmt.Sprint(round))
						again.Add(n)
						if err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
			all.Wait()
			now, err := client.Get(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			data, _, _ := unstructured.NestedStringMap(now.Object, "data")
			for w := range writers {
				if got := data[fmt.Sprintf("writer-%d", w)]; got != fmt.Sprint(rounds-1) {
					t.Errorf("writer %d: %q is stored, want the last round", w, got)
				}
			}
			t.Logf("%d writers × %d rounds by %s: begun again %d times", writers, rounds, how, again.Load())
			if how == "apply" && again.Load() > 0 {
				t.Errorf("%d writes by apply had to begin again", again.Load())
			}
		})
	}
}
