package schema

import (
	"reflect"
	"strings"
	"testing"
)

// one compiles a component named "x", beside a few to refer to.
func one(t *testing.T, schema string) (*Type, error) {
	t.Helper()
	api, err := ReadOpenAPI([]byte(`{"components":{"schemas":{
		"elem":{"type":"object","properties":{"name":{"type":"string"},"port":{"type":"integer"},"protocol":{"type":"string","default":"TCP"}}},
		"selector":{"type":"object","x-kubernetes-map-type":"atomic","properties":{"a":{"type":"string"}}},
		"io.k8s.apimachinery.pkg.api.resource.Quantity":{"oneOf":[{"type":"string"},{"type":"number"}]},
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

// Malformed documents are errors that name the component.
func TestReadOpenAPIErrors(t *testing.T) {
	for schema, want := range map[string]string{
		`{"$ref":"#/components/schemas/elem"}`:                            `component x: the component is a reference`,
		`{"type":"array","items":{"$ref":"#/components/schemas/absent"}}`: `does not name a component`,
		`{"type":"object","properties":{"a":{"$ref":"elsewhere"}}}`:       `component x: a: $ref`,
		`{"type":"array","items":{},"x-kubernetes-list-type":"map"}`:      `without list-map-keys`,
		`{"type":"array","items":{},"x-kubernetes-list-type":"heap"}`:     `list-type "heap"`,
		`null`: `component x: null`,
		`{"type":"object","additionalProperties":{"type":7}}`:                             `additionalProperties`,
		`{"type":` + strings.Repeat(`{"items":`, 5):                                       `OpenAPI document`,
		strings.Repeat(`{"type":"array","items":`, 300) + `{}` + strings.Repeat(`}`, 300): `nested deeper`,
	} {
		if _, err := one(t, schema); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want %q", schema, err, want)
		}
	}
}

func FuzzReadOpenAPI(f *testing.F) {
	f.Add([]byte(`{"components":{"schemas":{"a":{"type":"array","items":{"$ref":"#/components/schemas/a"},"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"]}}}}`))
	f.Add([]byte(`{"components":{"schemas":{"a":{"allOf":[{"$ref":"#/components/schemas/a"}],"default":1}}}}`))
	f.Fuzz(func(t *testing.T, document []byte) {
		api, err := ReadOpenAPI(document)
		if err != nil {
			return
		}
		for k := range api.Kinds {
			table := openTable(string(EncodeTable("v", api)))
			table.typ(table.kinds[k])
		}
	})
}

type embedded struct {
	Inner string `json:"inner"`
	Both  string `json:"both"`
}

type outer struct {
	embedded
	Named    embedded          `json:"named"`
	Both     int               `json:"both"`
	Skipped  string            `json:"-"`
	Untagged bool              //
	Next     *outer            `json:"next,omitempty"`
	List     []*embedded       `json:"list" patchStrategy:"merge" patchMergeKey:"inner"`
	Set      []string          `json:"set" patchStrategy:"merge"`
	Raw      []byte            `json:"raw"`
	Map      map[string]*outer `json:"map"`
	Union    *embedded         `json:"union" patchStrategy:"retainKeys"`
}

func TestFromType(t *testing.T) {
	s, err := FromType(reflect.TypeFor[outer]())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range s.Root.Fields {
		names = append(names, f.Name)
	}
	if got := strings.Join(names, " "); got != "Untagged both inner list map named next raw set union" {
		t.Errorf("fields %s", got)
	}
	field := func(name string) *Type { f, _ := s.Root.Lookup(name); return f }
	if field("next") != s.Root || field("map").Elem != s.Root {
		t.Error("the type is not the one it refers to")
	}
	if field("both").Kind != Integer {
		t.Error("the outer field wins over the embedded one")
	}
	if r := field("list").Strategic; r.Merge != Keyed || r.Keys[0].Name != "inner" || field("list").Elem != field("named") {
		t.Errorf("list %+v", field("list"))
	}
	if field("set").Strategic.Merge != Set || field("raw").Kind != Bytes || !field("union").Strategic.RetainKeys {
		t.Error("set, raw or union")
	}
	type wrong struct {
		List []embedded `json:"list" patchStrategy:"merge"`
	}
	if _, err := FromType(reflect.TypeFor[wrong]()); err == nil || !strings.Contains(err.Error(), "list: ") {
		t.Errorf("a list of structs to merge without a key: %v", err)
	}
	if _, err := FromType(reflect.TypeFor[int]()); err == nil {
		t.Error("an int is no object")
	}
}
