package schema

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
)

// The table of built-in kinds is one string, written by EncodeTable and read by
// table. All numbers are uvarints; a text is its number in the list of texts.
//
//	version   length, bytes
//	texts     count, then length and bytes of each; text 0 is ""
//	shapes    count, then of each: count, then name and type of each field
//	types     count, then of each:
//	            kind | default<<4 | nullable<<5 | preserve<<6 | embedded<<7
//	            default                   if it has one
//	            shape, elem+1             of a Map
//	            elem                      of a List
//	            rules                     of Map, List and Any
//	          rules: strategic merge | retainKeys<<2 | structured merge<<3, then
//	            the key of a strategic Keyed, then of a structured Keyed:
//	            count, then name and default of each
//	kinds     count, then group, version, kind and type of each, sorted

// EncodeTable writes the kinds of an OpenAPI document as a table. The same input
// gives the same bytes. Types that are alike are written once.
func EncodeTable(version string, api *OpenAPI) []byte {
	e := encoder{ids: map[*Type]int{}, texts: map[string]int{"": 0}, list: []string{""}, shapes: map[string]int{}}
	kinds := slices.SortedFunc(maps.Keys(api.Kinds), func(a, b GVK) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Kind, b.Kind))
	})
	for _, k := range kinds {
		e.collect(api.Types[api.Kinds[k]])
	}
	e.unify()

	var types, roots []byte
	count := 0
	for id, t := range e.types {
		if e.rep[id] == id {
			e.final[id] = count
			count++
			_ = t
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
	dst = append(dst, byte(int(t.Strategic.Merge)|bit(t.Strategic.RetainKeys, 2)|int(t.Structured.Merge)<<3))
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
		s = uvarint(e.text(s, f.Name), id(f.Type))
	}
	n, ok := e.shapes[string(s)]
	if !ok {
		n = len(e.shapeList)
		e.shapes[string(s)] = n
		e.shapeList = append(e.shapeList, string(s))
	}
	return n
}

// table reads an encoded table. It finds where things stand when it is opened,
// and decodes a type when it is first asked for.
type table struct {
	data    string
	version string
	texts   []string
	shapes  []int // offsets
	types   []int // offsets
	kinds   map[GVK]int

	fields map[int][]Field // decoded shapes
	made   map[int]*Type   // decoded types
}

func openTable(data string) *table {
	c := cursor{data, 0}
	t := &table{data: data, kinds: map[GVK]int{}, fields: map[int][]Field{}, made: map[int]*Type{}}
	t.version = c.bytes(c.num())
	t.texts = make([]string, c.num())
	for i := range t.texts {
		t.texts[i] = c.bytes(c.num())
	}
	t.shapes = make([]int, c.num())
	for i := range t.shapes {
		t.shapes[i] = c.at
		for range 2 * c.num() {
			c.num()
		}
	}
	t.types = make([]int, c.num())
	for i := range t.types {
		t.types[i] = c.at
		t.entry(&c, nil)
	}
	for range c.num() {
		k := GVK{t.texts[c.num()], t.texts[c.num()], t.texts[c.num()]}
		t.kinds[k] = c.num()
	}
	if c.at != len(data) {
		panic(fmt.Sprintf("schema table: %d bytes left over", len(data)-c.at))
	}
	return t
}

// typ returns type number n with all that it refers to.
func (t *table) typ(n int) *Type {
	if out, ok := t.made[n]; ok {
		return out
	}
	out := &Type{}
	t.made[n] = out
	t.entry(&cursor{t.data, t.types[n]}, out)
	return out
}

// entry reads the type at c into out, or past it if out is nil.
func (t *table) entry(c *cursor, out *Type) {
	skip := out == nil
	if skip {
		out = &Type{}
	}
	head := c.byte()
	out.Kind = Kind(head & 15)
	out.Nullable, out.PreserveUnknown, out.Embedded = head&(1<<5) != 0, head&(1<<6) != 0, head&(1<<7) != 0
	if head&(1<<4) != 0 {
		out.Default = t.texts[c.num()]
	}
	switch out.Kind {
	case Map:
		shape, elem := c.num(), c.num()
		if !skip {
			out.Fields = t.shape(shape)
			if elem > 0 {
				out.Elem = t.typ(elem - 1)
			}
		}
	case List:
		elem := c.num()
		if !skip {
			out.Elem = t.typ(elem)
		}
	case Any:
	default:
		return
	}
	rules := c.byte()
	out.Strategic = Rule{Merge: Merge(rules & 3), RetainKeys: rules&4 != 0}
	out.Structured = Rule{Merge: Merge(rules >> 3 & 3)}
	if out.Strategic.Merge == Keyed {
		out.Strategic.Keys = []Key{{Name: t.texts[c.num()]}}
	}
	if out.Structured.Merge == Keyed {
		out.Structured.Keys = make([]Key, c.num())
		for i := range out.Structured.Keys {
			out.Structured.Keys[i] = Key{t.texts[c.num()], t.texts[c.num()]}
		}
	}
}

// shape returns the fields of shape number n. Types with one shape share them.
func (t *table) shape(n int) []Field {
	if out, ok := t.fields[n]; ok {
		return out
	}
	c := cursor{t.data, t.shapes[n]}
	out := make([]Field, c.num())
	t.fields[n] = out // before its types: the graph has cycles
	for i := range out {
		name := t.texts[c.num()]
		out[i] = field(name, t.typ(c.num()))
	}
	return out
}

// cursor reads numbers and bytes of a table one after another.
type cursor struct {
	data string
	at   int
}

func (c *cursor) byte() byte {
	c.at++
	return c.data[c.at-1]
}

func (c *cursor) num() int {
	n, shift := 0, 0
	for {
		b := c.byte()
		n |= int(b&0x7f) << shift
		if b < 0x80 {
			return n
		}
		shift += 7
	}
}

func (c *cursor) bytes(n int) string {
	c.at += n
	return c.data[c.at-n : c.at]
}
