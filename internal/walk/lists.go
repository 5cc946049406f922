package walk

import (
	"example.com/braid/internal/node"
	"example.com/braid/internal/schema"
)

// lists merges a keyed list or a set in four steps: pair the elements, decide
// which stay, put them in order, and merge each.
func (w *walker) lists(parent int32, e Edit, rule *schema.Rule) {
	if e.Desired != node.None && (!w.fits(e.Type, e.Desired) || w.sameElements(&e, rule)) {
		return
	}
	if e.Last != node.None && w.Last.Kind(e.Last) != node.List {
		e.Last = node.None
	}
	m, base, order, ours := w.mark(), len(w.pos), len(w.order), len(w.ours)
	al := w.align(e.Type, rule, &e)
	if w.err == nil {
		w.decide(al, e.Type.Elem, e.Live)
		if w.liveOrders(e, w.ours[ours:]) {
			w.follow(w.ours[ours:])
		}
		e.Op, e.Flags = OpElements, e.Flags|al.flags
		w.elements(parent, e, rule, al, m, w.ours[ours:])
	}
	w.pos, w.order, w.ours = w.pos[:base], w.order[:order], w.ours[:ours]
}

// sameElements reports whether live and desired have the same list of flat maps, as
// most lists are. What last had then does not matter.
func (w *walker) sameElements(e *Edit, rule *schema.Rule) bool {
	ls, ds := w.Live.Kids(e.Live), w.Desired.Kids(e.Desired)
	if len(ls) != len(ds) || rule.Merge != schema.Keyed {
		return false
	}
	w.Work += len(ds)
	text := node.SameText(w.Live, e.Live, w.Desired, e.Desired)
	key := rule.Keys[0].Name
	prefix := node.Prefix(key)
	for n, elem := range ds {
		if text && !w.Desired.Flat(elem) || !text && !node.SameFlat(w.Live, ls[n], w.Desired, elem) {
			return false
		}
		if len(rule.Keys) > 1 || w.Desired.FieldNear(elem, prefix, key) == node.None {
			if nameOf(w.Desired, elem, rule.Keys) == node.None {
				return false
			}
		}
	}
	return true
}

// decide sets what becomes of each position of the list, which live has at list, that is not
// in both live and desired. Those that are in both stay, whatever their content; but an element
// may be one value.
func (w *walker) decide(al alignment, elem *schema.Type, list node.ID) {
	for i := al.base; i < len(w.pos); i++ {
		p := &w.pos[i]
		if p.live != node.None && p.desired != node.None && (!w.whole(elem) || w.equalDeclared(elem, p.live, p.desired)) {
			p.op = OpFields
			continue
		}
		e := Edit{Type: elem, Last: p.last, Live: p.live, Desired: p.desired}
		p.kase = w.classify(&e)
		if p.kase == TheyAdd && w.decideUnowned(p, list, &e) {
			continue
		}
		switch action := w.policy[p.kase]; {
		case action == Keep, w.Ignore != nil && w.in(w.Ignore, list, &e),
			p.desired == node.None && w.HandOver != nil && w.in(w.HandOver, list, &e):
			p.op = OpKeep
		case action == Clash:
			p.op = OpClash
		case p.desired == node.None:
			p.op = OpRemove
		default:
			p.op = OpTake
		}
	}
}

// whole reports whether elements of type t are one value each. A strategic merge goes into
// the elements of every list that has keys.
func (w *walker) whole(t *schema.Type) bool {
	return w.Model == schema.Structured && t.Structured.Merge == schema.Atomic
}

// stays reports whether the merged list has an element at p.
func (p *pos) stays() bool {
	switch p.op {
	case OpTake, OpFields:
		return true
	case OpRemove:
		return false
	}
	return p.live != node.None
}

// elements records the edits of a list, unless nothing in it changes. ours is
// desired's positions in the order that they are to have.
//
// If anything changes, a server lets the elements of one strategic key stand
// together. So do ours, under every model, before live's find their places among them: a second
// merge must arrive at the same order.
func (w *walker) elements(parent int32, e Edit, rule *schema.Rule, al alignment, m mark, ours []int32) {
	i := w.open(parent, e)
	order := w.arrange(al, ours)
	w.content(i, e.Type.Elem, rule, al, order)
	moved := w.moved(order)
	if w.Changes > m.changes || moved {
		flags := w.afterwards(al, rule, order)
		if flags&MergedRepeats != 0 {
			w.group(rule.Keys, ours)
			w.order = w.order[:len(w.order)-len(order)]
			order = w.arrange(al, ours)
			w.group(rule.Keys, order)
			w.reset(mark{int(i) + 1, m.changes, m.pruned, m.conflicts, m.warnings})
			w.content(i, e.Type.Elem, rule, al, order)
			moved = w.moved(order)
		}
		if moved {
			flags |= Reordered
			w.Changes++
		}
		w.Edits[i].Flags |= flags
	}
	w.shut(i, m)
}

// content records the edits of the elements: of those that stay in their order,
// then of those that go.
func (w *walker) content(i int32, t *schema.Type, rule *schema.Rule, al alignment, order []int32) {
	for _, at := range order {
		w.element(i, t, rule, w.pos[at])
	}
	for at := al.base; at < len(w.pos); at++ {
		if p := &w.pos[at]; !p.stays() && p.op != OpKeep {
			w.element(i, t, rule, *p)
		}
	}
}

// element records the edit of one element.
func (w *walker) element(parent int32, t *schema.Type, rule *schema.Rule, p pos) {
	e := Edit{Type: t, Case: p.kase, Last: p.last, Live: p.live, Desired: p.desired}
	switch {
	case p.made:
		n := len(w.Edits)
		if w.handMade(parent, e); len(w.Edits) == n {
			w.open(parent, e)
		}
		return
	case p.op == OpKeep:
		w.open(parent, e)
		return
	case p.op != OpFields:
		w.act(parent, e, w.policy[p.kase])
		return
	}
	n := len(w.Edits)
	if e.Desired == node.None {
		w.fieldsOfLive(parent, e)
	} else if !w.whole(t) && w.Live.Kind(e.Live) == node.Map && w.Desired.Kind(e.Desired) == node.Map && !(w.Ignore != nil && w.in(w.Ignore, w.Edits[parent].Live, &e)) {
		w.maps(parent, e, union(t, rule))
	}
	if len(w.Edits) == n {
		if e.Desired != node.None {
			e.Case = Unchanged
		}
		w.open(parent, e)
	}
}
