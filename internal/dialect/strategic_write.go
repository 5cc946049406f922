package dialect

import (
	"example.com/braid/internal/node"
	"example.com/braid/internal/schema"
	"example.com/braid/internal/walk"
)

// value writes what stands for the position of edit i in the patch.
func (e *strategic) value(i int32) {
	switch ed := &e.Edits[i]; {
	case e.forms[i] == instead:
		e.dst = e.AppendValue(e.dst, i)
	case e.forms[i] == whole && ed.Op == walk.OpFields:
		e.replaced(func() { e.dst = e.AppendFields(e.dst, i) })
	case ed.Op == walk.OpFields:
		e.fields(i, nil)
	case e.forms[i] == whole && e.isMap(i):
		e.replaced(func() {
			value := e.AppendValue(nil, i)
			e.dst = append(e.dst, value[1:len(value)-1]...)
		})
	case e.forms[i] == whole:
		value := e.AppendValue(nil, i)
		if e.dst = append(e.dst, `[{"$patch":"replace"}`...); len(value) > len("[]") {
			e.dst = append(e.dst, ',')
		}
		e.dst = append(e.dst, value[1:]...)
	case ed.Op == walk.OpRemove:
		e.dst = append(e.dst, "null"...)
	default:
		e.dst = e.AppendValue(e.dst, i)
	}
}

func (e *strategic) isMap(i int32) bool {
	ed := &e.Edits[i]
	return ed.Op == walk.OpTake && e.Desired.Kind(ed.Desired) == node.Map
}

// replaced writes a map under $patch: replace with the members that write appends.
func (e *strategic) replaced(write func()) {
	e.dst = append(e.dst, `{"$patch":"replace",`...)
	n := len(e.dst)
	if write(); len(e.dst) == n {
		e.dst = e.dst[:n-1]
	}
	e.dst = append(e.dst, '}')
}

// fields writes a map: directives first, then the members that change. key is
// the field that names the map among the elements of a list, if it is one.
func (e *strategic) fields(i int32, key *schema.Key) {
	e.dst = append(e.dst, '{')
	start := len(e.dst)
	for k := range e.Children(i) {
		if e.forms[k] == merge && e.Edits[k].Op == walk.OpElements && e.Edits[k].Type.Strategic.Merge == schema.Set {
			e.prunes(k, start)
		}
	}
	union := e.union(i)
	if union {
		e.retain(i, start)
	}
	for k := range e.Children(i) {
		if e.forms[k] == merge && e.Edits[k].Op == walk.OpElements {
			e.orderOf(k, start)
		}
	}
	if g := guarded(e.Script, e.guard, i); g != "" {
		e.comma(start)
		e.dst = append(e.dst, g...)
	}
	live := e.Edits[i].Live
	for k := range e.Children(i) {
		op := e.Edits[k].Op
		if e.forms[k] == skip || union && op == walk.OpRemove {
			continue
		}
		if key != nil && key.Name < e.Key(k) {
			e.name(live, key, start)
			key = nil
		}
		if op != walk.OpElements || e.forms[k] != merge {
			e.member(k, start)
			e.value(k)
		} else {
			e.elements(k, start)
		}
	}
	if key != nil {
		e.name(live, key, start)
	}
	e.dst = append(e.dst, '}')
}

// union reports whether the map of edit i keeps only the keys it is told.
func (e *strategic) union(i int32) bool {
	ed := &e.Edits[i]
	if ed.Parent >= 0 && e.Edits[ed.Parent].Op == walk.OpElements {
		return served(e.Edits[ed.Parent].Type).RetainKeys
	}
	return served(ed.Type).RetainKeys
}

func (e *strategic) comma(start int) {
	if len(e.dst) > start {
		e.dst = append(e.dst, ',')
	}
}

// member writes the key of edit i.
func (e *strategic) member(i int32, start int) {
	e.comma(start)
	t, id := e.Node(i)
	e.dst = t.AppendKey(e.dst, id)
}

// directive writes the key of a directive that belongs to the list of edit i.
func (e *strategic) directive(prefix string, i int32, start int) {
	e.comma(start)
	e.dst = node.AppendQuoted(e.dst, prefix+e.Key(i))
	e.dst = append(e.dst, ':')
}

// name writes the key field of one element in live's spelling, which is the one
// the server will look for.
func (e *strategic) name(elem node.ID, key *schema.Key, start int) {
	e.comma(start)
	f := e.Live.Field(elem, key.Name)
	e.dst = e.Live.AppendKey(e.dst, f)
	e.dst = e.Live.Append(e.dst, f)
}

func (e *strategic) retain(i int32, start int) {
	e.comma(start)
	e.dst = append(e.dst, `"$retainKeys":[`...)
	first := len(e.dst)
	for m := range e.Members(i) {
		e.comma(first)
		e.dst = m.Tree.AppendKey(e.dst, m.Node)
		e.dst = e.dst[:len(e.dst)-1] // its colon
	}
	e.dst = append(e.dst, ']')
}

