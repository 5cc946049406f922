package schema_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"k8s.io/kube-openapi/pkg/schemaconv"
	"k8s.io/kube-openapi/pkg/validation/spec"
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"

	"example.com/braid/internal/kinds"
	"example.com/braid/internal/node"
	"example.com/braid/internal/schema"
)

// definitions returns the CRDs of the corpus, each with the name of its file.
func definitions(t *testing.T) (trees []*node.Tree, files []string) {
	t.Helper()
	for _, file := range kinds.Corpus(t, "") {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, document := range bytes.Split(data, []byte("\n---")) {
			if !bytes.Contains(document, []byte("kind: CustomResourceDefinition")) {
				continue
			}
			tree, err := node.ParseYAML(document, node.Limits{})
			if err != nil {
				t.Errorf("%s: %v", filepath.Base(file), err)
				continue
			}
			if k := tree.Lookup("kind"); k != node.None && tree.Text(k) == "CustomResourceDefinition" {
				trees, files = append(trees, tree), append(files, filepath.Base(file))
			}
		}
	}
	return trees, files
}

// The CRDs that real projects ship compile: what is called malformed, no server that
// serves these accepts.
func TestReadCRDTakesCorpus(t *testing.T) {
	trees, files := definitions(t)
	versions, count := 0, counter{}
	for i, tree := range trees {
		found, err := schema.ReadCRD(tree)
		if err != nil || len(found) == 0 {
			t.Errorf("%s: %d versions, %v", files[i], len(found), err)
		}
		for k, s := range found {
			versions++
			if s.Name != k.String() || !s.Custom {
				t.Errorf("%v: %+v", k, s)
			}
			count.add(s.Root)
			finalizers := at(t, s.Root, "metadata", "finalizers")
			if finalizers.Structured.Merge != schema.Set || at(t, s.Root, "kind").Kind != schema.String {
				t.Errorf("%v: not the metadata of an object: %+v", k, finalizers)
			}
		}
	}
	t.Logf("%d CRDs, %d versions served; positions: %v", len(trees), versions, count)
	for _, what := range []string{"quantity", "int or string", "keyed", "set", "atomic map", "embedded", "keeps unknown", "nullable", "default", "key default"} {
		if count[what] == 0 {
			t.Errorf("nothing is %s", what)
		}
	}
	if len(trees) < 70 || versions < len(trees) {
		t.Errorf("only %d versions of %d CRDs", versions, len(trees))
	}
}

// counter counts the positions of types that have no cycles, by what they are.
type counter map[string]int

func (c counter) add(t *schema.Type) {
	if t == nil {
		return
	}
	c["all"]++
	for what, is := range map[string]bool{
		"quantity":      t.Kind == schema.Quantity,
		"int or string": t.Kind == schema.IntOrString,
		"keyed":         t.Structured.Merge == schema.Keyed,
		"set":           t.Structured.Merge == schema.Set,
		"atomic map":    t.Structured.Merge == schema.Atomic && t.Kind != schema.List,
		"embedded":      t.Embedded,
		"keeps unknown": t.PreserveUnknown,
		"nullable":      t.Nullable,
		"default":       t.Default != "",
	} {
		if is {
			c[what]++
		}
	}
	for _, k := range t.Structured.Keys {
		if k.Default != "" {
			c["key default"]++
		}
	}
	for _, f := range t.Fields {
		c.add(f.Type)
	}
	c.add(t.Elem)
}

// at returns the type under fields; "" stands for elements.
func at(t *testing.T, typ *schema.Type, fields ...string) *schema.Type {
	t.Helper()
	for _, f := range fields {
		child := typ.Elem
		if f != "" {
			child, _ = typ.Lookup(f)
		}
		if child == nil {
			t.Fatalf("%v: there is no %q", fields, f)
		}
		typ = child
	}
	return typ
}

