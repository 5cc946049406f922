package schema

import (
	"bytes"
	"encoding/json"
	"strings"
)

// spec is an OpenAPI schema; only what bears on merging is read.
type spec struct {
	Ref        string           `json:"$ref"`
	AllOf      []*spec          `json:"allOf"`
	Type       string           `json:"type"`
	Format     string           `json:"format"`
	Pattern    string           `json:"pattern"`
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

// ref returns what s refers to, or "". OpenAPI 3.0 allows nothing beside a $ref, so
// where a place has words of its own the reference stands alone in an allOf.
func (s *spec) ref() string {
	if s.Ref == "" && len(s.AllOf) == 1 && s.AllOf[0] != nil {
		return s.AllOf[0].Ref
	}
	return s.Ref
}

func (s *spec) rules(at *place) (rules, error) {
	patch, err := strategiesOf(s.PatchStrategy, at)
	return rules{patch, s.PatchKey, s.ListType, s.ListKeys, s.MapType}, err
}

// own sets what s says of t besides its kind and rules.
func (s *spec) own(t *Type) {
	t.Nullable, t.PreserveUnknown, t.Embedded = s.Nullable, s.Preserve, s.Embedded
	if len(s.Default) > 0 && string(s.Default) != "null" {
		var b bytes.Buffer
		_ = json.Compact(&b, s.Default) // a RawMessage is valid JSON
		t.Default = b.String()
	}
}

// additional returns the schema of values that properties do not name; nil if no
// others are allowed, or if it says nothing of them.
func (s *spec) additional(at *place) (*spec, error) {
	switch string(s.Additional) {
	case "", "false", "null":
		return nil, nil
	case "true":
		return &spec{}, nil
	}
	var more *spec
	if err := json.Unmarshal(s.Additional, &more); err != nil {
		return nil, at.fault("additionalProperties: %v", err)
	}
	return more, nil
}

// quantityPattern is what controller-gen writes of a resource.Quantity in a CRD.
const quantityPattern = `^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$`

// kindOf returns the kind of a schema that is not a reference. component is its name,
// or "": OpenAPI says of a Quantity no more than that it is a string or a number, and
// of a Duration that it is a string. What allOf, anyOf and oneOf add is not read: they
// narrow the type beside them, and without one or properties the kind is Any.
func kindOf(s *spec, component string) Kind {
	switch {
	case strings.HasSuffix(component, "pkg.api.resource.Quantity"), s.IntOrString && s.Pattern == quantityPattern:
		return Quantity
	case s.IntOrString || s.Format == "int-or-string":
		return IntOrString
	}
	switch s.Type {
	case "":
		// Servers ask for no type of what keeps unknown fields, nor ever did of v1beta1.
		if len(s.Properties) > 0 {
			return Map
		}
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
		switch {
		case s.Format == "date-time":
			return Time
		case s.Format == "byte":
			return Bytes
		case strings.HasSuffix(component, "pkg.apis.meta.v1.Duration"):
			return Duration
		}
		return String
	}
	return Any
}
