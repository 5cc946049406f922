package inject_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	"sigs.k8s.io/yaml"

	"example.com/braid/inject"
	"example.com/braid/internal/node"
	"example.com/braid/merge"
)

var update = flag.Bool("update", false, "write what the stories give as what they should give")

// A story is a pod and what is done to it, a section a step, in order. Inputs:
//
//	options    a line an option: OnConflict KeepLive, NativeSidecars NativeNever, OnDrift
//	           UndoDrift, name NAME, namespace NAME, value KEY VALUE
//	pod        the object, or as somebody has changed it meanwhile
//	template   templates, by --- lines, that count from here on
//
// Outputs, each of the object that the last step gave:
//
//	injected   the object with the templates in, without the record's text
//	patch      the JSON Patch of the last step, an operation a line
//	removed    the object without what was injected
//	report     conflicts, drift, warnings and errors of the last step
func TestStories(t *testing.T) {
	files, err := filepath.Glob("../testdata/inject/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no stories: %v", err)
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
			teller := &teller{t: t}
			for i, f := range archive.Files {
				section, _, _ := strings.Cut(f.Name, " ") // what follows tells steps apart
				got, output := teller.tell(section, string(f.Data))
				switch {
				case !output:
				case *update:
					archive.Files[i].Data = []byte(got)
				default:
					if diff := cmp.Diff(string(f.Data), got); diff != "" {
						t.Errorf("%s (-want +got):\n%s", f.Name, diff)
					}
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

// faults says where each fault that is known of other injectors is held, by its number: I1 to
// I19.
var faults = [...]string{
	1:  "../testdata/inject/article.txtar", // a second run adds everything again
	2:  "../testdata/inject/I02_volume_dropped.txtar",
	3:  "../testdata/inject/I03_each_field_decided.txtar",
	4:  "../testdata/inject/I04_env_once.txtar",
	5:  "../testdata/inject/I05_volume_of_that_name.txtar",
	6:  "../testdata/inject/I06_one_source.txtar",
	7:  "../testdata/inject/I07_null_adds_nothing.txtar",
	8:  "../testdata/inject/I08_newer_fields.txtar",
	9:  "../testdata/inject/I09_values_are_data.txtar",
	10: "admission/handler_test.go", // the spec of a pod is patched in an update
	11: "../testdata/inject/I11_native_in_a_job.txtar",
	12: "admission/handler_test.go", // the object has neither name nor namespace
	13: "../testdata/inject/I13_labels_stay.txtar",
	14: "../testdata/inject/I14_all_or_nothing.txtar",
	15: "../testdata/inject/I15_defined_before_use.txtar",
	16: "admission/handler_test.go", // a large body is refused
	17: "admission/handler_test.go", // a body without an object panics
	18: "../testdata/inject/I18_removals.txtar",
	19: "../testdata/inject/article.txtar", // the pod is made of the template alone
}

func TestFaultsAreHeld(t *testing.T) {
	for n, file := range faults[1:] {
		n++
		text, err := os.ReadFile(file)
		if err != nil {
			t.Errorf("I%d: %v", n, err)
		}
		named := strings.HasPrefix(filepath.Base(file), fmt.Sprintf("I%02d_", n))
		if !named && !regexp.MustCompile(fmt.Sprintf(`\bI%d\b`, n)).Match(text) {
			t.Errorf("%s does not say that it holds I%d", file, n)
		}
	}
}

type teller struct {
	t         *testing.T
	options   inject.Options
	values    inject.Values
	templates []*inject.Template
	object    *merge.Doc
	patch     string
	report    string
	broken    bool // a template is
}

func (s *teller) tell(section, data string) (got string, output bool) {
	s.t.Helper()
	switch section {
	case "options":
		s.setOptions(data)
	case "pod":
		doc, err := merge.ParseYAML([]byte(data))
		if err != nil {
			s.t.Fatal(err)
		}
		if s.object != nil { // the record goes with it, as an edit of the live object leaves it
			doc = withRecordOf(s.t, doc, s.object)
		}
		s.object = doc
	case "template":
		s.templates, s.report, s.broken = nil, "", false
		for i, text := range strings.Split(data, "---\n") {
			tmpl, err := inject.ParseTemplate([]byte(text))
			if err != nil {
				s.report, s.broken = s.report+err.Error()+"\n", true
				continue
			}
			if tmpl.Name() == "template" {
				tmpl = tmpl.Named(fmt.Sprintf("template%d", i+1), "")
			}
			s.templates = append(s.templates, tmpl)
		}
	case "injected":
		if s.broken {
			s.t.Fatal(s.report)
		}
		in, err := inject.New(s.options, s.templates...)
		if err != nil {
			s.t.Fatal(err)
		}
		r, err := in.Inject(s.object, s.values)
		return s.take(r, err), true
	case "removed":
		r, err := inject.Uninject(s.object)
		return s.take(r, err), true
	case "patch":
		return s.patch, true
	case "report":
		return s.report, true
	default:
		s.t.Fatalf("no section %q", section)
	}
	return "", false
}

func (s *teller) setOptions(data string) {
	for line := range strings.Lines(data) {
		word, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case "OnConflict":
			s.options.OnConflict = map[string]inject.OnConflict{"KeepLive": inject.KeepLive, "UseTemplate": inject.UseTemplate, "Skip": inject.Skip}[value]
		case "NativeSidecars":
			s.options.NativeSidecars = map[string]inject.NativeSidecars{"NativeAlways": inject.NativeAlways, "NativeNever": inject.NativeNever}[value]
		case "OnDrift":
			s.options.OnDrift = inject.UndoDrift
		case "name":
			s.values.Name = value
		case "namespace":
			s.values.Namespace = value
		case "value":
			key, v, _ := strings.Cut(value, " ")
			if s.values.Given == nil {
				s.values.Given = map[string]string{}
			}
			s.values.Given[key] = v
		default:
			s.t.Fatalf("no option %q", word)
		}
	}
}

// take makes the outcome of a step the object of the next, and shows it.
func (s *teller) take(r *inject.Result, err error) string {
	s.t.Helper()
	s.report, s.patch = "", ""
	if err != nil {
		s.report = err.Error() + "\n"
		return ""
	}
	for _, c := range r.Conflicts {
		s.report += "conflict " + c.String() + "\n"
	}
	for _, d := range r.Drift {
		s.report += "drift " + d.String() + "\n"
	}
	for _, w := range r.Warnings {
		s.report += "warning " + w.String() + "\n"
	}
	before := s.object
	s.object = law{s.t, s.t.Name(), before}.object(r, before)
	patch := r.Patch()
	tree, err := node.Parse(patch, node.Limits{})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, op := range tree.Kids(0) {
		if line := string(tree.Append(nil, op)); !strings.Contains(line, strings.ReplaceAll(inject.RecordAnnotation, "/", "~1")) {
			s.patch += line + "\n"
		}
	}
	return show(s.t, s.object)
}

// show writes an object as YAML, with the record shortened.
func show(t *testing.T, doc *merge.Doc) string {
	t.Helper()
	object := doc.Map()
	visit(object, func(annotations map[string]any) {
		if _, ok := annotations[inject.RecordAnnotation]; ok {
			annotations[inject.RecordAnnotation] = "…"
		}
	})
	text, err := yaml.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// visit calls f with the annotations anywhere in an object.
func visit(v any, f func(map[string]any)) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			visit(e, f)
		}
	case map[string]any:
		for key, e := range v {
			if m, ok := e.(map[string]any); ok && key == "annotations" {
				f(m)
			}
			visit(e, f)
		}
	}
}

// withRecordOf returns doc with the record that another has, where doc says "…".
func withRecordOf(t *testing.T, doc, other *merge.Doc) *merge.Doc {
	t.Helper()
	record := ""
	visit(other.Map(), func(m map[string]any) {
		if text, ok := m[inject.RecordAnnotation].(string); ok {
			record = text
		}
	})
	object := doc.Map()
	visit(object, func(m map[string]any) {
		if m[inject.RecordAnnotation] == "…" {
			m[inject.RecordAnnotation] = record
		}
	})
	out, err := merge.FromMap(object)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
