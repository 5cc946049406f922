package kinds

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/managedfields/managedfieldstest"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// Server writes managedFields as an API server does: by the code that a server has, and the
// types of its OpenAPI documents.
type Server struct {
	types map[string]managedfields.TypeConverter
}

// NewServer returns a server of the kinds of a version of Kubernetes, of which it reads the
// documents when they are needed. It skips the test if they are not at hand.
func NewServer(tb testing.TB, version string) *Server {
	tb.Helper()
	s := &Server{map[string]managedfields.TypeConverter{}}
	for _, file := range OpenAPI(tb, version) {
		s.types[file] = nil
	}
	return s
}

// Update returns obj with the fields that manager owns once it has stored obj in the place of
// live, which is nil if there is none yet.
func (s *Server) Update(tb testing.TB, live, obj map[string]any, manager string) map[string]any {
	tb.Helper()
	f, was, now := s.prepare(tb, live, obj)
	out, err := f.Update(was, now, manager)
	if err != nil {
		tb.Fatal(err)
	}
	return out.(*unstructured.Unstructured).Object
}

// Apply is Update for an apply configuration, by force.
func (s *Server) Apply(tb testing.TB, live, obj map[string]any, manager string) map[string]any {
	tb.Helper()
	f, was, now := s.prepare(tb, live, obj)
	out, err := f.Apply(was, now, manager, true)
	if err != nil {
		tb.Fatal(err)
	}
	return out.(*unstructured.Unstructured).Object
}

func (s *Server) prepare(tb testing.TB, live, obj map[string]any) (f *managedfields.FieldManager, was, now *unstructured.Unstructured) {
	tb.Helper()
	now = (&unstructured.Unstructured{Object: obj}).DeepCopy()
	kind := now.GroupVersionKind()
	was = &unstructured.Unstructured{Object: live}
	if live == nil {
		was = &unstructured.Unstructured{Object: map[string]any{}}
		was.SetGroupVersionKind(kind)
	}
	f = managedfieldstest.NewFakeFieldManager(s.converter(tb, kind.GroupVersion()), kind)
	return f, was.DeepCopy(), now
}

// converter returns the types of a group and version.
func (s *Server) converter(tb testing.TB, gv schema.GroupVersion) managedfields.TypeConverter {
	tb.Helper()
	name := "apis__" + gv.Group + "__" + gv.Version + "_openapi.json"
	if gv.Group == "" {
		name = "api__" + gv.Version + "_openapi.json"
	}
	for file, types := range s.types {
		if !strings.HasSuffix(file, string(filepath.Separator)+name) {
			continue
		}
		if types == nil {
			types = readTypes(tb, file)
			s.types[file] = types
		}
		return types
	}
	tb.Fatalf("no OpenAPI document of %s", gv)
	return nil
}

func readTypes(tb testing.TB, file string) managedfields.TypeConverter {
	tb.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	var doc struct {
		Components struct{ Schemas map[string]*spec.Schema }
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		tb.Fatal(err)
	}
	types, err := managedfields.NewTypeConverter(doc.Components.Schemas, false)
	if err != nil {
		tb.Fatal(err)
	}
	return types
}
