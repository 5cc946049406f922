package merge_test

import (
	"fmt"
	"log"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/braid/merge"
)

// A custom kind merges by the rules of its definition.
func ExampleSchemasFromCRD() {
	crd, err := merge.ParseYAML([]byte(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
spec:
  group: example.com
  names: {kind: Gateway}
  versions:
  - name: v1
    served: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          listeners:
            type: array
            x-kubernetes-list-type: map
            x-kubernetes-list-map-keys: [name]
            items: {type: object, properties: {name: {type: string}, port: {type: integer}}}
`))
	if err != nil {
		log.Fatal(err)
	}
	kinds, err := merge.SchemasFromCRD(crd)
	if err != nil {
		log.Fatal(err)
	}
	gateway := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Gateway"}

	live := []byte(`{"listeners":[{"name":"https","port":443}]}`)
	desired := []byte(`{"listeners":[{"name":"http","port":80}]}`)
	patch, err := merge.ThreeWay(merge.JSONPatch, nil, live, desired, merge.Options{Schema: kinds[gateway], Model: merge.Structured})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", patch)
	// Output: [{"op":"add","path":"/listeners/0","value":{"name":"http","port":80}}]
}

// A cluster says how it merges its kinds, built-in and custom.
func ExampleSchemasFromOpenAPI() {
	document := []byte(`{"components":{"schemas":{"com.example.v1.Widget":{
		"type":"object",
		"properties":{"cpu":{"type":"string"}},
		"x-kubernetes-group-version-kind":[{"group":"example.com","version":"v1","kind":"Widget"}]}}}}`)
	kinds, err := merge.SchemasFromOpenAPI(document)
	if err != nil {
		log.Fatal(err)
	}
	for kind, rules := range kinds {
		fmt.Println(kind.Kind, rules.Name())
	}
	// Output: Widget example.com/v1, Kind=Widget
}

// What no schema says, a user may: here that ports go by two fields, and that sizes
// are quantities.
func ExampleSchema_WithRule() {
	rules, err := merge.Schemaless().WithRule("ports", "map=port,protocol")
	if err == nil {
		rules, err = rules.WithRule("sizes.*", "quantity")
	}
	if err != nil {
		log.Fatal(err)
	}
	live := []byte(`{"ports":[{"port":53,"protocol":"UDP"}],"sizes":{"a":"1000m"}}`)
	desired := []byte(`{"ports":[{"port":53,"protocol":"TCP"}],"sizes":{"a":"1"}}`)
	patch, err := merge.ThreeWay(merge.JSONMergePatch, nil, live, desired, merge.Options{Schema: rules})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", patch)
	// Output: {"ports":[{"port":53,"protocol":"TCP"},{"port":53,"protocol":"UDP"}]}
}
