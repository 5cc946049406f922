package twin

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"k8s.io/kube-openapi/pkg/schemaconv"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/merge"
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/yaml"

	"example.com/braid/internal/dialect"
	"example.com/braid/internal/schema"
	"example.com/braid/internal/walk"
)

// serverKind is a kind as an API server sees it for server-side apply: by the library
// structured-merge-diff, under the types that the server makes of an OpenAPI document.
type serverKind struct {
	schema *schema.Schema
	typed.ParseableType
}

// thing has all the lists, maps and structs that structured rules tell apart.
const thing = `
components:
  schemas:
    Thing:
      type: object
      properties:
        text: {type: string}
        number: {type: integer}
        either: {x-kubernetes-int-or-string: true}
        list: {type: array, items: {type: string}}
        parts: {type: array, items: {$ref: "#/components/schemas/Part"}}
        set: {type: array, x-kubernetes-list-type: set, items: {type: string}}
        numbers: {type: array, x-kubernetes-list-type: set, items: {type: integer}}
        named: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: {$ref: "#/components/schemas/Part"}}
        ports: {$ref: "#/components/schemas/Ports"}
        refs: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: {x-kubernetes-map-type: atomic, allOf: [{$ref: "#/components/schemas/Part"}]}}
        modes: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [mode], items: {$ref: "#/components/schemas/Mode"}}
        labels: {type: object, additionalProperties: {type: string}}
        sets: {type: object, additionalProperties: {type: array, x-kubernetes-list-type: set, items: {type: string}}}
        byName: {type: object, additionalProperties: {$ref: "#/components/schemas/Part"}}
        selector: {type: object, x-kubernetes-map-type: atomic, additionalProperties: {type: string}}
        whole: {x-kubernetes-map-type: atomic, allOf: [{$ref: "#/components/schemas/Part"}]}
        part: {$ref: "#/components/schemas/Part"}
        any: {x-kubernetes-preserve-unknown-fields: true}
    Part:
      type: object
      properties:
        name: {type: string}
        value: {type: string}
        args: {type: array, items: {type: string}}
        set: {type: array, x-kubernetes-list-type: set, items: {type: string}}
        inner: {$ref: "#/components/schemas/Ports"}
        labels: {type: object, additionalProperties: {type: string}}
        port: {$ref: "#/components/schemas/Port"}
    Ports: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [port, protocol], items: {$ref: "#/components/schemas/Port"}}
    Port:
      type: object
      properties:
        port: {type: integer}
        protocol: {type: string, default: a}
        text: {type: string}
    Mode:
      type: object
      properties:
        mode: {type: string, default: a}
        text: {type: string}
        port: {$ref: "#/components/schemas/Port"}
`

// newThing reads the document twice, as a server does and as braid does.
func newThing(t testing.TB) serverKind {
	t.Helper()
	text, err := yaml.YAMLToJSON([]byte(thing))
	if err != nil {
		t.Fatal(err)
	}
	api, err := schema.ReadOpenAPI(text)
	if err != nil {
		t.Fatal(err)
	}
	return serverKind{&schema.Schema{Name: "Thing", Root: api.Types["Thing"]}, typeOf(readTypes(t, text), "Thing")}
}

func readTypes(t testing.TB, document []byte) *smd.Schema {
	t.Helper()
	var doc struct {
		Components struct{ Schemas map[string]*spec.Schema }
	}
	if err := json.Unmarshal(document, &doc); err != nil {
		t.Fatal(err)
	}
	types, err := schemaconv.ToSchemaFromOpenAPI(doc.Components.Schemas, false)
	if err != nil {
		t.Fatal(err)
	}
	return types
}

func typeOf(types *smd.Schema, name string) typed.ParseableType {
	return typed.ParseableType{Schema: types, TypeRef: smd.TypeRef{NamedType: &name}}
}

// writer is how others write between our two turns.
type writer uint8

const (
	updates writer = iota // they put live
	applies               // they apply live's content by force, as another manager
	nobody                // live is what the server has made of it: nobody owns what changed
)

const us, others = "us", "others"

// turn is where a story stands before we apply desired: we have applied last, and others
// have written.
type turn struct {
	kind     serverKind
	live     *typed.TypedValue
	managers fieldpath.ManagedFields
}

// sameVersion is a converter for objects of one version.
type sameVersion struct{}

func (sameVersion) Convert(v *typed.TypedValue, _ fieldpath.APIVersion) (*typed.TypedValue, error) {
	return v, nil
}
func (sameVersion) IsMissingVersionError(error) bool { return false }

var updater = (&merge.UpdaterBuilder{Converter: sameVersion{}, ReturnInputOnNoop: true}).BuildUpdater()

const version = fieldpath.APIVersion("v1")

