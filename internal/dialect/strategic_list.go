package dialect

import (
	"cmp"
	"slices"
	"sort"

	"example.com/braid/internal/node"
	"example.com/braid/internal/schema"
)

// item is an element of a list that is being merged.
type item struct {
	key   elemKey
	tree  *node.Tree // live or patch: where the element was first
	elem  node.ID
	more  []node.ID // elements of the patch to merge into it, in order
	fresh bool      // came from the patch
	mode  mode      // of a fresh one
	rank  int       // while sorting
}

// list writes a list that patch's c changes. l is None if live lacks it.
func (a *applier) list(t *schema.Type, l node.ID, c change) {
	if t == nil {
		t = schema.Unknown
	}
	rule := served(t)
	key := "" // of a set, and of a list that is replaced
	if rule.Merge == schema.Keyed {
		key = rule.Keys[0].Name
	}
	var live, sent []node.ID
	if l != node.None {
		live = a.live.Kids(l)
	}
	if c.value != node.None {
		sent = a.patch.Kids(c.value)
	}
	var items []item
	switch merges := rule.Merge == schema.Keyed || rule.Merge == schema.Set; {
	case c.value == node.None:
		items = a.liveItems(key, live, nil, c.order != node.None)
	case l == node.None && c.order == node.None:
		items = a.newItems(key, sent, fresh)
	case l == node.None:
		items = a.newItems(key, sent, ordered)
	case !merges:
		items = a.newItems(key, sent, verbatim)
	case key == "":
		items = a.mergeSet(c.value, live, sent)
	default:
		items = a.mergeKeyed(key, c.value, live, sent)
	}
	if c.order != node.None {
		items = a.inOrder(items, key, c, live, sent)
	}
	if c.prune != node.None {
		items = a.pruned(items, key, c.prune)
	}
	a.dst = append(a.dst, '[')
	start := len(a.dst)
	for n := 0; n < len(items) && a.err == nil; n++ {
		if len(a.dst) > start {
			a.dst = append(a.dst, ',')
		}
		a.element(t.Elem, &items[n])
	}
	a.dst = append(a.dst, ']')
}

// newItems returns the elements of a patch list that is taken as it is.
func (a *applier) newItems(key string, sent []node.ID, m mode) []item {
	var items []item
	for _, elem := range sent {
		if !a.has(elem, patchKey) {
			items = append(items, item{key: keyOf(a.patch, elem, key), tree: a.patch, elem: elem, fresh: true, mode: m})
		}
	}
	return items
}

// alike fails unless the elements of live and of a list in the patch are of one
// Go type, as a server decodes them, and no lists; maps if they have a key.
func (a *applier) alike(list node.ID, key string, live, sent []node.ID) {
	kind := -1
	check := func(t *node.Tree, elems []node.ID) {
		for _, elem := range elems {
			k := goKind(t, elem)
			if kind >= 0 && k != kind || k == goNull || k == goList || (k == goMap) != (key != "") {
				a.fail(list, node.ErrType, "the server merges lists of maps that have a key, and of scalars of one type")
				return
			}
			kind = k
		}
	}
	check(a.live, live)
	check(a.patch, sent)
}

// inOrder puts a list in the order that $setElementOrder gives it.
func (a *applier) inOrder(items []item, key string, c change, live, sent []node.ID) []item {
	order := a.patch.Kids(c.order)
	for _, elem := range order {
		if keyOf(a.patch, elem, key) == (elemKey{}) {
			a.fail(elem, ErrNoKey, "want the key of an element")
		}
	}
	for _, it := range items {
		if it.fresh && it.key == (elemKey{}) {
			a.fail(c.order, ErrNoKey, "an element of the list has no key")
		}
	}
	a.comparable(items)
	a.subsequence(key, sent, order)
	if len(live) == 0 && len(sent) == 0 {
		a.fail(c.order, ErrDirective, "there is nothing to order")
	}
	a.alike(c.order, key, live, sent)
	places, replaced := a.firsts(a.live, key, live), false
	for _, elem := range sent {
		f := a.patch.Field(elem, patchKey)
		if key == "" || f == node.None {
			continue
		}
		if a.patch.Text(f) == "replace" {
			replaced = true // live's array stays as it is
		} else {
			delete(places, keyOf(a.patch, elem, key))
		}
	}
	if key != "" && !replaced {
		places = reused(items, places, len(live))
	}
	return arrange(items, a.firsts(a.patch, key, order), places)
}

