package walk

import (
	"slices"

	"example.com/braid/internal/node"
	"example.com/braid/internal/schema"
)

// What a walk does where desired says nothing, or what amounts to nothing.

// bothHold reports whether live and desired have maps or lists, in which a merge looks
// for itself at what is there.
func (w *walker) bothHold(f *schema.Field, l, d node.ID) bool {
	return l != node.None && d != node.None && f.Zero != schema.ZeroIsAuto &&
		w.Live.Kind(l) >= node.List && w.Live.Kind(l) == w.Desired.Kind(d)
}

// zeros minds that the field at e cannot tell its zero value from absence. It reports
// whether there is nothing to do.
func (w *walker) zeros(f *schema.Field, e *Edit, clear bool) (same bool) {
	desired := e.Desired == node.None || w.isZero(f.Type, w.Desired, e.Desired)
	live := e.Live == node.None || w.isZero(f.Type, w.Live, e.Live)
	if desired && live {
		return true
	}
	auto := f.Zero == schema.ZeroIsAuto
	if live && auto {
		e.Flags |= LiveIsZero
	}
	if e.Last != node.None && (e.Live == node.None || e.Desired == node.None || auto) && w.isZero(f.Type, w.Last, e.Last) {
		e.Last = node.None
	}
	if desired && auto {
		e.Desired = node.None // the server chooses
	}
	return e.Last == node.None && e.Desired == node.None && !clear
}

// alias returns what last and desired have in the field that says the same, of the map that
// live has at live: nothing where that field is given up and handed over.
func (w *walker) alias(name string, last, live, desired node.ID) (a, d node.ID) {
	if a = node.None; last != node.None {
		a = w.Last.Field(last, name)
	}
	if d = node.None; desired != node.None {
		d = w.Desired.Field(desired, name)
	}
	if d == node.None && named(w.HandOver, w.Live, live, name) {
		return node.None, node.None
	}
	return a, d
}

// holdsOthers reports whether what desired no longer mentions is a map or list to which
// each writer adds entries of its own: a map of any keys, a keyed list or a set. Fields of
// a struct that only live has are as a rule the server's defaults, and go with it.
func (w *walker) holdsOthers(e *Edit, rule *schema.Rule) bool {
	if e.Desired != node.None || e.Flags&ByNull != 0 || w.Last.Kind(e.Last) != w.Live.Kind(e.Live) {
		return false
	}
	if w.Live.Kind(e.Live) == node.List {
		return rule.Merge == schema.Keyed || rule.Merge == schema.Set
	}
	return e.Type.Kind == schema.Map && len(e.Type.Fields) == 0 && rule.Merge != schema.Atomic
}

// takeBack removes what last declared of a map or list, and all of it if nothing is left.
func (w *walker) takeBack(parent int32, e Edit, rule *schema.Rule) {
	m, i := w.mark(), int32(len(w.Edits))
	if w.Live.Kind(e.Live) == node.Map {
		e.Op = OpFields
		w.open(parent, e)
		w.fields(i, e.Type, false, e.Last, e.Live, node.None)
		w.shut(i, m)
	} else {
		w.lists(parent, e, rule)
	}
	left := len(w.Live.Kids(e.Live))
	if int(i) < len(w.Edits) && w.Edits[i].Op == OpElements {
		left = 0 // a set has one element for all that are the same
		for k := range w.Children(i) {
			if w.Present(k) {
				left++
			}
		}
	} else {
		for k := i + 1; int(k) < len(w.Edits); k = w.Edits[k].End {
			if w.Edits[k].Op == OpRemove {
				left--
			}
		}
	}
	if left == 0 {
		made := slices.DeleteFunc(slices.Clone(w.Warnings[m.warnings:]), func(x Warning) bool { return !w.isMade(x) })
		pruned := !w.changed(m)
		w.reset(m)
		e.Op = OpKeep
		w.act(parent, e, w.policy[e.Case])
		if pruned {
			w.pruned++
		}
		w.Warnings = append(w.Warnings, made...)
	}
}

// stays reports whether a value that is to go is not there, or must stay: the key field
// of a list element, which desired may leave to its default, and what is handed over.
func (w *walker) stays(parent int32, e *Edit) bool {
	return w.policy[e.Case] == Take && e.Live == node.None ||
		e.Live != node.None && w.namesElement(parent, e) ||
		w.HandOver != nil && w.in(w.HandOver, w.Edits[parent].Live, e) && !w.saidOtherwise(parent, e)
}

// saidOtherwise reports whether desired declares the field that says the same as e.
func (w *walker) saidOtherwise(parent int32, e *Edit) bool {
	in := &w.Edits[parent]
	if e.Live == node.None || in.Op != OpFields || in.Desired == node.None {
		return false
	}
	f := in.Type.Field(w.Live.Key(e.Live))
	return f != nil && f.Alias != "" && w.Desired.Field(in.Desired, f.Alias) != node.None
}

// namesElement reports whether e is a key field of a list element that stays.
func (w *walker) namesElement(parent int32, e *Edit) bool {
	list := w.Edits[parent].Parent
	if w.Model != schema.Structured || list < 0 || w.Edits[list].Op != OpElements || w.Edits[parent].Op != OpFields {
		return false
	}
	key := w.Live.Key(e.Live)
	return slices.ContainsFunc(w.ListKeys(list), func(k schema.Key) bool { return k.Name == key })
}

// takenAway warns of what an autoscaler, say, loses without a hand-over.
const takenAway = "somebody else has set this since last declared it; desired does not declare it, so it goes"
