package schema

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// FromType compiles the struct tags json, patchStrategy and patchMergeKey of a Go
// struct type, as apimachinery's PatchMetaFromStruct reads them. Structured rules
// fall back on the patch tags, for Go types carry no others. The error names the
// field.
func FromType(t reflect.Type) (*Schema, error) {
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("schema of Go type %s: want a struct", t)
	}
	g := goReader{types: map[reflect.Type]*Type{}}
	root, err := g.typeOf(t)
	if err != nil {
		return nil, fmt.Errorf("schema of Go type %s: %w", t, err)
	}
	g.finish()
	return &Schema{Name: t.String(), Root: root}, nil
}

type goReader struct {
	builder
	types map[reflect.Type]*Type
}

// openAPITyped is what Go types say of the JSON they are written as:
// resource.Quantity, metav1.Time, intstr.IntOrString and the like.
type openAPITyped interface {
	OpenAPISchemaType() []string
	OpenAPISchemaFormat() string
}

var (
	typedInterface   = reflect.TypeFor[openAPITyped]()
	marshalInterface = reflect.TypeFor[json.Marshaler]()
)

// typeOf returns the type of a Go type without tags of a field.
func (g *goReader) typeOf(t reflect.Type) (*Type, error) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if known, ok := g.types[t]; ok {
		return known, nil
	}
	out := &Type{}
	g.types[t] = out
	if kind, ok := ownKind(t); ok {
		out.Kind = kind
		return out, nil
	}
	switch t.Kind() {
	case reflect.Struct:
		out.Kind = Map
		return out, g.fields(out, t)
	case reflect.Map:
		out.Kind = Map
		elem, err := g.typeOf(t.Elem())
		out.Elem = elem
		return out, err
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			out.Kind = Bytes
			return out, nil
		}
		out.Kind = List
		out.Strategic.Merge, out.Structured.Merge = Atomic, Atomic
		elem, err := g.typeOf(t.Elem())
		out.Elem = elem
		return out, err
	}
	out.Kind = scalarKind(t.Kind())
	return out, nil
}

// ownKind returns the kind of a type that writes its own JSON.
func ownKind(t reflect.Type) (Kind, bool) {
	p := reflect.PointerTo(t)
	switch {
	case p.Implements(typedInterface):
		typed := reflect.New(t).Interface().(openAPITyped)
		format, types := typed.OpenAPISchemaFormat(), typed.OpenAPISchemaType()
		switch {
		case format == "int-or-string":
			return IntOrString, true
		case format == "date-time":
			return Time, true
		case t.Name() == "Quantity":
			return Quantity, true
		case t.Name() == "Duration":
			return Duration, true
		case len(types) == 1 && types[0] == "string":
			return String, true
		}
		return Any, true
	case p.Implements(marshalInterface) && t.Name() == "Duration":
		return Duration, true
	case p.Implements(marshalInterface):
		return Any, true
	}
	return Any, false
}

func scalarKind(k reflect.Kind) Kind {
	switch k {
	case reflect.String:
		return String
	case reflect.Bool:
		return Bool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return Integer
	case reflect.Float32, reflect.Float64:
		return Number
	}
	return Any
}

// fields adds the fields of a struct to out, those of embedded structs without a
// name of their own among them. A field of the outer struct wins.
func (g *goReader) fields(out *Type, t reflect.Type) error {
	var embedded []reflect.Type
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || f.PkgPath != "" && !f.Anonymous {
			continue
		}
		if f.Anonymous && name == "" {
			inner := f.Type
			for inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			if _, own := ownKind(inner); inner.Kind() == reflect.Struct && !own {
				embedded = append(embedded, inner)
				continue
			}
		}
		if name == "" {
			name = f.Name
		}
		child, err := g.field(f)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		out.Fields = append(out.Fields, field(name, child))
	}
	for _, inner := range embedded {
		base, err := g.typeOf(inner)
		if err != nil {
			return err
		}
		for _, f := range base.Fields {
			if !slices.ContainsFunc(out.Fields, func(o Field) bool { return o.Name == f.Name }) {
				out.Fields = append(out.Fields, f)
			}
		}
	}
	slices.SortFunc(out.Fields, func(a, b Field) int { return strings.Compare(a.Name, b.Name) })
	return nil
}

// field returns the type of a struct field by its Go type and its tags.
func (g *goReader) field(f reflect.StructField) (*Type, error) {
	base, err := g.typeOf(f.Type)
	own := strategiesOf(f.Tag.Get("patchStrategy"))
	if err != nil || own == (strategies{}) {
		return base, err
	}
	t := g.derive(base)
	inner := f.Type
	for inner.Kind() == reflect.Pointer {
		inner = inner.Elem()
	}
	if base.Kind != List && inner.Kind() != reflect.Slice {
		t.Strategic, t.Structured = mapRules(own, "")
		return t, nil
	}
	key := f.Tag.Get("patchMergeKey")
	t.Strategic = listRules(own, key)
	t.Structured = structuredOf(t.Strategic)
	elem := inner.Elem()
	for elem.Kind() == reflect.Pointer {
		elem = elem.Elem()
	}
	if t.Strategic.Merge == Set && elem.Kind() == reflect.Struct {
		return nil, fmt.Errorf("patchStrategy merge on a list of structs wants patchMergeKey")
	}
	return t, nil
}
