package dialect

import (
	"cmp"
	"slices"

	"example.com/braid/internal/node"
	"example.com/braid/internal/schema"
)

// item is an element of a list that is being merged.
type item struct {
	key   string
	tree  *node.Tree // live or patch: where the element was first
	elem  node.ID
	more  []node.ID // elements of the patch to merge into it, in order
	fresh bool      // came from the patch
	rank  int       // while sorting
}

// mergeList writes a keyed list or a set that patch's c changes. live is the
// elements that live has, if it has the list.
func (a *applier) mergeList(t *schema.Type, live []node.ID, exists bool, c change) {
	key := "" // of a set
	if t.Strategic.Merge == schema.Keyed {
		key = t.Strategic.Keys[0].Name
	}
	told := a.told(key, c.order)
	var items []item
	if key == "" {
		items = a.mergeSet(live, exists, c)
	} else {
		items = a.mergeKeyed(key, live, c, told)
	}
	if told != nil && a.err == nil {
		places := a.firsts(a.live, key, live)
		if key != "" {
			places = reused(items, places, len(live))
		}
		items = arrange(items, told, places)
	}
	prune := map[string]bool{}
	if c.prune != node.None {
		for _, kid := range a.patch.Kids(c.prune) {
			prune[keyText(a.patch, kid, "")] = true
		}
	}
	a.dst = append(a.dst, '[')
	start := len(a.dst)
	for n := range items {
		if key == "" && prune[items[n].key] {
			continue
		}
		if len(a.dst) > start {
			a.dst = append(a.dst, ',')
		}
		a.element(t.Elem, &items[n])
	}
	a.dst = append(a.dst, ']')
}

// reused adds to the places of live's n elements those of new elements that a
// server sees among them: it appends new elements to the array it has just deleted
// others from, and then reads the order of live from that array.
func reused(items []item, live map[string]int, n int) map[string]int {
	free := n
	for i := range items {
		if !items[i].fresh {
			free--
		}
	}
	for i := range items {
		if items[i].fresh && free > 0 {
			live[items[i].key] = n
			n++
			free--
		}
	}
	return live
}

// told returns the places of the keys that $setElementOrder names; nil without it.
func (a *applier) told(key string, order node.ID) map[string]int {
	if order == node.None {
		return nil
	}
	for _, elem := range a.patch.Kids(order) {
		if keyText(a.patch, elem, key) == "" {
			a.fail(elem, ErrNoKey, "want the key of an element")
		}
	}
	return a.firsts(a.patch, key, a.patch.Kids(order))
}

// firsts returns where each key of a list stands first.
func (a *applier) firsts(t *node.Tree, key string, list []node.ID) map[string]int {
	m := make(map[string]int, len(list))
	for n, elem := range list {
		if k := keyText(t, elem, key); k != "" {
			if _, ok := m[k]; !ok {
				m[k] = n
			}
		}
	}
	return m
}

// keyText returns a text that elements of one key share: that of the key field,
// or of a set's element itself. It is "" if there is no scalar.
func keyText(t *node.Tree, elem node.ID, key string) string {
	if key != "" {
		elem = t.Field(elem, key)
	}
	if elem == node.None || t.Kind(elem) == node.Null || t.Kind(elem) >= node.List {
		return ""
	}
	if t.Kind(elem) == node.Number {
		return string(node.AppendNumberKey([]byte{byte(node.Number)}, t.Text(elem)))
	}
	return string(rune(t.Kind(elem))) + t.Text(elem)
}

func (a *applier) mergeSet(live []node.ID, exists bool, c change) []item {
	var items []item
	seen := map[string]bool{}
	dedupe := exists && c.value != node.None
	add := func(t *node.Tree, elems []node.ID) {
		for _, elem := range elems {
			k := keyText(t, elem, "")
			if k == "" && t == a.patch {
				a.fail(elem, ErrDirective, "the elements of this list are scalars")
			}
			if dedupe && k != "" && seen[k] {
				continue
			}
			seen[k] = true
			items = append(items, item{key: k, tree: t, elem: elem, fresh: t == a.patch})
		}
	}
	add(a.live, live)
	if c.value == node.None {
		return items
	}
	sent := a.patch.Kids(c.value)
	add(a.patch, sent)
	if dedupe {
		items = arrange(items, a.firsts(a.patch, "", sent), a.firsts(a.live, "", live))
	}
	return items
}

