package dialect

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"example.com/braid/internal/node"
	"example.com/braid/internal/schema"
	"example.com/braid/internal/walk"
)

// ErrInexpressible is the rule that a patch means what the script means: the
// dialect has no words for the change.
var ErrInexpressible = errors.New("the patch format cannot say this")

// The directives of a strategic merge patch
// (kubernetes/community, contributors/devel/sig-api-machinery/strategic-merge-patch.md).
const (
	patchKey    = "$patch"
	retainKey   = "$retainKeys"
	orderPrefix = "$setElementOrder/"
	pruneKeys   = "$deleteFromPrimitiveList/"
)

// isDirective reports whether an API server takes a map key for a directive, so
// that it cannot be data.
func isDirective(key string) bool {
	return len(key) > 0 && key[0] == '$' &&
		(key == patchKey || key == retainKey || strings.HasPrefix(key, orderPrefix) || strings.HasPrefix(key, pruneKeys))
}

// form is how one edit is written.
type form uint8

const (
	skip    form = iota // nothing in it changes
	merge               // as the change of its parts
	whole               // as the whole merged value, under $patch: replace
	instead             // as the whole merged value, which the server takes for live's
)

// served returns the rule by which a server merges the values of a type.
func served(t *schema.Type) *schema.Rule {
	if t.Served != nil {
		return t.Served
	}
	return &t.Strategic
}

// EncodeStrategic appends the strategic merge patch of s. O(size of the edits),
// and of live at most where a map or list must be sent whole.
func EncodeStrategic(dst []byte, s *walk.Script, g Guard) ([]byte, error) {
	if s.Changes == 0 {
		return append(dst, "{}"...), nil
	}
	dst = slices.Grow(dst, 256)
	e := strategic{Script: s, forms: make([]form, len(s.Edits)), dst: dst, guard: g, noLookup: s.Schema.Root.Kind == schema.Any}
	if e.plan(0); e.err != nil {
		return nil, e.err
	}
	e.value(0)
	if e.err != nil {
		return nil, e.err
	}
	return e.dst, nil
}

// strategic writes in two passes: plan gives each edit a form, from the leaves
// up, and value writes it.
type strategic struct {
	*walk.Script
	forms    []form
	dst      []byte
	guard    Guard
	noLookup bool // no schema on either side: maps are merged wherever they stand
	err      *node.Error
}

func (e *strategic) fail(i int32, detail string) {
	if e.err == nil {
		e.err = &node.Error{Path: e.Path(i), Offset: -1, Rule: ErrInexpressible, Detail: detail}
	}
}

// plan sets the form of edit i and all below. It returns false if the position
// cannot be written by itself, so that what holds it must be sent whole.
func (e *strategic) plan(i int32) bool {
	switch ed := &e.Edits[i]; ed.Op {
	case walk.OpTake:
		e.forms[i] = merge
		// The server looks up how to merge where both sides hold the same kind
		// of container, and refuses what its type does not have.
		same := ed.Live != node.None && e.Live.Kind(ed.Live) >= node.List && e.Live.Kind(ed.Live) == e.Desired.Kind(ed.Desired)
		if holdsDirective(e.Desired, ed.Desired) {
			e.fail(i, "a key in it is a directive")
		}
		if e.KeepsNull(ed.Type, ed.Desired, true) {
			e.fail(i, "null in a strategic merge patch removes the field")
		}
		if same && ed.Type.Served != nil {
			return e.planServed(i)
		}
		return !(same && e.unknown(ed))
	case walk.OpRemove:
		e.forms[i] = merge
		return true
	case walk.OpFields:
		if served(ed.Type).Merge == schema.Atomic {
			e.planChildren(i)
			return e.forms[i] == skip || e.planServed(i)
		}
		return e.planFields(i)
	case walk.OpElements:
		switch {
		case ed.Type.Served != nil:
			e.planChildren(i)
			return e.forms[i] == skip && ed.Flags&walk.Reordered == 0 || e.planServed(i)
		case ed.Type.Strategic.Merge == schema.Set:
			return e.planSet(i)
		}
		return e.planKeyed(i)
	}
	return true
}

// planServed sends a value whole, for its rule is the user's own and the server goes by
// another.
func (e *strategic) planServed(i int32) bool {
	ed := &e.Edits[i]
	if ed.Op != walk.OpTake {
		e.mustBeData(i)
	}
	switch rule := served(ed.Type); rule.Merge {
	case schema.Atomic:
		e.forms[i] = instead
	case schema.Set:
		return false // no directive replaces a set
	default:
		e.forms[i] = whole
	}
	return !e.unknown(ed)
}

