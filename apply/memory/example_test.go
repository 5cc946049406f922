package memory_test

import (
	"context"
	"fmt"
	"log"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"example.com/braid/apply"
	"example.com/braid/apply/memory"
)

func deployment(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": map[string]any{"name": name, "namespace": "default"},
		"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{
			map[string]any{"name": "app", "image": "app:1"},
			map[string]any{"name": "proxy", "image": "proxy:1"},
		}}}},
	}}
}

func Example() {
	ctx := context.Background()
	c := memory.New(memory.Options{})
	made, err := c.Create(ctx, deployment("web"), apply.WriteOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(apply.IDOf(made), "generation", made.GetGeneration(), "version", made.GetResourceVersion())

	patch := `{"spec":{"template":{"spec":{"containers":[{"name":"app","image":"app:2"}]}}}}`
	now, err := c.Patch(ctx, apply.IDOf(made), types.StrategicMergePatchType, []byte(patch), apply.WriteOptions{})
	if err != nil {
		log.Fatal(err)
	}
	containers, _, _ := unstructured.NestedSlice(now.Object, "spec", "template", "spec", "containers")
	fmt.Println(containers...)
	fmt.Println("generation", now.GetGeneration(), "version", now.GetResourceVersion())

	_, err = c.Replace(ctx, made, apply.WriteOptions{})
	fmt.Println(err)
	// Output:
	// apps/v1 Deployment default/web generation 1 version 2
	// map[image:app:2 name:app] map[image:proxy:1 name:proxy]
	// generation 2 version 3
	// Operation cannot be fulfilled on deployments.apps "web": the object has been modified; please apply your changes to the latest version and try again
}

func ExampleCluster_Watch() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c := memory.New(memory.Options{})
	kind := schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	w, err := c.Watch(ctx, kind, apply.WatchOptions{})
	if err != nil {
		log.Fatal(err)
	}
	made, _ := c.Create(ctx, deployment("web"), apply.WriteOptions{})
	for range 2 { // the second one changes nothing
		_, _ = c.Patch(ctx, apply.IDOf(made), types.MergePatchType, []byte(`{"spec":{"replicas":3}}`), apply.WriteOptions{})
	}
	_ = c.Delete(ctx, apply.IDOf(made), apply.DeleteOptions{})
	for range 3 {
		event := <-w.ResultChan()
		u := event.Object.(*unstructured.Unstructured)
		fmt.Println(event.Type, u.GetName(), u.GetResourceVersion())
	}
	// Output:
	// ADDED web 2
	// MODIFIED web 3
	// DELETED web 4
}

// A hook defaults as a server would, and another one refuses.
func ExampleHook() {
	ctx := context.Background()
	c := memory.New(memory.Options{
		Mutate: []memory.Hook{func(_ context.Context, a *memory.Admission) error {
			if a.Object == nil {
				return nil
			}
			if _, found, _ := unstructured.NestedInt64(a.Object.Object, "spec", "replicas"); !found {
				return unstructured.SetNestedField(a.Object.Object, int64(1), "spec", "replicas")
			}
			return nil
		}},
		Validate: []memory.Hook{func(_ context.Context, a *memory.Admission) error {
			if a.Verb == memory.Delete {
				return fmt.Errorf("%s stays", a.ID.Name)
			}
			return nil
		}},
	})
	made, _ := c.Create(ctx, deployment("web"), apply.WriteOptions{})
	fmt.Println(unstructured.NestedInt64(made.Object, "spec", "replicas"))
	fmt.Println(c.Delete(ctx, apply.IDOf(made), apply.DeleteOptions{}))
	// Output:
	// 1 true <nil>
	// deployments.apps "web" is forbidden: web stays
}

// The answer to the first write is lost: it was stored, but the caller does not know.
func ExampleInterceptor() {
	ctx := context.Background()
	lost := false
	c := memory.New(memory.Options{Intercept: func(_ context.Context, call memory.Call, next func() error) error {
		err := next()
		if call.Verb == memory.Create && !lost {
			lost = true
			return fmt.Errorf("connection reset by peer")
		}
		return err
	}})
	for range 2 {
		_, err := c.Create(ctx, deployment("web"), apply.WriteOptions{})
		fmt.Println(err)
	}
	// Output:
	// connection reset by peer
	// deployments.apps "web" already exists
}
