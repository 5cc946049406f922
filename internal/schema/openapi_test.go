package schema

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"example.com/braid/internal/node"
)

// one compiles a component named "x", beside a few to refer to.
func one(t *testing.T, schema string) (*Type, error) {
	t.Helper()
	api, err := ReadOpenAPI([]byte(`{"components":{"schemas":{
		"elem":{"type":"object","properties":{"name":{"type":"string"},"port":{"type":"integer"},"protocol":{"type":"string","default":"TCP"}}},
		"selector":{"type":"object","x-kubernetes-map-type":"atomic","properties":{"a":{"type":"string"}}},
		"io.k8s.apimachinery.pkg.api.resource.Quantity":{"oneOf":[{"type":"string"},{"type":"number"}]},
		"list":{"type":"array","items":{"$ref":"#/components/schemas/elem"},"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["protocol"]},
		"loop":{"type":"object","properties":{"next":{"$ref":"#/components/schemas/loop"}}},
		"x":` + schema + `}}}`))
	if err != nil {
		return nil, err
	}
	return api.Types["x"], nil
}

func TestReadOpenAPI(t *testing.T) {
	key := func(name string) Rule { return Rule{Merge: Keyed, Keys: []Key{{Name: name}}} }
	atomic, set := Rule{Merge: Atomic}, Rule{Merge: Set}
	const ref = `{"$ref":"#/components/schemas/elem"}`
	for _, c := range []struct {
		why, schema           string
		kind                  Kind
		strategic, structured Rule
	}{
		{"a list without a word is one value", `{"type":"array","items":` + ref + `}`, List, atomic, atomic},
		{"patch strategy merge stands in for the list type", `{"type":"array","items":` + ref + `,"x-kubernetes-patch-strategy":"merge","x-kubernetes-patch-merge-key":"name"}`, List, key("name"), key("name")},
		{"but the list type wins", `{"type":"array","items":` + ref + `,"x-kubernetes-patch-strategy":"merge","x-kubernetes-patch-merge-key":"name","x-kubernetes-list-type":"atomic"}`, List, key("name"), atomic},
		{"keys have the defaults of their fields", `{"type":"array","items":` + ref + `,"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["port","protocol"]}`, List, atomic, Rule{Merge: Keyed, Keys: []Key{{"port", ""}, {"protocol", `"TCP"`}}}},
		{"scalars merge as a set", `{"type":"array","items":{"type":"string"},"x-kubernetes-patch-strategy":"merge"}`, List, set, set},
		{"retainKeys of a list is about its elements", `{"type":"array","items":` + ref + `,"x-kubernetes-patch-strategy":"merge,retainKeys","x-kubernetes-patch-merge-key":"name"}`, List, Rule{Merge: Keyed, RetainKeys: true, Keys: []Key{{Name: "name"}}}, key("name")},
		{"a free-form object", `{"type":"object"}`, Any, Rule{}, Rule{}},
		{"a Go map", `{"type":"object","additionalProperties":{"type":"string"}}`, Map, Rule{}, Rule{}},
		{"an object with fields and others", `{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":true}`, Map, Rule{}, Rule{}},
		{"replace makes a map one value to a patch only", `{"type":"object","additionalProperties":{},"x-kubernetes-patch-strategy":"replace"}`, Map, atomic, Rule{}},
		{"a free-form object may be one value as well", `{"type":"object","x-kubernetes-map-type":"atomic"}`, Any, Rule{}, atomic},
		{"rules that do not bear on a kind are ignored, as by servers", `{"type":"string","x-kubernetes-list-type":"atomic","x-kubernetes-patch-strategy":"replace"}`, String, Rule{}, Rule{}},
		{"a set of maps is what a CRD may have", `{"type":"array","items":` + ref + `,"x-kubernetes-list-type":"set"}`, List, atomic, set},
		{"what controller-gen writes of a Quantity", `{"x-kubernetes-int-or-string":true,"pattern":"` + strings.ReplaceAll(quantityPattern, `\`, `\\`) + `"}`, Quantity, Rule{}, Rule{}},
		{"allOf beside a type only narrows it", `{"type":"integer","allOf":[{"minimum":1},{"maximum":9}]}`, Integer, Rule{}, Rule{}},
		{"several references are more than we know", `{"allOf":[` + ref + `,` + ref + `]}`, Any, Rule{}, Rule{}},
		{"a component may be a reference", ref, Map, Rule{}, Rule{}},
		{"int-or-string", `{"format":"int-or-string","oneOf":[{"type":"integer"},{"type":"string"}]}`, IntOrString, Rule{}, Rule{}},
		{"int-or-string of a CRD", `{"x-kubernetes-int-or-string":true}`, IntOrString, Rule{}, Rule{}},
		{"time", `{"type":"string","format":"date-time"}`, Time, Rule{}, Rule{}},
		{"bytes", `{"type":"string","format":"byte"}`, Bytes, Rule{}, Rule{}},
		{"anything", `{}`, Any, Rule{}, Rule{}},
	} {
		typ, err := one(t, c.schema)
		if err != nil {
			t.Errorf("%s: %v", c.why, err)
			continue
		}
		if typ.Kind != c.kind || !reflect.DeepEqual(typ.Strategic, c.strategic) || !reflect.DeepEqual(typ.Structured, c.structured) {
			t.Errorf("%s: kind %d, %+v, %+v", c.why, typ.Kind, typ.Strategic, typ.Structured)
		}
	}
}

// A reference takes the shape over and may have rules of its own.
func TestReferences(t *testing.T) {
	typ, err := one(t, `{"type":"object","properties":{
		"plain":{"$ref":"#/components/schemas/selector"},
		"granular":{"allOf":[{"$ref":"#/components/schemas/selector"}],"x-kubernetes-map-type":"granular"},
		"replaced":{"allOf":[{"$ref":"#/components/schemas/selector"}],"x-kubernetes-patch-strategy":"replace"},
		"union":{"allOf":[{"$ref":"#/components/schemas/elem"}],"default":{},"x-kubernetes-patch-strategy":"retainKeys"},
		"quantity":{"$ref":"#/components/schemas/io.k8s.apimachinery.pkg.api.resource.Quantity"},
		"list":{"type":"array","items":{"$ref":"#/components/schemas/elem"},"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["protocol"]},
		"loop":{"$ref":"#/components/schemas/loop"}}}`)
	if err != nil {
		t.Fatal(err)
	}
	field := func(name string) *Type { f, _ := typ.Lookup(name); return f }
	if f := field("plain"); f.Structured.Merge != Atomic || f.Strategic.Merge != Granular {
		t.Errorf("plain %+v", f)
	}
	if f := field("granular"); f.Structured.Merge != Granular || len(f.Fields) != 1 {
		t.Errorf("granular %+v", f)
	}
	if f := field("replaced"); f.Structured.Merge != Atomic || f.Strategic.Merge != Atomic || len(f.Fields) != 1 {
		t.Errorf("replaced %+v", f)
	}
	if f := field("union"); !f.Strategic.RetainKeys || f.Default != "{}" || len(f.Fields) != 3 {
		t.Errorf("union %+v", f)
	}
	if f := field("quantity"); f.Kind != Quantity {
		t.Errorf("quantity %+v", f)
	}
	loop := field("loop")
	if next, _ := loop.Lookup("next"); next != loop {
		t.Errorf("loop %+v", loop)
	}
}

// A list component takes its rules along; the place may have others.
func TestReferenceToList(t *testing.T) {
	typ, err := one(t, `{"type":"object","properties":{
		"plain":{"allOf":[{"$ref":"#/components/schemas/list"}],"nullable":true},
		"set":{"allOf":[{"$ref":"#/components/schemas/list"}],"x-kubernetes-list-type":"set"}}}`)
	if err != nil {
		t.Fatal(err)
	}
	plain, _ := typ.Lookup("plain")
	if !plain.Nullable || plain.Structured.Merge != Keyed || plain.Structured.Keys[0] != (Key{"protocol", `"TCP"`}) || plain.Strategic.Merge != Atomic {
		t.Errorf("plain %+v", plain)
	}
	if set, _ := typ.Lookup("set"); set.Structured.Merge != Set || set.Structured.Keys != nil || set.Elem != plain.Elem {
		t.Errorf("set %+v", set)
	}
}

// Of components that claim one kind the first by name has it, whatever the order of
// the document.
func TestKindOfTwoComponents(t *testing.T) {
	const kind = `{"x-kubernetes-group-version-kind":[{"group":"g","version":"v1","kind":"K"}]}`
	for range 20 {
		api, err := ReadOpenAPI([]byte(`{"components":{"schemas":{"b":` + kind + `,"a":` + kind + `,"c":` + kind + `}}}`))
		if err != nil || api.Kinds[GVK{"g", "v1", "K"}] != "a" {
			t.Fatalf("%v, %v", api, err)
		}
	}
}

// Malformed documents are errors that name the component, the path and the rule.
func TestReadOpenAPIErrors(t *testing.T) {
	const merge, ref = `"x-kubernetes-patch-strategy":"merge"`, `{"$ref":"#/components/schemas/elem"}`
	for schema, want := range map[string]string{
		`{"type":"array","items":{"$ref":"#/components/schemas/absent"}}`:                                                  `schema: [0]: malformed schema: in component x: $ref "#/components/schemas/absent" does not name a component`,
		`{"type":"object","properties":{"a":{"$ref":"elsewhere"}}}`:                                                        `schema: a: malformed schema: in component x: $ref`,
		`{"$ref":"#/components/schemas/x"}`:                                                                                `in component x: the reference leads to itself`,
		`{"type":"array","items":{},"x-kubernetes-list-type":"map"}`:                                                       `list-type map needs list-map-keys`,
		`{"type":"array","items":{},"x-kubernetes-list-type":"heap"}`:                                                      `list-type "heap"`,
		`{"type":"object","x-kubernetes-map-type":"deep"}`:                                                                 `map-type "deep"`,
		`{"type":"array","x-kubernetes-patch-strategy":"merge,replace"}`:                                                   `patch strategy "merge,replace" is two`,
		`{"x-kubernetes-patch-strategy":"retainkeys"}`:                                                                     `patch strategy "retainkeys" is none of`,
		`{"type":"array","items":` + ref + `,` + merge + `}`:                                                               `merge on a list of maps needs a patch merge key`,
		`{"type":"array","items":` + ref + `,` + merge + `,"x-kubernetes-patch-merge-key":"nmae"}`:                         `no key field "nmae"`,
		`{"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["a"]}`:     `no key field "a"`,
		`{"type":"array","items":` + ref + `,"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["port","port"]}`: `key field "port" stands twice`,
		`{"type":["string","null"]}`:                                                                                       `in component x: json: cannot unmarshal array`,
		`{"x-kubernetes-group-version-kind":{"kind":"K"}}`:                                                                 `in component x: json: cannot unmarshal object`,
		`{"type":"object","additionalProperties":{"type":7}}`:                                                              `in component x: additionalProperties: json`,
		`{"type":"object","properties":{"a":{"properties":[]}}}`:                                                           `in component x: json: cannot unmarshal array`,
		`null`:                              `in component x: it is null`,
		`{"type":` + strings.Repeat(`[`, 5): `schema: not valid JSON: OpenAPI document`,
		strings.Repeat(`{"type":"array","items":`, 300) + `{}` + strings.Repeat(`}`, 300):                 `nested deeper than 200`,
		strings.Repeat(`{"type":"object","additionalProperties":`, 300) + `{}` + strings.Repeat(`}`, 300): `nested deeper than 200`,
	} {
		_, err := one(t, schema)
		var e *node.Error
		if err == nil || !strings.Contains(err.Error(), want) || !errors.As(err, &e) || e.Doc != "schema" {
			t.Errorf("%.60s: %v, want %q", schema, err, want)
		}
	}
	for _, document := range []string{``, `[]`, `{"components":{"schemas":[]}}`, `{"components":7}`} {
		if _, err := ReadOpenAPI([]byte(document)); !errors.Is(err, ErrSchema) && !errors.Is(err, node.ErrSyntax) {
			t.Errorf("%s: %v", document, err)
		}
	}
}

// No document makes the reader panic, and what it accepts keeps the promises of doc.go
// and has a form in the table.
func FuzzReadOpenAPI(f *testing.F) {
	for _, schema := range []string{
		`{"type":"array","items":{"$ref":"#/components/schemas/a"},"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"]}`,
		`{"allOf":[{"$ref":"#/components/schemas/a"}],"default":1}`,
		`{"type":"object","properties":{"b":{"allOf":[{"$ref":"#/components/schemas/a"}],"x-kubernetes-patch-strategy":"retainKeys"}},"additionalProperties":true,"x-kubernetes-group-version-kind":[{"kind":"K"}]}`,
		`{"type":"array","items":{"type":"string"},"x-kubernetes-patch-strategy":"merge","x-kubernetes-list-type":"atomic","nullable":true}`,
	} {
		f.Add([]byte(`{"components":{"schemas":{"a":` + schema + `}}}`))
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		seen := map[*Type]bool{}
		kinds, bad := ReadKinds(document)
		for _, s := range kinds {
			everyType(s.Root, seen, func(typ *Type) { holds(t, s.Name, typ) })
		}
		api, err := ReadOpenAPI(document)
		if err == nil && (bad != nil || len(kinds) != len(api.Kinds)) {
			t.Errorf("%d kinds, %v", len(kinds), bad)
		}
		if err != nil {
			return
		}
		for name, typ := range api.Types {
			everyType(typ, seen, func(typ *Type) { holds(t, name, typ) })
		}
		table := openTable(string(EncodeTable("v", api)))
		for _, n := range table.kinds {
			everyType(table.typ(n), seen, func(typ *Type) { holds(t, "table", typ) })
		}
	})
}