// play lets us apply last, and others write.
func (k serverKind) play(x triple, how writer) (turn, error) {
	t := turn{kind: k}
	var err error
	if t.live, err = k.FromUnstructured(map[string]any{}); err != nil {
		return t, err
	}
	if t, err = t.apply(x.last, us, true); err != nil {
		return t, fmt.Errorf("last: %w", err)
	}
	switch how {
	case applies:
		t, err = t.apply(x.live, others, true)
	default:
		var live *typed.TypedValue
		if live, err = k.FromUnstructured(x.live, typed.AllowDuplicates); err != nil {
			break
		}
		if how == nobody {
			t.live = live
			break
		}
		t.live, t.managers, err = updater.Update(t.live, live, version, t.managers, others)
	}
	if err != nil {
		return t, fmt.Errorf("live: %w", err)
	}
	return t, nil
}

// apply returns t after a manager has applied.
func (t turn) apply(config map[string]any, manager string, force bool) (turn, error) {
	c, err := t.kind.FromUnstructured(config)
	if err != nil {
		return t, err
	}
	t.live, t.managers, err = updater.Apply(t.live, c, version, t.managers, manager, force)
	return t, err
}

func (t turn) object() map[string]any {
	m, _ := t.live.AsValue().Unstructured().(map[string]any)
	return m
}

// owned returns what a manager owns.
func (t turn) owned(manager string) *fieldpath.Set {
	if m, ok := t.managers[manager]; ok {
		return m.Set()
	}
	return fieldpath.NewSet()
}

// serverSide holds our merge under the model Structured against what a server makes of
// the same three: of desired, and of our apply configuration. Then it holds Strict
// against the conflicts that a server finds without force.
func (k serverKind) serverSide(x triple, how writer, j *judge) {
	t, err := k.play(x, how)
	if err != nil {
		j.unexplained("story", "%v", err)
		return
	}
	x.live = t.object() // if others have applied, it has more than what they sent
	merged := func(p walk.Policy) (walk.Script, bool) {
		sc, err := walk.Walk(walk.Input{Last: tree(x.last), Live: tree(x.live), Desired: tree(x.desired), Rules: walk.Rules{
			Schema: k.schema, Model: schema.Structured, Policy: &p, Equality: walk.Exact}})
		if err != nil {
			j.unexplained("we refuse", "%v", err)
		}
		return sc, err == nil
	}
	sc, ok := merged(walk.Apply)
	if !ok {
		return
	}
	config, err := dialect.EncodeApplyConfiguration(nil, &sc)
	if err != nil {
		j.unexplained("configuration", "%v", err)
		return
	}
	said, _ := parseMap(config)
	after, err := t.apply(said, us, true)
	if err != nil {
		j.unexplained("the server refuses", "%s: %v", config, err)
		return
	}
	ours, _ := parseMap(sc.AppendMerged(nil))
	s := &sides{j, t.owned(us), t.owned(others)}
	s.value(k.schema.Root, k.schema.Root.Structured, place{"", x.last, x.live, x.desired, after.object(), ours}, nil)
	if plain, err := t.apply(exactly.strip(schema.Unknown, x.desired).(map[string]any), us, true); err != nil || !Equal(plain.object(), after.object()) {
		j.unexplained("configuration", "%s makes %s, desired %s %v", config, tree(after.object()).JSON(), tree(plain.object()).JSON(), err)
	}
	strict, ok := merged(walk.Strict)
	if !ok {
		return
	}
	_, err = t.apply(said, us, false)
	var conflicts merge.Conflicts
	if err != nil && !errors.As(err, &conflicts) {
		j.unexplained("conflicts", "%v", err)
		return
	}
	s.conflicts(k.schema.Root, &strict, x, conflicts)
}

// TestServerSide holds random objects of a made-up kind. The server is slow: it sees one
// triple in four.
func TestServerSide(t *testing.T) {
	k := newThing(t)
	var how writer
	differential(t, *triples/4, func(x triple, j *judge) { k.serverSide(x, how, j) }, func(seed uint64) triple {
		how = writer(seed % 3)
		x := randomThing(k, seed, false)
		if named := listOf(x.live["named"]); len(named) > 0 && how != applies && seed%16 == 0 {
			x.live["named"] = append(slices.Clone(named), named[0]) // as a server may hold since before it looked
		}
		return x
	})
}

// randomThing returns the triple of a seed. An odd one is none that a server would take.
func randomThing(k serverKind, seed uint64, odd bool) (x triple) {
	r := NewRandom(seed)
	r.Model, r.Nulls, r.Odd, r.Repeats = schema.Structured, seed&2 != 0, odd, odd && seed&12 == 12
	x.last, x.live, x.desired = r.Triple(k.schema)
	return x
}
