package schema

import (
	"fmt"

	"example.com/braid/internal/node"
)

// The table of built-in kinds is one string, written by EncodeTable and read by
// table. All numbers are uvarints; a text is its number in the list of texts.
//
//	version   length, bytes
//	texts     count, then length and bytes of each; text 0 is ""
//	shapes    count, then of each: count, then of each field name, type<<2 | zero
//	            zero 3 stands for more: zero, then the alias
//	types     count, then of each:
//	            kind | default<<4 | nullable<<5 | preserve<<6 | embedded<<7
//	            default                   if it has one
//	            shape, elem+1             of a Map
//	            elem                      of a List
//	            rules                     of Map, List and Any
//	          rules: strategic merge | retainKeys<<2 | structured merge<<3 |
//	            union<<5 | stringData<<6, then
//	            the key of a strategic Keyed, then of a structured Keyed:
//	            count, then name and default of each
//	kinds     count, then group, version, kind and type of each, sorted

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
		for range c.num() {
			t.field(&c)
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
	out.Union, out.StringData = rules&(1<<5) != 0, rules&(1<<6) != 0
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
		f, typ := t.field(&c)
		f.Type, f.Prefix = t.typ(typ), node.Prefix(f.Name)
		out[i] = f
	}
	return out
}

// field reads a field but for its type, and the number of that.
func (t *table) field(c *cursor) (f Field, typ int) {
	f.Name = t.texts[c.num()]
	n := c.num()
	if f.Zero = Zero(n & 3); f.Zero == moreOfField {
		f.Zero = Zero(c.num())
		f.Alias = t.texts[c.num()]
	}
	return f, n >> 2
}

const moreOfField = 3

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
