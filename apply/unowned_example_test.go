package apply_test

import (
	"fmt"

	"example.com/braid/apply"
	"example.com/braid/merge"
)

// Somebody has labelled what we declare, and a controller has annotated it.
func ExampleOptions_unowned() {
	planner, err := apply.NewPlanner(apply.Options{Unowned: merge.UnownedGoes})
	if err != nil {
		panic(err)
	}
	desired, _ := merge.ParseYAML([]byte(`{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {a: b}}`))
	live, _ := merge.ParseYAML([]byte(`{apiVersion: v1, kind: ConfigMap, data: {a: b}, metadata: {name: c, labels: {debug: me}, annotations: {seen: today}, managedFields: [
		{manager: kubectl-label, operation: Update, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {"f:metadata": {"f:labels": {".": {}, "f:debug": {}}}}},
		{manager: controller, operation: Update, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {"f:metadata": {"f:annotations": {".": {}, "f:seen": {}}}}}]}}`))
	plan, err := planner.Plan(live, desired)
	if err != nil {
		panic(err)
	}
	fmt.Println(plan.Warnings[len(plan.Warnings)-1])
	for _, e := range plan.Edits() {
		if e.Case == merge.WeRemove {
			fmt.Println("goes:", e.Path)
		}
	}
	// Output:
	// metadata.labels: live: made by hand (kubectl-label); nobody declares it
	// goes: metadata.labels
}
