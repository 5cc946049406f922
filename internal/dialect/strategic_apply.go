package dialect

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"example.com/braid/internal/node"
	"example.com/braid/internal/schema"
)

// The rules that a patch can break.
var (
	ErrDirective = errors.New("directive that the API server refuses")
	ErrNoKey     = errors.New("list element without its merge key")
	ErrUnknown   = errors.New("the schema cannot tell how to merge this")
	ErrOrder     = errors.New("patch list is not in the order of its $setElementOrder")
)

// ApplyStrategic appends the canonical JSON of what an API server stores when it
// is sent a strategic merge patch. With schema.None it merges maps wherever they
// stand. O(n log n) in the sizes of both.
//
// It follows k8s.io/apimachinery's strategicpatch.StrategicMergePatch, whose
// quirks are the server's: $patch: replace has no effect on a map that live
// lacks, and merging a list lets the elements of one key stand together. It parts
// from it where that would store a directive as data, and in the last entries of
// package diverge; and it refuses patch lists with a hundred elements of one key.
func ApplyStrategic(dst []byte, live, patch *node.Tree, s *schema.Schema) ([]byte, error) {
	a := applier{live: live, patch: patch, dst: dst, noLookup: s.Root.Kind == schema.Any}
	for _, doc := range []struct {
		name string
		tree *node.Tree
	}{{"live", live}, {"patch", patch}} {
		if k := doc.tree.Kind(0); k != node.Map {
			return nil, &node.Error{Doc: doc.name, Offset: -1, Rule: node.ErrType, Detail: fmt.Sprintf("want a map, got a %s", k)}
		}
	}
	if a.fields(s.Root, 0, 0); a.err != nil {
		return nil, a.err
	}
	return a.dst, nil
}

type applier struct {
	live, patch *node.Tree
	dst         []byte
	noLookup    bool
	err         *node.Error
}

func (a *applier) fail(p node.ID, rule error, format string, args ...any) {
	if a.err == nil {
		a.err = &node.Error{Doc: "patch", Path: a.patch.Path(p), Offset: -1, Rule: rule, Detail: fmt.Sprintf(format, args...)}
	}
}

// change is what a patch says about one field of a map; None where it is silent.
type change struct {
	value, order, prune node.ID
}

// instructions are the members of one patch map, taken apart. Each slice is
// sorted by the field that its members are about.
type instructions struct {
	fields, orders, prunes []node.ID
	retain                 map[string]bool // nil without $retainKeys
	patch                  string          // "", "merge", "replace" or "delete"
}

func (a *applier) instructions(p node.ID) (in instructions) {
	in.fields = a.patch.Kids(p)
	plain := func(kid node.ID) bool { return !isDirective(a.patch.Key(kid)) }
	if !slices.ContainsFunc(in.fields, func(kid node.ID) bool { return !plain(kid) }) {
		return in
	}
	kids := in.fields
	in.fields = nil
	for _, kid := range kids {
		switch key := a.patch.Key(kid); {
		case plain(kid):
			in.fields = append(in.fields, kid)
		case key == patchKey:
			in.patch = a.marker(kid)
		case key == retainKey:
			in.retain = a.retain(kid)
		case a.patch.Kind(kid) != node.List:
			a.fail(kid, ErrDirective, "want a list")
		case strings.HasPrefix(key, orderPrefix):
			in.orders = append(in.orders, kid)
		default:
			in.prunes = append(in.prunes, kid)
		}
	}
	return in
}

func (a *applier) marker(p node.ID) string {
	switch word := a.patch.Text(p); {
	case a.patch.Kind(p) != node.String:
	case word == "merge", word == "replace", word == "delete":
		return word
	}
	a.fail(p, ErrDirective, "want merge, replace or delete")
	return ""
}

func (a *applier) retain(p node.ID) map[string]bool {
	keys := map[string]bool{}
	for _, kid := range a.patch.Kids(p) {
		if a.patch.Kind(kid) != node.String {
			a.fail(kid, ErrDirective, "want the name of a field")
		}
		keys[a.patch.Text(kid)] = true
	}
	if a.patch.Kind(p) != node.List {
		a.fail(p, ErrDirective, "want a list")
	}
	return keys
}

// fields writes the map that live's l becomes under patch's p.
func (a *applier) fields(t *schema.Type, l, p node.ID) {
	in := a.instructions(p)
	switch in.patch {
	case "replace":
		a.data(p, verbatim)
		return
	case "delete":
		a.dst = append(a.dst, "{}"...)
		return
	}
	if in.retain != nil {
		for _, kid := range in.fields {
			if !in.retain[a.patch.Key(kid)] && a.patch.Kind(kid) != node.Null {
				a.fail(kid, ErrDirective, "the field is not in $retainKeys")
			}
		}
	}
	a.dst = append(a.dst, '{')
	start := len(a.dst)
	live := a.live.Kids(l)
	for a.err == nil {
		key, ok := a.next(live, &in)
		if !ok {
			break
		}
		lv := node.None
		if len(live) > 0 && a.live.Key(live[0]) == key {
			if in.retain == nil || in.retain[key] {
				lv = live[0]
			}
			live = live[1:]
		}
		a.field(t, key, lv, in.take(a.patch, key), start)
	}
	a.dst = append(a.dst, '}')
}

// next returns the least key that is left on any side.
func (a *applier) next(live []node.ID, in *instructions) (key string, ok bool) {
	least := func(k string) {
		if !ok || k < key {
			key, ok = k, true
		}
	}
	if len(live) > 0 {
		least(a.live.Key(live[0]))
	}
	if len(in.fields) > 0 {
		least(a.patch.Key(in.fields[0]))
	}
	if len(in.orders) > 0 {
		least(a.patch.Key(in.orders[0])[len(orderPrefix):])
	}
	if len(in.prunes) > 0 {
		least(a.patch.Key(in.prunes[0])[len(pruneKeys):])
	}
	return key, ok
}

