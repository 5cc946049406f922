package merge

import (
	"fmt"
	"reflect"

	gvk "k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/braid/internal/schema"
)

// Schema is the merge rules of one kind of object. Immutable.
type Schema struct{ s *schema.Schema }

// Name returns the kind or Go type that the rules are for; "" for Schemaless.
func (s *Schema) Name() string { return s.s.Name }

// SchemaFor returns the rules of a built-in kind, from the table embedded in this
// library. The error is ErrNoSchema for kinds that are not in it.
func SchemaFor(kind gvk.GroupVersionKind) (*Schema, error) {
	if s, ok := schema.Builtin(kind.Group, kind.Version, kind.Kind); ok {
		return &Schema{s}, nil
	}
	return nil, fmt.Errorf("%w: %s", ErrNoSchema, kind)
}

// SchemaFromType returns the rules that the struct tags json, patchStrategy and
// patchMergeKey of a Go type give. obj is a value of the type or a pointer to one.
func SchemaFromType(obj any) (*Schema, error) {
	t := reflect.TypeOf(obj)
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil {
		return nil, fmt.Errorf("%w: SchemaFromType of nil", ErrOption)
	}
	s, err := schema.FromType(t)
	if err != nil {
		return nil, err
	}
	return &Schema{s}, nil
}

// ErrSchema is the rule that a source breaks which no schema can be made of, for
// errors.Is.
var ErrSchema = schema.ErrSchema

// SchemasFromCRD returns the rules of the kind that a CustomResourceDefinition defines,
// by the versions that it serves. An API server makes the same of it: metadata is that
// of built-in kinds, and lists are merged by element, where they say so, under the model
// Structured only. Patches are any but StrategicPatch, which servers do not take for
// custom kinds. O(n) in the size of crd.
//
// It takes apiextensions.k8s.io/v1 and v1beta1. The error is an [*Error] with ErrSchema,
// which names the version and the path in its schema.
func SchemasFromCRD(crd *Doc) (map[gvk.GroupVersionKind]*Schema, error) {
	if crd == nil {
		return nil, fmt.Errorf("%w: SchemasFromCRD of nil", ErrOption)
	}
	kinds, err := schema.ReadCRD(crd.tree)
	return schemas(kinds), err
}

// SchemasFromOpenAPI returns the rules of all kinds in an OpenAPI v3 document, as a
// cluster serves one for each group and version under /openapi/v3. Those of custom kinds
// are as SchemasFromCRD gives them, and so are those of aggregated API servers: they may
// take no StrategicPatch. O(n) in the size of document; the rules share memory, so keep
// all or none.
//
// A kind whose rules are malformed is left out. The error joins an [*Error] for each,
// with ErrSchema, and comes beside the other kinds. If document is no OpenAPI document,
// the error is an [*Error] with ErrSchema or ErrSyntax, and there are none.
func SchemasFromOpenAPI(document []byte) (map[gvk.GroupVersionKind]*Schema, error) {
	kinds, err := schema.ReadKinds(document)
	return schemas(kinds), err
}

func schemas(kinds map[schema.GVK]*schema.Schema) map[gvk.GroupVersionKind]*Schema {
	if kinds == nil {
		return nil
	}
	out := make(map[gvk.GroupVersionKind]*Schema, len(kinds))
	for k, s := range kinds {
		out[gvk.GroupVersionKind(k)] = &Schema{s}
	}
	return out
}

// WithRule returns a copy of s in which the positions that path names have another rule,
// under the models Strategic and Structured. s does not change. In a path [*] stands for
// all elements of a list, and * for all values of a map:
//
//	spec.template.spec.containers[*].env
//	metadata.labels["example.com/team"]
//
// The rules are
//
//	atomic                   a list or map is one value
//	granular                 a map is merged by field
//	set                      a list of distinct scalars
//	map=KEY, map=KEY,KEY     a list of maps that the fields KEY name
//	retainKeys               a map is a union: when it changes, only the fields that
//	                         desired has stay; of a list with keys, its elements
//	quantity, int-or-string, duration, time, bytes, string
//	                         how a scalar compares
//	nullable                 null is a value
//	preserve-unknown-fields  fields that the schema does not know are no cause to warn
//
// Where s knows nothing, as all over Schemaless, the path and the rule are what it knows
// from then on. A patch still tells the server the merged value, in the words of the
// server's own rules. The error is ErrOption, with the path and the rule: there is no
// such position or rule, or they do not fit. O(fields on the way).
func (s *Schema) WithRule(path, rule string) (*Schema, error) {
	out, err := s.s.Override(path, rule)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrOption, err)
	}
	return &Schema{out}, nil
}

// Schemaless returns the rules for objects nobody knows: maps are merged by field
// and lists replaced.
func Schemaless() *Schema { return &Schema{schema.None} }

// Model says which rules of a schema count.
type Model = schema.Model

// The models.
const (
	// Strategic merges as kubectl apply does built-in kinds.
	Strategic = schema.Strategic
	// Structured merges as kubectl apply --server-side does.
	Structured = schema.Structured
	// Plain merges maps by field and replaces lists, whatever the schema says.
	Plain = schema.Plain
)
