package dialect_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.com/braid/internal/dialect"
	"example.com/braid/internal/node"
)

var patchRules = map[string]error{
	"test": dialect.ErrTest, "pointer": dialect.ErrPointer, "operation": dialect.ErrOperation, "limit": node.ErrLimit,
}

// Every form of pointers, operations and values, in each place where it may stand.
func TestApplyJSONPatchForms(t *testing.T) {
	for _, e := range examples(t, "forms.json") {
		doc, patch := treeOf(t, e.Doc), treeOf(t, e.Patch)
		before := string(doc.JSON()) + string(patch.JSON())
		got, err := dialect.ApplyJSONPatch(nil, doc, patch, node.Limits{})
		if e.Error != "" {
			if why := wrongRefusal(got, err, patchRules[e.Error], e.At); why != "" {
				t.Errorf("%s: %s", e.Comment, why)
			}
		} else if want := treeOf(t, e.Expected).JSON(); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: got %s, %v, want %s", e.Comment, got, err, want)
		}
		if string(doc.JSON())+string(patch.JSON()) != before {
			t.Errorf("%s: the inputs have changed", e.Comment)
		}
	}
}

// wrongRefusal says what is wrong with a refusal, which must name its rule and place.
func wrongRefusal(got []byte, err, rule error, at string) string {
	var e *node.Error
	switch {
	case err == nil || got != nil:
		return fmt.Sprintf("got %s, %v, want an error alone", got, err)
	case !errors.As(err, &e) || e.Doc != "patch" || e.Offset != -1 || e.Rule != rule || e.Path.String() != at:
		return fmt.Sprintf("got %v, want %v at %s", err, rule, at)
	}
	return ""
}

func TestApplyJSONMergeForms(t *testing.T) {
	for _, e := range examples(t, "../jsonmerge/forms.json") {
		doc, patch := treeOf(t, e.Doc), treeOf(t, e.Patch)
		before := string(doc.JSON()) + string(patch.JSON())
		got, want := dialect.ApplyJSONMerge(nil, doc, patch), treeOf(t, e.Expected).JSON()
		if !bytes.Equal(got, want) {
			t.Errorf("%s: got %s, want %s", e.Comment, got, want)
		}
		if string(doc.JSON())+string(patch.JSON()) != before {
			t.Errorf("%s: the inputs have changed", e.Comment)
		}
	}
}

// Documents may be Secrets, so messages hold pointers and no values.
func TestApplyJSONPatchHidesValues(t *testing.T) {
	const secret = "hunter2"
	for _, op := range []string{
		`{"op":"test","path":"/data/password","value":"other"}`,
		`{"op":"test","path":"/data/user","value":"hunter2"}`,
		`{"op":"replace","path":"/data/token","value":"hunter2"}`,
		`{"op":"add","path":"/data/password/x","value":"hunter2"}`,
	} {
		doc := treeOf(t, []byte(`{"data":{"user":"u","password":"`+secret+`"}}`))
		_, err := dialect.ApplyJSONPatch(nil, doc, treeOf(t, []byte("["+op+"]")), node.Limits{})
		if err == nil || strings.Contains(err.Error(), secret) || !strings.Contains(err.Error(), `"/data/`) {
			t.Errorf("%s: %v", op, err)
		}
	}
}

// Edits all over a list of many pieces, against a plain slice.
func TestApplyJSONPatchManyPieces(t *testing.T) {
	r := rand.New(rand.NewPCG(6902, 1))
	for round := range 4 {
		list := make([]int, r.IntN(2000))
		for i := range list {
			list[i] = i
		}
		doc, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		var ops []string
		op := func(format string, args ...any) { ops = append(ops, fmt.Sprintf(format, args...)) }
		for n := range 3000 {
			i := r.IntN(len(list) + 1)
			grow := n/1000%2 == round%2 // by turns, so that pieces split and go
			switch {
			case grow && r.IntN(3) > 0 || len(list) < 2:
				op(`{"op":"add","path":"/%d","value":%d}`, i, n)
				list = slices.Insert(list, i, n)
			case i == len(list):
				op(`{"op":"copy","from":"/0","path":"/-"}`)
				list = append(list, list[0])
			case !grow && r.IntN(3) > 0:
				op(`{"op":"remove","path":"/%d"}`, i)
				list = slices.Delete(list, i, i+1)
			case r.IntN(3) == 0:
				op(`{"op":"replace","path":"/%d","value":%d}`, i, n)
				list[i] = n
			default:
				to, v := r.IntN(len(list)), list[i]
				op(`{"op":"move","from":"/%d","path":"/%d"}`, i, to)
				list = slices.Insert(slices.Delete(list, i, i+1), to, v)
			}
		}
		op(`{"op":"test","path":"/%d","value":%d}`, len(list)-1, list[len(list)-1])
		got, err := dialect.ApplyJSONPatch(nil, treeOf(t, doc), treeOf(t, []byte("["+strings.Join(ops, ",")+"]")), node.Limits{})
		if want, _ := json.Marshal(list); err != nil || !bytes.Equal(got, want) {
			t.Errorf("round %d: %.60s, %v, want %.60s", round, got, err, want)
		}
	}
}

