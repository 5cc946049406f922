package schema

import (
	"encoding/json"
	"strings"
	"sync"

	"example.com/braid/internal/node"
)

// ReadCRD compiles the kind that a CustomResourceDefinition defines, in each version
// that is served. As an API server does, it takes metadata, of the object and of
// embedded ones, for the ObjectMeta of built-in kinds, and knows no patch strategies:
// under the Strategic model lists are one value. A version without a schema keeps what
// it is given. O(n).
//
// It reads apiextensions.k8s.io/v1, and v1beta1, where one schema may stand for all
// versions and unknown fields are kept unless it says otherwise. The error is a
// *node.Error with ErrSchema: doc is no such object, or a version that it serves is
// malformed.
func ReadCRD(doc *node.Tree) (map[GVK]*Schema, error) {
	at := root("CustomResourceDefinition")
	var crd definition
	if err := doc.Decode(&crd); err != nil {
		return nil, at.fault("%v", err)
	}
	if err := crd.complete(at); err != nil {
		return nil, err
	}
	kinds := map[GVK]*Schema{}
	seen := map[string]bool{}
	for _, v := range crd.Spec.Versions {
		k := GVK{crd.Spec.Group, v.Name, crd.Spec.Names.Kind}
		if v.Name == "" || seen[v.Name] {
			return nil, at.field("spec").field("versions").fault("a version needs a name of its own")
		}
		seen[v.Name] = true
		if !v.Served {
			continue
		}
		if v.Schema.OpenAPI == nil {
			v.Schema = crd.Spec.Validation
		}
		t, err := v.Schema.compile(root("version "+k.String()), crd.keepsAll())
		if err != nil {
			return nil, err
		}
		kinds[k] = &Schema{Name: k.String(), Root: t, Custom: true}
	}
	return kinds, nil
}

// definition is a CustomResourceDefinition; only what bears on merging is read.
type definition struct {
	APIVersion, Kind string
	Spec             struct {
		Group    string
		Names    struct{ Kind string }
		Versions []version
		Preserve *bool `json:"preserveUnknownFields"`
		// Of v1beta1.
		Version    string
		Validation validation
	}
}

type version struct {
	Name   string
	Served bool
	Schema validation
}

type validation struct {
	OpenAPI json.RawMessage `json:"openAPIV3Schema"`
}

// complete checks what a definition must have, and spells the one version that v1beta1
// allows as a list.
func (d *definition) complete(at *place) error {
	s, spec := &d.Spec, at.field("spec")
	v1 := d.APIVersion == "apiextensions.k8s.io/v1"
	if v1 {
		s.Version, s.Validation = "", validation{}
	}
	if len(s.Versions) == 0 && s.Version != "" {
		s.Versions = []version{{Name: s.Version, Served: true}}
	}
	switch {
	case d.Kind != "CustomResourceDefinition" || !v1 && d.APIVersion != "apiextensions.k8s.io/v1beta1":
		return at.fault("this is %s, Kind=%s", d.APIVersion, d.Kind)
	case s.Group == "":
		return spec.fault("it names no group")
	case s.Names.Kind == "":
		return spec.field("names").fault("it names no kind")
	case len(s.Versions) == 0:
		return spec.fault("it has no versions")
	}
	return nil
}

// keepsAll reports whether a server keeps the fields that the schema does not know.
func (d *definition) keepsAll() bool {
	if d.Spec.Preserve == nil {
		return strings.HasSuffix(d.APIVersion, "beta1")
	}
	return *d.Spec.Preserve
}

// compile returns the type of the objects that v describes.
func (v validation) compile(at *place, keepsAll bool) (*Type, error) {
	var s *spec
	if v.OpenAPI != nil {
		if err := json.Unmarshal(v.OpenAPI, &s); err != nil {
			return nil, at.fault("%v", err)
		}
	}
	if s == nil {
		s = &spec{Type: "object", Preserve: true}
	}
	r := reader{out: OpenAPI{Types: map[string]*Type{metaComponent: objectMeta()}}, prepare: func(s *spec) { s.custom(keepsAll) }}
	r.prepare(s)
	s.object()
	t := &Type{}
	err := r.fill(t, s, "", at, 0)
	if err == nil && t.Kind != Map {
		err = at.fault("the schema of an object has the type object")
	}
	if err == nil {
		err = r.finish()
	}
	return t, err
}

// custom makes s what a server makes of a part of a custom kind's schema.
func (s *spec) custom(keepsAll bool) {
	s.PatchStrategy, s.PatchKey = "", ""
	s.Preserve = s.Preserve || keepsAll && len(s.Properties) > 0
	if s.Embedded {
		s.object()
	}
}

// object gives s the fields that every Kubernetes object has.
func (s *spec) object() {
	if s.Properties == nil {
		s.Properties = map[string]*spec{}
	}
	s.Properties["apiVersion"] = &spec{Type: "string"}
	s.Properties["kind"] = &spec{Type: "string"}
	s.Properties["metadata"] = &spec{Ref: refPrefix + metaComponent}
}

const metaComponent = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"

var objectMeta = sync.OnceValue(func() *Type {
	configMap, ok := Builtin("", "v1", "ConfigMap")
	if !ok {
		panic("the table of built-in kinds has no ConfigMap")
	}
	meta, _ := configMap.Root.Lookup("metadata")
	bare := *meta
	bare.Default = "" // which the field of a ConfigMap has, but not that of a custom kind
	return &bare
})
