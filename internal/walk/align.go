package walk

import (
	"hash/maphash"

	"example.com/braid/internal/node"
	"example.com/braid/internal/schema"
)

// pos is one element of a keyed list or set: the same key, and among elements
// that share a key the same occurrence, in each of the three lists that has it.
type pos struct {
	last, live, desired node.ID
	next                int32 // the following occurrence of the key; -1 at the end
	head                int32 // the first occurrence; itself for most
	cur                 int32 // of a head: the occurrence that a list has reached
	stamp               doc   // of a head: the list that cur belongs to
	noKey               bool
	op                  Op
	kase                Case
}

// doc numbers the three inputs in the order in which lists are aligned, so that
// the positions of live come first and stand in live's order.
type doc uint8

const (
	live doc = 1 + iota
	desired
	last
)

// alignment is the positions of one list: w.pos from base on, live's first and in
// live's order. Those of desired stand in desired's order at the end of w.ours.
type alignment struct {
	base  int
	keys  []schema.Key // nil for a set
	also  []schema.Key // fields that an element must have too, though they do not tell it apart
	flags Flags
	noKey int32 // head of the elements without a key; -1 if there are none
	// repeats are set where two elements of a list have one key.
	repeats [last + 1]bool
}

// align pairs the elements of three lists by their keys. O(n).
//
// Strategic merge patch names an element by one key where the server may use
// more: ports 53/TCP and 53/UDP are two elements with one strategic key. Where
// such a key repeats, elements are told apart by the finer structured keys.
func (w *walker) align(t *schema.Type, rule schema.Rule, e *Edit) alignment {
	ours := len(w.ours)
	al := w.alignBy(rule.Keys, nil, e)
	repeats := al.repeats[live] || al.repeats[desired] || al.repeats[last]
	if w.Model == schema.Strategic && repeats && len(t.Structured.Keys) > len(rule.Keys) && w.err == nil {
		w.pos, w.ours = w.pos[:al.base], w.ours[:ours]
		fine := w.alignBy(t.Structured.Keys, rule.Keys, e)
		fine.flags |= al.flags | ByStructured
		for d := range fine.repeats {
			fine.repeats[d] = fine.repeats[d] || al.repeats[d]
		}
		return fine
	}
	return al
}

func (w *walker) alignBy(keys, also []schema.Key, e *Edit) alignment {
	al := alignment{base: len(w.pos), keys: keys, also: also, noKey: -1}
	n := len(w.Live.Kids(e.Live)) + len(w.Desired.Kids(e.Desired))
	if e.Last != node.None {
		n += len(w.Last.Kids(e.Last))
	}
	size := 8
	for size < 2*n {
		size *= 2
	}
	if len(w.table) < size {
		w.table = make([]int32, size)
	}
	table := w.table[:size]
	for _, elem := range w.Live.Kids(e.Live) {
		w.place(&al, table, live, elem)
	}
	for _, elem := range w.Desired.Kids(e.Desired) {
		if !w.keyable(keys, elem) {
			break
		}
		if at := w.place(&al, table, desired, elem); at >= 0 {
			w.ours = append(w.ours, at)
		}
	}
	if e.Last != node.None {
		for _, elem := range w.Last.Kids(e.Last) {
			w.place(&al, table, last, elem)
		}
	}
	clear(table)
	if al.repeats[live] {
		al.flags |= LiveRepeats
	}
	return al
}

// keyable reports whether an element of desired can stand in the list, and fails
// the walk if not.
func (w *walker) keyable(keys []schema.Key, elem node.ID) bool {
	if keys != nil {
		return w.keyed(keys, elem)
	}
	if k := w.Desired.Kind(elem); k == node.Null || k >= node.List {
		return w.fail(elem, node.ErrType, "the elements of a set are scalars, this is a %s", k)
	}
	return true
}

// place finds or makes the position of one element, or returns -1 if a set has it
// already.
func (w *walker) place(al *alignment, table []int32, from doc, elem node.ID) int32 {
	t := *w.tree(from)
	var head int32
	if !complete(t, elem, al.keys) || al.also != nil && !complete(t, elem, al.also) {
		if from == live {
			al.flags |= LiveNoKey
			if k := t.Kind(elem); (al.keys != nil) != (k == node.Map) || k == node.Null || k == node.List {
				al.flags |= LiveOddElem
			}
		}
		if al.noKey < 0 {
			al.noKey = w.newPos(-1)
			w.pos[al.noKey].noKey = true
		}
		head = al.noKey
	} else {
		slot := int(w.hash(t, elem, al.keys)) & (len(table) - 1)
		for ; table[slot] != 0; slot = (slot + 1) & (len(table) - 1) {
			p := &w.pos[int(table[slot])-1+al.base]
			if rep, id := w.rep(p); sameKey(rep, id, t, elem, al.keys) {
				break
			}
		}
		if table[slot] == 0 {
			table[slot] = w.newPos(-1) - int32(al.base) + 1
		}
		head = table[slot] - 1 + int32(al.base)
	}
	return w.occupy(al, head, from, elem)
}

