package node

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sameAsRead fails unless ReadLike makes of a text what Read does, along a tree of
// another one.
func sameAsRead(t *testing.T, text, along string) {
	t.Helper()
	var plain, guided Reader
	like, err := Parse([]byte(along), Limits{})
	if err != nil {
		return
	}
	want, wantErr := plain.Read([]byte(text), Limits{})
	got, gotErr := guided.ReadLike([]byte(text), like, Limits{})
	if diff := cmp.Diff(message(wantErr), message(gotErr)); diff != "" {
		t.Fatalf("%s along %s (-Read +ReadLike):\n%s", text, along, diff)
	}
	if wantErr != nil {
		return
	}
	sameTree(t, want, got)
	if want.nulls && !got.nulls || got.depth < want.depth {
		t.Errorf("%s along %s: nulls %v, depth %d; should be %v, %d", text, along, got.nulls, got.depth, want.nulls, want.depth)
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// sameTree fails unless two trees are the same in all that can be asked.
func sameTree(t *testing.T, want, got *Tree) {
	t.Helper()
	if want.Len() != got.Len() || string(want.JSON()) != string(got.JSON()) {
		t.Fatalf("%s, should be %s", got.JSON(), want.JSON())
	}
	for i := range ID(want.Len()) {
		w, g := want.nodes[i], got.nodes[i]
		if want.Key(i) != got.Key(i) || want.Text(i) != got.Text(i) || w.prefix != g.prefix ||
			w.end != g.end || w.parent != g.parent || w.kind != g.kind || w.flags != g.flags || w.kind >= List && w.start != g.start {
			t.Fatalf("node %d is %+v, should be %+v, in %s", i, g, w, want.JSON())
		}
		if diff := cmp.Diff(want.Kids(i), got.Kids(i)); diff != "" {
			t.Fatalf("kids of node %d (-want +got):\n%s", i, diff)
		}
	}
}

func TestReadLike(t *testing.T) {
	texts := []string{
		`{"a":{"b":[1,2,{"c":"x"}]},"d":[]}`,
		`{"a":{"b":[1,2,{"c":"x"}]},"d":[],"e":{"f":null}}`,
		`{"new":true,"a":{"b":[1,2,{"c":"x"}]},"d":[]}`,
		`{"a":{"b":[1,22,{"c":"x"}]},"d":[]}`,
		`{"d":[],"a":{"b":[1,2,{"c":"x"}]}}`,
		`{"a": {"b":[1,2,{"c":"x"}] }, "d": [ ]}`,
		`{"a":{"b":[1,2,{"c":"x"}]},"d":[]} `,
		`{"a":{"b":[1,2,{"c":"x"}]},"d":[]`,
		`{"a":{"b":[1,2,{"c":"x"}]}"d":[]}`,
		`{"a":{"k\u0065y":{"\n":["\u0041"]}},"b":{"\"":{}}}`,
		`{"z":0,"a":{"k\u0065y":{"\n":["\u0041"]}},"b":{"\"":{}}}`,
		`{"a":{"k\u0065y":{"\n":["\u0041"]}},"b":{"\"":{},"x":1}}`,
		`{"":{"":{"":[{}]}}}`, `{"":{"":{"":[{}],"a":1}}}`,
		`{"a":[{"":1,"b":2,"c":3,"d":4}]}`, `{"a":["in front of an empty key",{"":1,"b":2,"c":3,"d":4}]}`, `{"a":[{"":1,"b":2,"c":3,"d":4}],"z":{"":[{}]}}`,
		`{"_":"what is longer than all of another","a":[{"":1,"b":2,"c":3,"d":4}]}`,
		`[[1,{"a":[[]]}],[{}]]`, `[0,[1,{"a":[[]]}],[{}]]`, `[[1,{"a":[[]]}],[{"x":{}}]]`,
		`{"a":{"x":1,"x":1}}`, `{"a":{"x":1}}`, `{"a":{"x":1},"a":{"x":1}}`,
		`1`, `"a"`, `null`, `[]`, `{}`, `[ ]`, `[{}]`, `[{},{}]`, `[[],[]]`,
	}
	for _, text := range texts {
		for _, along := range texts {
			sameAsRead(t, text, along)
		}
	}
}

// Limits hold for what is copied too.
func TestReadLikeLimits(t *testing.T) {
	const text = `{"a":{"b":[1,[2]]}}`
	like, err := Parse([]byte(text), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for _, lim := range []Limits{{Depth: 3}, {Depth: 4}, {Nodes: 5}, {Nodes: 6}, {Bytes: 18}, {Bytes: 19}} {
		var plain, guided Reader
		_, want := plain.Read([]byte(text), lim)
		_, got := guided.ReadLike([]byte(text), like, lim)
		if message(want) != message(got) {
			t.Errorf("%+v: ReadLike says %q, Read %q", lim, message(got), message(want))
		}
	}
}

// Whatever two documents are, ReadLike makes what Read does.
func FuzzReadLike(f *testing.F) {
	f.Add(`{"a":{"b":[1,2]}}`, `{"a":{"b":[1,2],"c":"d"}}`)
	f.Add(`{"a":[{"name":"x","value":"y"}]}`, `{"a":[{"name":"x","value":"y"},{"name":"z"}]}`)
	f.Fuzz(func(t *testing.T, text, along string) { sameAsRead(t, text, along) })
}

// A Reader that has read along one document goes on to read others.
func TestReadLikeReuse(t *testing.T) {
	files, err := filepath.Glob("../../testdata/merge/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no stories", err)
	}
	var r Reader
	var like *Tree
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(map[string]any{"a": string(content), "b": []string{"x", file}})
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.ReadLike(text, like, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if like, err = Parse(text, Limits{}); err != nil {
			t.Fatal(err)
		}
		sameTree(t, like, got)
	}
}
