package dialect

import (
	"example.com/braid/internal/node"
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
	e.replace(ed.Live, ed.Desired)
}

// replace writes what turns one map into another.
func (e *jsonMerge) replace(live, desired node.ID) {
	ls, ds := e.Live.Kids(live), e.Desired.Kids(desired)
	e.dst = append(e.dst, '{')
	start := len(e.dst)
	for len(ls) > 0 || len(ds) > 0 {
		l, d := walk.NextField(e.Live, &ls, e.Desired, &ds)
		switch null := d == node.None || e.Desired.Kind(d) == node.Null; {
		case null && l == node.None, l != node.None && !null && node.EqualDeclared(e.Live, l, e.Desired, d):
		case null:
			e.comma(start)
			e.dst = append(e.Live.AppendKey(e.dst, l), "null"...)
		default:
			e.comma(start)
			e.dst = e.Desired.AppendKey(e.dst, d)
			if l != node.None && e.Live.Kind(l) == node.Map && e.Desired.Kind(d) == node.Map {
				e.replace(l, d)
			} else {
				e.dst = e.Desired.AppendDeclared(e.dst, d)
			}
		}
	}
	e.dst = append(e.dst, '}')
}
