package walk

import (
	"fmt"
	"slices"
	"sync"

	"example.com/braid/internal/node"
	"example.com/braid/internal/owner"
	"example.com/braid/internal/poison"
	"example.com/braid/internal/schema"
)

// Input is what a walk compares. Last may be nil: nothing was declared before.
// Live may be nil: there is no such object yet.
type Input struct {
	Last, Live, Desired *node.Tree
	HandMade            *owner.HandMade // of live; nil if nobody has looked
	Rules
}

// Rules say how a walk compares.
type Rules struct {
	Schema   *schema.Schema
	Model    schema.Model
	Policy   *Policy
	Equality Equality
	Nulls    Nulls

	Ignore   []node.Pattern // positions that stay as live has them
	HandOver []node.Pattern // positions that are not removed when desired no longer has them
	Infer    bool           // guess the keys of lists that the schema does not know
	Unowned  Unowned        // what becomes of what was made by hand
}

// Nulls says what a null in a field of desired means.
type Nulls uint8

const (
	NullRemoves Nulls = iota // the field is absent
	NullStays                // null, where the schema allows it; else the field is absent
	NullFails                // an error
)

// ErrKey is the rule that an element of a keyed list has its key fields.
var ErrKey = fmt.Errorf("list element without its key")

// nothing stands for an absent document: an object without fields.
var nothing = func() *node.Tree {
	t, err := node.FromMap(map[string]any{}, node.Limits{})
	if err != nil {
		panic(err)
	}
	return t
}()

// Walk compares three objects position by position and returns what turns live
// into the merged object. O(n) in the size of the three, but for sorting where
// the order of a list changes. The inputs are only read. A walk that finds
// nothing to change allocates nothing.
//
// The error is a *node.Error: a document that is no map, or something wrong with
// desired. Whatever live holds is merged, with warnings.
func Walk(in Input) (Script, error) {
	w := walkers.Get().(*walker)
	defer w.release()
	w.Script = Script{Last: in.Last, Live: in.Live, Desired: in.Desired, Rules: in.Rules, Edits: w.Edits}
	w.policy, w.made = in.Policy, in.HandMade
	for _, d := range [...]doc{last, live, desired} {
		tree := w.tree(d)
		if *tree == nil {
			*tree = nothing
		}
		if k := (*tree).Kind(0); k != node.Map {
			return Script{}, &node.Error{Doc: d.String(), Offset: -1, Rule: node.ErrType, Detail: fmt.Sprintf("an object is a map, this is a %s", k)}
		}
	}
	root := in.Schema.Root
	w.open(-1, Edit{Op: OpFields, Type: root})
	if in.Nulls != NullFails || w.noNulls() {
		w.fields(0, root, union(root, root.Rule(in.Model)), 0, 0, 0)
	}
	w.shut(0, mark{})
	if w.err != nil {
		return Script{}, w.err
	}
	w.sortMade()
	s := w.Script
	s.Edits, s.Warnings = nil, slices.Clone(s.Warnings)
	if len(w.Edits) > 0 {
		s.Edits = slices.Clone(w.Edits)
	}
	return s, nil
}

// walkers keeps the memory of past walks. It holds no document.
var walkers = sync.Pool{New: func() any { return new(walker) }}

func (w *walker) release() {
	clear(w.Edits)
	poison.Fill(w.Edits[:cap(w.Edits)], Edit{Parent: poison.Index, End: poison.Index, Last: poison.Index, Live: poison.Index, Desired: poison.Index})
	poison.Fill(w.pos[:cap(w.pos)], pos{last: poison.Index, live: poison.Index, desired: poison.Index, next: poison.Index, head: poison.Index, cur: poison.Index})
	poison.Fill(w.ours[:cap(w.ours)], poison.Index)
	poison.Fill(w.order[:cap(w.order)], poison.Index)
	poison.Fill(w.key[:cap(w.key)], poison.Byte)
	*w = walker{
		Script: Script{Edits: w.Edits[:0]},
		pos:    w.pos[:0], ours: w.ours[:0], order: w.order[:0], table: w.table, key: w.key,
	}
	walkers.Put(w)
}

