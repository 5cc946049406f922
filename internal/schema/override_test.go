package schema

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"example.com/braid/internal/node"
)

// playground is a type with a position of each kind, and a cycle.
var playground = func() *Schema {
	item := &Type{Kind: Map, Fields: []Field{
		field("name", &Type{Kind: String}), field("port", &Type{Kind: Integer}),
		field("protocol", &Type{Kind: String, Default: `"TCP"`}), field("tags", &Type{Kind: Map, Elem: &Type{Kind: String}}),
	}}
	byName := Rule{Merge: Keyed, Keys: []Key{{Name: "name"}}}
	list := func(elem *Type, r Rule) *Type { return &Type{Kind: List, Elem: elem, Strategic: r, Structured: r} }
	root := &Type{Kind: Map}
	root.Fields = []Field{
		field("any", Unknown),
		field("flag", &Type{Kind: Bool}),
		field("items", list(item, byName)),
		field("labels", &Type{Kind: Map, Elem: &Type{Kind: String}}),
		field("loop", root),
		field("matrix", list(list(&Type{Kind: Number}, Rule{Merge: Atomic}), Rule{Merge: Atomic})),
		field("open", &Type{Kind: Map, PreserveUnknown: true, Fields: []Field{field("a", &Type{Kind: String})}}),
		field("plain", list(item, Rule{Merge: Atomic})),
		field("text", &Type{Kind: String}),
		field("union", &Type{Kind: Map, Fields: item.Fields, Strategic: Rule{RetainKeys: true}}),
		field("words", list(&Type{Kind: String}, Rule{Merge: Atomic})),
	}
	return &Schema{Name: "playground", Root: root}
}()

