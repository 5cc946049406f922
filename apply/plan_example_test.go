package apply_test

import (
	"fmt"
	"os"

	"example.com/braid/apply"
	"example.com/braid/merge"
)

// The image changes, and an autoscaler's replicas stay.
func ExamplePlanner_Plan() {
	const manifest = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: default}, spec: {%s
		template: {spec: {containers: [{name: app, image: %s}]}}}}`
	planner, err := apply.NewPlanner(apply.Options{HandOver: []string{"spec.replicas"}})
	if err != nil {
		panic(err)
	}
	first, _ := merge.ParseYAML(fmt.Appendf(nil, manifest, "replicas: 3,", "app:1"))
	second, _ := merge.ParseYAML(fmt.Appendf(nil, manifest, "", "app:2"))

	created, err := planner.Plan(nil, first)
	if err != nil {
		panic(err)
	}
	live := created.Object // a server would add its defaults
	plan, err := planner.Plan(live, second)
	if err != nil {
		panic(err)
	}
	fmt.Println(created.Operation, plan.Operation, plan.PatchType)
	for _, e := range plan.Edits() {
		if e.Path[0].Field == "spec" {
			fmt.Println(e.Path, e.Live, e.Desired)
		}
	}
	merged, err := plan.Merged()
	if err != nil {
		panic(err)
	}
	again, err := planner.Plan(merged, second)
	if err != nil {
		panic(err)
	}
	if err := again.WriteReport(os.Stdout, false); err != nil {
		panic(err)
	}
	// Output:
	// Create Patch application/strategic-merge-patch+json
	// spec.template.spec.containers[name=app].image "app:1" "app:2"
	// apps/v1 Deployment default/web: None
}
