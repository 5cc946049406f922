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