// subsequence fails unless the elements that a patch list does not delete stand
// in it as in its $setElementOrder.
func (a *applier) subsequence(key string, sent, order []node.ID) {
	if len(order) == 0 {
		return
	}
	n := 0
	for _, elem := range sent {
		directive := key != "" && a.has(elem, patchKey)
		if directive && a.patch.Text(a.patch.Field(elem, patchKey)) == "delete" {
			continue
		}
		for !directive && n < len(order) && keyOf(a.patch, order[n], key) != keyOf(a.patch, elem, key) {
			n++
		}
		if n == len(order) {
			a.fail(elem, ErrOrder, "")
			return
		}
		if !directive {
			n++
		}
	}
}

// pruned drops the values that $deleteFromPrimitiveList names.
func (a *applier) pruned(items []item, key string, list node.ID) []item {
	sent := a.patch.Kids(list)
	if len(sent) == 0 && (key != "" || len(items) == 0) {
		return items
	}
	prune := make(map[elemKey]bool, len(sent))
	all := slices.Clone(items)
	for _, elem := range sent {
		prune[keyOf(a.patch, elem, "")] = true
		all = append(all, item{tree: a.patch, elem: elem})
	}
	for _, it := range all {
		if k := goKind(it.tree, it.elem); k > goFloat || k != goKind(all[0].tree, all[0].elem) {
			a.fail(list, node.ErrType, "the server prunes lists of scalars of one type")
			return nil
		}
	}
	return slices.DeleteFunc(items, func(it item) bool { return prune[keyOf(it.tree, it.elem, "")] })
}