// walker is the state of one walk. Lists that are being merged keep their
// positions on stacks, which nested lists extend.
type walker struct {
	Script
	policy *Policy
	made   *owner.HandMade
	pruned int // how many of the changes take away what was made by hand
	err    *node.Error

	pos   []pos   // positions of the open lists
	ours  []int32 // of those, desired's in its order
	order []int32 // of those, the merged list in its order
	table []int32 // hash table of align, between uses all zero
	key   []byte
}

func (w *walker) open(parent int32, e Edit) int32 {
	e.Parent = parent
	w.Edits = append(w.Edits, e)
	i := int32(len(w.Edits) - 1)
	w.Edits[i].End = i + 1
	return i
}

func (w *walker) close(i int32) { w.Edits[i].End = int32(len(w.Edits)) }

// shut closes the map or list of edit i, which was opened at m, or takes it back
// if there is nothing to say about it.
func (w *walker) shut(i int32, m mark) {
	if w.Changes > m.changes {
		w.Edits[i].Flags |= Changes
	} else if w.Conflicts == m.conflicts {
		w.Edits = w.Edits[:m.edits]
		return
	}
	w.close(i)
}

// mark and reset undo what a piece of the walk has recorded.
type mark struct{ edits, changes, pruned, conflicts, warnings int }

func (w *walker) mark() mark {
	return mark{len(w.Edits), w.Changes, w.pruned, w.Conflicts, len(w.Warnings)}
}

func (w *walker) reset(m mark) {
	w.Edits, w.Changes, w.pruned, w.Conflicts, w.Warnings = w.Edits[:m.edits], m.changes, m.pruned, m.conflicts, w.Warnings[:m.warnings]
}

// union reports whether a map keeps only what desired declares when it changes.
func union(t *schema.Type, rule *schema.Rule) bool { return rule.RetainKeys || t.Union }

// fields merges three maps. last may be None. If union is set and anything
// changes, fields that only live has go: desired has chosen another member. What goes
// because it was made by hand is no such choice.
func (w *walker) fields(parent int32, t *schema.Type, union bool, last, live, desired node.ID) {
	m := w.mark()
	w.join(parent, t, false, last, live, desired)
	if union && w.changed(m) {
		w.reset(m)
		w.join(parent, t, true, last, live, desired)
	}
}

// changed reports whether since m anything has changed but for what was made by hand.
func (w *walker) changed(m mark) bool { return w.Changes-m.changes > w.pruned-m.pruned }

// join visits the positions of three maps in the order of their keys.
func (w *walker) join(parent int32, t *schema.Type, clear bool, last, live, desired node.ID) {
	var as []node.ID
	if last != node.None {
		as = w.Last.Kids(last)
	}
	ls, ds := w.Live.Kids(live), w.kids(desired)
	known, twoWay := t.Fields, w.Last == w.Live && last == live
	for w.err == nil && (len(ls) > 0 || len(ds) > 0) {
		if n := node.SameFields(w.Live, ls, w.Desired, ds); n > 0 { // most positions: nothing to do
			w.Work += n
			ls, ds = ls[n:], ds[n:]
			continue
		}
		w.Work++
		l, d := NextField(w.Live, &ls, w.Desired, &ds)
		tree, id := w.Live, l
		if l == node.None {
			tree, id = w.Desired, d
		}
		prefix, a := tree.KeyPrefix(id), node.None
		if twoWay {
			a, as = l, nil
		}
		for len(as) > 0 { // a position that only last has stays absent
			if p := w.Last.KeyPrefix(as[0]); p > prefix {
				break
			} else if p == prefix {
				order := node.CompareKeys(w.Last, as[0], tree, id)
				if order > 0 {
					break
				}
				if order == 0 {
					a, as = as[0], as[1:]
					break
				}
			}
			as = as[1:]
		}
		for len(known) > 0 && (known[0].Prefix < prefix || known[0].Prefix == prefix && known[0].Name < tree.Key(id)) {
			known = known[1:]
		}
		// A server looks rules up by the fields of a Go struct: it has none for
		// what a Go map holds.
		child, named := t.Elem, (*schema.Field)(nil)
		if len(known) > 0 && known[0].Prefix == prefix && known[0].Name == tree.Key(id) {
			named = &known[0]
			if child = named.Type; named.Alias != "" && a == node.None && d == node.None && !w.isZero(child, w.Live, l) {
				a, d = w.alias(named.Alias, last, live, desired)
			}
		} else if child == nil {
			child = schema.Unknown
			if t.Kind == schema.Map && !t.PreserveUnknown {
				w.unknown(l, d)
			}
		}
		w.field(parent, child, named, clear, a, l, d)
	}
}

