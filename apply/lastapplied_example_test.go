package apply_test

import (
	"fmt"
	"log"

	"example.com/braid/apply"
	"example.com/braid/merge"
)

func parse(json string) *merge.Doc {
	d, err := merge.Parse([]byte(json))
	if err != nil {
		log.Fatal(err)
	}
	return d
}

// What was applied is read and replaced in one call, and goes into the merge as last and
// desired.
func ExampleRecord_Exchange() {
	live := parse(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","annotations":{
		"kubectl.kubernetes.io/last-applied-configuration":"{\"data\":{\"color\":\"red\",\"size\":\"m\"}}"}},
		"data":{"color":"red","size":"m","by":"hand"}}`)
	desired := parse(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"color":"blue"}}`)

	last, recorded, err := apply.Record{}.Exchange(live, desired)
	if err != nil {
		log.Fatal(err)
	}
	rules, err := merge.SchemaFor(desired.GVK())
	if err != nil {
		log.Fatal(err)
	}
	m, err := merge.New(merge.Options{Schema: rules})
	if err != nil {
		log.Fatal(err)
	}
	r, err := m.ThreeWay(last, live, recorded)
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range r.Edits() {
		fmt.Println(e.Case, e.Path)
	}
	// Output:
	// WeSet data.color
	// WeRemove data.size
	// WeSet metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"]
}

// Digests keep the values of a Secret out of its annotation.
func ExampleRecord_hideSecrets() {
	desired := parse(`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"stringData":{"password":"hunter2"}}`)
	r := apply.Record{HideSecrets: true, DigestKey: []byte("from a place that readers of the cluster cannot see")}
	_, recorded, err := r.Exchange(nil, desired)
	if err != nil {
		log.Fatal(err)
	}
	text, _ := recorded.Text("metadata", "annotations", apply.LastAppliedAnnotation)
	fmt.Print(text)
	// Output: {"apiVersion":"v1","data":{"password":"sha256:hFC6SGLMCk3O6NVvDqwmOg"},"kind":"Secret","metadata":{"annotations":{},"name":"s"}}
}

func ExampleStrip() {
	live := parse(`{"kind":"ConfigMap","metadata":{"name":"a","annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{}"}}}`)
	fmt.Printf("%s\n", apply.Strip(live).JSON())
	// Output: {"kind":"ConfigMap","metadata":{"name":"a"}}
}
