package initializer_test

import (
	"context"
	"fmt"
	"log"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/braid/apply"
	"example.com/braid/apply/memory"
	"example.com/braid/inject"
	"example.com/braid/inject/initializer"
)

// What a cluster holds is injected into, and then left alone. examples/initializer has the
// whole story.
func Example() {
	template, err := inject.ParseTemplate([]byte("containers: [{name: proxy, image: 'proxy:1'}]"))
	if err != nil {
		log.Fatal(err)
	}
	injector, err := inject.New(inject.Options{}, template)
	if err != nil {
		log.Fatal(err)
	}
	decider, err := inject.NewDecider(inject.DecisionPolicy{Mode: inject.OptOut})
	if err != nil {
		log.Fatal(err)
	}
	cluster := memory.New(memory.Options{})
	web := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": map[string]any{"name": "web", "namespace": "shop"},
		"spec": map[string]any{"template": map[string]any{"spec": map[string]any{
			"containers": []any{map[string]any{"name": "app", "image": "app:1"}},
		}}},
	}}
	ctx, cancel := context.WithCancel(context.Background())
	if _, err := cluster.Create(ctx, web, apply.WriteOptions{}); err != nil {
		log.Fatal(err)
	}
	i, err := initializer.New(initializer.Options{
		Cluster: cluster,
		Config:  initializer.Config{Decider: decider, Injector: injector},
		Kinds:   []schema.GroupVersionKind{web.GroupVersionKind()},
		Observe: func(o initializer.Observation) {
			fmt.Println(o.ID, o.Outcome, o.Reason)
			if o.Outcome == initializer.Unchanged {
				cancel() // the end of this example
			}
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	i.Run(ctx)
	// Output:
	// apps/v1 Deployment shop/web Injected DefaultOn
	// apps/v1 Deployment shop/web Unchanged AlreadyInjected
}
