package node

import (
	"reflect"
	"slices"

	"example.com/braid/internal/jsonfield"
)

// objectField is a field of a struct that is written.
type objectField struct {
	name   string
	prefix uint64
	index  int      // in the struct, or of the embedded struct that it is in
	rest   []int    // the way from there on
	omit   [2]empty // when it is not written: the options omitempty and omitzero
	plan   *plan
}

// empty is when a value counts as empty.
type empty uint8

const (
	emptyNever   empty = iota
	emptyLen           // it has no elements
	emptyNil           // it is nil
	emptyZero          // it is the zero value
	emptyIsZero        // its IsZero says so
	emptyPointer       // it is nil, or its IsZero says so
	emptyBoxed         // likewise of an interface, which may hold a nil pointer
)

var zeroerType = reflect.TypeFor[interface{ IsZero() bool }]()

// fields returns the fields that encoding/json writes of a struct, by key.
func (c compiler) fields(t reflect.Type) []objectField {
	var out []objectField
	for _, f := range jsonfield.Of(t) {
		p := c.plan(f.Type)
		if f.Quoted {
			p = p.inString()
		}
		omit := [2]empty{emptiness(&f), zeroness(&f)}
		if omit[0] != emptyNever && omit[1] == emptyZero {
			omit[1] = emptyNever // what is zero is empty
		}
		// What is not exported is an embedded struct under a name of its own.
		if !f.IsExported() && (p.form >= asMarshaled || p.method != asNothing || omit[1] > emptyZero) {
			p, omit = &plan{typ: f.Type}, [2]empty{} // encoding/json panics, for its methods cannot be called
		}
		of := objectField{name: f.Name, prefix: Prefix(f.Name), index: f.Path[0], omit: omit, plan: p}
		if len(f.Path) > 1 {
			of.rest = f.Path[1:]
		}
		out = append(out, of)
	}
	return out
}

func emptiness(f *jsonfield.Field) empty {
	if !slices.Contains(f.Options, "omitempty") {
		return emptyNever
	}
	switch kind := f.Type.Kind(); kind {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return emptyLen
	case reflect.Pointer, reflect.Interface:
		return emptyNil
	default:
		if reflect.Bool <= kind && kind <= reflect.Float64 {
			return emptyZero
		}
	}
	return emptyNever
}

func zeroness(f *jsonfield.Field) empty {
	switch {
	case !slices.Contains(f.Options, "omitzero"):
		return emptyNever
	case f.Type.Kind() == reflect.Interface && f.Type.Implements(zeroerType):
		return emptyBoxed
	case f.Type.Kind() == reflect.Pointer && f.Type.Implements(zeroerType):
		return emptyPointer
	case f.Type.Kind() != reflect.Interface && reflect.PointerTo(f.Type).Implements(zeroerType):
		return emptyIsZero
	}
	return emptyZero
}

// holds reports whether v is empty in this way.
func (e empty) holds(v reflect.Value) bool {
	switch e {
	case emptyLen:
		return v.Len() == 0
	case emptyNil:
		return v.IsNil()
	case emptyZero:
		return v.IsZero()
	case emptyIsZero:
		return v.Addr().Interface().(interface{ IsZero() bool }).IsZero()
	case emptyBoxed:
		if inner := v.Elem(); inner.Kind() == reflect.Pointer && inner.IsNil() {
			return true
		}
		fallthrough
	case emptyPointer:
		return v.IsNil() || v.Interface().(interface{ IsZero() bool }).IsZero()
	}
	return false
}

// in returns the field's value in v, and whether it is addressable if v is. A field
// behind an embedded nil pointer has none.
func (f *objectField) in(v reflect.Value, addressable bool) (reflect.Value, bool, bool) {
	v = v.Field(f.index)
	for _, i := range f.rest {
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return v, false, false
			}
			v, addressable = v.Elem(), true
		}
		v = v.Field(i)
	}
	return v, addressable, true
}