// kids returns the children of desired's i, which may be None.
func (w *walker) kids(i node.ID) []node.ID {
	if i == node.None {
		return nil
	}
	return w.Desired.Kids(i)
}

// NextField takes the field with the least key off two maps, whose fields ls and ds
// are: from both, if both have it.
func NextField(t *node.Tree, ls *[]node.ID, u *node.Tree, ds *[]node.ID) (l, d node.ID) {
	l, d = node.None, node.None
	order := 0
	switch {
	case len(*ds) == 0:
		order = -1
	case len(*ls) == 0:
		order = 1
	default:
		order = node.CompareKeys(t, (*ls)[0], u, (*ds)[0])
	}
	if order <= 0 {
		l, *ls = (*ls)[0], (*ls)[1:]
	}
	if order >= 0 {
		d, *ds = (*ds)[0], (*ds)[1:]
	}
	return l, d
}

func (w *walker) unknown(live, desired node.ID) {
	const text = "the schema has no such field; maps under it are merged by field, lists replaced"
	if live != node.None {
		w.Warnings = append(w.Warnings, Warning{"live", live, text})
	} else if desired != node.None {
		w.Warnings = append(w.Warnings, Warning{"desired", desired, text})
	}
}

// field merges one position of a map of type t. f is its field; nil if it has none
// of that name.
func (w *walker) field(parent int32, t *schema.Type, f *schema.Field, clear bool, a, l, d node.ID) {
	null := d != node.None && w.Desired.Kind(d) == node.Null && !w.keepsNull(t)
	undeclared := d == node.None && a == node.None && !clear
	if undeclared && w.made == nil {
		return
	}
	e := Edit{Type: t, Last: a, Live: l, Desired: d}
	if f == nil || f.Extra {
		e.Flags = NoLookup
	}
	if undeclared {
		w.unowned(parent, f, e)
		return
	}
	if f != nil && f.Zero != schema.ZeroTells && w.Equality == Semantic && !w.bothHold(f, l, d) && w.zeros(f, &e, clear) {
		if w.made != nil && e.Last == node.None && e.Desired == node.None && e.Live != node.None {
			w.unowned(parent, f, e) // a zero value declares nothing
		}
		return
	}
	if w.ignored(parent, f, &e) {
		return
	}
	if null && (clear || l == node.None || a != node.None && w.Last.Kind(a) != node.Null) {
		e.Desired, e.Flags = node.None, e.Flags|ByNull // null declares absence
	}
	if clear && e.Last == node.None && e.Desired == node.None && l != node.None {
		e.Case = TheyAdd
		w.act(parent, e, w.policy[BothAddOther])
		return
	}
	w.position(parent, e, t.Rule(w.Model))
}

