package schema

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"example.com/braid/internal/node"
)

// OpenAPI is a compiled OpenAPI v3 document. Immutable.
type OpenAPI struct {
	Types map[string]*Type // by component name
	// Kinds has the component of each kind. Of components that claim one kind it
	// is the first by name.
	Kinds map[GVK]string
}

// GVK names a kind of object.
type GVK struct{ Group, Version, Kind string }

// String writes "apps/v1, Kind=Deployment" and "/v1, Kind=Pod", as apimachinery does.
func (g GVK) String() string { return g.Group + "/" + g.Version + ", Kind=" + g.Kind }

// ReadOpenAPI compiles the components of an OpenAPI v3 document, as Kubernetes
// publishes and API servers serve it, or as made of CRDs. It reads every component;
// one that is malformed is an error, which names it, the path in it and the rule
// (ErrSchema, or node.ErrSyntax with the offset). O(n), times the depth to which
// additionalProperties nest, which has a limit.
func ReadOpenAPI(document []byte) (*OpenAPI, error) {
	r, err := readComponents(document)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(r.bad)) {
		return nil, r.bad[name]
	}
	return &r.out, nil
}

// readComponents compiles the components of a document as far as they are sound. The
// error is that of the document, r.bad has those of components.
func readComponents(document []byte) (*reader, error) {
	var doc struct {
		Components struct {
			Schemas map[string]json.RawMessage `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(document, &doc); err != nil {
		return nil, notOpenAPI(err)
	}
	raw := doc.Components.Schemas
	r := &reader{out: OpenAPI{map[string]*Type{}, map[GVK]string{}}, bad: map[string]error{}, uses: map[string][]string{}}
	names, specs := slices.Sorted(maps.Keys(raw)), make(map[string]*spec, len(raw))
	for _, name := range names {
		var s *spec
		if err := json.Unmarshal(raw[name], &s); err != nil {
			r.fault(component(name), component(name).fault("%v", err))
		} else if s == nil {
			r.fault(component(name), component(name).fault("it is null"))
		}
		if s == nil {
			s = &spec{}
		}
		for _, k := range s.GVKs {
			if _, taken := r.out.Kinds[GVK(k)]; !taken {
				r.out.Kinds[GVK(k)] = name
			}
		}
		specs[name], r.out.Types[name] = s, &Type{}
	}
	for _, name := range names {
		if err := r.fill(r.out.Types[name], specs[name], name, component(name), 0); err != nil {
			r.fault(component(name), err)
		}
	}
	for at, err := range r.faults {
		r.fault(at, err)
	}
	return r, nil
}

func component(name string) *place { return root("component " + name) }

// fault keeps the first error of a component.
func (r *reader) fault(at *place, err error) {
	if r.bad[at.top()] == nil {
		r.bad[at.top()] = err
	}
}

// notOpenAPI is the error of text that is no JSON, or is not a document with schemas.
func notOpenAPI(err error) error {
	e := &node.Error{Doc: "schema", Offset: -1, Rule: ErrSchema, Detail: "OpenAPI document: " + err.Error()}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		e.Rule, e.Offset = node.ErrSyntax, int(syntax.Offset)
	}
	return e
}

type reader struct {
	builder
	out     OpenAPI
	bad     map[string]error    // what is wrong, by the name of the place where it begins
	uses    map[string][]string // of a component, those places that refer to it
	prepare func(*spec)         // changes a schema before it is read; or nil
}

const (
	refPrefix = "#/components/schemas/"
	maxNest   = 200 // of inline schemas; real ones nest fewer than 30
)

// typeOf returns the type of a schema that stands at a field, in a list or in a map.
// A reference that says nothing of its own is the component's Type itself.
func (r *reader) typeOf(s *spec, at *place, depth int) (*Type, error) {
	if s == nil {
		return Unknown, nil
	}
	if r.prepare != nil {
		r.prepare(s)
	}
	if s.ref() != "" && len(s.Default) == 0 && !s.Nullable && !s.Preserve && !s.Embedded {
		own, err := s.rules(at)
		if err != nil {
			return nil, err
		}
		if own.silent() {
			return r.named(s.ref(), at)
		}
	}
	t := &Type{}
	return t, r.fill(t, s, "", at, depth)
}

func (r *reader) named(ref string, at *place) (*Type, error) {
	name, local := strings.CutPrefix(ref, refPrefix)
	t, ok := r.out.Types[name]
	if !ok || !local {
		return nil, at.fault("$ref %q does not name a component", ref)
	}
	if r.uses != nil {
		r.uses[name] = append(r.uses[name], at.top())
	}
	return t, nil
}

// fill completes t by s. name is that of the component, or "".
func (r *reader) fill(t *Type, s *spec, name string, at *place, depth int) error {
	if depth > maxNest {
		return at.fault("it is nested deeper than %d", maxNest)
	}
	own, err := s.rules(at)
	if err != nil {
		return err
	}
	s.own(t)
	if ref := s.ref(); ref != "" {
		base, err := r.named(ref, at)
		if err == nil {
			r.deriveInto(t, base, own, at)
		}
		return err
	}
	t.Kind = kindOf(s, name)
	switch t.Kind {
	case List:
		t.Strategic.Merge, t.Structured.Merge = Atomic, Atomic
		t.Elem, err = r.typeOf(s.Items, at.elements(true), depth+1)
	case Map:
		err = r.fillMap(t, s, at, depth)
	case Any:
		// schemaconv knows it by name, as what no part of can be owned.
		if strings.HasSuffix(name, "pkg.runtime.RawExtension") {
			t.Structured.Merge = Atomic
		}
	}
	if err != nil {
		return err
	}
	facts(t, name)
	return r.apply(own, t, at)
}

func (r *reader) fillMap(t *Type, s *spec, at *place, depth int) error {
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		child, err := r.typeOf(s.Properties[name], at.field(name), depth+1)
		if err != nil {
			return err
		}
		t.Fields = append(t.Fields, field(name, child))
	}
	more, err := s.additional(at)
	if err != nil || more == nil {
		return err
	}
	t.Elem, err = r.typeOf(more, at.elements(false), depth+1)
	return err
}
