package dialect

import (
	"example.com/braid/internal/node"
	"example.com/braid/internal/walk"
)

// EncodeJSONPatch appends the JSON Patch (RFC 6902) of s. Members of maps are added,
// never replaced, so that one which live has lost meanwhile does no harm. Elements of
// lists are removed, moved and added one by one, as few as it takes; each list is put
// in order before its elements are edited, so every path is right when its turn comes.
// O(n log n) in the size of the edits and of the lists that change.
//
// An API server refuses patches of more than 10,000 operations. Where that many would
// be needed, lists are sent whole, and if that does not do, the fields of the root.
func EncodeJSONPatch(dst []byte, s *walk.Script, g Guard) ([]byte, error) {
	if s.Changes == 0 {
		return append(dst, "[]"...), nil
	}
	e := jsonPatch{Script: s, guard: g}
	for grain := byOp; ; grain++ {
		e.Operations, e.grain = Operations{Dst: append(dst, '[')}, grain
		if g&GuardVersion != 0 {
			e.version()
		}
		e.fields(0)
		if e.N <= MostOperations {
			return append(e.Dst, ']'), nil
		}
		if grain == byField {
			return nil, &node.Error{Offset: -1, Rule: ErrInexpressible, Detail: "it takes more than 10000 operations"}
		}
	}
}

// grain is the size of what a JSON Patch edits.
type grain uint8

const (
	byOp    grain = iota // each position
	byList               // lists whole
	byField              // the fields of the root whole
)

type jsonPatch struct {
	*walk.Script
	Operations
	grain grain
	guard Guard
}

// fields writes the edits of the map of edit i, which stands at e.path.
func (e *jsonPatch) fields(i int32) {
	for k := range e.Children(i) {
		ed := &e.Edits[k]
		if !ed.Changes() {
			continue
		}
		at := e.Down(e.Key(k))
		switch {
		case ed.Op == walk.OpRemove:
			e.test(ed.Live)
			e.Remove()
		case ed.Op == walk.OpFields && e.grain < byField:
			e.fields(k)
		case ed.Op == walk.OpElements && e.grain == byOp:
			e.elements(k)
		case ed.Op == walk.OpTake && e.grain == byOp && e.lists(ed):
			e.whole(k)
		default:
			e.test(ed.Live)
			e.add(k)
		}
		e.Up(at)
	}
}

// lists reports whether an edit takes one list for another.
func (e *jsonPatch) lists(ed *walk.Edit) bool {
	return ed.Live != node.None && e.Live.Kind(ed.Live) == node.List && e.Desired.Kind(ed.Desired) == node.List
}

// add writes the merged value of edit k.
func (e *jsonPatch) add(k int32) {
	e.Begin("add", "")
	e.End(e.AppendValue(e.Value(), k))
}

// test writes a test of live's value where we are, if tests are asked for and live has one.
func (e *jsonPatch) test(live node.ID) {
	if e.guard&GuardValues != 0 && live != node.None {
		e.Begin("test", "")
		e.End(e.Live.Append(e.Value(), live))
	}
}

// version writes a test of live's resourceVersion.
func (e *jsonPatch) version() {
	if v := versionOf(e.Script); v != node.None {
		top := e.Down("metadata")
		e.Down("resourceVersion")
		e.Begin("test", "")
		e.End(e.Live.Append(e.Value(), v))
		e.Up(top)
	}
}
