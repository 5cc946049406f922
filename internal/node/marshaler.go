package node

import (
	"encoding"
	"encoding/json"
	"reflect"
	"unsafe"
)

// methodsOf returns v as an I without a copy of it: the methods of its address are
// called, which are those of both receivers. There is none for a nil pointer or
// interface.
func methodsOf[I any](v reflect.Value) (I, bool) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			var none I
			return none, false
		}
	case reflect.Interface:
	default:
		v = v.Addr()
	}
	m, ok := v.Interface().(I)
	return m, ok
}

// marshaled makes id what a type's own MarshalJSON or MarshalText writes.
func (b *builder) marshaled(id ID, v reflect.Value, f form, depth int) bool {
	if f == asMarshaledText {
		m, ok := methodsOf[encoding.TextMarshaler](v)
		if !ok {
			return b.null(id)
		}
		text, err := m.MarshalText()
		if err != nil { // its text may quote a value
			return b.refuse(id, ErrValue, "MarshalText of %s failed", v.Type())
		}
		return b.put(id, String, unsafe.String(unsafe.SliceData(text), len(text)))
	}
	m, ok := methodsOf[json.Marshaler](v)
	if !ok {
		return b.null(id)
	}
	text, err := m.MarshalJSON()
	if err != nil {
		return b.refuse(id, ErrValue, "MarshalJSON of %s failed", v.Type())
	}
	if !b.parse(id, text, depth) {
		b.err.Offset = -1 // the object has no text
		return false
	}
	return true
}

// parse makes id, the last node so far, what JSON text says. The text becomes part of
// the tree's, which the parser takes for its source as long as it reads.
func (b *builder) parse(id ID, text []byte, depth int) bool {
	if !b.room(id, len(text)) {
		return false
	}
	start := len(b.extra)
	all := append(b.extra, text...)
	b.src, b.extra = unsafe.String(unsafe.SliceData(all), len(all)), nil
	i := b.fill(space(b.src, start), id, None, depth)
	if i != bad {
		if i = space(b.src, i); i < len(b.src) {
			i = b.fail(i, id, ErrSyntax, "data after the value")
		}
	}
	b.src, b.extra = "", append(all, b.extra...) // decoded keys
	for k := id; int(k) < len(b.nodes); k++ {
		if n := &b.nodes[k]; n.kind >= List {
			n.flags &^= canon // the tree has no text of it to copy
		}
	}
	return i != bad
}
