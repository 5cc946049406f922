package owner

import (
	"slices"
	"strconv"

	"example.com/braid/internal/node"
	"example.com/braid/internal/schema"
)

// Set is positions of one tree: nodes in ascending order, which is preorder, and none twice.
type Set []node.ID

// Has reports whether i is in s. O(log n).
func (s Set) Has(i node.ID) bool {
	_, ok := slices.BinarySearch(s, i)
	return ok
}

// Within reports whether i or anything in it is in s. O(log n).
func (s Set) Within(t *node.Tree, i node.ID) bool {
	at, _ := slices.BinarySearch(s, i)
	return at < len(s) && s[at] < t.End(i)
}

// Set returns the positions of live that manager n owns: the members of its set, but not what
// is in those that count as one value. The error is an *Error.
//
// O(what it owns, and the lists that this is in), but for logarithms; lists are looked through
// once for all managers.
func (o *Owners) Set(n int) (Set, error) {
	if o.fields[n] == node.None {
		return nil, nil
	}
	var s Set
	if err := o.members(&s, o.fields[n], 0, o.root); err != nil {
		return nil, err
	}
	slices.Sort(s)
	return slices.Compact(s), nil
}

// members adds what the map f of fieldsV1 says of what is in i.
func (o *Owners) members(s *Set, f, i node.ID, t *schema.Type) error {
	for _, kid := range o.live.Kids(f) {
		o.Work++
		key := o.live.Key(kid)
		if key == "." {
			continue
		}
		if k := o.live.Kind(kid); k != node.Map && k != node.Null {
			return fault(kid, "want a map, got a %s", k)
		}
		if len(key) < 2 || key[1] != ':' {
			return fault(kid, "want the name of a field or element")
		}
		at, child, err := o.find(kid, i, t, key[0], key[2:])
		if err != nil {
			return err
		}
		if at == node.None {
			continue
		}
		if more := o.repeats[at]; len(more) > 0 {
			*s = append(append(*s, at), more...)
			continue
		}
		if len(o.live.Kids(kid)) == 0 || o.live.Field(kid, ".") != node.None {
			*s = append(*s, at)
		}
		if err := o.members(s, kid, at, child); err != nil {
			return err
		}
	}
	return nil
}

// find returns the position in i that the entry kid names, and its type; None if live does not
// have it.
func (o *Owners) find(kid, i node.ID, t *schema.Type, sort byte, name string) (at node.ID, child *schema.Type, err error) {
	if sort == 'f' {
		return o.live.Field(i, name), fieldType(t, name), nil
	}
	child = t.Elem
	if child == nil {
		child = schema.Unknown
	}
	isList := o.live.Kind(i) == node.List
	switch sort {
	case 'i':
		n, err := strconv.Atoi(name)
		if err != nil {
			return node.None, nil, fault(kid, "want the index of an element")
		}
		if !isList || n < 0 || n >= len(o.live.Kids(i)) {
			return node.None, nil, nil
		}
		return o.live.Kids(i)[n], child, nil
	case 'k', 'v':
		entry, err := o.scratch.Read([]byte(name), node.Limits{})
		if err != nil || sort == 'k' && entry.Kind(0) != node.Map {
			return node.None, nil, fault(kid, "want the key of an element, in JSON")
		}
		if !isList {
			return node.None, nil, nil
		}
		return o.element(i, t, sort == 'v', entry), child, nil
	}
	return node.None, nil, fault(kid, "want the name of a field or element")
}

// fieldType returns the type under a key of a map.
func fieldType(t *schema.Type, key string) *schema.Type {
	if child, _ := t.Lookup(key); child != nil {
		return child
	}
	return schema.Unknown
}
