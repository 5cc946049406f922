package dialect

import (
	"slices"

	"example.com/braid/internal/node"
	"example.com/braid/internal/schema"
	"example.com/braid/internal/walk"
)

// elements writes the edits of the keyed list or set of edit i.
func (e *jsonPatch) elements(i int32) {
	live := e.Live.Kids(e.Edits[i].Live)
	l := ListEdit{Live: len(live)}
	var kids []int32
	for k := range e.Children(i) {
		if e.Present(k) {
			kids = append(kids, k)
			slot := -1
			if ed := &e.Edits[k]; ed.Op != walk.OpTake { // an element that is one value is replaced
				slot = slotOf(live, ed.Live)
			}
			l.Slots = append(l.Slots, slot)
		}
	}
	l.Value = func(dst []byte, j int) []byte { return e.AppendValue(dst, kids[j]) }
	if e.guard&GuardValues != 0 {
		l.Test = func(slot int) { e.testKey(i, live[slot]) }
	}
	e.Reshape(&l)
	for j, k := range kids {
		if ed := &e.Edits[k]; ed.Op == walk.OpFields && ed.Changes() {
			at := e.DownTo(j)
			l.test(slotOf(live, ed.Live))
			e.fields(k)
			e.Up(at)
		}
	}
}

// testKey writes a test that the element where we are, of the list of edit i, is one of live's.
func (e *jsonPatch) testKey(i int32, live node.ID) {
	for _, key := range e.ListKeys(i) {
		if f := e.Live.Field(live, key.Name); f != node.None {
			at := e.Down(key.Name)
			e.test(f)
			e.Up(at)
			return
		}
	}
	e.test(live)
}

// slotOf returns where an element stands in a list, or -1.
func slotOf(list []node.ID, elem node.ID) int {
	if elem == node.None {
		return -1
	}
	at, _ := slices.BinarySearch(list, elem)
	return at
}

// whole writes the list that edit k takes: element by element where that is shorter.
// Elements are paired by value and occurrence.
func (e *jsonPatch) whole(k int32) {
	ed := &e.Edits[k]
	before := e.Operations
	start := len(e.Dst)
	e.test(ed.Live)
	e.add(k)
	size := len(e.Dst) - start
	if size < 64 {
		return // no element is shorter than its operation
	}
	whole := e.Operations
	text := append([]byte(nil), e.Dst[start:]...)
	e.Operations = before

	live := e.Live.Kids(ed.Live)
	l := ListEdit{Live: len(live)}
	if e.guard&GuardValues != 0 {
		l.Test = func(slot int) { e.test(live[slot]) }
	}
	at := make(map[string][]int, len(live))
	var key []byte
	for n, id := range live {
		key = e.Live.Append(key[:0], id)
		at[string(key)] = append(at[string(key)], n)
	}
	desired, elem := e.Desired.Kids(ed.Desired), ed.Type.Elem
	if elem == nil {
		elem = schema.Unknown
	}
	l.Value = func(dst []byte, j int) []byte { return e.AppendDesired(dst, elem, desired[j]) }
	for j := range desired {
		key = l.Value(key[:0], j)
		slot := -1
		if free := at[string(key)]; len(free) > 0 {
			slot = free[0]
			at[string(key)] = free[1:]
		}
		l.Slots = append(l.Slots, slot)
	}
	if e.Reshape(&l); len(e.Dst)-start >= size {
		whole.Dst = append(e.Dst[:start], text...)
		e.Operations = whole
	}
}
