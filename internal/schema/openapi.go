package schema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// OpenAPI is a compiled OpenAPI v3 document.
type OpenAPI struct {
	Types map[string]*Type // by component name
	Kinds map[GVK]string   // the component of each kind
}

// GVK names a kind of object.
type GVK struct{ Group, Version, Kind string }

// String writes "apps/v1, Kind=Deployment", as apimachinery does.
func (g GVK) String() string { return g.Group + "/" + g.Version + ", Kind=" + g.Kind }

// node of an OpenAPI schema; only what bears on merging is read.
type spec struct {
	Ref        string           `json:"$ref"`
	AllOf      []*spec          `json:"allOf"`
	OneOf      []*spec          `json:"oneOf"`
	Type       string           `json:"type"`
	Format     string           `json:"format"`
	Properties map[string]*spec `json:"properties"`
	Additional json.RawMessage  `json:"additionalProperties"`
	Items      *spec            `json:"items"`
	Nullable   bool             `json:"nullable"`
	Default    json.RawMessage  `json:"default"`

	PatchStrategy string   `json:"x-kubernetes-patch-strategy"`
	PatchKey      string   `json:"x-kubernetes-patch-merge-key"`
	ListType      string   `json:"x-kubernetes-list-type"`
	ListKeys      []string `json:"x-kubernetes-list-map-keys"`
	MapType       string   `json:"x-kubernetes-map-type"`
	Preserve      bool     `json:"x-kubernetes-preserve-unknown-fields"`
	IntOrString   bool     `json:"x-kubernetes-int-or-string"`
	Embedded      bool     `json:"x-kubernetes-embedded-resource"`

	GVKs []struct{ Group, Version, Kind string } `json:"x-kubernetes-group-version-kind"`
}

