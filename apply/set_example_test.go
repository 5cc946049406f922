package apply_test

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/braid/apply"
	"example.com/braid/apply/memory"
)

// A manifest is applied in an order that works, and what the next one no longer has is pruned.
func ExampleSetApplier() {
	first := `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: web}
`
	second := `
apiVersion: v1
kind: ConfigMap
metadata: {name: web}
data: {color: green}
`
	options := apply.SetOptions{Namespace: "default", Inventory: apply.Inventory{
		Parent: apply.ID{GVK: schema.GroupVersionKind{Version: "v1", Kind: "Secret"}, Namespace: "default", Name: "web"},
	}}
	cluster := memory.New(memory.Options{})
	for _, manifest := range []string{first, second, second} {
		set, err := apply.NewSet(apply.ReadManifest("web.yaml", strings.NewReader(manifest)), options)
		if err != nil {
			panic(err)
		}
		applier, err := apply.NewSetApplier(cluster, set, apply.SetApplierOptions{Step: func(s apply.Step) {
			what := "Prune"
			if s.Outcome != nil {
				what = s.Outcome.Operation.String()
			}
			fmt.Printf("%d/%d %s: %s\n", s.Number, s.Total, s.ID, what)
		}})
		if err != nil {
			panic(err)
		}
		counts, err := applier.Apply(context.Background())
		if err != nil {
			panic(err)
		}
		fmt.Println(counts)
	}
	// Output:
	// 1/2 v1 ConfigMap default/web: Create
	// 2/2 apps/v1 Deployment default/web: Create
	// 2 Create
	// 1/1 v1 ConfigMap default/web: Patch
	// 2/2 apps/v1 Deployment default/web: Prune
	// 1 Patch, 1 Prune
	// 1/1 v1 ConfigMap default/web: None
	// 1 None
}
