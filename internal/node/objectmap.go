package node

import (
	"encoding"
	"reflect"
	"strconv"
)

// mapEntries holds the entries of one map while they are sorted. It is kept with the
// plan of the map's type, because reflect makes a new copy of each key and value for
// those who have no place for them.
type mapEntries struct {
	order []entry // val says where in vals
	iter  reflect.MapIter
	key   reflect.Value // a place for one
	vals  reflect.Value // a slice
}

func newMapEntries(t reflect.Type) *mapEntries {
	return &mapEntries{key: reflect.New(t.Key()).Elem(), vals: reflect.MakeSlice(reflect.SliceOf(t.Elem()), 4, 4)}
}

// keyedMap makes id a map of any type but map[string]string.
func (b *builder) keyedMap(id ID, v reflect.Value, p *plan, depth int) bool {
	if v.IsNil() {
		return b.null(id)
	}
	if !b.open(id, Map, depth) {
		return false
	}
	if v.Len() == 0 {
		b.close(id, len(b.stack))
		return true
	}
	m := p.spare.Get().(*mapEntries)
	ok := m.read(b, id, v, p) && b.entries(id, m, p, depth)
	m.reset()
	p.spare.Put(m)
	return ok
}

// read takes the entries of v, by key.
func (m *mapEntries) read(b *builder, id ID, v reflect.Value, p *plan) bool {
	n := v.Len()
	if m.vals.Len() < n {
		m.vals = reflect.MakeSlice(m.vals.Type(), 2*n, 2*n)
	}
	m.iter.Reset(v)
	for i := 0; m.iter.Next(); i++ {
		m.key.SetIterKey(&m.iter)
		m.vals.Index(i).SetIterValue(&m.iter)
		key, ok := keyText(m.key, p.keys)
		m.order = append(m.order, entry{key: key, val: i})
		if !ok {
			return b.refuse(id, ErrValue, "a key of Go type %s cannot be written", p.typ.Key())
		}
	}
	sortEntries(m.order)
	return true
}

func (m *mapEntries) reset() {
	const common = 1 << 12
	for i := range m.order {
		m.vals.Index(i).SetZero()
	}
	clear(m.order)
	m.order = m.order[:0]
	m.key.SetZero()
	m.iter.Reset(reflect.Value{})
	if m.vals.Len() > common {
		*m = mapEntries{key: m.key, vals: reflect.MakeSlice(m.vals.Type(), 4, 4)}
	}
}

// entries adds the fields of id. No value in a map is addressable.
func (b *builder) entries(id ID, m *mapEntries, p *plan, depth int) bool {
	base := len(b.stack)
	for i, e := range m.order {
		if i > 0 && m.order[i-1].key == e.key {
			b.refuse(id, ErrDuplicateKey, "the map has this key more than once")
			b.err.Path = append(b.err.Path, Step{Field: e.key})
			return false
		}
		kid, ok := b.field(id, e.key)
		if !ok || !b.value(kid, m.vals.Index(e.val), p.elem, depth+1, false) {
			return false
		}
	}
	b.close(id, base)
	return true
}

// keyText returns what encoding/json writes for the key of a map.
func keyText(k reflect.Value, f form) (string, bool) {
	switch f {
	case asText:
		return k.String(), true
	case asSigned:
		return strconv.FormatInt(k.Int(), 10), true
	case asUnsigned:
		return strconv.FormatUint(k.Uint(), 10), true
	}
	m, ok := methodsOf[encoding.TextMarshaler](k)
	if !ok {
		return "", k.Kind() == reflect.Pointer // a nil pointer is the empty key
	}
	text, err := m.MarshalText()
	return string(text), err == nil
}
