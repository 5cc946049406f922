package node

import (
	"reflect"
	"testing"
)

func TestParsePattern(t *testing.T) {
	for _, text := range []string{
		"(root)", "spec", "spec.replicas", "spec.ports[*].nodePort", "*.a", "a.*", `metadata.annotations["example.com/a"]`,
		"spec.containers[name=app].env[name=A]", "a[port=80,protocol=TCP]", "a[=x]", "a[3]", `a[name="x,y]"].b`, `[""]`, `a["="=x,b=""]`, `a[=""]`, "a[0][1][*]", `["a.b"].c`,
	} {
		p, err := ParsePattern(text)
		if err != nil || p.String() != text {
			t.Errorf("%s: %v %v", text, p, err)
		}
	}
	for _, text := range []string{".", "a.", "a..b", "a[", "a[]", "a[x]", "a[-1]", "a[01]", "a[name=x", `a["x`, "a]b", "a b", "a[*", "a[1]b", "a[1,2]", `a["x"=`, `a["x"="y`, `a[x=y,]`, `a[x="y"z]`} {
		if p, err := ParsePattern(text); err == nil {
			t.Errorf("%s is taken for %v", text, p)
		}
	}
}

func TestPatternErrors(t *testing.T) {
	for text, want := range map[string]string{
		"spec.":         "byte 5: want the name of a field; write an unusual one as [\"name\"]",
		"spec.a b":      "byte 5: want the name of a field; write an unusual one as [\"name\"]",
		"spec.ports[x]": "byte 12: want an index, *, or name=value",
		"a[name=x":      "byte 8: want ]",
		`a["x`:          "byte 2: a quoted name has no end",
		"a[1]b":         "byte 4: want . or [",
	} {
		if _, err := ParsePattern(text); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestPatternMatches(t *testing.T) {
	tree, err := Parse([]byte(`{"spec":{"ports":[{"port":80,"name":"a"},{"port":81,"name":"b"}],"set":["x","y"]},"m":{"a/b":1}}`), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string][]string{
		"spec":                    {"spec"},
		"spec.*":                  {"spec.ports", "spec.set"},
		"spec.ports[*].port":      {"spec.ports[0].port", "spec.ports[1].port"},
		"spec.ports[name=b]":      {"spec.ports[1]"},
		"spec.ports[port=80]":     {"spec.ports[0]"},
		"spec.ports[port=8.1e1]":  {"spec.ports[1]"},
		"spec.ports[port=8x]":     nil,
		"spec.ports[1].name":      {"spec.ports[1].name"},
		"spec.set[=y]":            {"spec.set[1]"},
		"*":                       {"spec", "m"},
		`m["a/b"]`:                {`m["a/b"]`},
		"spec.ports[name=c].port": nil,
		"spec[*]":                 {"spec.ports", "spec.set"},
		"spec.ports.*":            nil,
	} {
		p, err := ParsePattern(text)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i := range ID(tree.Len()) {
			if p.Matches(tree, i) {
				got = append(got, tree.Path(i).String())
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s matches %v, want %v", text, got, want)
		}
	}
}

// The part of a map or list is named by its own document, the way there by another.
func TestPatternMatchesPart(t *testing.T) {
	parse := func(text string) *Tree {
		tree, err := Parse([]byte(text), Limits{})
		if err != nil {
			t.Fatal(err)
		}
		return tree
	}
	live, desired := parse(`{"ports":[{"port":1},{"port":2,"protocol":"TCP"}]}`), parse(`{"ports":[{"port":2,"name":"a"}]}`)
	parent, part := live.Kids(live.Lookup("ports"))[1], desired.Field(desired.Kids(desired.Lookup("ports"))[0], "name")
	for text, want := range map[string]bool{
		"ports[port=2,protocol=TCP].name": true, "ports[1].name": true, "ports[*].*": true,
		"ports[0].name": false, "ports[1].port": false, "ports[1]": false, "(root)": false,
	} {
		p, err := ParsePattern(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.MatchesPart(live, parent, desired, part); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

// What a Path writes reads back to the same steps.
func FuzzParsePattern(f *testing.F) {
	f.Add("a.b", `{"a":{"b":[1,{"name":"x"}]}}`)
	f.Add(`a[name="]"]`, `{"":{"*":[["a"]]}}`)
	f.Fuzz(func(t *testing.T, text, doc string) {
		if p, err := ParsePattern(text); err == nil {
			if q, err := ParsePattern(p.String()); err != nil || !reflect.DeepEqual(p, q) {
				t.Errorf("%q: %v, then %v %v", text, p, q, err)
			}
		}
		for _, path := range []Path{
			{{Field: text}, {Elem: true, Keys: []KeyPair{{"", text}}}},
			{{Elem: true, Keys: []KeyPair{{"k" + text, doc}, {doc + "k", text}}}, {Field: doc}},
		} {
			p, err := ParsePattern(path.String())
			if err != nil || len(p) != len(path) {
				t.Fatalf("%q reads as %v: %v", path.String(), p, err)
			}
			for i, s := range p {
				if s.Any || !reflect.DeepEqual(s.Step, path[i]) {
					t.Errorf("%q reads as %v", path.String(), p)
				}
			}
		}
		tree, err := Parse([]byte(doc), Limits{Depth: 20, Nodes: 100})
		if err != nil {
			return
		}
		for i := range ID(tree.Len()) {
			path := tree.Path(i)
			p, err := ParsePattern(path.String())
			if err != nil || len(p) != len(path) || !p.Matches(tree, i) {
				t.Errorf("%v reads as %v: %v", path, p, err)
			}
		}
	})
}