// ReadOpenAPI compiles the components of an OpenAPI v3 document, as Kubernetes
// publishes and API servers serve it. O(n). The error names the component and
// what is wrong with it.
func ReadOpenAPI(document []byte) (*OpenAPI, error) {
	var doc struct {
		Components struct {
			Schemas map[string]*spec `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(document, &doc); err != nil {
		return nil, fmt.Errorf("OpenAPI document: %w", err)
	}
	r := reader{specs: doc.Components.Schemas, out: OpenAPI{map[string]*Type{}, map[GVK]string{}}}
	names := make([]string, 0, len(r.specs))
	for name, s := range r.specs {
		names = append(names, name)
		if s == nil {
			return nil, fmt.Errorf("OpenAPI component %s: null", name)
		}
		for _, k := range s.GVKs {
			r.out.Kinds[GVK(k)] = name
		}
		r.out.Types[name] = &Type{}
	}
	slices.Sort(names)
	for _, name := range names {
		if err := r.fill(r.out.Types[name], r.specs[name], name, 0); err != nil {
			return nil, fmt.Errorf("OpenAPI component %s: %w", name, err)
		}
	}
	r.finish()
	return &r.out, nil
}

type reader struct {
	builder
	specs map[string]*spec
	out   OpenAPI
}

const (
	refPrefix = "#/components/schemas/"
	maxNest   = 200 // of inline schemas; real ones nest fewer than 30
)

// typeOf returns the type of a schema that stands at a field, in a list or in a map.
func (r *reader) typeOf(s *spec, depth int) (*Type, error) {
	switch {
	case s == nil:
		return Unknown, nil
	case depth > maxNest:
		return nil, fmt.Errorf("schemas nested deeper than %d", maxNest)
	}
	ref := s.Ref
	if ref == "" && len(s.AllOf) == 1 && s.AllOf[0] != nil {
		ref = s.AllOf[0].Ref
	}
	if ref == "" {
		t := &Type{}
		return t, r.fill(t, s, "", depth)
	}
	name := strings.TrimPrefix(ref, refPrefix)
	base, ok := r.out.Types[name]
	if !ok || name == ref {
		return nil, fmt.Errorf("$ref %q does not name a component", ref)
	}
	target := r.specs[name]
	own := strategiesOf(s.PatchStrategy)
	if own == (strategies{}) && s.MapType == "" && len(s.Default) == 0 && !s.Nullable {
		return base, nil
	}
	t := r.derive(base)
	t.Nullable, t.Default = s.Nullable, string(s.Default)
	t.Strategic, t.Structured = mapRules(own, firstOf(s.MapType, target.MapType))
	if target.Type == "array" {
		return nil, fmt.Errorf("$ref %q with rules refers to a list", ref)
	}
	return t, nil
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func mapRules(s strategies, mapType string) (strategic, structured Rule) {
	strategic.RetainKeys = s.retainKeys
	if s.replace {
		strategic.Merge = Atomic
	}
	if mapType == "atomic" {
		structured.Merge = Atomic
	}
	return strategic, structured
}

func strategiesOf(tag string) (s strategies) {
	for word := range strings.SplitSeq(tag, ",") {
		switch word {
		case "merge":
			s.merge = true
		case "replace":
			s.replace = true
		case "retainKeys":
			s.retainKeys = true
		}
	}
	return s
}

// fill completes t by a schema that is not a reference. name is the component's.
func (r *reader) fill(t *Type, s *spec, name string, depth int) (err error) {
	if s.Ref != "" {
		return fmt.Errorf("the component is a reference to another")
	}
	t.Nullable, t.Default = s.Nullable, string(s.Default)
	t.PreserveUnknown, t.Embedded = s.Preserve, s.Embedded
	t.Kind = kindOf(s, name)
	own := strategiesOf(s.PatchStrategy)
	switch t.Kind {
	case List:
		return r.fillList(t, s, own, depth)
	case Map:
		t.Strategic, t.Structured = mapRules(own, s.MapType)
		return r.fillMap(t, s, depth)
	case Any:
		t.Strategic, t.Structured = mapRules(own, s.MapType)
	}
	return nil
}

func kindOf(s *spec, name string) Kind {
	switch {
	case s.IntOrString || s.Format == "int-or-string":
		return IntOrString
	case strings.HasSuffix(name, "resource.Quantity"):
		return Quantity
	}
	switch s.Type {
	case "object":
		if len(s.Properties) > 0 || len(s.Additional) > 0 && s.Additional[0] == '{' {
			return Map
		}
	case "array":
		return List
	case "boolean":
		return Bool
	case "integer":
		return Integer
	case "number":
		return Number
	case "string":
		switch s.Format {
		case "date-time":
			return Time
		case "byte":
			return Bytes
		}
		return String
	}
	return Any
}

func (r *reader) fillList(t *Type, s *spec, own strategies, depth int) (err error) {
	if t.Elem, err = r.typeOf(s.Items, depth+1); err != nil {
		return fmt.Errorf("items: %w", err)
	}
	t.Strategic = listRules(own, s.PatchKey)
	switch s.ListType {
	case "map":
		t.Structured = Rule{Merge: Keyed}
		for _, k := range s.ListKeys {
			t.Structured.Keys = append(t.Structured.Keys, Key{Name: k})
		}
		if len(s.ListKeys) == 0 {
			return fmt.Errorf("list-type map without list-map-keys")
		}
	case "set":
		t.Structured = Rule{Merge: Set}
	case "atomic":
		t.Structured = Rule{Merge: Atomic}
	case "":
		t.Structured = structuredOf(t.Strategic)
	default:
		return fmt.Errorf("list-type %q", s.ListType)
	}
	if t.Structured.Merge == Keyed {
		r.keyed = append(r.keyed, t)
	}
	return nil
}

func (r *reader) fillMap(t *Type, s *spec, depth int) (err error) {
	names := make([]string, 0, len(s.Properties))
	for name := range s.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		child, err := r.typeOf(s.Properties[name], depth+1)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		t.Fields = append(t.Fields, field(name, child))
	}
	if len(s.Additional) > 0 && s.Additional[0] == '{' {
		var more spec
		if err := json.Unmarshal(s.Additional, &more); err != nil {
			return fmt.Errorf("additionalProperties: %w", err)
		}
		if t.Elem, err = r.typeOf(&more, depth+1); err != nil {
			return fmt.Errorf("additionalProperties: %w", err)
		}
	}
	return nil
}
