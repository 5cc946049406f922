package walk

import (
	"cmp"
	"encoding/binary"
	"slices"

	"example.com/braid/internal/node"
	"example.com/braid/internal/schema"
)

// arrange appends to w.order, and returns, the positions that stay in merged
// order: the elements of desired in the order of ours, and those that only live
// has before the first element of desired that stands behind them in live. It is
// the order that an API server gives to a strategic patch with $setElementOrder.
// Where keys repeat, those of live stand behind those of desired that have the same
// key, so that the next merge counts occurrences the same way. O(n).
func (w *walker) arrange(al alignment, ours []int32) []int32 {
	w.Work += len(w.pos) - al.base
	start := len(w.order)
	var held *holdup
	if al.repeats[live] || al.repeats[desired] {
		held = w.holdup(ours)
	}
	theirs, end := int32(al.base), int32(len(w.pos)) // live's positions come first and in its order
	upTo := func(at int32) {
		for ; theirs < at && w.pos[theirs].live != node.None; theirs++ {
			if p := &w.pos[theirs]; p.desired == node.None && p.stays() && !held.holds(p.head, theirs) {
				w.order = append(w.order, theirs)
			}
		}
	}
	for _, at := range ours {
		if !w.pos[at].stays() {
			continue
		}
		if w.pos[at].live != node.None {
			upTo(at)
		}
		w.order = append(w.order, at)
		w.order = append(w.order, held.release(w.pos[at].head)...)
	}
	upTo(end)
	return w.order[start:]
}

// holdup keeps what only live has until the elements of desired with its key stand.
type holdup struct {
	ahead map[int32]int     // how many of desired are to come, by head
	kept  map[int32][]int32 // what waits for them
}

func (w *walker) holdup(ours []int32) *holdup {
	h := &holdup{map[int32]int{}, map[int32][]int32{}}
	for _, at := range ours {
		if w.pos[at].stays() {
			h.ahead[w.pos[at].head]++
		}
	}
	return h
}

// holds reports whether the position at waits, and keeps it then.
func (h *holdup) holds(head, at int32) bool {
	if h == nil || h.ahead[head] == 0 {
		return false
	}
	h.kept[head] = append(h.kept[head], at)
	return true
}

// release notes that one of desired stands, and returns what need wait no longer.
func (h *holdup) release(head int32) []int32 {
	if h == nil {
		return nil
	}
	if h.ahead[head]--; h.ahead[head] > 0 {
		return nil
	}
	return h.kept[head]
}

// follow puts desired's positions in live's order: an element that only desired
// has follows the one it follows in desired, and never stands before one that live has and
// that has the same key.
func (w *walker) follow(ours []int32) {
	rank := int32(-1)
	ranks := make(map[int32]int32, len(ours))
	twins := map[int32]int32{} // the last that live has of a key, by head
	for _, at := range ours {
		p := &w.pos[at]
		if p.live != node.None {
			rank, twins[p.head] = at, at
		}
		ranks[at] = rank
		if twin, ok := twins[p.head]; ok {
			ranks[at] = max(rank, twin)
		}
	}
	slices.SortStableFunc(ours, func(a, b int32) int { return cmp.Compare(ranks[a], ranks[b]) })
}

// liveOrders reports whether the policy lets live's order of common elements
// stand. Order is a value like any other, but it never clashes: keeping live's
// loses nothing.
func (w *walker) liveOrders(e Edit, ours []int32) bool {
	if e.Last == node.None {
		return w.policy[BothAddOther] != Take
	}
	if w.policy[TheySet] == Take {
		return false
	}
	// Did we reorder? Then the elements of last do not stand in desired's order.
	at := node.None
	for _, i := range ours {
		if n := w.pos[i].last; n != node.None && w.pos[i].stays() {
			if n < at {
				return false
			}
			at = n
		}
	}
	return true
}

// moved reports whether elements that live has stand in another order, or in
// another number, than there.
func (w *walker) moved(order []int32) bool {
	at := int32(-1)
	for _, i := range order {
		if w.pos[i].live == node.None {
			continue
		}
		if i < at {
			return true
		}
		at = i
	}
	return false
}

// afterwards returns the flags that describe the merged list.
func (w *walker) afterwards(al alignment, rule *schema.Rule, order []int32) (f Flags) {
	if al.noKey >= 0 {
		for _, i := range order {
			if w.pos[i].noKey {
				f |= MergedNoKey
			}
		}
	}
	if rule.Keys != nil && (al.repeats[live] || al.repeats[desired] || al.flags&ByStructured != 0) {
		seen := map[string]bool{}
		for _, i := range order {
			k := w.keyText(i, rule.Keys)
			if seen[k] && !w.pos[i].noKey {
				f |= MergedRepeats
			}
			seen[k] = true
		}
	}
	return f
}

// group lets positions of one key stand together, at the place of the first:
// desired's, then live's own. That order does not depend on where they stood, so
// the next merge finds it again.
func (w *walker) group(keys []schema.Key, order []int32) {
	first := map[string]int{}
	for n, i := range order {
		if k := w.keyText(i, keys); !w.pos[i].noKey && w.pos[i].stays() {
			if _, ok := first[k]; !ok {
				first[k] = n
			}
		}
	}
	rank := make(map[int32]int, len(order))
	for n, i := range order {
		rank[i] = 2 * n
		if !w.pos[i].noKey {
			rank[i] = 2 * first[w.keyText(i, keys)]
			if w.pos[i].desired == node.None {
				rank[i]++
			}
		}
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(rank[a], rank[b]) })
}

// keyText returns a text that positions of one key share.
func (w *walker) keyText(i int32, keys []schema.Key) string {
	t, elem := w.rep(&w.pos[i])
	if w.pos[i].noKey {
		return ""
	}
	var b []byte
	for _, k := range keys {
		kind, text := keyValue(t, elem, k)
		if b = append(b, byte(kind)); kind == node.Number {
			b = append(node.AppendNumberKey(b, text), 0)
		} else { // a string can hold whatever would end it
			b = append(binary.AppendUvarint(b, uint64(len(text))), text...)
		}
	}
	return string(b)
}