// position decides what becomes of one position: a field, or an element of a
// keyed list. rule is that of the values there.
func (w *walker) position(parent int32, e Edit, rule *schema.Rule) {
	if w.Infer && e.Type.Kind == schema.Any && w.Model != schema.Plain {
		if t := w.infer(&e); t != nil {
			e.Type, rule = t, t.Rule(w.Model)
		}
	}
	if e.Live != node.None && e.Desired != node.None {
		switch both := w.Live.Kind(e.Live); {
		case both != w.Desired.Kind(e.Desired):
		case both == node.Map && rule.Merge != schema.Atomic:
			w.maps(parent, e, union(e.Type, rule))
			return
		case both == node.List && (rule.Merge == schema.Keyed || rule.Merge == schema.Set):
			w.lists(parent, e, rule)
			return
		}
	}
	e.Case = w.classify(&e)
	if e.Case == WeRemoveTheySet && w.policy[e.Case] == Take && w.holdsOthers(&e, rule) && !w.stays(parent, &e) {
		w.takeBack(parent, e, rule)
		return
	}
	w.act(parent, e, w.policy[e.Case])
}

func (w *walker) maps(parent int32, e Edit, union bool) {
	if node.SameFlat(w.Live, e.Live, w.Desired, e.Desired) || !w.fits(e.Type, e.Desired) {
		return
	}
	if e.Last != node.None && w.Last.Kind(e.Last) != node.Map {
		e.Last = node.None
	}
	e.Op = OpFields
	m := w.mark()
	i := w.open(parent, e)
	w.fields(i, e.Type, union, e.Last, e.Live, e.Desired)
	w.shut(i, m)
}

// classify returns the case of a position whose values count as wholes.
func (w *walker) classify(e *Edit) Case {
	a, l, d := e.Last, e.Live, e.Desired
	hasA, hasL, hasD := a != node.None, l != node.None && e.Flags&LiveIsZero == 0, d != node.None
	liveDesired := hasL && hasD && w.equalDeclared(e.Type, l, d)
	if liveDesired && !hasA {
		return BothAddSame
	}
	if hasA && hasL && a == l && w.Last == w.Live {
		return caseOf(true, true, hasD, true, liveDesired, liveDesired)
	}
	lastDesired := hasA && hasD && w.equal(e.Type, w.Last, a, w.Desired, d)
	lastLive := hasA && hasL && w.equal(e.Type, w.Last, a, w.Live, l)
	if lastDesired && hasL && !lastLive {
		// Fields that a server added inside an atomic value are no change of it.
		lastLive = liveDesired || w.covers(e.Type, l, d)
	}
	// Nulls make equality one-sided: desired may spell what live has with nulls
	// that last had not.
	lastDesired = lastDesired || lastLive && liveDesired
	return caseOf(hasA, hasL, hasD, lastLive, lastDesired, liveDesired)
}

// act records the edit of a position that counts as a whole.
func (w *walker) act(parent int32, e Edit, action Action) {
	switch e.Case { // a policy of the caller's own may say anything
	case Absent, BothRemove:
		return
	case BothAddSame, Unchanged, BothSetSame:
		if action == Clash {
			return
		}
	}
	if action == Keep {
		return
	}
	goes := e.Desired == node.None || w.Desired.Kind(e.Desired) == node.Null && w.isField(parent) && !w.keepsNull(e.Type)
	if goes && w.stays(parent, &e) {
		return
	}
	switch {
	case action == Clash:
		e.Op = OpClash
		w.Conflicts++
	case goes:
		if e.Case == WeRemoveTheySet && e.Desired == node.None {
			w.Warnings = append(w.Warnings, Warning{"live", e.Live, takenAway})
		}
		e.Op = OpRemove
		w.Changes++
	case w.check(e.Type, e.Desired):
		e.Op = OpTake
		w.Changes++
	default:
		return
	}
	w.open(parent, e)
}

func (w *walker) isField(parent int32) bool { return w.Edits[parent].Op == OpFields }
