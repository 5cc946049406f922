package dialect_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"example.com/braid/internal/dialect"
	"example.com/braid/internal/node"
)

// example is one document, a patch, and what comes of them.
type example struct {
	Comment              string
	Doc, Patch, Expected json.RawMessage
	Error, At            string
}

func examples(t *testing.T, file string) (out []example) {
	t.Helper()
	text, err := os.ReadFile("../../testdata/jsonpatch/" + file)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func treeOf(t testing.TB, text []byte) *node.Tree {
	t.Helper()
	tree, err := node.Parse(text, node.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// The examples of RFC 6902, and what the public test suites of JSON Patch look at.
func TestApplyJSONPatchExamples(t *testing.T) {
	rules := map[string]error{"test": dialect.ErrTest, "pointer": dialect.ErrPointer, "operation": dialect.ErrOperation}
	for _, file := range []string{"rfc6902.json", "suite.json"} {
		for _, e := range examples(t, file) {
			doc, patch := treeOf(t, e.Doc), treeOf(t, e.Patch)
			before := string(doc.JSON()) + string(patch.JSON())
			got, err := dialect.ApplyJSONPatch(nil, doc, patch, node.Limits{})
			var at *node.Error
			switch {
			case e.Error == "" && (err != nil || !node.Equal(treeOf(t, got), 0, treeOf(t, e.Expected), 0)):
				t.Errorf("%s: got %s, %v, want %s", e.Comment, got, err, e.Expected)
			case e.Error != "" && (got != nil || !errors.Is(err, rules[e.Error]) || !errors.As(err, &at) || at.Doc != "patch" || at.Path.String() != e.At):
				t.Errorf("%s: got %s, %v, want the error %s at %s", e.Comment, got, err, e.Error, e.At)
			}
			if e.Error == "" {
				for _, want := range []string{string(e.Expected), `{"another":[` + string(e.Expected) + `]}`} {
					gives, err := dialect.JSONPatchGives(doc, patch, dialect.Read(treeOf(t, []byte(want))), node.Limits{})
					if err != nil || gives != (want == string(e.Expected)) {
						t.Errorf("%s: gives %s: %v, %v", e.Comment, want, gives, err)
					}
				}
			}
			if string(doc.JSON())+string(patch.JSON()) != before {
				t.Errorf("%s: the inputs have changed", e.Comment)
			}
		}
	}
}

// The examples of RFC 7396.
func TestApplyJSONMergeExamples(t *testing.T) {
	for _, e := range examples(t, "rfc7396.json") {
		if got := dialect.ApplyJSONMerge(nil, treeOf(t, e.Doc), treeOf(t, e.Patch)); !node.Equal(treeOf(t, got), 0, treeOf(t, e.Expected), 0) {
			t.Errorf("%s: got %s, want %s", e.Comment, got, e.Expected)
		}
	}
}

// Edits at the front of a long list, one after the other.
func TestApplyJSONPatchLongList(t *testing.T) {
	const n = 100_000
	var ops []string
	for i := range n {
		ops = append(ops, fmt.Sprintf(`{"op":"add","path":"/0","value":%d}`, i))
	}
	got, err := dialect.ApplyJSONPatch(nil, treeOf(t, []byte(`[]`)), treeOf(t, []byte("["+strings.Join(ops, ",")+"]")), node.Limits{})
	if err != nil || !strings.HasPrefix(string(got), "[99999,99998,") || !strings.HasSuffix(string(got), ",1,0]") {
		t.Fatalf("%.40s… %v", got, err)
	}
	ops = ops[:0]
	for range n - 1 {
		ops = append(ops, `{"op":"remove","path":"/0"}`)
	}
	got, err = dialect.ApplyJSONPatch(nil, treeOf(t, got), treeOf(t, []byte("["+strings.Join(ops, ",")+"]")), node.Limits{})
	if err != nil || string(got) != "[0]" {
		t.Fatalf("%.40s… %v", got, err)
	}
}

// What small patches make of small documents is bounded (CVE-2019-1002100).
func TestApplyJSONPatchLimits(t *testing.T) {
	bomb := `[` + strings.Repeat(`{"op":"copy","from":"","path":"/a"},{"op":"copy","from":"","path":"/b"},`, 40) + `{"op":"remove","path":"/a"}]`
	texts := `[` + strings.Repeat(`{"op":"copy","from":"/s","path":"/l/-"},`, 100) + `{"op":"remove","path":"/s"}]`
	nest := `[` + strings.Repeat(`{"op":"copy","from":"/a","path":"/b/a"},{"op":"move","from":"/b","path":"/a"},{"op":"add","path":"/b","value":{}},`, 1100) + `{"op":"remove","path":"/b"}]`
	deep := `[{"op":"add","path":"/a/b","value":` + strings.Repeat("[", 990) + strings.Repeat("]", 990) + `},{"op":"move","from":"/a","path":"/c/c/c/c/c/c/c/c/c/c/c/a"}]`
	for name, c := range map[string]struct{ doc, patch string }{
		"copies": {`{"a":{},"b":{}}`, bomb},
		"texts":  {`{"s":"` + strings.Repeat("x", 1<<20) + `","l":[]}`, texts},
		"nested": {`{"a":{},"b":{}}`, nest},
		"moved":  {`{"a":{},"c":{"c":{"c":{"c":{"c":{"c":{"c":{"c":{"c":{"c":{"c":{}}}}}}}}}}}}`, deep},
	} {
		got, err := dialect.ApplyJSONPatch(nil, treeOf(t, []byte(c.doc)), treeOf(t, []byte(c.patch)), node.Limits{Nodes: 1 << 20})
		if !errors.Is(err, node.ErrLimit) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
}

// naiveMerge is RFC 7396, section 2.
func naiveMerge(target, patch any) any {
	fields, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	out, ok := target.(map[string]any)
	if !ok {
		out = map[string]any{}
	}
	for k, v := range fields {
		if v == nil {
			delete(out, k)
		} else {
			out[k] = naiveMerge(out[k], v)
		}
	}
	return out
}
