package schema

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
	"time"
)

// openAPITyped is what types of apimachinery say of the JSON that they write:
// resource.Quantity, metav1.Time, intstr.IntOrString and the like.
type openAPITyped interface {
	OpenAPISchemaType() []string
	OpenAPISchemaFormat() string
}

var (
	typedInterface = reflect.TypeFor[openAPITyped]()
	jsonInterface  = reflect.TypeFor[json.Marshaler]()
	textInterface  = reflect.TypeFor[encoding.TextMarshaler]()
)

// ownKind returns the kind of a type that writes its own JSON, or is known.
func ownKind(t reflect.Type) (Kind, bool) {
	switch t {
	case reflect.TypeFor[time.Time]():
		return Time, true
	case reflect.TypeFor[json.Number]():
		return Number, true
	}
	switch p := reflect.PointerTo(t); {
	case p.Implements(typedInterface):
		return typedKind(t), true
	case p.Implements(jsonInterface):
		return Any, true
	case p.Implements(textInterface):
		return String, true
	}
	return Any, false
}

func typedKind(t reflect.Type) (kind Kind) {
	// A method promoted from a nil pointer, as of a struct that embeds one, panics.
	defer func() {
		if recover() != nil {
			kind = Any
		}
	}()
	typed := reflect.New(t).Interface().(openAPITyped)
	format, types := typed.OpenAPISchemaFormat(), typed.OpenAPISchemaType()
	switch {
	case format == "int-or-string":
		return IntOrString
	case format == "date-time":
		return Time
	case isNamed(t, "apimachinery/pkg/api/resource", "Quantity"):
		return Quantity
	case isNamed(t, "apimachinery/pkg/apis/meta/v1", "Duration"):
		return Duration
	case len(types) != 1:
		return Any
	}
	if types[0] == "array" { // of what?
		return Any
	}
	return kindOf(&spec{Type: types[0], Format: format}, "")
}

// isNamed finds types of apimachinery, vendored or not, without importing it.
func isNamed(t reflect.Type, pkg, name string) bool {
	return t.Name() == name && strings.HasSuffix(t.PkgPath(), pkg)
}

// isBytes says whether encoding/json writes a slice as base64. It does not so write
// arrays, nor bytes that have a form of their own.
func isBytes(t reflect.Type) bool {
	if t.Kind() != reflect.Slice || t.Elem().Kind() != reflect.Uint8 {
		return false
	}
	p := reflect.PointerTo(t.Elem())
	return !p.Implements(jsonInterface) && !p.Implements(textInterface)
}
