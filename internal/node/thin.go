package node

import (
	"encoding/json"
	"slices"
	"strings"
)

// Shape says what of maps may be left out where several of them have the same.
type Shape interface {
	// Below returns the shape of the map that stands under a key, or nil if that must be whole
	// where it differs; and whether what stands there may be left out where it does not.
	Below(key string) (below Shape, omit bool)
}

// Seal is the key of a field that stands in the place of those that were left out. What is
// written with a Seal in it was made of something that is not whole.
const Seal = "braid: and more, which is the same"

// deepest is how deep what is compared without a tree may be. A circle is deeper.
const deepest = 256

// FromMapBeside is [Builder.FromObject] for unstructured content, without what others have the
// same at the same path, as far as shape allows it: made of each beside the rest, the trees
// differ as they would, and their maps are empty or zero where they would be. Lists are left out
// whole or not at all. Of what is left out nothing is checked. O(n), without the sorting of what
// is left out.
func (b *Builder) FromMapBeside(m map[string]any, others []map[string]any, shape Shape, lim Limits) (*Tree, error) {
	b.b.typed = true
	b.b.lim = lim.WithDefaults()
	var beside beside
	beside.n = copy(beside.maps[:], others)
	if root, ok := b.b.begin(None, ""); ok {
		b.b.thin(root, m, beside, shape, 0)
	}
	if b.b.err != nil {
		return nil, b.b.err
	}
	b.t = b.b.lent()
	return &b.t, nil
}

// beside are the maps that others have where one is read.
type beside struct {
	maps [2]map[string]any
	n    int
}

// same reports whether all have v under a key, so that it may be left out. What is gone
// through field by field is not the same before that is done.
func (o *beside) same(key string, v any, shape Shape) bool {
	if _, isMap := v.(map[string]any); isMap {
		if below, _ := shape.Below(key); below != nil {
			return false
		}
	}
	for _, m := range o.maps[:o.n] {
		if w, ok := m[key]; !ok || !sameContent(v, w, deepest) {
			return false
		}
	}
	_, omit := shape.Below(key)
	return omit && tells(v, deepest)
}

// size reports whether all have so many fields.
func (o *beside) size(n int) bool {
	for _, m := range o.maps[:o.n] {
		if len(m) != n {
			return false
		}
	}
	return true
}

// below returns the maps that stand under a key, and whether all have one there.
func (o *beside) below(key string) (maps beside, ok bool) {
	maps.n = o.n
	for i, m := range o.maps[:o.n] {
		if maps.maps[i], ok = m[key].(map[string]any); !ok {
			return maps, false
		}
	}
	return maps, true
}

// sealed reports whether m, or what stands beside it, has a Seal of its own.
func (o *beside) sealed(m map[string]any) bool {
	_, some := m[Seal]
	for _, m := range o.maps[:o.n] {
		_, ok := m[Seal]
		some = some || ok
	}
	return some
}

// thin makes id the map m without what others have the same, and reports whether that is all
// of it.
func (b *builder) thin(id ID, m map[string]any, others beside, shape Shape, depth int) (all, ok bool) {
	if m == nil || others.sealed(m) {
		return false, mapping(b, id, m, depth, (*builder).lay)
	}
	if !b.open(id, Map, depth) {
		return false, false
	}
	base, first, sealed := len(b.stack), len(b.keys), false
	for k, v := range m {
		if others.same(k, v, shape) {
			sealed = true
		} else {
			b.keys = append(b.keys, entry{key: k})
		}
	}
	last := len(b.keys)
	b.expect(last - first + 1)
	sortEntries(b.keys[first:last])
	for i := first; i < last; i++ {
		omitted, ok := b.thinField(id, b.keys[i].key, m, others, shape, depth+1)
		if !ok {
			return false, false
		}
		sealed = sealed || omitted
	}
	clear(b.keys[first:last])
	b.keys = b.keys[:first]
	all = sealed && len(b.stack) == base && others.size(len(m))
	if sealed && !b.seal(id, base) {
		return false, false
	}
	b.close(id, base)
	return all, true
}

// thinField adds a field of a map, unless it is a map that may be left out.
func (b *builder) thinField(parent ID, key string, m map[string]any, others beside, shape Shape, depth int) (omitted, ok bool) {
	before := mark{len(b.nodes), len(b.extra), len(b.kids), len(b.stack)}
	id, ok := b.field(parent, key)
	if !ok {
		return false, false
	}
	inner, isMap := m[key].(map[string]any)
	below, omit := Shape(nil), false
	maps, ok := others.below(key)
	if ok && isMap {
		below, omit = shape.Below(key)
	}
	if below == nil {
		return false, b.lay(id, m[key], depth)
	}
	if omitted, ok = b.thin(id, inner, maps, below, depth); !ok || !omitted || !omit {
		return false, ok
	}
	b.nodes, b.extra, b.kids, b.stack = b.nodes[:before.nodes], b.extra[:before.extra], b.kids[:before.kids], b.stack[:before.stack]
	return true, true
}

// mark is how much of a tree there was.
type mark struct{ nodes, extra, kids, stack int }

// seal adds a Seal to the map id, whose fields are on the stack from base on.
func (b *builder) seal(id ID, base int) bool {
	kid, ok := b.begin(id, Seal)
	if !ok {
		return false
	}
	at, _ := slices.BinarySearchFunc(b.stack[base:], Seal, func(field ID, key string) int { return strings.Compare(b.keyOf(field), key) })
	b.stack = slices.Insert(b.stack, base+at, kid)
	return b.plain(kid, Bool, "true")
}

// tells reports whether v holds something that no schema takes for zero, which could mean
// absence.
func tells(v any, levels int) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, f := range v {
			if levels > 0 && tells(f, levels-1) {
				return true
			}
		}
	case []any:
		return len(v) > 0
	case string:
		return v != "" && (v[0] > '9' || '1' <= v[0]) // 0m is a quantity, +0s a duration
	case bool:
		return v
	case int64:
		return v != 0
	case float64:
		return v != 0
	}
	return false
}

// sameContent reports whether a and b are the same, of the same Go types, and hold no null,
// which is not always content.
func sameContent(a, b any, levels int) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) || a == nil || levels == 0 {
			return false
		}
		for k, v := range a {
			if w, ok := b[k]; !ok || !sameContent(v, w, levels-1) {
				return false
			}
		}
		return true
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) || a == nil || levels == 0 {
			return false
		}
		for i, v := range a {
			if !sameContent(v, b[i], levels-1) {
				return false
			}
		}
		return true
	case string, bool, int64, float64, json.Number:
		return a == b
	}
	return false
}
