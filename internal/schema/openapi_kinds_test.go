package schema_test

import (
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"

	"example.com/braid/internal/kinds"
	"example.com/braid/internal/node"
	"example.com/braid/internal/schema"
)

// alike reports where two graphs have other rules, shapes or defaults.
func alike(t *testing.T, path string, a, b *schema.Type, seen map[[2]*schema.Type]bool) {
	t.Helper()
	pair := [2]*schema.Type{a, b}
	if seen[pair] || a == b {
		return
	}
	seen[pair] = true
	if (a == nil) != (b == nil) || len(a.Fields) != len(b.Fields) {
		t.Errorf("%s: another shape", path)
		return
	}
	x, y := *a, *b
	for _, t := range []*schema.Type{&x, &y} {
		t.Fields, t.Elem = nil, nil
	}
	if !reflect.DeepEqual(x, y) {
		t.Errorf("%s: %+v, want %+v", path, x, y)
	}
	for i, f := range a.Fields {
		if f.Name != b.Fields[i].Name {
			t.Errorf("%s: field %s, want %s", path, f.Name, b.Fields[i].Name)
			continue
		}
		alike(t, path+"."+f.Name, f.Type, b.Fields[i].Type, seen)
	}
	alike(t, path+"[*]", a.Elem, b.Elem, seen)
}

// The document of each group and version, as an API server gives it, has the rules of
// the table.
func TestReadKindsOfServer(t *testing.T) {
	served := map[schema.GVK]bool{}
	for _, file := range kinds.OpenAPI(t, schema.BuiltinVersion()) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found, err := schema.ReadKinds(data)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for k, s := range found {
			served[k] = true
			builtin, ok := schema.Builtin(k.Group, k.Version, k.Kind)
			if !ok || s.Custom || s.Name != k.String() {
				t.Errorf("%v: %+v", k, s)
				continue
			}
			alike(t, k.Kind, s.Root, builtin.Root, map[[2]*schema.Type]bool{})
		}
	}
	if len(served) != len(schema.BuiltinKinds()) {
		t.Errorf("%d kinds of %d", len(served), len(schema.BuiltinKinds()))
	}
}

// What an API server publishes of a CRD has the rules that the CRD itself gives.
func TestReadKindsOfCRDs(t *testing.T) {
	meta := metadata(t)
	trees, _ := definitions(t)
	seen := 0
	for _, tree := range trees {
		want, err := schema.ReadCRD(tree)
		if err != nil {
			t.Fatal(err)
		}
		for k, components := range published(t, tree, meta) {
			document, err := json.Marshal(map[string]any{"components": map[string]any{"schemas": components}})
			if err != nil {
				t.Fatal(err)
			}
			found, err := schema.ReadKinds(document)
			if err != nil || found[k] == nil || !found[k].Custom {
				t.Errorf("%v: %+v %v", k, found[k], err)
				continue
			}
			seen++
			alike(t, k.Kind, found[k].Root, want[k].Root, map[[2]*schema.Type]bool{})
		}
	}
	if seen < 75 {
		t.Errorf("only %d kinds", seen)
	}
}

// A malformed component spoils the kinds that reach it, and no other.
func TestReadKindsSpoilt(t *testing.T) {
	const text = `{"components":{"schemas":{
		"a":{"type":"object","properties":{"b":{"$ref":"#/components/schemas/b"}},"x-kubernetes-group-version-kind":[{"group":"g","version":"v","kind":"A"}]},
		"b":{"type":"array","items":{"allOf":[{"$ref":"#/components/schemas/c"}],"nullable":true}},
		"c":{"type":"object","properties":{"d":{"type":"array","x-kubernetes-list-type":"odd"},"a":{"$ref":"#/components/schemas/a"}}},
		"e":{"type":"object","properties":{"f":{"type":"string"},"e":{"$ref":"#/components/schemas/e"}},"x-kubernetes-group-version-kind":[{"group":"g","version":"v","kind":"E"}]},
		"f":{"type":5,"x-kubernetes-group-version-kind":[{"group":"g","version":"v","kind":"F"}]},
		"g":{"allOf":[{"$ref":"#/components/schemas/h"}],"x-kubernetes-group-version-kind":[{"group":"g","version":"v","kind":"G"}]},
		"h":{"$ref":"#/components/schemas/g"},
		"i":{"type":"array","items":{"$ref":"nowhere"},"x-kubernetes-group-version-kind":[{"group":"g","version":"v","kind":"I"}]},
		"j":{"properties":{"i":{"allOf":[{"$ref":"#/components/schemas/i"}],"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"]}},"x-kubernetes-group-version-kind":[{"group":"g","version":"v","kind":"J"}]},
		"unused":null}}}`
	found, err := schema.ReadKinds([]byte(text))
	if len(found) != 1 || found[schema.GVK{Group: "g", Version: "v", Kind: "E"}] == nil {
		t.Errorf("%v", found)
	}
	want := []string{
		`g/v, Kind=A: schema: d: malformed schema: in component c: list-type "odd" is none of map, set and atomic`,
		`g/v, Kind=F: schema: malformed schema: in component f: json: cannot unmarshal number`,
		`g/v, Kind=G: schema: malformed schema: in component g: the reference leads to itself`,
		`g/v, Kind=I: schema: [0]: malformed schema: in component i: $ref "nowhere" does not name a component`,
		`g/v, Kind=J: schema: [0]: malformed schema: in component i: $ref "nowhere" does not name a component`,
	}
	var e *node.Error
	if !errors.Is(err, schema.ErrSchema) || !errors.As(err, &e) {
		t.Fatal(err)
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != len(want) {
		t.Fatalf("%d errors:\n%v", len(lines), err)
	}
	for i, line := range lines {
		if !strings.HasPrefix(line, want[i]) {
			t.Errorf("%s, want %s", line, want[i])
		}
	}
	if found, err := schema.ReadKinds([]byte(`{"components":`)); len(found) > 0 || !errors.Is(err, node.ErrSyntax) {
		t.Errorf("%v %v", found, err)
	}
	if _, err := schema.ReadOpenAPI([]byte(text)); err == nil || !strings.Contains(err.Error(), "in component c") {
		t.Errorf("ReadOpenAPI refuses the first by name, not %v", err)
	}
}