// occupy puts an element at the next occurrence of its key. A set has one
// position a value, however often it is repeated.
func (w *walker) occupy(al *alignment, head int32, from doc, elem node.ID) int32 {
	h := &w.pos[head]
	at := head
	if h.stamp == from {
		al.repeats[from] = al.repeats[from] || !h.noKey
		if al.keys == nil && !h.noKey {
			return -1
		}
		if at = w.pos[h.cur].next; at < 0 {
			tail := h.cur
			at = w.newPos(head)
			w.pos[tail].next = at
			h = &w.pos[head]
			w.pos[at].noKey = h.noKey
		}
	}
	h.stamp, h.cur = from, at
	switch from {
	case live:
		w.pos[at].live = elem
	case desired:
		w.pos[at].desired = elem
	default:
		w.pos[at].last = elem
	}
	return at
}

func (w *walker) newPos(head int32) int32 {
	i := int32(len(w.pos))
	if head < 0 {
		head = i
	}
	w.pos = append(w.pos, pos{last: node.None, live: node.None, desired: node.None, next: -1, head: head})
	return i
}

func (w *walker) tree(d doc) **node.Tree {
	switch d {
	case live:
		return &w.Live
	case desired:
		return &w.Desired
	}
	return &w.Last
}

func (d doc) String() string { return [...]string{live: "live", desired: "desired", last: "last"}[d] }

// rep returns an element that stands at p.
func (w *walker) rep(p *pos) (*node.Tree, node.ID) {
	switch {
	case p.live != node.None:
		return w.Live, p.live
	case p.desired != node.None:
		return w.Desired, p.desired
	}
	return w.Last, p.last
}

// complete reports whether an element has what names it: itself, a scalar, in a
// set; else one of its key fields, or of several, a default for one.
func complete(t *node.Tree, elem node.ID, keys []schema.Key) bool {
	if keys == nil {
		k := t.Kind(elem)
		return k != node.Null && k < node.List
	}
	if t.Kind(elem) != node.Map {
		return false
	}
	has := false
	for _, k := range keys {
		f := t.Field(elem, k.Name)
		if f == node.None {
			has = has || len(keys) > 1 && k.Default != ""
			continue
		}
		if kind := t.Kind(f); kind == node.Null || kind >= node.List {
			return false
		}
		has = true
	}
	return has
}

var seed = maphash.MakeSeed()

func (w *walker) hash(t *node.Tree, elem node.ID, keys []schema.Key) uint64 {
	if keys == nil {
		return w.hashScalar(t.Kind(elem), t.Text(elem))
	}
	var h uint64
	for _, k := range keys {
		kind, text := keyValue(t, elem, k)
		h = h*31 + w.hashScalar(kind, text)
	}
	return h
}

func (w *walker) hashScalar(kind node.Kind, text string) uint64 {
	if kind == node.Number {
		w.key = node.AppendNumberKey(w.key[:0], text)
		return maphash.Bytes(seed, w.key)
	}
	return maphash.String(seed, text) + uint64(kind)
}

// keyValue returns the scalar that a key field has or, where it is absent, stands
// for; a Null for neither.
func keyValue(t *node.Tree, elem node.ID, k schema.Key) (node.Kind, string) {
	if f := t.Field(elem, k.Name); f != node.None {
		return t.Kind(f), t.Text(f)
	}
	switch {
	case k.Default == "":
		return node.Null, ""
	case k.Default[0] == '"':
		return node.String, k.Default[1 : len(k.Default)-1]
	case k.Default == "true" || k.Default == "false":
		return node.Bool, k.Default
	}
	return node.Number, k.Default
}

func sameKey(t *node.Tree, i node.ID, u *node.Tree, j node.ID, keys []schema.Key) bool {
	if keys == nil {
		return sameScalar(t.Kind(i), t.Text(i), u.Kind(j), u.Text(j))
	}
	for _, k := range keys {
		kind, text := keyValue(t, i, k)
		kind2, text2 := keyValue(u, j, k)
		if !sameScalar(kind, text, kind2, text2) {
			return false
		}
	}
	return true
}

func sameScalar(kind node.Kind, text string, kind2 node.Kind, text2 string) bool {
	if kind != kind2 {
		return false
	}
	return text == text2 || kind == node.Number && node.NumberEqual(text, text2)
}