// take removes and returns what the instructions say about a key.
func (in *instructions) take(patch *node.Tree, key string) change {
	c := change{node.None, node.None, node.None}
	pop := func(kids *[]node.ID, prefix int, to *node.ID) {
		if len(*kids) > 0 && patch.Key((*kids)[0])[prefix:] == key {
			*to, *kids = (*kids)[0], (*kids)[1:]
		}
	}
	pop(&in.fields, 0, &c.value)
	pop(&in.orders, len(orderPrefix), &c.order)
	pop(&in.prunes, len(pruneKeys), &c.prune)
	return c
}

// field writes one member, or nothing if there is none afterwards. start is where
// the members of its map begin.
func (a *applier) field(t *schema.Type, key string, l node.ID, c change, start int) {
	p := c.value
	switch {
	case c.order != node.None || c.prune != node.None:
		a.directed(t, key, l, c, start)
	case p == node.None && l == node.None: // a field that $retainKeys leaves out
	case p == node.None:
		a.key(key, start)
		a.dst = a.live.Append(a.dst, l)
	case a.patch.Kind(p) == node.Null:
	case l == node.None || a.live.Kind(l) != a.patch.Kind(p):
		if !a.has(p, patchKey) {
			a.key(key, start)
			a.data(p, fresh)
		}
	default:
		a.key(key, start)
		a.merge(t, key, l, p)
	}
}

// merge writes what becomes of two values of one JSON type.
func (a *applier) merge(t *schema.Type, key string, l, p node.ID) {
	switch a.live.Kind(l) {
	case node.Map:
		if child := a.lookup(t, key, p); served(child).Merge == schema.Atomic && child.Kind != schema.List {
			a.data(p, verbatim)
		} else {
			a.fields(child, l, p)
		}
	case node.List:
		a.list(a.lookup(t, key, p), l, change{value: p, order: node.None, prune: node.None})
	default:
		a.dst = a.patch.Append(a.dst, p)
	}
}

// directed writes a list that $setElementOrder or $deleteFromPrimitiveList is
// about, if there is one.
func (a *applier) directed(t *schema.Type, key string, l node.ID, c change, start int) {
	isList := func(t *node.Tree, i node.ID) bool { return i == node.None || t.Kind(i) == node.List }
	if c.order != node.None {
		child := a.lookup(t, key, c.order)
		switch {
		case !isList(a.live, l):
			a.fail(c.order, ErrDirective, "live has no list there")
		case !isList(a.patch, c.value):
			a.fail(c.value, ErrDirective, "$setElementOrder is about this field, so it must be a list")
		case child.Kind != schema.List:
			a.fail(c.order, ErrDirective, "the field is no list")
		}
	} else if !isList(a.patch, c.value) || c.value == node.None && !isList(a.live, l) {
		c.prune = node.None // what is no list afterwards cannot be pruned
		a.field(t, key, l, c, start)
		return
	}
	if !isList(a.live, l) {
		l = node.None
	}
	if a.err != nil || l == node.None && c.value == node.None {
		return // nothing to order or to prune
	}
	a.key(key, start)
	if l == node.None && c.order == node.None {
		t, _ = t.Lookup(key) // the server looks up what it merges, and this is new
	} else {
		t = a.lookup(t, key, max(c.value, c.order, c.prune))
	}
	a.list(t, l, c)
}

// lookup returns the type of a field whose values are merged.
func (a *applier) lookup(t *schema.Type, key string, p node.ID) *schema.Type {
	child, named := t.Lookup(key)
	if child == nil {
		child = schema.Unknown
	}
	if !named && !a.noLookup {
		a.fail(p, ErrUnknown, "the server refuses to merge a field that its type does not have")
	}
	return child
}

func (a *applier) key(key string, start int) {
	if len(a.dst) > start {
		a.dst = append(a.dst, ',')
	}
	a.dst = node.AppendQuoted(a.dst, key)
	a.dst = append(a.dst, ':')
}

func (a *applier) has(p node.ID, key string) bool {
	return a.patch.Kind(p) == node.Map && a.patch.Field(p, key) != node.None
}

// mode says what a server leaves out of a value that it takes from a patch as it
// is. Directives are never data, whatever a server does.
type mode uint8

const (
	verbatim mode = iota // a replaced value, or a new element of a list: nothing
	ordered              // a new list under $setElementOrder: maps that carry $patch
	fresh                // a new value: those, and the null fields of maps
)

// data writes a value of the patch without its directives.
func (a *applier) data(p node.ID, m mode) {
	switch a.patch.Kind(p) {
	case node.Map:
		a.dst = append(a.dst, '{')
		start := len(a.dst)
		for _, kid := range a.patch.Kids(p) {
			key := a.patch.Key(kid)
			if isDirective(key) || m == fresh && a.patch.Kind(kid) == node.Null || m != verbatim && a.has(kid, patchKey) {
				continue
			}
			a.key(key, start)
			a.data(kid, m)
		}
		a.dst = append(a.dst, '}')
	case node.List:
		a.dst = append(a.dst, '[')
		start := len(a.dst)
		for _, kid := range a.patch.Kids(p) {
			if a.has(kid, patchKey) {
				continue
			}
			if len(a.dst) > start {
				a.dst = append(a.dst, ',')
			}
			a.data(kid, m)
		}
		a.dst = append(a.dst, ']')
	default:
		a.dst = a.patch.Append(a.dst, p)
	}
}
