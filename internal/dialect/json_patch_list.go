package dialect

import (
	"slices"
	"sort"

	"example.com/braid/internal/node"
	"example.com/braid/internal/schema"
	"example.com/braid/internal/walk"
)

// listEdit turns one list into another, element by element.
type listEdit struct {
	live []node.ID // the list as it is
	// slots has for each element of the merged list where it stands in live, or -1.
	slots []int
	// value appends an element of the merged list.
	value func(dst []byte, j int) []byte
	// named returns the field of an element of live that tells it from others; itself
	// if there is none.
	named func(live node.ID) node.ID
}

// elements writes the edits of the keyed list or set of edit i.
func (e *jsonPatch) elements(i int32) {
	l := listEdit{live: e.Live.Kids(e.Edits[i].Live)}
	var kids []int32
	for k := range e.Children(i) {
		if e.Present(k) {
			kids = append(kids, k)
			l.slots = append(l.slots, l.slot(e.Edits[k].Live))
		}
	}
	l.value = func(dst []byte, j int) []byte { return e.AppendValue(dst, kids[j]) }
	l.named = func(live node.ID) node.ID {
		for _, key := range e.ListKeys(i) {
			if f := e.Live.Field(live, key.Name); f != node.None {
				return f
			}
		}
		return live
	}
	e.reshape(&l)
	for j, k := range kids {
		if ed := &e.Edits[k]; ed.Op == walk.OpFields && ed.Changes() {
			n := len(e.path)
			e.path = appendIndex(e.path, j)
			e.testName(&l, ed.Live)
			e.fields(k)
			e.path = e.path[:n]
		}
	}
}

func (l *listEdit) slot(live node.ID) int {
	if live == node.None {
		return -1
	}
	at, _ := slices.BinarySearch(l.live, live)
	return at
}

// whole writes the list that edit k takes: element by element where that is shorter.
// Elements are paired by value and occurrence.
func (e *jsonPatch) whole(k int32) {
	ed := &e.Edits[k]
	start, ops := len(e.dst), e.ops
	e.test(ed.Live)
	e.add(k)
	size := len(e.dst) - start
	if size < 64 {
		return // no element is shorter than its operation
	}
	list := append([]byte(nil), e.dst[start:]...)
	listOps := e.ops
	e.dst, e.ops = e.dst[:start], ops

	l := listEdit{live: e.Live.Kids(ed.Live), named: func(live node.ID) node.ID { return live }}
	at := make(map[string][]int, len(l.live))
	var key []byte
	for n, id := range l.live {
		key = e.Live.Append(key[:0], id)
		at[string(key)] = append(at[string(key)], n)
	}
	desired, elem := e.Desired.Kids(ed.Desired), ed.Type.Elem
	if elem == nil {
		elem = schema.Unknown
	}
	l.value = func(dst []byte, j int) []byte { return e.AppendDesired(dst, elem, desired[j]) }
	for j := range desired {
		key = l.value(key[:0], j)
		slot := -1
		if free := at[string(key)]; len(free) > 0 {
			slot = free[0]
			at[string(key)] = free[1:]
		}
		l.slots = append(l.slots, slot)
	}
	if e.reshape(&l); len(e.dst)-start >= size {
		e.dst, e.ops = append(e.dst[:start], list...), listOps
	}
}

