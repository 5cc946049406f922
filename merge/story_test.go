package merge_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"sigs.k8s.io/yaml"

	"example.com/braid/internal/kinds"
	"example.com/braid/internal/node"
	"example.com/braid/internal/schema"
	"example.com/braid/internal/twin"
	"example.com/braid/internal/walk"
	"example.com/braid/merge"
)

var update = flag.Bool("update", false, "write what the stories give as what they should give")

// story is one txtar file: its reason, its inputs and what comes of them.
type story struct {
	*txtar.Archive
	in map[string]string
}

// stories runs tell on every file of a folder of ../testdata. The sections that
// tell returns are held against those of the file, or written to it with -update.
func stories(t *testing.T, folder string, tell func(t *testing.T, s story) map[string]string) {
	files, err := filepath.Glob("../testdata/" + folder + "/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no stories in %s: %v", folder, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if len(strings.TrimSpace(string(archive.Comment))) == 0 {
				t.Error("a story begins with its reason")
			}
			s := story{archive, map[string]string{}}
			for _, f := range archive.Files {
				s.in[f.Name] = string(f.Data)
			}
			got := tell(t, s)
			if _, ok := s.in["error"]; !ok && got["error"] != "" && got["conflicts"] == "" {
				t.Error(got["error"])
			}
			for i, f := range archive.Files {
				text, ok := got[f.Name]
				if !ok {
					continue
				}
				if *update {
					archive.Files[i].Data = []byte(text)
				} else if diff := cmp.Diff(string(f.Data), text); diff != "" {
					t.Errorf("%s (-want +got):\n%s", f.Name, diff)
				}
			}
			if *update {
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func (s story) doc(t *testing.T, name string) *merge.Doc {
	t.Helper()
	if s.in[name] == "" {
		return nil
	}
	doc, err := merge.ParseYAML([]byte(s.in[name]))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return doc
}

// options reads the options section, a line an option, and the schema of the kind: of
// the section crd, or a built-in one.
func (s story) options(t *testing.T, doc *merge.Doc) merge.Options {
	t.Helper()
	o := merge.Options{Schema: merge.Schemaless()}
	var err error
	if crd := s.doc(t, "crd"); crd != nil {
		kinds, err := merge.SchemasFromCRD(crd)
		if o.Schema = kinds[doc.GVK()]; err != nil || o.Schema == nil {
			t.Fatalf("%v, %v", kinds, err)
		}
	} else if !strings.Contains(s.in["options"], "schemaless") {
		if o.Schema, err = merge.SchemaFor(doc.GVK()); err != nil {
			t.Fatal(err)
		}
	}
	for line := range strings.Lines(s.in["options"]) {
		word, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case "schemaless":
		case "policy":
			o.Policy = map[string]*merge.Policy{"apply": &merge.Apply, "strict": &merge.Strict, "update": &merge.Update, "branch": &merge.Branch}[value]
		case "model":
			o.Model = map[string]merge.Model{"structured": merge.Structured, "plain": merge.Plain}[value]
		case "equality":
			o.Equality = merge.Exact
		case "nulls":
			o.Nulls = map[string]merge.Nulls{"keep": merge.NullStays, "reject": merge.NullFails}[value]
		case "ignore":
			o.Ignore = append(o.Ignore, value)
		case "handover":
			o.HandOver = append(o.HandOver, value)
		case "guard":
			o.Guard |= map[string]merge.Guard{"version": merge.GuardVersion, "values": merge.GuardValues}[value]
		case "infer":
			o.InferKeys = true
		case "byhand":
			o.ByHand = append(o.ByHand, value)
		case "unowned":
			o.Unowned = map[string]merge.Unowned{"stays": merge.UnownedStays, "goes": merge.UnownedGoes}[value]
		case "rule":
			path, rule, _ := strings.Cut(value, " ")
			if o.Schema, err = o.Schema.WithRule(path, rule); err != nil {
				t.Fatal(err)
			}
		default:
			t.Fatalf("no option %q", word)
		}
	}
	return o
}

// formats are the sections that hold patches.
var formats = map[string]merge.PatchType{
	"patch": merge.StrategicPatch, "json-merge-patch": merge.JSONMergePatch,
	"json-patch": merge.JSONPatch, "apply-configuration": merge.ApplyConfiguration,
}

// formats returns those that the story has sections of; without any, the strategic one.
func (s story) formats() map[string]merge.PatchType {
	out := map[string]merge.PatchType{}
	for section, format := range formats {
		if _, asked := s.in[section]; asked {
			out[section] = format
		}
	}
	if len(out) == 0 {
		out["patch"] = merge.StrategicPatch
	}
	return out
}

// text is nothing of a document that there is not.
func text(doc *merge.Doc) []byte {
	if doc == nil {
		return nil
	}
	return doc.JSON()
}

func TestMergeStories(t *testing.T) {
	stories(t, "merge", func(t *testing.T, s story) map[string]string {
		last, live, desired := s.doc(t, "last"), s.doc(t, "live"), s.doc(t, "desired")
		m, err := merge.New(s.options(t, desired))
		if err != nil {
			t.Fatal(err)
		}
		r, err := m.ThreeWay(last, live, desired)
		if err != nil {
			return map[string]string{"error": err.Error() + "\n"}
		}
		out := map[string]string{}
		var report, lines strings.Builder
		if err := r.WriteReport(&report, false); err != nil {
			t.Fatal(err)
		}
		out["report"] = report.String()
		for _, w := range r.Warnings() {
			fmt.Fprintf(&lines, "%s: %s: %s\n", w.Doc, w.Path, w.Text)
		}
		out["warnings"] = lines.String()
		lines.Reset()
		for _, c := range r.Conflicts() {
			fmt.Fprintln(&lines, c)
		}
		out["conflicts"] = lines.String()
		out["work"] = fmt.Sprintf("%d steps, %d edits\n", merge.Work(r), merge.Edits(r))
		for section, format := range s.formats() {
			patch, err := r.Patch(format)
			if got, err2 := m.PatchLive(format, last, text(live), desired); !bytes.Equal(got, patch) || fmt.Sprint(err2) != fmt.Sprint(err) {
				t.Errorf("PatchLive gives %s, %v; want %s, %v", got, err2, patch, err)
			}
			sameForObjects(t, m, format, last, live, desired)
			switch {
			case err == nil:
				out[section] = string(patch) + "\n"
			case s.in[section] != "" || s.in["error"] != "" || errors.Is(err, merge.ErrConflict):
				out[section], out["error"] = "", err.Error()+"\n"
			}
		}
		if doc, err := r.Merged(); err == nil {
			out["merged"] = yamlOf(t, doc)
		}
		return out
	})
}

// sameForObjects fails the test unless Go values merge as their Docs do.
func sameForObjects(t *testing.T, m *merge.Merger, format merge.PatchType, docs ...*merge.Doc) {
	t.Helper()
	var objects [3]any
	for i, d := range docs {
		if d == nil {
			continue
		}
		objects[i] = d.Map()
		var err error
		if docs[i], err = merge.FromObject(objects[i]); err != nil { // numbers may be spelled in another way
			t.Fatal(err)
		}
	}
	var want []byte
	r, err := m.ThreeWay(docs[0], docs[1], docs[2])
	if err == nil {
		want, err = r.Patch(format)
	}
	if got, err2 := m.PatchObjects(format, objects[0], objects[1], objects[2]); !bytes.Equal(got, want) || fmt.Sprint(err2) != fmt.Sprint(err) {
		t.Errorf("PatchObjects gives %s, %v; want %s, %v", got, err2, want, err)
	}
}

// Each story keeps the laws of the design, and the naive twin agrees with it.
func TestStoriesKeepTheLaws(t *testing.T) {
	stories(t, "merge", func(t *testing.T, s story) map[string]string {
		tree := func(name string) *node.Tree {
			if s.in[name] == "" {
				return nil
			}
			doc, err := node.ParseYAML([]byte(s.in[name]), node.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			return doc
		}
		x := twin.Story{Last: tree("last"), Live: tree("live"), Desired: tree("desired"), Rules: walk.Rules{Schema: schema.None}}
		kind := s.doc(t, "desired").GVK()
		o := s.options(t, s.doc(t, "desired"))
		if strings.Contains(s.in["options"], "rule") || strings.Contains(s.in["desired"], "stringData") {
			return nil // the twin knows nothing of these; TestStoriesExactAndEmpty holds them
		}
		x.Model, x.Equality, x.Nulls = o.Model, o.Equality, o.Nulls
		x.Ignore, x.HandOver = patterns(t, o.Ignore), patterns(t, o.HandOver)
		x.Infer, x.ByHand, x.Unowned = o.InferKeys, o.ByHand, o.Unowned
		if crd := tree("crd"); crd != nil {
			kinds, _ := schema.ReadCRD(crd)
			x.Schema = kinds[schema.GVK(kind)]
		} else if o.Schema.Name() != "" {
			x.Schema, _ = schema.Builtin(kind.Group, kind.Version, kind.Kind)
			x.Theirs.Strategic = func(live, patch []byte) ([]byte, error) {
				typ, err := scheme.New(kind)
				if err != nil {
					t.Fatal(err)
				}
				return strategicpatch.StrategicMergePatch(live, patch, typ)
			}
		}
		for _, x.Policy = range []*merge.Policy{&merge.Apply, &merge.Strict, &merge.Update, &merge.Branch} {
			broken, _ := twin.Laws(x)
			for _, b := range broken {
				t.Error(b)
			}
		}
		return nil
	})
}

func patterns(t *testing.T, paths []string) (out []node.Pattern) {
	t.Helper()
	for _, path := range paths {
		p, err := node.ParsePattern(path)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, p)
	}
	return out
}

// Whatever its options, a story's patch gives the merged object in every format, by our
// applier and by the server's, and a second merge has nothing to do.
func TestStoriesExactAndEmpty(t *testing.T) {
	stories(t, "merge", func(t *testing.T, s story) map[string]string {
		live, desired := s.doc(t, "live"), s.doc(t, "desired")
		m, err := merge.New(s.options(t, desired))
		if err != nil {
			t.Fatal(err)
		}
		r, err := m.ThreeWay(s.doc(t, "last"), live, desired)
		if err != nil || len(r.Conflicts()) > 0 {
			return nil // what it says then is in the story
		}
		merged, err := r.Merged()
		if err != nil {
			t.Fatal(err)
		}
		if again, err := m.ThreeWay(desired, merged, desired); err != nil || again.Changed() {
			t.Errorf("a second merge: %v, changed %v", err, again.Changed())
		}
		if live == nil {
			if live, err = merge.Parse([]byte("{}")); err != nil {
				t.Fatal(err)
			}
		}
		for _, format := range []merge.PatchType{merge.StrategicPatch, merge.JSONMergePatch, merge.JSONPatch} {
			patch, err := r.Patch(format)
			if err != nil {
				continue // held by the story's section error
			}
			if empty := string(patch) == "{}" || string(patch) == "[]"; empty == r.Changed() {
				t.Errorf("%s: changed %v, but the patch is %s", format.MediaType(), r.Changed(), patch)
			}
			change, err := merge.Parse(patch)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := m.Patch(format, live, change); err != nil || !got.Equal(merged) {
				t.Errorf("%s: %s gives %v, %v", format.MediaType(), patch, got, err)
			}
			typ, err := scheme.New(desired.GVK())
			if format != merge.StrategicPatch || err != nil || strings.Contains(s.in["options"], "schemaless") {
				continue
			}
			theirs, err := strategicpatch.StrategicMergePatch(live.JSON(), patch, typ)
			if err != nil {
				t.Errorf("the server refuses %s: %v", patch, err)
			} else if got, err := merge.Parse(theirs); err != nil || !got.Equal(merged) {
				t.Errorf("the server makes %s of %s, %v", theirs, patch, err)
			}
		}
		return nil
	})
}

var scheme = func() *runtime.Scheme {
	s, err := kinds.Scheme()
	if err != nil {
		panic(err)
	}
	return s
}()

func TestPatchStories(t *testing.T) {
	stories(t, "patch", func(t *testing.T, s story) map[string]string {
		object, patch := s.doc(t, "object"), s.doc(t, "patch")
		m, err := merge.New(s.options(t, object))
		if err != nil {
			t.Fatal(err)
		}
		out, err := m.Patch(merge.StrategicPatch, object, patch)
		if err != nil {
			return map[string]string{"error": err.Error() + "\n"}
		}
		return map[string]string{"result": yamlOf(t, out)}
	})
}

// yamlOf writes a document as YAML, which a person reads more easily.
func yamlOf(t *testing.T, doc *merge.Doc) string {
	t.Helper()
	text, err := yaml.JSONToYAML(doc.JSON())
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
