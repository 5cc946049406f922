package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/braid/apply"
	"example.com/braid/internal/kinds"
	"example.com/braid/merge"
)

// manifest is one declared object.
type manifest struct {
	from string // its file
	doc  *merge.Doc
}

func (m manifest) kind() schema.GroupVersionKind { return m.doc.GVK() }

// documents ends where the next document of a YAML file begins.
var documents = regexp.MustCompile(`(?m)^---.*$`)

// manifests are those of the corpus and those of kinds that it lacks, in an order in which a
// server takes them. What is no object of its own (a List, a fragment) is left out.
func manifests(t *testing.T) []manifest {
	t.Helper()
	all := own(t, "testdata/kinds.yaml")
	for _, file := range kinds.Corpus(t, "") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, split(t, filepath.Base(file), text)...)
	}
	slices.SortStableFunc(all, func(a, b manifest) int { return turn(a.kind()) - turn(b.kind()) })
	return all
}

// own are the manifests of a file of ours.
func own(t *testing.T, file string) []manifest {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return split(t, file, text)
}

func split(t *testing.T, name string, text []byte) []manifest {
	t.Helper()
	var out []manifest
	for _, part := range documents.Split(string(text), -1) {
		d, err := merge.ParseYAML([]byte(part))
		if err != nil {
			continue // the corpus has templates, and documents of comments alone
		}
		if _, has := d.Text("metadata", "name"); has && d.GVK().Kind != "" && d.GVK().Version != "" {
			out = append(out, manifest{name, d})
		}
	}
	return out
}

// turn says when a kind is to be created: what others stand on comes first, and last what
// stands in the way of others and so is gone again before the next is made.
func turn(kind schema.GroupVersionKind) int {
	switch {
	case kind.Kind == "CustomResourceDefinition":
		return 0
	case kind.Kind == "Namespace":
		return 1
	case inTheWay[kind.Kind]:
		return 3
	}
	return 2
}

// inTheWay are kinds whose objects change what a server does with others, or ask others
// that are not there.
var inTheWay = map[string]bool{
	"MutatingWebhookConfiguration": true, "ValidatingWebhookConfiguration": true, "APIService": true,
	"ValidatingAdmissionPolicyBinding": true, "MutatingAdmissionPolicyBinding": true,
	"ResourceQuota": true, "LimitRange": true,
}

// settler creates manifests. It makes the namespaces that they name, and puts the others
// into one for their file.
type settler struct {
	t       *testing.T
	p       *apply.Planner
	ns      map[string]string                         // of those that name none, by file
	schemas map[schema.GroupVersionKind]*merge.Schema // of custom kinds
	made    map[string]bool                           // namespaces
	drift   drift
}

func newSettler(t *testing.T) *settler {
	t.Helper()
	s := &settler{t: t, ns: map[string]string{}, schemas: map[schema.GroupVersionKind]*merge.Schema{}, made: map[string]bool{}, drift: drift{explained: map[string]int{}}}
	var err error
	if s.p, err = apply.NewPlanner(apply.Options{Schema: s.schema}); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *settler) schema(kind schema.GroupVersionKind) (*merge.Schema, error) {
	if known, ok := s.schemas[kind]; ok {
		return known, nil
	}
	return merge.SchemaFor(kind)
}

// settle creates what a manifest declares, and returns what it declares here, with its
// namespace. An error of the server is not the test's.
func (s *settler) settle(m manifest) (desired, live *merge.Doc, err error) {
	fields := m.doc.Map()
	u := &unstructured.Unstructured{Object: fields}
	mapping, err := client.Mapper.RESTMapping(m.kind().GroupKind(), m.kind().Version)
	if meta.IsNoMatchError(err) {
		client.Mapper.Reset()
		mapping, err = client.Mapper.RESTMapping(m.kind().GroupKind(), m.kind().Version)
	}
	if err != nil {
		return nil, nil, apierrors.NewNotFound(schema.GroupResource{Group: m.kind().Group, Resource: m.kind().Kind}, "")
	}
	switch ns := u.GetNamespace(); {
	case mapping.Scope.Name() == meta.RESTScopeNameRoot:
		u.SetNamespace("")
	case ns == "":
		ns, known := s.ns[m.from]
		if !known { // examples of several projects have one name
			ns = namespace(s.t)
			s.ns[m.from] = ns
		}
		u.SetNamespace(ns)
	case !s.made[ns]:
		s.made[ns] = true
		n := &unstructured.Unstructured{}
		n.SetAPIVersion("v1")
		n.SetKind("Namespace")
		n.SetName(ns)
		if _, err := client.Create(s.t.Context(), n, apply.WriteOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			return nil, nil, err
		}
	}
	if desired, err = merge.FromMap(fields); err != nil {
		return nil, nil, err
	}
	plan, err := s.p.Plan(nil, desired)
	if err != nil {
		return nil, nil, err
	}
	stored, err := client.Create(s.t.Context(), &unstructured.Unstructured{Object: plan.Object.Map()}, apply.WriteOptions{})
	if err != nil {
		return nil, nil, err
	}
	if m.kind().Kind == "CustomResourceDefinition" {
		if stored, err = s.establish(stored); err != nil {
			return nil, nil, err
		}
	}
	live, err = merge.FromMap(stored.Object)
	return desired, live, err
}

// establish waits until a server serves the kinds of a definition, and remembers their
// schemas. It returns the definition as it is then.
func (s *settler) establish(u *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	doc, err := merge.FromMap(u.Object)
	if err != nil {
		return nil, err
	}
	known, err := merge.SchemasFromCRD(doc)
	if err != nil {
		return nil, err
	}
	for kind, rules := range known {
		s.schemas[kind] = rules
	}
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		now, err := client.Get(s.t.Context(), apply.IDOf(u))
		if err != nil {
			return nil, err
		}
		conditions, _, _ := unstructured.NestedSlice(now.Object, "status", "conditions")
		if slices.ContainsFunc(conditions, func(c any) bool {
			m, _ := c.(map[string]any)
			return m["type"] == "Established" && m["status"] == "True"
		}) {
			return now, nil
		}
	}
	return nil, errors.New("the definition is not established")
}

// remove takes away what stands in the way of others.
func (s *settler) remove(live *merge.Doc) {
	s.t.Helper()
	u := &unstructured.Unstructured{Object: live.Map()}
	if inTheWay[u.GetKind()] {
		if err := client.Delete(s.t.Context(), apply.IDOf(u), apply.DeleteOptions{}); err != nil {
			s.t.Error(err)
		}
	}
}

// what names a manifest in messages.
func (m manifest) String() string {
	name, _ := m.doc.Text("metadata", "name")
	return fmt.Sprintf("%s: %s %s", m.from, strings.TrimPrefix(m.kind().GroupKind().String(), "."), name)
}
