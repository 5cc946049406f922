package apply_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"testing/iotest"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"

	"example.com/braid/apply"
	"example.com/braid/internal/kinds"
	"example.com/braid/merge"
)

// told returns a line a document: where it begins, and what it says or what is wrong.
func told(docs iter.Seq2[apply.Document, error]) string {
	var out strings.Builder
	for d, err := range docs {
		if err != nil {
			fmt.Fprintln(&out, err)
			continue
		}
		fmt.Fprintf(&out, "%d:%d", d.Place.Number, d.Place.Line)
		if d.Place.Item != "" {
			fmt.Fprintf(&out, " %s", d.Place.Item)
		}
		fmt.Fprintf(&out, " %s\n", d.JSON())
	}
	return out.String()
}

func TestReadManifest(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"nothing but comments", "# a\n---\n\n---\n# b\n...\n---", ""},
		{"one", "a: 1", "1:1 {\"a\":1}\n"},
		{"several", "---\na: 1\n---\n# Source: x\nb: 2\n--- # c\nc: 3\n", "1:2 {\"a\":1}\n2:5 {\"b\":2}\n3:7 {\"c\":3}\n"},
		{"null is empty", "null\n---\n~\n---\na: 1\n", "1:5 {\"a\":1}\n"},
		{"on the marker's line", "--- {a: 1}\n--- {b: 2}\n", "1:1 {\"a\":1}\n2:2 {\"b\":2}\n"},
		{"an end marker", "a: 1\n...\n---\nb: 2\n...\n", "1:1 {\"a\":1}\n2:4 {\"b\":2}\n"},
		{"a directive", "# c\n%YAML 1.1\n---\na: 1\n...\n%YAML 1.1\n---\nb: 2\n", "1:2 {\"a\":1}\n2:6 {\"b\":2}\n"},
		{"CRLF and a byte order mark", "\ufeffa: 1\r\n---\r\nb: 2\r\n", "1:1 {\"a\":1}\n2:3 {\"b\":2}\n"},
		{"a marker within a text", "a: |\n  x\n  ---\n  y\nb: ---\n", "1:1 {\"a\":\"x\\n---\\ny\\n\",\"b\":\"---\"}\n"},
		{"a text without a line end", "a: >\n  x", "1:1 {\"a\":\"x\\n\"}\n"},
		{"more than a marker", "a: b\n ---c\n---\nb: 1", "1:1 {\"a\":\"b ---c\"}\n2:4 {\"b\":1}\n"},
		{"JSON", `{"a":1}`, "1:1 {\"a\":1}\n"},
		{"JSON in a row", "{\"a\":1}{\"b\":\"}\\\"{\"}\n\n  {\n\"c\":{}}", "1:1 {\"a\":1}\n2:1 {\"b\":\"}\\\"{\"}\n3:3 {\"c\":{}}\n"},
		{"JSON and YAML", "{\"a\":1}\n---\nb: 2\n---\n{\"c\":3}\n{\"d\":4}\n---\n# e\ne: 5\n", "1:1 {\"a\":1}\n2:3 {\"b\":2}\n3:5 {\"c\":3}\n4:6 {\"d\":4}\n5:9 {\"e\":5}\n"},
		{"YAML that begins as JSON", "{a: 1, b: 'x}'}\n---\n{c: \"x\n  y\"}\n---\n{d: \"\\\\}\", e: {\n  f: 1 # }\n}}\n", "1:1 {\"a\":1,\"b\":\"x}\"}\n2:3 {\"c\":\"x y\"}\n3:6 {\"d\":\"\\\\}\",\"e\":{\"f\":1}}\n"},
		{"List", "kind: List\napiVersion: v1\nitems:\n- kind: A\n- kind: List\n  items: [{kind: B}, 1]\n- null\n---\nkind: C\n",
			"1:1 items[0] {\"kind\":\"A\"}\n1:1 items[1].items[0] {\"kind\":\"B\"}\n" +
				"m, document 1 (line 1), items[1].items[1]: desired: items[1].items[1]: wrong type: want a map, got a number\n" +
				"m, document 1 (line 1), items[2]: desired: items[2]: wrong type: want a map, got a null\n2:9 {\"kind\":\"C\"}\n"},
		{"a list of a kind", "kind: DeploymentList\napiVersion: apps/v1\nitems: [{spec: 1.0}, {kind: Other, z: 1}]",
			"1:1 items[0] {\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"spec\":1.0}\n1:1 items[1] {\"kind\":\"Other\",\"z\":1}\n"},
		{"an empty list", "kind: List\nitems: null\n---\nkind: List\nitems: []\n", ""},
		{"a kind that sounds like a list", "kind: AllowList\nspec: {items: [1]}\n", "1:1 {\"kind\":\"AllowList\",\"spec\":{\"items\":[1]}}\n"},
		{"an error, and what follows", "a: 1\n---\nb: {\n---\nc: 3\n", "1:1 {\"a\":1}\nm, document 2 (line 3): desired: not valid YAML: line 4: did not find expected node content\n3:5 {\"c\":3}\n"},
		{"repeated keys", "# c\n\na: 1\na: 2\n", "m, document 1 (line 3): desired: a: key repeated in a map: line 4: the map has this key more than once\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for how, r := range map[string]io.Reader{"whole": strings.NewReader(c.text), "by the byte": iotest.OneByteReader(strings.NewReader(c.text))} {
				if got := told(apply.ReadManifest("m", r)); got != c.want {
					t.Errorf("%s: got\n%swant\n%s", how, got, c.want)
				}
			}
		})
	}
}

