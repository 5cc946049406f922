package schema

import (
	"encoding/binary"
	"maps"
	"slices"
)

// EncodeTable writes the kinds of an OpenAPI document as a table. The same input
// gives the same bytes. Types that are alike are written once.
func EncodeTable(version string, api *OpenAPI) []byte {
	e := encoder{ids: map[*Type]int{}, texts: map[string]int{"": 0}, list: []string{""}, shapes: map[string]int{}}
	kinds := slices.SortedFunc(maps.Keys(api.Kinds), compareGVK)
	for _, k := range kinds {
		e.collect(api.Types[api.Kinds[k]])
	}
	e.unify()

	var types, roots []byte
	count := 0
	for id := range e.types {
		if e.rep[id] == id {
			e.final[id] = count
			count++
		}
	}
	for id, t := range e.types {
		if e.rep[id] == id {
			types = e.entry(types, t, func(c *Type) int { return e.final[e.rep[e.ids[c]]] })
		}
	}
	for _, k := range kinds {
		for _, s := range []string{k.Group, k.Version, k.Kind} {
			roots = e.text(roots, s)
		}
		roots = uvarint(roots, e.final[e.rep[e.ids[api.Types[api.Kinds[k]]]]])
	}
	out := append(uvarint(nil, len(version)), version...)
	out = uvarint(out, len(e.list))
	for _, s := range e.list {
		out = append(uvarint(out, len(s)), s...)
	}
	out = uvarint(out, len(e.shapeList))
	for _, s := range e.shapeList {
		out = append(out, s...)
	}
	out = append(uvarint(out, count), types...)
	return append(uvarint(out, len(kinds)), roots...)
}

func uvarint(dst []byte, n int) []byte { return binary.AppendUvarint(dst, uint64(n)) }

type encoder struct {
	ids   map[*Type]int
	types []*Type
	rep   []int // of each type the first that is like it
	final map[int]int

	texts     map[string]int
	list      []string
	shapes    map[string]int
	shapeList []string
}

func (e *encoder) collect(t *Type) {
	if _, ok := e.ids[t]; ok {
		return
	}
	e.ids[t] = len(e.types)
	e.types = append(e.types, t)
	for _, f := range t.Fields {
		e.collect(f.Type)
	}
	if t.Elem != nil {
		e.collect(t.Elem)
	}
}

// unify finds the types that are alike: first those without parts, then those
// whose parts are alike, until nothing new is found.
func (e *encoder) unify() {
	e.final = map[int]int{}
	e.rep = make([]int, len(e.types))
	for i := range e.rep {
		e.rep[i] = i
	}
	for found := true; found; {
		found = false
		first := map[string]int{}
		for id, t := range e.types {
			scratch := encoder{texts: e.texts, list: e.list, shapes: map[string]int{}}
			key := string(scratch.entry(nil, t, func(c *Type) int { return e.rep[e.ids[c]] }))
			for _, s := range scratch.shapeList {
				key += s
			}
			e.list = scratch.list
			if other, ok := first[key]; !ok {
				first[key] = id
			} else if e.rep[id] != other {
				e.rep[id], found = other, true
			}
		}
	}
}

func (e *encoder) text(dst []byte, s string) []byte {
	n, ok := e.texts[s]
	if !ok {
		n = len(e.list)
		e.texts[s] = n
		e.list = append(e.list, s)
	}
	return uvarint(dst, n)
}

func (e *encoder) entry(dst []byte, t *Type, id func(*Type) int) []byte {
	bit := func(b bool, n int) int {
		if b {
			return 1 << n
		}
		return 0
	}
	dst = append(dst, byte(int(t.Kind)|bit(t.Default != "", 4)|bit(t.Nullable, 5)|bit(t.PreserveUnknown, 6)|bit(t.Embedded, 7)))
	if t.Default != "" {
		dst = e.text(dst, t.Default)
	}
	switch t.Kind {
	case Map:
		dst = uvarint(dst, e.shape(t, id))
		elem := 0
		if t.Elem != nil {
			elem = id(t.Elem) + 1
		}
		dst = uvarint(dst, elem)
	case List:
		dst = uvarint(dst, id(t.Elem))
	case Any:
	default:
		return dst
	}
	dst = append(dst, byte(int(t.Strategic.Merge)|bit(t.Strategic.RetainKeys, 2)|int(t.Structured.Merge)<<3|bit(t.Union, 5)|bit(t.StringData, 6)))
	if t.Strategic.Merge == Keyed {
		dst = e.text(dst, t.Strategic.Keys[0].Name)
	}
	if t.Structured.Merge == Keyed {
		dst = uvarint(dst, len(t.Structured.Keys))
		for _, k := range t.Structured.Keys {
			dst = e.text(e.text(dst, k.Name), k.Default)
		}
	}
	return dst
}

func (e *encoder) shape(t *Type, id func(*Type) int) int {
	s := uvarint(nil, len(t.Fields))
	for _, f := range t.Fields {
		s = e.text(s, f.Name)
		if f.Alias == "" {
			s = uvarint(s, id(f.Type)<<2|int(f.Zero))
			continue
		}
		s = uvarint(s, id(f.Type)<<2|moreOfField)
		s = e.text(uvarint(s, int(f.Zero)), f.Alias)
	}
	n, ok := e.shapes[string(s)]
	if !ok {
		n = len(e.shapeList)
		e.shapes[string(s)] = n
		e.shapeList = append(e.shapeList, string(s))
	}
	return n
}
