package walk

import (
	"cmp"
	"fmt"
	"slices"

	"example.com/braid/internal/node"
	"example.com/braid/internal/schema"
)

// Unowned says what becomes of a position of live that was made by hand and that neither last
// nor desired declares. There is a warning of each.
type Unowned uint8

const (
	UnownedStays Unowned = iota // as any position that others add
	UnownedGoes                 // as if last had declared it
)

// unowned looks at a field that only live has. f is nil if its map has none of that name.
func (w *walker) unowned(parent int32, f *schema.Field, e Edit) {
	switch {
	case !w.madeWithin(w.Edits[parent].Live, &e), w.ignored(parent, f, &e):
	case w.made.Has(e.Live):
		if e.Case = WeRemove; !w.comesBack(f, &e) && !w.stays(parent, &e) {
			w.handMade(parent, e)
		}
	case w.Live.Kind(e.Live) == node.Map:
		if e.Type.Rule(w.Model).Merge != schema.Atomic {
			w.fieldsOfLive(parent, e)
		}
	default:
		if rule := e.Type.Rule(w.Model); rule.Merge == schema.Keyed || rule.Merge == schema.Set {
			w.lists(parent, e, rule)
		}
	}
}

// madeWithin reports whether anything at e or in it was made by hand, and is neither ignored nor
// handed over; live has it in parent.
func (w *walker) madeWithin(parent node.ID, e *Edit) bool {
	return w.made != nil && w.made.Within(w.Live, e.Live) &&
		!(w.Ignore != nil && w.in(w.Ignore, parent, e)) && !(w.HandOver != nil && w.in(w.HandOver, parent, e))
}

// comesBack reports whether a field would mean the same without its value: it is the zero value,
// or the server's default.
func (w *walker) comesBack(f *schema.Field, e *Edit) bool {
	if f != nil && f.Zero != schema.ZeroTells && w.Equality == Semantic && w.isZero(e.Type, w.Live, e.Live) {
		return true
	}
	if e.Type.Default == "" {
		return false
	}
	def, err := node.Parse([]byte(e.Type.Default), node.Limits{})
	return err == nil && w.equal(e.Type, w.Live, e.Live, def, def.Root())
}

// handMade warns of what was made by hand, and removes it if it is to go.
func (w *walker) handMade(parent int32, e Edit) {
	text := fmt.Sprintf("made by hand (%s); nobody declares it", w.made.By(e.Live))
	w.Warnings = append(w.Warnings, Warning{"live", e.Live, text})
	if w.Unowned == UnownedGoes {
		changes := w.Changes
		w.act(parent, e, w.policy[WeRemove])
		w.pruned += w.Changes - changes
	}
}

// fieldsOfLive records the edits of a map that only live has, of which something may go.
func (w *walker) fieldsOfLive(parent int32, e Edit) {
	m := w.mark()
	e.Op = OpFields
	i := w.open(parent, e)
	w.fields(i, e.Type, false, node.None, e.Live, node.None)
	w.shut(i, m)
}

// decideUnowned sets what becomes of an element that only live has, in its list, if it or
// something in it was made by hand.
func (w *walker) decideUnowned(p *pos, list node.ID, e *Edit) bool {
	if !w.madeWithin(list, e) {
		return false
	}
	switch {
	case !w.made.Has(p.live):
		if p.op = OpKeep; w.Live.Kind(p.live) == node.Map {
			p.op = OpFields
		}
	default:
		p.made, p.op = true, OpKeep
		if w.Unowned == UnownedGoes {
			p.kase, p.op = WeRemove, [...]Op{Keep: OpKeep, Take: OpRemove, Clash: OpClash}[w.policy[WeRemove]]
		}
	}
	return true
}

// isMade reports whether a warning is of what was made by hand.
func (w *walker) isMade(x Warning) bool {
	return w.made != nil && x.Doc == "live" && w.made.Has(x.Node)
}

// sortMade puts the warnings of what was made by hand behind the others, in document order:
// lists have come upon elements that go last.
func (w *walker) sortMade() {
	if w.made == nil {
		return
	}
	place := func(x Warning) node.ID {
		if w.isMade(x) {
			return x.Node
		}
		return node.None
	}
	slices.SortStableFunc(w.Warnings, func(a, b Warning) int { return cmp.Compare(place(a), place(b)) })
}