func TestReadManifestErrors(t *testing.T) {
	lost := errors.New("lost")
	for _, c := range []struct {
		name string
		r    io.Reader
		want error
	}{
		{"the reader fails", io.MultiReader(strings.NewReader("a: 1\n---\nb: 2\n"), iotest.ErrReader(lost)), lost},
		{"the reader fails in JSON", io.MultiReader(strings.NewReader(`{"a":1}{"b":`), iotest.ErrReader(lost)), lost},
		{"a document without end", io.MultiReader(strings.NewReader("{\"a\":1}\n---\n"), endless("x: 1\n")), merge.ErrLimit},
		{"a line without end", io.MultiReader(strings.NewReader("{\"a\":1}\n---\n"), endless("x")), merge.ErrLimit},
		{"a value without end", io.MultiReader(strings.NewReader("{\"a\":1}\n"), endless(`{"a":`)), merge.ErrLimit},
	} {
		t.Run(c.name, func(t *testing.T) {
			if testing.Short() && c.want == merge.ErrLimit {
				t.Skip("reads 64 MiB")
			}
			var docs int
			var errs []error
			for _, err := range apply.ReadManifest("m", c.r) {
				if err != nil {
					errs = append(errs, err)
				} else {
					docs++
				}
			}
			var where *apply.ManifestError
			if docs != 1 || len(errs) != 1 || !errors.Is(errs[0], c.want) || !errors.As(errs[0], &where) || where.Place.Number != 2 {
				t.Errorf("%d documents, then %v; want 1, then %v of document 2", docs, errs, c.want)
			}
		})
	}
}

// endless repeats a text for ever.
type endless string

func (e endless) Read(p []byte) (int, error) {
	for n := 0; n < len(p); {
		n += copy(p[n:], e)
	}
	return len(p), nil
}

// A caller that has enough is not called again.
func TestReadManifestStops(t *testing.T) {
	text := "a: 1\n---\nb: {\n---\nkind: List\nitems: [{a: 1}, {a: 2}, 3, {a: 4}]\n---\na: 5\n"
	all := strings.Count(told(apply.ReadManifest("m", strings.NewReader(text))), "\n")
	for n := 1; n <= all; n++ {
		got := 0
		for range apply.ReadManifest("m", strings.NewReader(text)) {
			if got++; got == n {
				break
			}
		}
		if got != n {
			t.Errorf("%d documents, want %d", got, n)
		}
	}
}

