package owner

import (
	"strings"

	"example.com/braid/internal/node"
	"example.com/braid/internal/schema"
)

// list finds the elements of a list by their keys, and by their values.
type list struct {
	keys           []schema.Key
	byKey, byValue map[string]node.ID
}

// element returns the first element of a list of type t that has the key or value of entry.
func (o *Owners) element(i node.ID, t *schema.Type, value bool, entry *node.Tree) node.ID {
	l := o.lists[i]
	if l == nil {
		if o.lists == nil {
			o.lists, o.repeats = map[node.ID]*list{}, map[node.ID][]node.ID{}
		}
		l = &list{}
		o.lists[i] = l
	}
	if value {
		if l.byValue == nil {
			l.byValue = o.index(i, nil)
		}
		return o.lookup(l.byValue, entry, nil)
	}
	if l.byKey == nil {
		l.keys = t.Structured.Keys
		if t.Structured.Merge != schema.Keyed { // the server has a rule that we do not know
			for _, f := range entry.Kids(0) {
				l.keys = append(l.keys, schema.Key{Name: strings.Clone(entry.Key(f))})
			}
		}
		l.byKey = o.index(i, l.keys)
	}
	if !only(entry, l.keys) {
		return node.None
	}
	return o.lookup(l.byKey, entry, l.keys)
}

func (o *Owners) lookup(index map[string]node.ID, entry *node.Tree, keys []schema.Key) node.ID {
	if o.name(entry, 0, keys) {
		if at, ok := index[string(o.key)]; ok {
			return at
		}
	}
	return node.None
}

// index finds the elements of a list by what name makes of them. O(n).
func (o *Owners) index(i node.ID, keys []schema.Key) map[string]node.ID {
	elems := o.live.Kids(i)
	m := make(map[string]node.ID, len(elems))
	for _, elem := range elems {
		o.Work++
		if !o.name(o.live, elem, keys) {
			continue
		}
		if first, ok := m[string(o.key)]; ok {
			o.repeats[first], o.repeats[elem] = append(o.repeats[first], elem), nil
			continue
		}
		m[string(o.key)] = elem
	}
	return m
}

// name sets o.key to a text that elements share exactly if their keys are equal, or their values
// if there are no keys. It returns false for an element without a name.
func (o *Owners) name(t *node.Tree, elem node.ID, keys []schema.Key) bool {
	o.key = o.key[:0]
	if len(keys) == 0 {
		if k := t.Kind(elem); k == node.Null || k >= node.List {
			return false
		}
		o.key = appendName(o.key, t, elem)
		return true
	}
	if t.Kind(elem) != node.Map {
		return false
	}
	named := false
	for _, k := range keys {
		switch f := t.Field(elem, k.Name); {
		case f != node.None:
			named, o.key = true, appendName(o.key, t, f)
		case k.Default != "":
			named, o.key = true, appendDefault(o.key, k.Default)
		}
		o.key = append(o.key, ',')
	}
	return named
}

// appendName appends a value: numbers by what they are worth, others as canonical JSON.
func appendName(dst []byte, t *node.Tree, i node.ID) []byte {
	if t.Kind(i) == node.Number {
		return node.AppendNumberKey(dst, t.Text(i))
	}
	return t.Append(dst, i)
}

// appendDefault is appendName of the JSON text of a scalar.
func appendDefault(dst []byte, text string) []byte {
	if text[0] == '-' || text[0] >= '0' && text[0] <= '9' {
		return node.AppendNumberKey(dst, text)
	}
	return append(dst, text...)
}

// only reports whether an entry has no other fields than keys.
func only(entry *node.Tree, keys []schema.Key) bool {
	n := len(entry.Kids(0))
	for _, k := range keys {
		if entry.Field(0, k.Name) != node.None {
			n--
		}
	}
	return n == 0
}
