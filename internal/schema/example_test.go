package schema_test

import (
	"fmt"
	"reflect"

	"example.com/braid/internal/schema"
)

func ExampleBuiltin() {
	service, _ := schema.Builtin("", "v1", "Service")
	spec, _ := service.Root.Lookup("spec")
	ports, _ := spec.Lookup("ports")
	fmt.Println(service.Name)
	fmt.Println(ports.Rule(schema.Strategic).Keys)
	fmt.Println(ports.Rule(schema.Structured).Keys)
	// Output:
	// /v1, Kind=Service
	// [{port }]
	// [{port 0} {protocol "TCP"}]
}

func ExampleFromType() {
	type Port struct{ Name string }
	type Spec struct {
		Ports []Port `json:"ports" patchStrategy:"merge"`
	}
	_, err := schema.FromType(reflect.TypeFor[Spec]())
	fmt.Println(err)
	// Output:
	// schema: ports: malformed schema: in Go type schema_test.Spec: patch strategy merge on a list of maps needs a patch merge key
}
