package dialect

import (
	"sort"
	"strconv"
	"strings"

	"example.com/braid/internal/node"
)

// MostOperations is how many an API server takes in one JSON Patch
// (k8s.io/apiserver, maxJSONPatchOperations).
const MostOperations = 10_000

// Operations are those of a JSON Patch (RFC 6902) that is being written, each where Path
// then is. The brackets around them are the caller's.
type Operations struct {
	Dst  []byte
	Path []byte // a JSON Pointer (RFC 6901)
	N    int    // how many there are
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// Down goes to a member of the map where we are. Up with what it returns comes back.
func (o *Operations) Down(key string) (at int) {
	at = len(o.Path)
	o.Path = append(o.Path, '/')
	if strings.ContainsAny(key, "~/") {
		key = pointerEscapes.Replace(key)
	}
	o.Path = append(o.Path, key...)
	return at
}

// DownTo goes to an element of the list where we are, as Down does.
func (o *Operations) DownTo(i int) (at int) {
	at = len(o.Path)
	o.Path = strconv.AppendInt(append(o.Path, '/'), int64(i), 10)
	return at
}

// Up goes back.
func (o *Operations) Up(at int) { o.Path = o.Path[:at] }

// Begin begins an operation, from another place if from is not "". End ends it.
func (o *Operations) Begin(name, from string) {
	if o.N > 0 {
		o.Dst = append(o.Dst, ',')
	}
	o.N++
	o.Dst = append(append(o.Dst, `{"op":"`...), name...)
	if from != "" {
		o.Dst = node.AppendQuoted(append(o.Dst, `","from":`...), from)
		o.Dst = append(o.Dst, `,"path":`...)
	} else {
		o.Dst = append(o.Dst, `","path":`...)
	}
	o.Dst = node.AppendQuoted(o.Dst, o.Path)
}

// Value returns Dst for the value of the operation to be appended, which goes to End.
func (o *Operations) Value() []byte { return append(o.Dst, `,"value":`...) }

// End ends an operation. dst is Dst, with the value if it has one.
func (o *Operations) End(dst []byte) { o.Dst = append(dst, '}') }

// Remove removes what stands where we are.
func (o *Operations) Remove() {
	o.Begin("remove", "")
	o.End(o.Dst)
}

// ListEdit turns one list into another, element by element.
type ListEdit struct {
	Live  int   // how many elements the list has
	Slots []int // for each element of the new list, where it stands in live, or -1; Reshape changes them
	// Value appends an element of the new list.
	Value func(dst []byte, j int) []byte
	// Test is called before an operation that takes the element of a slot from where we are;
	// it may be nil.
	Test func(slot int)
}

func (l *ListEdit) test(slot int) {
	if l.Test != nil {
		l.Test(slot)
	}
}

// Reshape gives the list where we are its new elements in their order: by replacements, then
// removals from the end, then moves and additions from the front. O(n log n).
func (o *Operations) Reshape(l *ListEdit) {
	stay := l.longest()
	used := make([]bool, l.Live)
	for _, s := range l.Slots {
		if s >= 0 {
			used[s] = true
		}
	}
	replaced := l.pair(stay, used)
	list := len(o.Path)
	at := func(i int) { o.Up(list); o.DownTo(i) }
	for j, s := range l.Slots {
		if s >= 0 && replaced[j] {
			at(s)
			l.test(s)
			o.Begin("replace", "")
			o.End(l.Value(o.Value(), j))
		}
	}
	for s := l.Live - 1; s >= 0; s-- {
		if !used[s] {
			at(s)
			l.test(s)
			o.Remove()
		}
	}
	places := newPlaces(used)
	anchor := -1 // the last element that stays, by where it stood in live
	for j, s := range l.Slots {
		if stay[j] {
			anchor = s
			continue
		}
		from := ""
		if s >= 0 {
			at(places.before(s))
			l.test(s)
			from = string(o.Path)
			places.add(s, -1)
		}
		at(places.before(anchor + 1))
		if from != "" {
			o.Begin("move", from)
			o.End(o.Dst)
		} else {
			o.Begin("add", "")
			o.End(l.Value(o.Value(), j))
		}
		places.add(anchor, 1)
	}
	o.Up(list)
}

// longest marks the most elements that can stay while the others are moved: a longest
// increasing run of slots. O(n log n), O(n) where nothing moves.
func (l *ListEdit) longest() []bool {
	stay := make([]bool, len(l.Slots))
	var tails []int // of the best run of each length, the element it ends with
	prev := make([]int, len(l.Slots))
	for j, s := range l.Slots {
		if s < 0 {
			continue
		}
		n := len(tails)
		if n > 0 && l.Slots[tails[n-1]] > s {
			n = sort.Search(n, func(k int) bool { return l.Slots[tails[k]] > s })
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
func (l *ListEdit) pair(stay, used []bool) (replaced []bool) {
	replaced = make([]bool, len(l.Slots))
	free := 0 // the next slot of live that may be taken
	for j := 0; j < len(l.Slots); {
		end := j
		for end < len(l.Slots) && !stay[end] {
			end++
		}
		limit := l.Live
		if end < len(l.Slots) {
			limit = l.Slots[end]
		}
		for ; j < end; j++ {
			if l.Slots[j] >= 0 {
				continue
			}
			for free < limit && used[free] {
				free++
			}
			if free < limit {
				l.Slots[j], stay[j], used[free], replaced[j] = free, true, true, true
			}
		}
		if j, free = end+1, limit+1; end == len(l.Slots) {
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