// reshape writes what gives the list at e.path its merged elements in their order:
// replacements, then removals from the end, then moves and additions from the front.
func (e *jsonPatch) reshape(l *listEdit) {
	stay := l.longest()
	used := make([]bool, len(l.live))
	for _, s := range l.slots {
		if s >= 0 {
			used[s] = true
		}
	}
	replaced := l.pair(stay, used)
	n := len(e.path)
	at := func(i int) { e.path = appendIndex(e.path[:n], i) }
	for j, s := range l.slots {
		if s >= 0 && replaced[j] {
			at(s)
			e.testName(l, l.live[s])
			e.op("replace", "")
			e.dst = append(e.dst, `,"value":`...)
			e.dst = append(l.value(e.dst, j), '}')
		}
	}
	for s := len(l.live) - 1; s >= 0; s-- {
		if !used[s] {
			at(s)
			e.testName(l, l.live[s])
			e.op("remove", "")
			e.dst = append(e.dst, '}')
		}
	}
	places := newPlaces(used)
	anchor := -1 // the last element that stays, by where it stood in live
	for j, s := range l.slots {
		if stay[j] {
			anchor = s
			continue
		}
		from := ""
		if s >= 0 {
			at(places.before(s))
			e.testName(l, l.live[s])
			from = string(e.path)
			places.add(s, -1)
		}
		at(places.before(anchor + 1))
		if from != "" {
			e.op("move", from)
			e.dst = append(e.dst, '}')
		} else {
			e.op("add", "")
			e.dst = append(e.dst, `,"value":`...)
			e.dst = append(l.value(e.dst, j), '}')
		}
		places.add(anchor, 1)
	}
	e.path = e.path[:n]
}

// testName writes a test that the element at e.path is the one that live has there.
func (e *jsonPatch) testName(l *listEdit, live node.ID) {
	if e.guard&GuardValues == 0 {
		return
	}
	name := l.named(live)
	n := len(e.path)
	if name != live {
		e.path = appendToken(e.path, e.Live.Key(name))
	}
	e.test(name)
	e.path = e.path[:n]
}

// longest marks the most elements that can stay while the others are moved: a longest
// increasing run of slots. O(n log n), O(n) where nothing moves.
func (l *listEdit) longest() []bool {
	stay := make([]bool, len(l.slots))
	var tails []int // of the best run of each length, the element it ends with
	prev := make([]int, len(l.slots))
	for j, s := range l.slots {
		if s < 0 {
			continue
		}
		n := len(tails)
		if n > 0 && l.slots[tails[n-1]] > s {
			n = sort.Search(n, func(k int) bool { return l.slots[tails[k]] > s })
		}
		if prev[j] = -1; n > 0 {
			prev[j] = tails[n-1]
		}
		if n == len(tails) {
			tails = append(tails, j)
		} else {
			tails[n] = j
		}
	}
	if len(tails) > 0 {
		for j := tails[len(tails)-1]; j >= 0; j = prev[j] {
			stay[j] = true
		}
	}
	return stay
}

// pair lets a new element take the place of one that goes, if both stand between the
// same two that stay: one replacement does for a removal and an addition.
func (l *listEdit) pair(stay, used []bool) (replaced []bool) {
	replaced = make([]bool, len(l.slots))
	free := 0 // the next slot of live that may be taken
	for j := 0; j < len(l.slots); {
		end := j
		for end < len(l.slots) && !stay[end] {
			end++
		}
		limit := len(l.live)
		if end < len(l.slots) {
			limit = l.slots[end]
		}
		for ; j < end; j++ {
			if l.slots[j] >= 0 {
				continue
			}
			for free < limit && used[free] {
				free++
			}
			if free < limit {
				l.slots[j], stay[j], used[free], replaced[j] = free, true, true, true
			}
		}
		if j, free = end+1, limit+1; end == len(l.slots) {
			break
		}
	}
	return replaced
}

// places counts the elements that stand before a slot of live while elements come, go
// and move: a Fenwick tree (P. M. Fenwick, 1994), O(log n) a call. Slot -1 is the head
// of the list.
type places []int

func newPlaces(used []bool) places {
	p := make(places, len(used)+2)
	for i, u := range used {
		if u {
			p[i+2]++
		}
	}
	for i := 1; i < len(p); i++ {
		if up := i + i&-i; up < len(p) {
			p[up] += p[i]
		}
	}
	return p
}

func (p places) add(slot, n int) {
	for i := slot + 2; i < len(p); i += i & -i {
		p[i] += n
	}
}

// before returns how many elements stand before slot.
func (p places) before(slot int) (n int) {
	for i := slot + 1; i > 0; i -= i & -i {
		n += p[i]
	}
	return n
}