// reused adds to the places of live's n elements those of new elements that a
// server sees among them: it appends new elements to the array it has just deleted
// others from, and then reads the order of live from that array.
func reused(items []item, live map[elemKey]int, n int) map[elemKey]int {
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

// firsts returns where each key of a list stands first.
func (a *applier) firsts(t *node.Tree, key string, list []node.ID) map[elemKey]int {
	m := make(map[elemKey]int, len(list))
	for n, elem := range list {
		if k := keyOf(t, elem, key); k != (elemKey{}) {
			if _, ok := m[k]; !ok {
				m[k] = n
			}
		}
	}
	return m
}

// elemKey is what elements of one key share: the value of the key field, or of a set's
// element itself. It is zero if there is none.
type elemKey struct {
	kind int // goKind, and one
	text string
}

// keyOf returns the key of an element. A server compares what it decodes, so 1 and 1.0
// are two keys, and null is one.
func keyOf(t *node.Tree, elem node.ID, key string) elemKey {
	if key != "" {
		elem = t.Field(elem, key)
	}
	if elem == node.None || t.Kind(elem) >= node.List {
		return elemKey{}
	}
	k := elemKey{1 + goKind(t, elem), t.Text(elem)}
	if t.Kind(elem) == node.Number {
		k.text = string(node.AppendNumberKey(nil, k.text))
	}
	return k
}

// mergeSet adds the values of a patch list that live lacks, and puts those of the
// list in its order.
func (a *applier) mergeSet(list node.ID, live, sent []node.ID) []item {
	a.alike(list, "", live, sent)
	var items []item
	seen := map[elemKey]bool{}
	add := func(t *node.Tree, elems []node.ID) {
		for _, elem := range elems {
			if k := keyOf(t, elem, ""); !seen[k] {
				seen[k] = true
				items = append(items, item{key: k, tree: t, elem: elem, fresh: t == a.patch})
			}
		}
	}
	add(a.live, live)
	add(a.patch, sent)
	return arrange(items, a.firsts(a.patch, "", sent), a.firsts(a.live, "", live))
}

// mergeKeyed merges a list of maps and puts it in the order that the patch list
// and live give it.
func (a *applier) mergeKeyed(key string, list node.ID, live, sent []node.ID) []item {
	a.alike(list, key, live, sent)
	if a.err != nil {
		return nil
	}
	added, deleted, replace := a.sent(key, sent)
	if replace {
		return arrange(added, nil, itemFirsts(added))
	}
	items := a.liveItems(key, live, deleted, len(live)+len(sent) > 0)
	places, at := itemFirsts(items), itemFirsts(items)
	for _, s := range added {
		if n, ok := at[s.key]; ok {
			items[n].more = append(items[n].more, s.elem)
			continue
		}
		at[s.key] = len(items)
		items = append(items, s)
	}
	a.comparable(items)
	return arrange(items, itemFirsts(added), places)
}

// sent takes the patch list apart: its elements, the keys it deletes, and whether
// it replaces live's list.
func (a *applier) sent(key string, list []node.ID) (items []item, deleted map[elemKey]bool, replace bool) {
	for _, elem := range list {
		k, word := keyOf(a.patch, elem, key), "merge"
		if f := a.patch.Field(elem, patchKey); f != node.None {
			word = a.marker(f)
		}
		if word == "replace" {
			replace = true
			continue
		}
		if k == (elemKey{}) && word == "delete" && a.patch.Field(elem, key) != node.None {
			continue // a key that no element has
		}
		if k == (elemKey{}) {
			a.fail(elem, ErrNoKey, "want field %q", key)
			return
		}
		if word == "delete" {
			if deleted == nil {
				deleted = map[elemKey]bool{}
			}
			deleted[k] = true
			continue
		}
		items = append(items, item{key: k, tree: a.patch, elem: elem, fresh: true})
	}
	return items, deleted, replace
}

// liveItems returns live's elements but the deleted ones. Those that lack the key
// cannot be ordered.
func (a *applier) liveItems(key string, live []node.ID, deleted map[elemKey]bool, ordered bool) []item {
	items := make([]item, 0, len(live))
	for _, elem := range live {
		k := keyOf(a.live, elem, key)
		if ordered && k == (elemKey{}) && (key == "" || a.live.Field(elem, key) == node.None) {
			a.badLive(elem)
		}
		if k == (elemKey{}) || !deleted[k] {
			items = append(items, item{key: k, tree: a.live, elem: elem})
		}
	}
	return items
}

// comparable fails where live has an element whose key is a map or a list, unless
// it stands alone: a server panics when it looks for its place among others.
func (a *applier) comparable(items []item) {
	for _, it := range items {
		if len(items) > 1 && !it.fresh && it.key == (elemKey{}) {
			a.badLive(it.elem)
		}
	}
}

func (a *applier) badLive(elem node.ID) {
	if a.err == nil {
		a.err = &node.Error{Doc: "live", Path: a.live.Path(elem), Offset: -1, Rule: ErrNoKey, Detail: "the API server cannot merge this list"}
	}
}

func itemFirsts(items []item) map[elemKey]int {
	m := make(map[elemKey]int, len(items))
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
func arrange(items []item, told, live map[elemKey]int) []item {
	var left, right []item
	unknown := false
	for _, it := range items {
		if rank, ok := told[it.key]; ok {
			it.rank = rank
			right = append(right, it)
			continue
		}
		rank, ok := live[it.key]
		it.rank, unknown = rank, unknown || !ok
		left = append(left, it)
	}
	byRank := func(x, y item) int { return cmp.Compare(x.rank, y.rank) }
	slices.SortStableFunc(right, byRank)
	if !unknown {
		slices.SortStableFunc(left, byRank)
	} else {
		// New elements under an empty $setElementOrder: a server sorts them by
		// this relation, which is no order, and so turns them round.
		sort.SliceStable(left, func(i, j int) bool {
			x, ok := live[left[i].key]
			y, ok2 := live[left[j].key]
			return !ok || !ok2 || x < y
		})
	}
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

// mostOfOneKey bounds the elements of one key in a patch list, for each is merged
// into all that the ones before it made.
const mostOfOneKey = 100

// element writes one element of a merged list. A patch list that has a key twice
// is merged one element after the other.
func (a *applier) element(t *schema.Type, it *item) {
	switch {
	case len(it.more) == 0 && it.fresh:
		a.data(it.elem, it.mode)
		return
	case len(it.more) == 0:
		a.dst = it.tree.Append(a.dst, it.elem)
		return
	case len(it.more) == 1 && !it.fresh:
		a.fields(t, it.elem, it.more[0])
		return
	case len(it.more) > mostOfOneKey:
		a.fail(it.more[mostOfOneKey], node.ErrLimit, "more than %d elements of one key", mostOfOneKey)
		return
	}
	step := applier{live: it.tree, patch: a.patch, noLookup: a.noLookup}
	elem := it.elem
	reread := func() {
		tree, err := node.Parse(step.dst, node.Limits{})
		if err != nil {
			step.fail(it.elem, node.ErrLimit, "%v", err)
			return
		}
		step.live, elem, step.dst = tree, 0, step.dst[:0]
	}
	if it.fresh {
		step.data(elem, it.mode)
		reread()
	}
	for _, p := range it.more {
		if step.err == nil {
			step.fields(t, elem, p)
			reread()
		}
	}
	if a.err = cmp.Or(a.err, step.err); a.err == nil {
		a.dst = step.live.Append(a.dst, elem)
	}
}