// crd returns a definition with one version, v1, in the words of v.
func crd(t *testing.T, v string) *node.Tree {
	t.Helper()
	return parse(t, `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
		"spec":{"group":"example.com","names":{"kind":"Foo"},"versions":[{"name":"v1","served":true,`+v+`}]}}`)
}

func parse(t *testing.T, text string) *node.Tree {
	t.Helper()
	tree, err := node.Parse([]byte(text), node.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

var foo = schema.GVK{Group: "example.com", Version: "v1", Kind: "Foo"}

// position returns the type that a CRD gives spec.x by the words of schema.
func position(t *testing.T, words string) (*schema.Type, error) {
	t.Helper()
	found, err := schema.ReadCRD(crd(t, `"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"x":`+words+`}}}}}`))
	if err != nil {
		return nil, err
	}
	return at(t, found[foo].Root, "spec", "x"), nil
}

func TestReadCRDPositions(t *testing.T) {
	const item = `"items":{"type":"object","required":["name"],"properties":{"name":{"type":"string"},"port":{"type":"integer"},"protocol":{"type":"string","default":"TCP"}}}`
	atomic := schema.Rule{Merge: schema.Atomic}
	keyed := func(keys ...schema.Key) schema.Rule { return schema.Rule{Merge: schema.Keyed, Keys: keys} }
	for _, c := range []struct {
		why, words            string
		kind                  schema.Kind
		strategic, structured schema.Rule
	}{
		{"a list without a word", `{"type":"array",` + item + `}`, schema.List, atomic, atomic},
		{"a keyed list is keyed for apply only", `{"type":"array",` + item + `,"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"]}`, schema.List, atomic, keyed(schema.Key{Name: "name"})},
		{"composite keys keep their order and defaults", `{"type":"array",` + item + `,"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["protocol","port"]}`, schema.List, atomic, keyed(schema.Key{Name: "protocol", Default: `"TCP"`}, schema.Key{Name: "port"})},
		{"a set", `{"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"set"}`, schema.List, atomic, schema.Rule{Merge: schema.Set}},
		{"an atomic list says so", `{"type":"array",` + item + `,"x-kubernetes-list-type":"atomic"}`, schema.List, atomic, atomic},
		{"a patch strategy is no word of a CRD", `{"type":"array",` + item + `,"x-kubernetes-patch-strategy":"merge","x-kubernetes-patch-merge-key":"name"}`, schema.List, atomic, atomic},
		{"nor is it one in additionalProperties", `{"type":"object","additionalProperties":{"type":"object","properties":{"a":{"type":"string"}},"x-kubernetes-patch-strategy":"x"}}`, schema.Map, schema.Rule{}, schema.Rule{}},
		{"an atomic map", `{"type":"object","additionalProperties":{"type":"string"},"x-kubernetes-map-type":"atomic"}`, schema.Map, schema.Rule{}, atomic},
		{"an atomic struct", `{"type":"object","properties":{"a":{"type":"string"}},"x-kubernetes-map-type":"atomic"}`, schema.Map, schema.Rule{}, atomic},
		{"a granular map says so", `{"type":"object","properties":{"a":{"type":"string"}},"x-kubernetes-map-type":"granular"}`, schema.Map, schema.Rule{}, schema.Rule{}},
		{"anything that is kept", `{"x-kubernetes-preserve-unknown-fields":true}`, schema.Any, schema.Rule{}, schema.Rule{}},
		{"anything with fields", `{"x-kubernetes-preserve-unknown-fields":true,"properties":{"a":{"type":"string"}}}`, schema.Map, schema.Rule{}, schema.Rule{}},
		{"int-or-string", `{"anyOf":[{"type":"integer"},{"type":"string"}],"x-kubernetes-int-or-string":true}`, schema.IntOrString, schema.Rule{}, schema.Rule{}},
		{"time", `{"type":"string","format":"date-time"}`, schema.Time, schema.Rule{}, schema.Rule{}},
	} {
		typ, err := position(t, c.words)
		if err != nil {
			t.Errorf("%s: %v", c.why, err)
			continue
		}
		if typ.Kind != c.kind || !reflect.DeepEqual(typ.Strategic, c.strategic) || !reflect.DeepEqual(typ.Structured, c.structured) {
			t.Errorf("%s: kind %d, %+v, %+v", c.why, typ.Kind, typ.Strategic, typ.Structured)
		}
	}
}

func TestReadCRDWords(t *testing.T) {
	for _, c := range []struct {
		words string
		want  schema.Type
	}{
		{`{"type":"string","nullable":true,"default":"a"}`, schema.Type{Kind: schema.String, Nullable: true, Default: `"a"`}},
		{`{"type":"string","nullable":true,"default":null}`, schema.Type{Kind: schema.String, Nullable: true}},
		{`{"type":"number","default":1.50}`, schema.Type{Kind: schema.Number, Default: "1.50"}},
		{`{"type":"object","x-kubernetes-preserve-unknown-fields":true}`, schema.Type{PreserveUnknown: true}},
	} {
		if typ, err := position(t, c.words); err != nil || !reflect.DeepEqual(*typ, c.want) {
			t.Errorf("%s: %+v %v", c.words, typ, err)
		}
	}
}

// metadata is that of built-in kinds, whatever the CRD says of it.
func TestReadCRDObjects(t *testing.T) {
	configMap, _ := schema.Builtin("", "v1", "ConfigMap")
	meta := at(t, configMap.Root, "metadata")
	found, err := schema.ReadCRD(crd(t, `"schema":{"openAPIV3Schema":{"type":"object","properties":{
		"apiVersion":{"type":"integer"},
		"metadata":{"type":"object","properties":{"name":{"type":"string","maxLength":9}}},
		"template":{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true},
		"list":{"type":"array","items":{"type":"object","x-kubernetes-embedded-resource":true,"properties":{"metadata":{"type":"object"},"spec":{"type":"object"}}}},
		"map":{"type":"object","additionalProperties":{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	root := found[foo].Root
	if root.PreserveUnknown || root.Embedded {
		t.Errorf("the root is %+v", root)
	}
	for _, path := range [][]string{{}, {"template"}, {"list", ""}, {"map", ""}} {
		object := at(t, root, path...)
		got := at(t, object, "metadata")
		if !reflect.DeepEqual(got.Fields, meta.Fields) || got.Default != "" {
			t.Errorf("%v: metadata is %+v", path, got)
		}
		if object.Embedded != (len(path) > 0) || at(t, object, "apiVersion").Kind != schema.String || at(t, object, "kind").Kind != schema.String {
			t.Errorf("%v: not an object", path)
		}
	}
	if template := at(t, root, "template"); !template.PreserveUnknown || template.Kind != schema.Map {
		t.Errorf("template is %+v", template)
	}
}

// Only versions that are served count, and one without a schema keeps all.
func TestReadCRDVersions(t *testing.T) {
	const typed = `{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"a":{"type":"integer"}}}}}}`
	type versions map[string]bool // whether unknown fields of the object are kept
	for _, c := range []struct {
		why, api, spec string
		want           versions
	}{
		{"v1", "v1", `"versions":[{"name":"v1","served":true,"schema":` + typed + `},{"name":"v2","served":true},{"name":"v0","served":false,"schema":{"openAPIV3Schema":{"type":"array"}}}]`, versions{"v1": false, "v2": true}},
		{"v1 keeps what it does not know if it says so", "v1", `"preserveUnknownFields":true,"versions":[{"name":"v1","served":true,"schema":` + typed + `}]`, versions{"v1": true}},
		{"v1 has no schema for all versions", "v1", `"validation":{"openAPIV3Schema":5},"versions":[{"name":"v1","served":true,"schema":` + typed + `}]`, versions{"v1": false}},
		{"v1beta1 keeps it by default", "v1beta1", `"versions":[{"name":"v1","served":true,"schema":` + typed + `}]`, versions{"v1": true}},
		{"v1beta1 with one version", "v1beta1", `"preserveUnknownFields":false,"version":"v1alpha1","validation":` + typed, versions{"v1alpha1": false}},
		{"v1beta1 with one schema for all", "v1beta1", `"preserveUnknownFields":false,"version":"a","validation":` + typed + `,"versions":[{"name":"a","served":true},{"name":"b","served":true},{"name":"c","served":false}]`, versions{"a": false, "b": false}},
	} {
		found, err := schema.ReadCRD(parse(t, `{"apiVersion":"apiextensions.k8s.io/`+c.api+`","kind":"CustomResourceDefinition","spec":{"group":"example.com","names":{"kind":"Foo"},`+c.spec+`}}`))
		got := versions{}
		for k, s := range found {
			got[k.Version] = s.Root.PreserveUnknown
			at(t, s.Root, "metadata", "ownerReferences", "", "uid")
		}
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v %v", c.why, got, err)
		}
	}
}

func TestReadCRDFaults(t *testing.T) {
	const kind, names = `"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition"`, `"group":"example.com","names":{"kind":"Foo"}`
	body := func(schema string) string {
		return `{` + kind + `,"spec":{` + names + `,"versions":[{"name":"v1","served":true,"schema":{"openAPIV3Schema":` + schema + `}}]}}`
	}
	for text, want := range map[string]string{
		`{"apiVersion":"v1","kind":"Pod"}`:                      "schema: malformed schema: in CustomResourceDefinition: this is v1, Kind=Pod",
		`{"apiVersion":"v1","kind":"CustomResourceDefinition"}`: "this is v1, Kind=CustomResourceDefinition",
		`[]`:             "cannot unmarshal array",
		`{` + kind + `}`: "schema: spec: malformed schema: in CustomResourceDefinition: it names no group",
		`{` + kind + `,"spec":{"group":"example.com"}}`:                                   "schema: spec.names: malformed schema: in CustomResourceDefinition: it names no kind",
		`{` + kind + `,"spec":{` + names + `}}`:                                           "schema: spec: malformed schema: in CustomResourceDefinition: it has no versions",
		`{` + kind + `,"spec":{` + names + `,"versions":[{}]}}`:                           "schema: spec.versions: malformed schema: in CustomResourceDefinition: a version needs a name of its own",
		`{` + kind + `,"spec":{` + names + `,"versions":[{"name":"a"},{"name":"a"}]}}`:    "a version needs a name of its own",
		body(`{"type":"array"}`):                                                          "in version example.com/v1, Kind=Foo: the schema of an object has the type object",
		body(`5`):                                                                         "in version example.com/v1, Kind=Foo: json: cannot unmarshal number",
		body(`{"type":"object","properties":{"spec":{"$ref":"#/components/schemas/x"}}}`): "schema: spec: malformed schema: in version example.com/v1, Kind=Foo: $ref",
		body(`{"type":"object","properties":{"spec":{"type":"object","properties":{"a":{"type":"array","items":{"type":"object","properties":{"b":{"type":"string"}}},"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"]}}}}}`): `schema: spec.a: malformed schema: in version example.com/v1, Kind=Foo: the elements of the list have no key field "name"`,
		body(`{"type":"object","properties":{"spec":{"type":"array","x-kubernetes-list-type":"map"}}}`):                                                                                                                                           "schema: spec: malformed schema: in version example.com/v1, Kind=Foo: list-type map needs list-map-keys",
		body(strings.Repeat(`{"type":"array","items":`, 300) + `{}` + strings.Repeat(`}`, 300)):                                                                                                                                                   "nested deeper than 200",
	} {
		_, err := schema.ReadCRD(parse(t, text))
		var e *node.Error
		if !errors.As(err, &e) || !errors.Is(err, schema.ErrSchema) || e.Doc != "schema" || !strings.Contains(err.Error(), want) {
			t.Errorf("%.200s: %v, want %s", text, err, want)
		}
	}
}

// The structured rules of custom kinds are those that an API server takes from the same
// CRD (kube-openapi, schemaconv).
func TestCRDsAgreeWithServer(t *testing.T) {
	meta := metadata(t)
	trees, files := definitions(t)
	w := &servers{t: t, lists: map[*schema.Type]bool{}, atomic: map[*schema.Type]bool{}}
	for i, tree := range trees {
		for k, components := range published(t, tree, meta) {
			found, err := schema.ReadCRD(tree)
			if err != nil {
				t.Fatal(err)
			}
			if w.smd, err = schemaconv.ToSchemaFromOpenAPI(components, false); err != nil {
				t.Fatalf("%s: %v", files[i], err)
			}
			w.seen = map[servedPair]bool{}
			name := componentName(k)
			w.same(k.Kind, found[k].Root, smd.TypeRef{NamedType: &name})
		}
	}
	t.Logf("%d positions, %d types of lists and %d of atomic maps", w.positions, len(w.lists), len(w.atomic))
	if w.positions < 10000 {
		t.Errorf("only %d positions compared", w.positions)
	}
}

func componentName(k schema.GVK) string { return k.Group + "." + k.Version + "." + k.Kind }

// published returns, for each version that a CRD serves, the components that an API
// server publishes of it: meta, and what it makes of the schema.
func published(t *testing.T, tree *node.Tree, meta map[string]*spec.Schema) map[schema.GVK]map[string]*spec.Schema {
	t.Helper()
	var crd struct {
		Spec struct {
			Group    string
			Names    struct{ Kind string }
			Versions []struct {
				Name   string
				Served bool
				Schema struct{ OpenAPIV3Schema *spec.Schema }
			}
		}
	}
	if err := tree.Decode(&crd); err != nil {
		t.Fatal(err)
	}
	out := map[schema.GVK]map[string]*spec.Schema{}
	for _, v := range crd.Spec.Versions {
		s := v.Schema.OpenAPIV3Schema
		if s == nil || !v.Served {
			continue
		}
		k := schema.GVK{Group: crd.Spec.Group, Version: v.Name, Kind: crd.Spec.Names.Kind}
		served(s, true)
		s.AddExtension("x-kubernetes-group-version-kind", []any{map[string]any{"group": k.Group, "version": k.Version, "kind": k.Kind}})
		out[k] = maps.Clone(meta)
		out[k][componentName(k)] = s
	}
	return out
}

// metadata returns the component of ObjectMeta and all that it refers to.
func metadata(t *testing.T) map[string]*spec.Schema {
	t.Helper()
	for _, file := range kinds.OpenAPI(t, schema.BuiltinVersion()) {
		if filepath.Base(file) != "api__v1_openapi.json" {
			continue
		}
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
		for name := range doc.Components.Schemas {
			if !strings.HasPrefix(name, "io.k8s.apimachinery.") {
				delete(doc.Components.Schemas, name)
			}
		}
		return doc.Components.Schemas
	}
	t.Fatal("no document of v1")
	return nil
}

// served gives objects the fields that an API server gives them when it publishes a CRD.
func served(s *spec.Schema, object bool) {
	for name, p := range s.Properties {
		served(&p, p.Extensions["x-kubernetes-embedded-resource"] == true)
		s.Properties[name] = p
	}
	if more := s.AdditionalProperties; more != nil && more.Schema != nil {
		served(more.Schema, more.Schema.Extensions["x-kubernetes-embedded-resource"] == true)
	}
	if s.Items != nil && s.Items.Schema != nil {
		served(s.Items.Schema, s.Items.Schema.Extensions["x-kubernetes-embedded-resource"] == true)
	}
	if object {
		s.SetProperty("apiVersion", *spec.StringProperty())
		s.SetProperty("kind", *spec.StringProperty())
		s.SetProperty("metadata", *spec.RefSchema("#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"))
	}
}