func (e *strategic) unknown(ed *walk.Edit) bool {
	return ed.Flags&walk.NoLookup != 0 && !e.noLookup
}

// planChildren plans the edits below i and reports whether all can be written by
// themselves. It gives i the form merge if any of them changes something.
func (e *strategic) planChildren(i int32) bool {
	ok := true
	for k := range e.Children(i) {
		ok = e.plan(k) && ok
		if e.forms[k] != skip {
			e.forms[i] = merge
		}
	}
	return ok
}

func (e *strategic) planFields(i int32) bool {
	ok := e.planChildren(i)
	if e.forms[i] == skip {
		return true
	}
	for k := range e.Children(i) {
		if e.forms[k] != skip && isDirective(e.Key(k)) {
			e.fail(k, "the key is a directive")
		}
	}
	if e.unknown(&e.Edits[i]) {
		return false
	}
	if !ok {
		e.forms[i] = whole
		e.mustBeData(i)
	}
	parent := e.Edits[i].Parent
	return ok || parent < 0 || e.Edits[parent].Op == walk.OpFields
}

func (e *strategic) planKeyed(i int32) bool {
	ok, flags := e.planChildren(i), e.Edits[i].Flags
	if flags&walk.Reordered != 0 {
		e.forms[i] = merge
	}
	if e.forms[i] == skip {
		return true
	}
	if flags&(walk.LiveOddElem|walk.MergedNoKey) != 0 {
		return false
	}
	if !ok || flags&(walk.LiveRepeats|walk.MergedRepeats|walk.LiveNoKey) != 0 {
		e.forms[i] = whole
		e.mustBeData(i)
		return flags&walk.MergedRepeats == 0 || !e.mixesNumbers(i)
	}
	return true
}

// mixesNumbers reports whether keys of the merged list are written as 1 and as 1.0: one
// key, but two to a server, which would let the elements stand in groups of its own.
func (e *strategic) mixesNumbers(i int32) bool {
	var kinds [goNull + 1]bool
	for k := range e.Children(i) {
		if t, id := e.Node(k); e.Present(k) {
			if f := t.Field(id, e.ListKeys(i)[0].Name); f != node.None {
				kinds[goKind(t, f)] = true
			}
		}
	}
	return kinds[goInt] && kinds[goFloat]
}

func (e *strategic) planSet(i int32) bool {
	e.planChildren(i)
	if e.Edits[i].Flags&walk.Reordered != 0 {
		e.forms[i] = merge
	}
	if e.forms[i] == skip {
		return true
	}
	if e.Edits[i].Flags&walk.LiveOddElem != 0 {
		return false
	}
	// The server refuses a list whose scalars have several Go types.
	var kinds [goNull + 1]bool
	for k := range e.Children(i) {
		t, id := e.Node(k)
		kinds[goKind(t, id)] = true
	}
	n := 0
	for _, has := range kinds {
		if has {
			n++
		}
	}
	return n <= 1
}

// The Go types to which a server decodes values: it does not merge a list that
// holds several, and compares no values of two.
const (
	goBool = iota
	goString
	goInt // int64
	goFloat
	goMap
	goList
	goNull
)

func goKind(t *node.Tree, i node.ID) int {
	switch t.Kind(i) {
	case node.Null:
		return goNull
	case node.Bool:
		return goBool
	case node.String:
		return goString
	case node.List:
		return goList
	case node.Map:
		return goMap
	}
	if _, err := strconv.ParseInt(t.Text(i), 10, 64); err != nil {
		return goFloat
	}
	return goInt
}

// mustBeData fails if live has a directive for a key where it is sent back whole.
func (e *strategic) mustBeData(i int32) {
	if ed := &e.Edits[i]; holdsDirective(e.Live, ed.Live) {
		e.fail(i, "it must be sent whole, and a key in it is a directive")
	}
}

// holdsDirective reports whether a map below i has a directive for a key.
func holdsDirective(t *node.Tree, i node.ID) bool {
	if t.Kind(i) < node.List {
		return false
	}
	for _, kid := range t.Kids(i) {
		if t.Kind(i) == node.Map && isDirective(t.Key(kid)) || holdsDirective(t, kid) {
			return true
		}
	}
	return false
}