// mergeKeyed merges a list of maps and puts it in the order that the patch list
// and live give it.
func (a *applier) mergeKeyed(key string, live []node.ID, c change, told map[string]int) []item {
	sent, deleted, replace := a.sent(key, c.value, told)
	if c.value == node.None {
		return a.liveItems(key, live, nil, told != nil)
	}
	if replace {
		return arrange(sent, nil, itemFirsts(sent))
	}
	items := a.liveItems(key, live, deleted, true)
	at := make(map[string]int, len(items))
	for n := range items {
		if _, ok := at[items[n].key]; !ok {
			at[items[n].key] = n
		}
	}
	for _, s := range sent {
		if n, ok := at[s.key]; ok {
			items[n].more = append(items[n].more, s.elem)
			continue
		}
		at[s.key] = len(items)
		items = append(items, s)
	}
	return arrange(items, itemFirsts(sent), a.firsts(a.live, key, live))
}

// sent takes the patch list apart: its elements, the keys it deletes, and whether
// it replaces live's list.
func (a *applier) sent(key string, list node.ID, told map[string]int) (items []item, deleted map[string]bool, replace bool) {
	if list == node.None {
		return nil, nil, false
	}
	last := -1
	for _, elem := range a.patch.Kids(list) {
		if k := a.patch.Kind(elem); k != node.Map {
			a.fail(elem, node.ErrType, "want a map, got a %s", k)
			return
		}
		k, word := keyText(a.patch, elem, key), "merge"
		if f := a.patch.Field(elem, patchKey); f != node.None {
			word = a.marker(f)
		}
		if word == "replace" {
			replace = true
			continue
		}
		if k == "" {
			a.fail(elem, ErrNoKey, "want field %q", key)
			return
		}
		if word == "delete" {
			if deleted == nil {
				deleted = map[string]bool{}
			}
			deleted[k] = true
			continue
		}
		if place, ok := told[k]; len(told) > 0 && (!ok || place < last) {
			a.fail(elem, ErrOrder, "")
		} else {
			last = place
		}
		items = append(items, item{key: k, tree: a.patch, elem: elem, fresh: true})
	}
	return items, deleted, replace
}

// liveItems returns live's elements but the deleted ones. Those without a key
// cannot be ordered.
func (a *applier) liveItems(key string, live []node.ID, deleted map[string]bool, ordered bool) []item {
	items := make([]item, 0, len(live))
	for _, elem := range live {
		k := keyText(a.live, elem, key)
		if k == "" && ordered && a.err == nil {
			a.err = &node.Error{Doc: "live", Path: a.live.Path(elem), Offset: -1, Rule: ErrNoKey, Detail: "the API server cannot merge this list"}
		}
		if !deleted[k] || k == "" {
			items = append(items, item{key: k, tree: a.live, elem: elem})
		}
	}
	return items
}

func itemFirsts(items []item) map[string]int {
	m := make(map[string]int, len(items))
	for n := range items {
		if _, ok := m[items[n].key]; !ok {
			m[items[n].key] = n
		}
	}
	return m
}

// arrange orders a merged list as an API server does. The elements that told
// names stand in its order. The others stand in live's order, each before the
// first one told that stands behind it in live. Elements of one key stand
// together. O(n log n).
func arrange(items []item, told, live map[string]int) []item {
	var left, right []item
	for _, it := range items {
		if rank, ok := told[it.key]; ok {
			it.rank = rank
			right = append(right, it)
			continue
		}
		it.rank = len(live)
		if rank, ok := live[it.key]; ok {
			it.rank = rank
		}
		left = append(left, it)
	}
	byRank := func(x, y item) int { return cmp.Compare(x.rank, y.rank) }
	slices.SortStableFunc(left, byRank)
	slices.SortStableFunc(right, byRank)
	out := items[:0]
	for len(left) > 0 && len(right) > 0 {
		l, inLive := live[left[0].key]
		r, ok := live[right[0].key]
		if inLive && ok && l < r {
			out, left = append(out, left[0]), left[1:]
		} else {
			out, right = append(out, right[0]), right[1:]
		}
	}
	return append(append(out, left...), right...)
}

// element writes one element of a merged list. A patch list that has a key twice
// is merged one element after the other.
func (a *applier) element(t *schema.Type, it *item) {
	switch {
	case len(it.more) == 0 && it.fresh:
		a.verbatim(it.elem)
		return
	case len(it.more) == 0:
		a.dst = it.tree.Append(a.dst, it.elem)
		return
	}
	if len(it.more) == 1 && !it.fresh {
		a.fields(t, it.elem, it.more[0])
		return
	}
	step := applier{live: it.tree, patch: a.patch, noLookup: a.noLookup}
	elem := it.elem
	for _, p := range it.more {
		step.dst = step.dst[:0]
		if step.fields(t, elem, p); step.err != nil {
			a.err = cmp.Or(a.err, step.err)
			return
		}
		var err error
		if step.live, err = node.Parse(step.dst, node.Limits{}); err != nil {
			a.fail(p, ErrDirective, "%v", err)
			return
		}
		elem = 0
	}
	a.dst = append(a.dst, step.dst...)
}
