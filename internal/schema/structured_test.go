package schema_test

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/kube-openapi/pkg/schemaconv"
	"k8s.io/kube-openapi/pkg/validation/spec"
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"

	"example.com/braid/internal/kinds"
	"example.com/braid/internal/schema"
)

// servers walks the type of the table beside the one that an API server makes of the
// same document for server-side apply.
type servers struct {
	t         *testing.T
	smd       *smd.Schema
	seen      map[servedPair]bool
	positions int
	lists     map[*schema.Type]bool
	atomic    map[*schema.Type]bool
}

type servedPair struct {
	table *schema.Type
	named string
	rel   smd.ElementRelationship
}

func (w *servers) same(path string, table *schema.Type, ref smd.TypeRef) {
	if ref.NamedType != nil {
		pair := servedPair{table: table, named: *ref.NamedType}
		if ref.ElementRelationship != nil {
			pair.rel = *ref.ElementRelationship
		}
		if w.seen[pair] {
			return
		}
		w.seen[pair] = true
	}
	w.positions++
	atom, ok := w.smd.Resolve(ref)
	if !ok {
		w.t.Errorf("%s: no type there", path)
		return
	}
	switch table.Kind {
	case schema.List:
		w.list(path, table, atom)
	case schema.Map, schema.Any:
		w.fields(path, table, atom)
	default:
		if atom.Scalar == nil || table.Structured.Merge != schema.Granular {
			w.t.Errorf("%s: a scalar, not %+v", path, atom)
		}
	}
}

func (w *servers) list(path string, table *schema.Type, atom smd.Atom) {
	if atom.List == nil {
		w.t.Errorf("%s: a list, not %+v", path, atom)
		return
	}
	w.lists[table] = true
	want := schema.Rule{Merge: schema.Atomic}
	if atom.List.ElementRelationship == smd.Associative {
		want.Merge = schema.Set
		elem, _ := w.smd.Resolve(atom.List.ElementType)
		for _, k := range atom.List.Keys {
			want.Merge = schema.Keyed
			f, _ := elem.Map.FindField(k)
			want.Keys = append(want.Keys, schema.Key{Name: k, Default: text(w.t, f.Default)})
		}
	}
	if got := table.Structured; got.Merge != want.Merge || !slices.Equal(got.Keys, want.Keys) {
		w.t.Errorf("%s: %+v, want %+v", path, got, want)
	}
	w.same(path+"[]", table.Elem, atom.List.ElementType)
}

func (w *servers) fields(path string, table *schema.Type, atom smd.Atom) {
	if atom.Map == nil {
		w.t.Errorf("%s: a map, not %+v", path, atom)
		return
	}
	if atomic := atom.Map.ElementRelationship == smd.Atomic; atomic != (table.Structured.Merge == schema.Atomic) {
		w.t.Errorf("%s: atomic %v, table %+v", path, atomic, table.Structured)
	} else if atomic {
		w.atomic[table] = true
	}
	if len(table.Fields) != len(atom.Map.Fields) {
		w.t.Errorf("%s: %d fields, want %d", path, len(table.Fields), len(atom.Map.Fields))
	}
	for _, f := range atom.Map.Fields {
		child, named := table.Lookup(f.Name)
		if !named {
			w.t.Errorf("%s: no field %s", path, f.Name)
			continue
		}
		if d := text(w.t, f.Default); d != child.Default {
			w.t.Errorf("%s.%s: default %s, want %s", path, f.Name, child.Default, d)
		}
		w.same(path+"."+f.Name, child, f.Type)
	}
	if table.Elem != nil {
		w.same(path+"[*]", table.Elem, atom.Map.ElementType)
	}
}

// text is the JSON text of a default, or "".
func text(t *testing.T, value any) string {
	if value == nil {
		return ""
	}
	out, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// The structured rules, keys, and defaults of the table are those that an API server
// takes from the same documents (kube-openapi, schemaconv).
func TestTableAgreesWithServer(t *testing.T) {
	compared, w := map[string]bool{}, &servers{t: t, lists: map[*schema.Type]bool{}, atomic: map[*schema.Type]bool{}}
	for _, file := range kinds.OpenAPI(t, schema.BuiltinVersion()) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var doc struct {
			Components struct{ Schemas map[string]*spec.Schema }
		}
		if err := json.Unmarshal(data, &doc); err != nil {
			t.Fatal(err)
		}
		if w.smd, err = schemaconv.ToSchemaFromOpenAPI(doc.Components.Schemas, false); err != nil {
			t.Fatal(err)
		}
		w.seen = map[servedPair]bool{}
		for name, s := range doc.Components.Schemas {
			served, _ := s.Extensions["x-kubernetes-group-version-kind"].([]any)
			for _, k := range served {
				k := k.(map[string]any)
				table, ok := schema.Builtin(k["group"].(string), k["version"].(string), k["kind"].(string))
				if !ok {
					t.Errorf("%v is not in the table", k)
					continue
				}
				compared[table.Name] = true
				w.same(table.Name[strings.IndexByte(table.Name, '=')+1:], table.Root, smd.TypeRef{NamedType: &name})
			}
		}
	}
	t.Logf("%d kinds with %d positions, %d types of lists and %d of atomic maps", len(compared), w.positions, len(w.lists), len(w.atomic))
	if len(compared) != len(schema.BuiltinKinds()) || w.positions < 8000 {
		t.Errorf("only %d positions of %d kinds compared", w.positions, len(compared))
	}
}

// Where the two rules of the table differ, counted by the fields of structs that have
// the difference, each struct once. The engine must keep both rules for their sake.
func TestRulesDiffer(t *testing.T) {
	got := map[string]int{}
	seen, structs := map[*schema.Type]bool{}, map[string]bool{}
	var visit func(*schema.Type)
	visit = func(typ *schema.Type) {
		if typ == nil || seen[typ] {
			return
		}
		seen[typ] = true
		visit(typ.Elem)
		shape := ""
		for _, f := range typ.Fields {
			visit(f.Type)
			shape += f.Name + " "
		}
		if structs[shape] {
			return
		}
		structs[shape] = true
		for _, f := range typ.Fields {
			a, b := f.Type.Strategic, f.Type.Structured
			switch {
			case a.Merge == b.Merge && slices.Equal(names(a.Keys), names(b.Keys)):
			case a.Merge == schema.Keyed && b.Merge == schema.Keyed:
				got["other keys"]++
			case a.Merge == schema.Keyed && b.Merge == schema.Atomic:
				got["keyed only for a patch"]++
			case f.Type.Kind != schema.List:
				got["an atomic map only for apply"]++
			case b.Merge == schema.Keyed:
				got["keyed only for apply"]++
			case b.Merge == schema.Set:
				got["a set only for apply"]++
			default:
				t.Errorf("%s: %+v, %+v", f.Name, a, b)
			}
		}
	}
	for _, k := range schema.BuiltinKinds() {
		s, _ := schema.Builtin(k.Group, k.Version, k.Kind)
		visit(s.Root)
	}
	want := map[string]int{
		"other keys":                   6,  // Service ports, container ports, topologySpreadConstraints
		"keyed only for a patch":       2,  // PodStatus hostIPs, JobStatus conditions
		"keyed only for apply":         14, // ResourceRequirements claims
		"a set only for apply":         18, // NonResourcePolicyRule verbs
		"an atomic map only for apply": 77, // Deployment selector, PodSpec nodeSelector
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