// A limit allows what it says and nothing more.
func TestApplyJSONPatchEdgeOfLimits(t *testing.T) {
	for _, c := range []struct {
		name, doc, patch string
		at               string // of the refusal
		limits           func(n int) node.Limits
		most             int // what the patch needs
	}{
		{"copies of what nobody edited", `{"a":[1,[2,3]]}`, `[{"op":"copy","from":"/a","path":"/b"},{"op":"copy","from":"/a","path":"/b"}]`,
			"[1]", func(n int) node.Limits { return node.Limits{Nodes: n} }, 10},
		{"copies of what was edited", `{"a":[1,[2]]}`, `[{"op":"add","path":"/a/1/-","value":3},{"op":"copy","from":"/a","path":"/b"},{"op":"copy","from":"/b","path":"/c"}]`,
			"[2]", func(n int) node.Limits { return node.Limits{Nodes: n} }, 10},
		{"depth", `{"a":[]}`, `[{"op":"add","path":"/a/0","value":[[1]]}]`,
			"(root)", func(n int) node.Limits { return node.Limits{Depth: n} }, 4},
		{"depth of what was emptied", `{}`, `[{"op":"add","path":"/a","value":{"x":1}},{"op":"remove","path":"/a/x"}]`,
			"(root)", func(n int) node.Limits { return node.Limits{Depth: n} }, 2},
		{"bytes", `{"a":[]}`, `[{"op":"add","path":"/a/0","value":"xx"}]`,
			"(root)", func(n int) node.Limits { return node.Limits{Bytes: n} }, len(`{"a":["xx"]}`)},
	} {
		doc, patch := treeOf(t, []byte(c.doc)), treeOf(t, []byte(c.patch))
		if _, err := dialect.ApplyJSONPatch([]byte("what it is appended to does not count"), doc, patch, c.limits(c.most)); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		got, err := dialect.ApplyJSONPatch(nil, doc, patch, c.limits(c.most-1))
		if why := wrongRefusal(got, err, node.ErrLimit, c.at); why != "" {
			t.Errorf("%s: %s", c.name, why)
		}
	}
}

// As deep as documents may be, neither applier minds.
func TestApplyJSONDeep(t *testing.T) {
	depth := node.DefaultLimits.Depth
	nest := func(inner string) []byte {
		return []byte(strings.Repeat(`{"a":`, depth-1) + inner + strings.Repeat("}", depth-1))
	}
	if got, want := dialect.ApplyJSONMerge(nil, treeOf(t, nest(`{"b":1}`)), treeOf(t, nest(`{"b":null,"c":2}`))), nest(`{"c":2}`); !bytes.Equal(got, want) {
		t.Errorf("merge: %.40s…", got)
	}
	to := strings.Repeat("/a", depth-1)
	patch := treeOf(t, []byte(`[{"op":"add","path":"`+to+`/c","value":2},{"op":"remove","path":"`+to+`/b"}]`))
	if got, err := dialect.ApplyJSONPatch(nil, treeOf(t, nest(`{"b":1}`)), patch, node.Limits{}); err != nil || !bytes.Equal(got, nest(`{"c":2}`)) {
		t.Errorf("patch: %.40s… %v", got, err)
	}
	patch = treeOf(t, []byte(`[{"op":"add","path":"`+to+`/c","value":[]}]`))
	got, err := dialect.ApplyJSONPatch(nil, treeOf(t, nest(`{}`)), patch, node.Limits{})
	if why := wrongRefusal(got, err, node.ErrLimit, "(root)"); why != "" {
		t.Errorf("patch: %s", why)
	}
}

