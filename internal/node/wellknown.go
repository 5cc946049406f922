package node

import (
	"reflect"
	"strings"
	"time"
)

// wellKnown has the types of apimachinery that objects hold by the dozen. Their MarshalJSON
// allocates a text that is then read again; what it writes can be told from the value
// without. They are known by name, so that who has no typed objects need not import them.
// One whose fields are not these, in some other version, counts as any type.
var wellKnown = map[string]struct {
	form   form
	fields string
}{
	"k8s.io/apimachinery/pkg/api/resource.Quantity":                  {asQuantity, "i resource.int64Amount, d resource.infDecAmount, s string, Format string"},
	"k8s.io/apimachinery/pkg/apis/meta/v1.MicroTime":                 {asMicroTime, "Time time.Time"},
	"k8s.io/apimachinery/pkg/apis/meta/v1.Time":                      {asTime, "Time time.Time"},
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured.Unstructured": {asUnstructured, "Object map[string]interface {}"},
	"k8s.io/apimachinery/pkg/util/intstr.IntOrString":                {asIntOrString, "Type int64, IntVal int32, StrVal string"},
}

// knownForm returns how the values of t are written where they have methods, if t is well
// known, and asMarshaled if it is not.
func knownForm(t reflect.Type) form {
	known, ok := wellKnown[t.PkgPath()+"."+t.Name()]
	if !ok || t.Kind() != reflect.Struct {
		return asMarshaled
	}
	var fields []string
	for i := range t.NumField() {
		f := t.Field(i)
		is := f.Type.Kind().String()
		if f.Type.Kind() == reflect.Struct || f.Type.Kind() == reflect.Map {
			is = f.Type.String()
		}
		fields = append(fields, f.Name+" "+is)
	}
	if strings.Join(fields, ", ") != known.fields {
		return asMarshaled
	}
	return known.form
}

// known makes id a value of a well-known type.
func (b *builder) known(id ID, v reflect.Value, f form, depth int) bool {
	switch f {
	case asUnstructured:
		return mapping(b, id, v.Field(0).Interface().(map[string]any), depth, (*builder).lay)
	case asQuantity:
		return b.quantity(id, v, depth)
	case asTime:
		return b.time(id, v, time.RFC3339)
	case asMicroTime:
		return b.time(id, v, "2006-01-02T15:04:05.000000Z07:00")
	}
	switch v.Field(0).Int() { // asIntOrString
	case 0:
		return b.signed(id, v.Field(1).Int())
	case 1:
		return b.put(id, String, v.Field(2).String())
	}
	return b.marshaled(id, v, asMarshaled, depth) // an error of its own
}

// quantity does not call String, which keeps what it made in the object, where others may
// be reading.
func (b *builder) quantity(id ID, v reflect.Value, depth int) bool {
	if text := v.Field(2).String(); text != "" {
		return b.put(id, String, text)
	}
	q, ok := v.Addr().Interface().(interface {
		CanonicalizeBytes(out []byte) (number, suffix []byte)
	})
	if !ok {
		return b.marshaled(id, v, asMarshaled, depth)
	}
	number, suffix := q.CanonicalizeBytes(b.scratch[:0])
	off := len(b.extra)
	b.extra = append(append(b.extra, number...), suffix...)
	return b.took(id, String, off)
}

func (b *builder) time(id ID, v reflect.Value, layout string) bool {
	t := v.Field(0).Addr().Interface().(*time.Time)
	if t.IsZero() {
		return b.null(id)
	}
	off := len(b.extra)
	b.extra = t.UTC().AppendFormat(b.extra, layout)
	return b.took(id, String, off)
}