// prunes writes which values go from the set of edit i.
func (e *strategic) prunes(i int32, start int) {
	first := true
	for k := range e.Children(i) {
		if e.Edits[k].Op != walk.OpRemove {
			continue
		}
		if first {
			e.directive(pruneKeys, i, start)
			e.dst = append(e.dst, '[')
		} else {
			e.dst = append(e.dst, ',')
		}
		first = false
		e.dst = e.Live.Append(e.dst, e.Edits[k].Live)
	}
	if !first {
		e.dst = append(e.dst, ']')
	}
}

// elements writes the list of edit i: the elements that change in merged order,
// then those that go.
func (e *strategic) elements(i int32, start int) {
	keys := e.ListKeys(i)
	first := true
	elem := func() {
		if first {
			e.member(i, start)
			e.dst = append(e.dst, '[')
		} else {
			e.dst = append(e.dst, ',')
		}
		first = false
	}
	for k := range e.Children(i) {
		switch ed := &e.Edits[k]; {
		case keys == nil:
			if e.sends(i, k) {
				elem()
				e.dst = e.AppendValue(e.dst, k)
			}
		case e.forms[k] == skip:
		case ed.Op == walk.OpTake:
			elem()
			e.value(k)
		case ed.Op == walk.OpFields:
			elem()
			e.fields(k, &keys[0])
		case ed.Op == walk.OpRemove:
			elem()
			e.dst = append(e.dst, `{"$patch":"delete",`...)
			e.name(ed.Live, &keys[0], len(e.dst))
			e.dst = append(e.dst, '}')
		}
	}
	if !first {
		e.dst = append(e.dst, ']')
	}
}

// sends reports whether the patch list of edit i has its element k, so that the
// server orders it by the patch and not by live. Of a set in which live repeats
// values, all elements are sent, for that makes the server fold the repeats.
func (e *strategic) sends(i, k int32) bool {
	if e.Edits[k].Op == walk.OpRemove || !e.Present(k) {
		return false
	}
	set := e.Edits[i].Type.Strategic.Merge == schema.Set
	return e.forms[k] != skip || set && e.Edits[i].Flags&walk.LiveRepeats != 0
}

// orderOf writes the order of the list of edit i, if the server would not arrive
// at it by itself: that of desired's elements and of those sent, or where that does not do, of
// all.
func (e *strategic) orderOf(i int32, start int) {
	if e.arrives(i, false, func(k int32) bool { return e.sends(i, k) }) {
		return
	}
	named := func(k int32) bool { return e.Edits[k].Desired != node.None || e.sends(i, k) }
	if !e.arrives(i, true, named) {
		named = func(int32) bool { return true }
	}
	keys := e.ListKeys(i)
	e.directive(orderPrefix, i, start)
	e.dst = append(e.dst, '[')
	first := len(e.dst)
	for k := range e.Children(i) {
		if !e.Present(k) || !named(k) {
			continue
		}
		e.comma(first)
		t, id := e.Node(k)
		if keys == nil {
			e.dst = t.Append(e.dst, id)
			continue
		}
		e.dst = append(e.dst, '{')
		f := t.Field(id, keys[0].Name)
		e.dst = t.AppendKey(e.dst, f)
		e.dst = t.Append(e.dst, f)
		e.dst = append(e.dst, '}')
	}
	e.dst = append(e.dst, ']')
}

// arrives reports whether a server puts the merged list of edit i in its order
// when it is told the order of some elements. It lets those stand in that order
// and puts each of the others, in live's order, before the first one told that
// stands behind it in live.
//
// byOrder says that they are told by $setElementOrder. Then a server takes as many
// new elements as it deletes for elements at the end of live: it appends them to
// the array that it has just taken elements out of, and reads the order of live
// from that.
func (e *strategic) arrives(i int32, byOrder bool, told func(int32) bool) bool {
	reused := 0 // places of the array that new elements will take
	if byOrder && e.ListKeys(i) != nil {
		for k := range e.Children(i) {
			if e.Edits[k].Op == walk.OpRemove {
				reused++
			}
		}
	}
	// The server merges the sequence of the told with that of the others. All
	// before k is placed, so the heads of the two are the next ones from k on.
	end := e.Edits[i].End
	next := func(k int32, want bool) int32 {
		for k < end && (!e.Present(k) || told(k) != want) {
			k = e.Edits[k].End
		}
		return k
	}
	ours, other, last := i+1, i+1, node.None
	for k := range e.Children(i) {
		if !e.Present(k) {
			continue
		}
		ours, other = next(max(ours, k), true), next(max(other, k), false)
		otherFirst := ours == end || other < end && e.behind(ours, other, reused > 0)
		if otherFirst != (k == other) {
			return false
		}
		live := e.Edits[k].Live
		if otherFirst {
			if live < last {
				return false // not in live's order
			}
			last = live
		} else if live == node.None {
			reused--
		}
	}
	return true
}

// behind reports whether a server sees element k of the patch behind element l of
// live. It sees no order between l and a new element, unless that reuses memory.
func (e *strategic) behind(k, l int32, reuses bool) bool {
	if e.Edits[k].Live == node.None {
		return reuses
	}
	return e.Edits[l].Live < e.Edits[k].Live
}
