package dialect

import (
	"example.com/braid/internal/node"
	"example.com/braid/internal/schema"
	"example.com/braid/internal/walk"
)

// EncodeJSONMerge appends the JSON merge patch (RFC 7396) of s: the fields that
// change, null for those that go, and a list that changes as a whole. O(size of the
// edits), and of the lists and atomic maps that change.
//
// A null that is to be stored as the field of a map is ErrInexpressible.
func EncodeJSONMerge(dst []byte, s *walk.Script, g Guard) ([]byte, error) {
	if s.Changes == 0 {
		return append(dst, "{}"...), nil
	}
	e := jsonMerge{Script: s, dst: dst, guard: g}
	if e.fields(0); e.err != nil {
		return nil, e.err
	}
	return e.dst, nil
}

type jsonMerge struct {
	*walk.Script
	dst   []byte
	guard Guard
	err   *node.Error
}

func (e *jsonMerge) fields(i int32) {
	e.dst = append(e.dst, '{')
	start := len(e.dst)
	e.dst = append(e.dst, guarded(e.Script, e.guard, i)...)
	for k := range e.Children(i) {
		ed := &e.Edits[k]
		if !ed.Changes() {
			continue
		}
		e.comma(start)
		t, id := e.Node(k)
		e.dst = t.AppendKey(e.dst, id)
		switch ed.Op {
		case walk.OpFields:
			e.fields(k)
		case walk.OpRemove:
			e.dst = append(e.dst, "null"...)
		case walk.OpTake:
			e.take(k)
		default:
			e.dst = e.AppendValue(e.dst, k)
		}
	}
	e.dst = append(e.dst, '}')
}

func (e *jsonMerge) comma(start int) {
	if len(e.dst) > start {
		e.dst = append(e.dst, ',')
	}
}

// take writes a value of desired. Where live has a map too, the server would merge
// them, so it is told what goes.
func (e *jsonMerge) take(k int32) {
	ed := &e.Edits[k]
	if e.KeepsNull(ed.Type, ed.Desired, false) && e.err == nil {
		e.err = &node.Error{Path: e.Path(k), Offset: -1, Rule: ErrInexpressible, Detail: "null in a JSON merge patch removes the field"}
	}
	if ed.Live == node.None || e.Live.Kind(ed.Live) != node.Map || e.Desired.Kind(ed.Desired) != node.Map {
		e.dst = e.AppendValue(e.dst, k)
		return
	}
	e.replace(ed.Type, ed.Live, ed.Desired)
}

// replace writes what turns a map of live into one of desired, which has type t. Nulls
// of desired declare absence, also where live has a null.
func (e *jsonMerge) replace(t *schema.Type, live, desired node.ID) {
	ls, ds := e.Live.Kids(live), e.Desired.Kids(desired)
	e.dst = append(e.dst, '{')
	start := len(e.dst)
	for len(ls) > 0 || len(ds) > 0 {
		l, d := walk.NextField(e.Live, &ls, e.Desired, &ds)
		before := len(e.dst)
		e.comma(start)
		if d == node.None || e.Desired.Kind(d) == node.Null {
			if l == node.None {
				e.dst = e.dst[:before]
				continue
			}
			e.dst = append(e.Live.AppendKey(e.dst, l), "null"...)
			continue
		}
		e.dst = e.Desired.AppendKey(e.dst, d)
		value := len(e.dst)
		child, _ := t.Lookup(e.Desired.Key(d))
		if child == nil {
			child = schema.Unknown
		}
		switch {
		case l == node.None:
			e.dst = e.AppendDesired(e.dst, child, d)
		case e.Live.Kind(l) == node.Map && e.Desired.Kind(d) == node.Map:
			if e.replace(child, l, d); len(e.dst) == value+len("{}") {
				e.dst = e.dst[:before]
			}
		case node.EqualDeclared(e.Live, l, e.Desired, d) && !hasNull(e.Live, l):
			e.dst = e.dst[:before]
		default:
			e.dst = e.AppendDesired(e.dst, child, d)
		}
	}
	e.dst = append(e.dst, '}')
}

// hasNull reports whether a field somewhere in a value is null.
func hasNull(t *node.Tree, i node.ID) bool {
	for _, kid := range t.Kids(i) {
		if t.Kind(kid) == node.Null && t.Kind(i) == node.Map || hasNull(t, kid) {
			return true
		}
	}
	return false
}