// What appliers append to is left alone.
func TestApplyJSONAppends(t *testing.T) {
	doc := treeOf(t, []byte(`{"a":1}`))
	got, err := dialect.ApplyJSONPatch([]byte("x"), doc, treeOf(t, []byte(`[{"op":"remove","path":"/a"}]`)), node.Limits{})
	if err != nil || string(got) != "x{}" {
		t.Errorf("%s, %v", got, err)
	}
	if got := dialect.ApplyJSONMerge([]byte("x"), doc, treeOf(t, []byte(`{"b":{}}`))); string(got) != `x{"a":1,"b":{}}` {
		t.Errorf("%s", got)
	}
}

// Whatever the document and the patch: no panic; a valid document or one of our errors;
// the same each time; the inputs as they were.
func FuzzApplyJSONPatch(f *testing.F) {
	for _, e := range []struct{ doc, patch string }{
		{`{"a":[1,{"b":null}]}`, `[{"op":"move","from":"/a/0","path":"/a/1/c"},{"op":"copy","from":"","path":"/x"}]`},
		{`[]`, `[{"op":"add","path":"/-","value":[]},{"op":"add","path":"/0/0","value":1},{"op":"test","path":"/0","value":[1.0]}]`},
		{`{"a/b":{"~":[]}}`, `[{"op":"add","path":"/a~1b/~0/0","value":{}},{"op":"remove","path":"/a~1b/~0"},{"op":"replace","path":"","value":1}]`},
	} {
		f.Add([]byte(e.doc), []byte(e.patch))
	}
	lim := node.Limits{Depth: 50, Nodes: 10_000, Bytes: 1 << 20}
	f.Fuzz(func(t *testing.T, doc, patch []byte) {
		d, err := node.Parse(doc, lim)
		if err != nil {
			return
		}
		p, err := node.Parse(patch, lim)
		if err != nil {
			return
		}
		before := string(d.JSON()) + string(p.JSON())
		got, err := dialect.ApplyJSONPatch(nil, d, p, lim)
		if err != nil {
			checkRefusal(t, got, err)
		} else if tree, err := node.Parse(got, node.Limits{Depth: lim.Depth, Bytes: lim.Bytes}); err != nil {
			t.Errorf("%s: %v", got, err)
		} else if !bytes.Equal(tree.JSON(), got) {
			t.Errorf("%s is not canonical", got)
		} else if gives, err := dialect.JSONPatchGives(d, p, dialect.Read(tree), lim); err != nil || !gives {
			t.Errorf("gives %s: %v, %v", got, gives, err)
		}
		again, err2 := dialect.ApplyJSONPatch(nil, d, p, lim)
		if !bytes.Equal(again, got) || fmt.Sprint(err) != fmt.Sprint(err2) {
			t.Errorf("%s, %v, then %s, %v", got, err, again, err2)
		}
		if string(d.JSON())+string(p.JSON()) != before {
			t.Error("the inputs have changed")
		}
	})
}

func checkRefusal(t *testing.T, got []byte, err error) {
	var e *node.Error
	if !errors.As(err, &e) {
		t.Fatalf("%T: %v", err, err)
	}
	for _, rule := range patchRules {
		if e.Rule == rule {
			if why := wrongRefusal(got, err, rule, e.Path.String()); why != "" {
				t.Error(why)
			}
			return
		}
	}
	t.Errorf("%v is no rule of a patch", e.Rule)
}

// The applier of JSON merge patches against the pseudocode of RFC 7396, to the digit.
func FuzzApplyJSONMerge(f *testing.F) {
	f.Add([]byte(`{"a":{"b":1},"c":[null]}`), []byte(`{"a":{"b":null,"c":{"d":null}},"e":[{"f":null}]}`))
	f.Add([]byte(`[1]`), []byte(`{"abcdefgh":null,"abcdefghi":1.0}`))
	f.Fuzz(func(t *testing.T, doc, patch []byte) {
		d, err := node.Parse(doc, node.Limits{Depth: 50})
		if err != nil {
			return
		}
		p, err := node.Parse(patch, node.Limits{Depth: 50})
		if err != nil {
			return
		}
		text, err := json.Marshal(naiveMerge(decode(t, d), decode(t, p)))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := dialect.ApplyJSONMerge(nil, d, p), treeOf(t, text).JSON(); !bytes.Equal(got, want) {
			t.Errorf("%s on %s: got %s, want %s", strconv.Quote(string(patch)), strconv.Quote(string(doc)), got, want)
		}
	})
}

// decode returns a document as encoding/json has it, numbers as written.
func decode(t *testing.T, tree *node.Tree) (v any) {
	dec := json.NewDecoder(bytes.NewReader(tree.JSON()))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}
