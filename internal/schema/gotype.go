package schema

import (
	"reflect"

	"example.com/braid/internal/jsonfield"
	"example.com/braid/internal/node"
)

// FromType compiles the struct tags json, patchStrategy and patchMergeKey of a Go
// struct type, as apimachinery's PatchMetaFromStruct reads them; fields and their
// names are those of encoding/json. Structured rules fall back on the patch tags, for
// Go types carry no others, and no defaults. Types that write their own JSON are Any,
// but for those of apimachinery that say what they write.
//
// Errors are *node.Error with the path of the field. O(n) in all types reached.
func FromType(t reflect.Type) (*Schema, error) {
	if t == nil || t.Kind() != reflect.Struct {
		return nil, &node.Error{Doc: "schema", Offset: -1, Rule: ErrSchema, Detail: goName(t) + " is not a struct"}
	}
	g := goReader{types: map[reflect.Type]*Type{}}
	out, err := g.typeOf(t, root(goName(t)))
	if err == nil {
		err = g.finish()
	}
	if err != nil {
		return nil, err
	}
	return &Schema{Name: t.String(), Root: out}, nil
}

func goName(t reflect.Type) string {
	if t == nil {
		return "Go type nil"
	}
	return "Go type " + t.String()
}

type goReader struct {
	builder
	types map[reflect.Type]*Type // as they are without the tags of a field
}

func (g *goReader) typeOf(t reflect.Type, at *place) (out *Type, err error) {
	t = deref(t)
	if known, ok := g.types[t]; ok {
		return known, nil
	}
	out = &Type{}
	g.types[t] = out
	if kind, ok := ownKind(t); ok {
		out.Kind = kind
		if isNamed(t, "apimachinery/pkg/runtime", "RawExtension") {
			out.Structured.Merge = Atomic // as in OpenAPI
		}
		return out, nil
	}
	switch t.Kind() {
	case reflect.Struct:
		out.Kind = Map
		return out, g.fill(out, t, at)
	case reflect.Map:
		out.Kind = Map
		out.Elem, err = g.typeOf(t.Elem(), at.elements(false))
	case reflect.Slice, reflect.Array:
		if isBytes(t) {
			out.Kind = Bytes
			break
		}
		out.Kind = List
		out.Strategic.Merge, out.Structured.Merge = Atomic, Atomic
		out.Elem, err = g.typeOf(t.Elem(), at.elements(true))
	default:
		out.Kind = scalarKind(t.Kind())
	}
	return out, err
}

// fill sets the fields of a struct, with the rules that their tags give.
func (g *goReader) fill(out *Type, t reflect.Type, at *place) error {
	for _, f := range jsonfield.Of(t) {
		at := at.field(f.Name)
		child, err := g.typeOf(f.Type, at)
		if err != nil {
			return err
		}
		if f.Quoted && (child.Kind == Bool || child.Kind == Integer || child.Kind == Number) {
			child = &Type{Kind: String}
		}
		patch, err := strategiesOf(f.Tag.Get("patchStrategy"), at)
		if err != nil {
			return err
		}
		if patch != (strategies{}) {
			child = g.derive(child, rules{patch: patch, patchKey: f.Tag.Get("patchMergeKey")}, at)
		}
		out.Fields = append(out.Fields, field(f.Name, child))
		out.Fields[len(out.Fields)-1].Zero = zeroOf(&f)
	}
	facts(out, componentOf(t))
	return nil
}

// deref returns what t points to, if not to itself: type T *T.
func deref(t reflect.Type) reflect.Type {
	for range 8 {
		if t.Kind() != reflect.Pointer {
			break
		}
		t = t.Elem()
	}
	return t
}

func scalarKind(k reflect.Kind) Kind {
	switch k {
	case reflect.String:
		return String
	case reflect.Bool:
		return Bool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return Integer
	case reflect.Float32, reflect.Float64:
		return Number
	}
	return Any
}