// follow returns the type at a pattern, which stands there.
func follow(t *testing.T, typ *Type, path string) *Type {
	t.Helper()
	p, err := node.ParsePattern(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range p {
		if f := typ.Field(s.Field); !s.Any && f != nil {
			typ = f.Type
		} else if typ = typ.Elem; typ == nil {
			t.Fatalf("%s is not there", path)
		}
	}
	return typ
}

// describe writes what an override may change of a type.
func describe(t *Type) string {
	rule := func(r Rule) string {
		s := [...]string{"granular", "atomic", "keyed", "set"}[r.Merge]
		for _, k := range r.Keys {
			s += " " + k.Name + k.Default
		}
		if r.RetainKeys {
			s += " retainKeys"
		}
		return s
	}
	out := t.Kind.word()
	if t.Kind <= List {
		out += ": " + rule(t.Strategic)
		if !reflect.DeepEqual(t.Strategic, t.Structured) {
			out += " / " + rule(t.Structured)
		}
	}
	if t.Served != nil {
		out += ", served " + rule(*t.Served)
	}
	for i, is := range []bool{t.Union, t.Nullable, t.PreserveUnknown} {
		if is {
			out += [...]string{", union", ", nullable", ", preserves"}[i]
		}
	}
	return out
}

// sound checks what doc.go promises of a type with an override in it.
func sound(t *testing.T, where string, typ *Type) {
	t.Helper()
	c := *typ
	if c.Kind == Any && (len(c.Fields) > 0 || c.Elem != nil) {
		c.Kind = Map
	}
	if c.Served != nil && len(c.Strategic.Keys) > 1 {
		c.Strategic.Keys = c.Strategic.Keys[:1]
	}
	holds(t, where, &c)
}

func TestOverride(t *testing.T) {
	for _, c := range []struct{ path, rule, want string }{
		// Lists.
		{"items", "atomic", "a list: atomic, served keyed name"},
		{"plain", "atomic", "a list: atomic"},
		{"plain", "map=name", "a list: keyed name, served atomic"},
		{"items", "map=name", "a list: keyed name"},
		{"plain", "map=port,protocol", `a list: keyed port protocol"TCP", served atomic`},
		{"words", "set", "a list: set, served atomic"},
		{"items", "retainKeys", "a list: keyed name"},
		{"any", "set", "a list: set, served atomic"},
		{"any", "map=k", "a list: keyed k, served atomic"},
		// Maps.
		{"labels", "atomic", "a map: atomic, served granular"},
		{"labels", "granular", "a map: granular"},
		{"union", "granular", "a map: granular, served granular retainKeys"},
		{"union", "atomic", "a map: atomic, served granular retainKeys"},
		{"union", "retainKeys", "a map: granular retainKeys / granular, union"},
		{"open", "retainKeys", "a map: granular, union, preserves"},
		{"labels", "preserve-unknown-fields", "a map: granular, preserves"},
		{"any", "atomic", "anything: atomic, served granular"},
		{"any", "granular", "anything: granular"},
		{"any", "retainKeys", "anything: granular, union"},
		{"", "preserve-unknown-fields", "a map: granular, preserves"},
		{"(root)", "retainKeys", "a map: granular, union"},
		// Scalars.
		{"text", "quantity", "a quantity"},
		{"text", "duration", "a duration"},
		{"text", "time", "a time"},
		{"text", "bytes", "a base64 string"},
		{"text", "string", "a string"},
		{"text", "int-or-string", "an integer or a string"},
		{"any", "quantity", "a quantity"},
		{"flag", "nullable", "a boolean, nullable"},
		// Paths.
		{"items[*].port", "int-or-string", "an integer or a string"},
		{"items[*].tags", "atomic", "a map: atomic, served granular"},
		{"matrix[*]", "set", "a list: set, served atomic"},
		{"matrix[*][*]", "quantity", "a quantity"},
		{"labels.*", "duration", "a duration"},
		{"labels[*]", "duration", "a duration"},
		{`labels["a.b/c"]`, "bytes", "a base64 string"},
		{"loop.loop.words", "set", "a list: set, served atomic"},
		{"open.b.c[*].d", "map=k", "a list: keyed k, served atomic"},
		{"open.*", "quantity", "a quantity"},
		{"any.a", "set", "a list: set, served atomic"},
		{"any.*.a", "time", "a time"},
		{"any[*].a", "time", "a time"},
	} {
		s, err := playground.Override(c.path, c.rule)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		typ := follow(t, s.Root, c.path)
		if got := describe(typ); got != c.want {
			t.Errorf("%s at %q: %s, want %s", c.rule, c.path, got, c.want)
		}
		if c.path == "items" && c.rule == "retainKeys" && !typ.Elem.Union {
			t.Error("the elements of items are no unions")
		}
		everyType(s.Root, map[*Type]bool{}, func(typ *Type) { sound(t, c.path, typ) })
	}
}

// The schema that a rule is set in stays as it is, and so does all beside the path.
func TestOverrideCopies(t *testing.T) {
	before := map[*Type]Type{}
	everyType(playground.Root, map[*Type]bool{}, func(typ *Type) { before[typ] = *typ })
	for _, path := range []string{"loop.items[*].name", "labels.a", "any.b", "any[*]", "items"} {
		for _, rule := range []string{"nullable", "atomic", "map=name", "preserve-unknown-fields", "retainKeys"} {
			s, err := playground.Override(path, rule)
			if err != nil {
				continue
			}
			changed := 0
			everyType(s.Root, map[*Type]bool{}, func(typ *Type) {
				if _, ok := before[typ]; !ok {
					changed++
				}
			})
			if most := 1 + strings.Count(path, ".") + 1 + strings.Count(path, "[*]") + 1; changed > most || s.Name != playground.Name {
				t.Errorf("%s: %d types are new", path, changed)
			}
		}
	}
	for typ, was := range before {
		if !reflect.DeepEqual(*typ, was) {
			t.Errorf("%+v was %+v", *typ, was)
		}
	}
	if s, _ := playground.Override("loop.text", "bytes"); follow(t, s.Root, "loop.loop.text").Kind != String || follow(t, s.Root, "text").Kind != String {
		t.Error("a rule holds at other turns of a cycle")
	}
}

// Overrides add up, and what the server does is not forgotten.
func TestOverrideTwice(t *testing.T) {
	set := func(s *Schema, path, rule string) *Schema {
		t.Helper()
		s, err := s.Override(path, rule)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := set(playground, "items", "atomic")
	if got := describe(follow(t, set(s, "items", "map=port").Root, "items")); got != "a list: keyed port, served keyed name" {
		t.Error(got)
	}
	if got := describe(follow(t, set(s, "items", "map=name").Root, "items")); got != "a list: keyed name" {
		t.Error(got)
	}
	if got := describe(follow(t, set(set(playground, "labels", "retainKeys"), "labels", "atomic").Root, "labels")); got != "a map: atomic, served granular" {
		t.Error(got)
	}
	if got := describe(follow(t, set(set(playground, "labels", "atomic"), "labels", "retainKeys").Root, "labels")); got != "a map: granular, union" {
		t.Error(got)
	}
	two := set(set(None, "spec.ports", "map=port,protocol"), "spec.cpu", "quantity")
	for path, want := range map[string]string{"": "anything: granular", "spec": "anything: granular", "spec.ports": "a list: keyed port protocol, served atomic", "spec.cpu": "a quantity"} {
		if got := describe(follow(t, two.Root, path)); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	if !reflect.DeepEqual(*None, Schema{Root: Unknown}) || !reflect.DeepEqual(*Unknown, Type{}) {
		t.Error("None has changed")
	}
}

// A key of a map becomes a field, but to a server it is none.
func TestOverrideExtra(t *testing.T) {
	s, err := playground.Override("labels.b", "bytes")
	if err == nil {
		s, err = s.Override("labels.a", "time")
	}
	if err != nil {
		t.Fatal(err)
	}
	labels := follow(t, s.Root, "labels")
	for name, want := range map[string]Kind{"a": Time, "b": Bytes, "c": String} {
		if typ, named := labels.Lookup(name); typ.Kind != want || named {
			t.Errorf("%s: %v %v", name, typ, named)
		}
	}
	if typ, named := s.Root.Lookup("labels"); typ != labels || !named {
		t.Error("labels is a field")
	}
}

func TestOverrideFaults(t *testing.T) {
	for _, c := range []struct{ path, rule, want string }{
		{"words", "odd", "there is no such rule"},
		{"words", "set=a", "only map takes keys"},
		{"items", "map", "write map=KEY"},
		{"items", "map=a,", "write map=KEY"},
		{"items", "map=a,a", "with the names of different fields"},
		{"wor ds", "set", "byte 0: want the name of a field"},
		{"nothing", "set", "(root): the schema has no such field"},
		{"items[*].nothing", "set", "items[*]: the schema has no such field"},
		{"text.a", "set", "text: it has no such part, for it is a string"},
		{"text[*]", "set", "text: it has no such part, for it is a string"},
		{"items.name", "set", "items: it has no such part, for it is a list"},
		{"items.*", "set", "items: it has no such part, for it is a list"},
		{"items[0]", "atomic", "items: all elements of a list have one type; write [*]"},
		{"items[name=a]", "atomic", "items: all elements of a list have one type; write [*]"},
		{"union.*", "atomic", "union: the schema has no such field"},
		{"labels", "set", "it does not fit a map"},
		{"labels", "map=a", "it does not fit a map"},
		{"labels", "quantity", "it does not fit a map"},
		{"words", "granular", "it does not fit a list"},
		{"words", "preserve-unknown-fields", "it does not fit a list"},
		{"words", "retainKeys", "the elements of the list do not merge"},
		{"words", "map=a", "keys name maps, here each element is a string"},
		{"plain", "set", "the elements of a set are scalars, here each is a map"},
		{"matrix", "set", "the elements of a set are scalars, here each is a list"},
		{"items", "map=nothing", `the elements of the list have no field "nothing"`},
		{"items", "map=tags", `the key field "tags" is no scalar`},
		{"flag", "quantity", "it does not fit a boolean"},
		{"flag", "atomic", "it does not fit a boolean"},
		{"items[*].port", "duration", "it does not fit an integer"},
		{"", "atomic", "an object is a map that merges by field"},
		{"", "nullable", "an object is a map that merges by field"},
	} {
		s, err := playground.Override(c.path, c.rule)
		if s != nil || err == nil || !strings.HasPrefix(err.Error(), fmt.Sprintf("rule %q for path %q: ", c.rule, c.path)) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s at %q: %v, want %s", c.rule, c.path, err, c.want)
		}
	}
	// What an override has made of nothing is not anything any more.
	s, err := None.Override("a.b", "set")
	if err != nil {
		t.Fatal(err)
	}
	for rule, want := range map[string]string{"set": "it does not fit anything", "string": "it does not fit anything"} {
		if _, err := s.Override("a", rule); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", rule, err)
		}
	}
}

// No path and rule make Override panic, change its receiver, or break the promises of
// doc.go.
func FuzzOverride(f *testing.F) {
	f.Add("spec.template.spec.containers[*].env", "map=name,value", "spec.template", "atomic")
	f.Add(`metadata.labels["a/b"]`, "quantity", "metadata.labels.*", "nullable")
	f.Add("spec.ports[*]", "retainKeys", "a.b[*].*", "set")
	deployment, _ := Builtin("apps", "v1", "Deployment")
	f.Fuzz(func(t *testing.T, path, rule, path2, rule2 string) {
		for _, s := range []*Schema{playground, deployment, None} {
			root := *s.Root
			out, err := s.Override(path, rule)
			if err == nil {
				if again, err := out.Override(path2, rule2); err == nil {
					out = again
				}
				everyType(out.Root, map[*Type]bool{}, func(typ *Type) { sound(t, path, typ) })
			}
			if !reflect.DeepEqual(root, *s.Root) {
				t.Error("the schema has changed")
			}
		}
	})
}