func TestReadFiles(t *testing.T) {
	fsys := fstest.MapFS{
		"set/b.yaml":      {Data: []byte("b: 1\n---\nb: 2")},
		"set/a.json":      {Data: []byte(`{"a":1}`)},
		"set/c.yml":       {Data: []byte("c: {")},
		"set/README.md":   {Data: []byte("# no manifest")},
		"set/sub/d.yaml":  {Data: []byte("d: 1")},
		"set/e.yaml/file": {Data: []byte("a directory by that name")},
		"other":           {Data: []byte("x: 1")},
	}
	for _, c := range []struct{ name, want string }{
		{"set", "1:1 {\"a\":1}\n1:1 {\"b\":1}\n2:3 {\"b\":2}\nset/c.yml, document 1 (line 1): desired: not valid YAML: line 2: did not find expected node content\n"},
		{"set/sub", "1:1 {\"d\":1}\n"},
		{"other", "1:1 {\"x\":1}\n"},
		{"missing", "open missing: file does not exist\n"},
	} {
		docs := apply.ReadFiles(fsys, c.name)
		for range 2 { // the sequence can be used again
			if got := told(docs); got != c.want {
				t.Errorf("%s: got\n%swant\n%s", c.name, got, c.want)
			}
		}
	}
	for d, err := range apply.ReadFiles(fsys, "set/sub") {
		if want := (apply.Place{File: "set/sub/d.yaml", Number: 1, Line: 1}); err != nil || d.Place != want {
			t.Errorf("%+v, %v, want %+v", d.Place, err, want)
		}
	}
}

// Real manifests are read as apimachinery's decoder reads them, which is kubectl's.
func TestReadManifestCorpus(t *testing.T) {
	if testing.Short() {
		t.Skip("reads the corpus twice")
	}
	docs := 0
	for _, folder := range []string{"", "live", "pairs"} {
	files:
		for _, file := range kinds.Corpus(t, folder) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want, err := upstreamDocuments(text)
			if err != nil {
				continue // a template
			}
			var got []*merge.Doc
			for d, err := range apply.ReadManifest(filepath.Base(file), bytes.NewReader(text)) {
				if errors.Is(err, merge.ErrDuplicateKey) {
					continue files // which kubectl lets pass, and takes the last one
				}
				if err != nil {
					t.Error(err)
					continue
				}
				got = append(got, d.Doc)
			}
			if !slices.EqualFunc(got, want, (*merge.Doc).Equal) {
				t.Errorf("%s: %d documents, want %d equal ones", filepath.Base(file), len(got), len(want))
			}
			docs += len(got)
		}
	}
	t.Log(docs, "documents")
	if docs < 1400 {
		t.Errorf("%d documents, want all of the corpus", docs)
	}
}

func upstreamDocuments(text []byte) ([]*merge.Doc, error) {
	var docs []*merge.Doc
	for decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096); ; {
		var raw runtime.RawExtension
		if err := decoder.Decode(&raw); err == io.EOF {
			return docs, nil
		} else if err != nil {
			return nil, err
		}
		if len(raw.Raw) == 0 || string(raw.Raw) == "null" {
			continue
		}
		obj, err := runtime.Decode(unstructured.UnstructuredJSONScheme, raw.Raw)
		if err != nil {
			return nil, err
		}
		err = eachItem(obj, func(u *unstructured.Unstructured) error {
			d, err := merge.FromMap(u.Object)
			docs = append(docs, d)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
}

// eachItem calls f with an object, or of a list with its items.
func eachItem(obj runtime.Object, f func(*unstructured.Unstructured) error) error {
	list, ok := obj.(*unstructured.UnstructuredList)
	if !ok {
		return f(obj.(*unstructured.Unstructured))
	}
	return list.EachListItem(func(item runtime.Object) error { return eachItem(item, f) })
}
