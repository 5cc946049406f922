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
	next                int32   // the following occurrence of the key; -1 at the end
	head                int32   // the first occurrence; itself for most
	cur                 int32   // of a head: the occurrence that a list has reached
	stamp               doc     // of a head: the list that cur belongs to
	from                doc     // of a head: the list in which its key was met first
	name                node.ID // of a head: nameOf of the element there
	noKey               bool
	made                bool // by hand, and nobody declares it
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
	next  int32 // where the next element of desired or last is likely to be
	// repeats are set where two elements of a list have one key.
	repeats [last + 1]bool
}

// align pairs the elements of three lists by their keys. O(n).
//
// Strategic merge patch names an element by one key where the server may use
// more: ports 53/TCP and 53/UDP are two elements with one strategic key. Where
// such a key repeats, elements are told apart by the finer structured keys.
func (w *walker) align(t *schema.Type, rule *schema.Rule, e *Edit) alignment {
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
	n := len(w.Live.Kids(e.Live)) + len(w.kids(e.Desired))
	if e.Last != node.None {
		n += len(w.Last.Kids(e.Last))
	}
	table := w.tableFor(n)
	for _, elem := range w.Live.Kids(e.Live) {
		w.place(&al, table, live, elem)
	}
	al.next = int32(al.base)
	for _, elem := range w.kids(e.Desired) {
		if at := w.place(&al, table, desired, elem); at >= 0 {
			w.ours = append(w.ours, at)
		} else if w.err != nil {
			break
		}
	}
	if al.next = int32(al.base); e.Last != node.None {
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

// tableFor returns an empty hash table for n elements, or nil where it is quicker
// to look at all.
func (w *walker) tableFor(n int) []int32 {
	if n <= 12 {
		return nil
	}
	size := 32
	for size < 2*n {
		size *= 2
	}
	if len(w.table) < size {
		w.table = make([]int32, size)
	}
	return w.table[:size]
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
	w.Work++
	t := *w.tree(from)
	name := nameOf(t, elem, al.keys)
	if name == node.None || al.also != nil && nameOf(t, elem, al.also) == node.None {
		return w.placeKeyless(al, from, elem)
	}
	head := w.find(al, table, from, t, name)
	if head < 0 {
		head = w.newPos(-1)
		w.pos[head].from, w.pos[head].name = from, name
		if table != nil {
			slot := w.slot(al, table, t, name)
			table[slot] = head - int32(al.base) + 1
		}
	}
	return w.occupy(al, head, from, elem)
}

// find returns the first position with the key that name is, or -1.
func (w *walker) find(al *alignment, table []int32, from doc, t *node.Tree, name node.ID) int32 {
	if from != live && int(al.next) < len(w.pos) {
		// Most lists have their elements in one order.
		if head := w.pos[al.next].head; w.named(al, head, t, name) {
			return head
		}
	}
	if table == nil {
		for i := al.base; i < len(w.pos); i++ {
			w.Work++
			if w.pos[i].head == int32(i) && w.named(al, int32(i), t, name) {
				return int32(i)
			}
		}
		return -1
	}
	if at := table[w.slot(al, table, t, name)]; at > 0 {
		return at - 1 + int32(al.base)
	}
	return -1
}

// named reports whether the position has the key that name is.
func (w *walker) named(al *alignment, head int32, t *node.Tree, name node.ID) bool {
	p := &w.pos[head]
	return !p.noKey && sameKey(*w.tree(p.from), p.name, t, name, al.keys)
}

// slot returns where in the table the key that name is stands, or is to stand.
func (w *walker) slot(al *alignment, table []int32, t *node.Tree, name node.ID) int {
	slot := int(w.hash(t, name, al.keys)) & (len(table) - 1)
	for table[slot] != 0 && !w.named(al, table[slot]-1+int32(al.base), t, name) {
		w.Work++
		slot = (slot + 1) & (len(table) - 1)
	}
	return slot
}

func (w *walker) placeKeyless(al *alignment, from doc, elem node.ID) int32 {
	if from == desired && !w.keyable(al.keys, elem) {
		return -1
	}
	if from == live {
		al.flags |= LiveNoKey
		if k := w.Live.Kind(elem); (al.keys != nil) != (k == node.Map) || k == node.Null || k == node.List {
			al.flags |= LiveOddElem
		}
	}
	if al.noKey < 0 {
		al.noKey = w.newPos(-1)
		w.pos[al.noKey].noKey = true
	}
	return w.occupy(al, al.noKey, from, elem)
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
	al.next = at + 1
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

// nameOf returns the node that names an element: itself, a scalar, in a set; the
// key field, where there is one without a default; and else the element again, if
// it has a key field or one has a default. It is None if the element lacks a name.
func nameOf(t *node.Tree, elem node.ID, keys []schema.Key) node.ID {
	switch {
	case len(keys) == 0:
		if k := t.Kind(elem); k == node.Null || k >= node.List {
			return node.None
		}
		return elem
	case byScalar(keys):
		f := t.Field(elem, keys[0].Name)
		if f == node.None || t.Kind(f) == node.Null || t.Kind(f) >= node.List {
			return node.None
		}
		return f
	}
	has := false
	for _, k := range keys {
		f := t.Field(elem, k.Name)
		switch {
		case f == node.None || t.Kind(f) == node.Null: // null is no value
			has = has || k.Default != ""
		case t.Kind(f) >= node.List:
			return node.None
		default:
			has = true
		}
	}
	if !has || t.Kind(elem) != node.Map {
		return node.None
	}
	return elem
}

// byScalar reports whether what names an element is a scalar that stands there.
func byScalar(keys []schema.Key) bool {
	return len(keys) == 0 || len(keys) == 1 && keys[0].Default == ""
}

var seed = maphash.MakeSeed()

func (w *walker) hash(t *node.Tree, name node.ID, keys []schema.Key) uint64 {
	if byScalar(keys) {
		return w.hashScalar(t.Kind(name), t.Text(name))
	}
	var h uint64
	for _, k := range keys {
		kind, text := keyValue(t, name, k)
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
	if f := t.Field(elem, k.Name); f != node.None && t.Kind(f) != node.Null {
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
	if byScalar(keys) {
		return node.EqualScalars(t, i, u, j)
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
