package dialect

import (
	"example.com/braid/internal/node"
	"example.com/braid/internal/walk"
)

// EncodeApplyConfiguration appends what a server-side apply sends (KEP-555): all that
// desired declares, for what a manager no longer sends it gives up. Left out are nulls,
// positions that the walk was told to ignore, members of a union that go, and
// metadata.managedFields, which a server refuses. O(size of desired).
//
// It is ErrInexpressible under a policy that keeps drift, for the manager would have to
// declare what it does not want.
func EncodeApplyConfiguration(dst []byte, s *walk.Script) ([]byte, error) {
	if s.Policy[walk.TheySet] == walk.Keep || s.Policy[walk.TheyRemove] == walk.Keep {
		return nil, &node.Error{Offset: -1, Rule: ErrInexpressible, Detail: "an apply configuration makes desired hold; this policy keeps drift"}
	}
	e, root := configuration{s, dst}, int32(-1)
	if len(s.Edits) > 0 {
		root = 0
	}
	e.value(0, root)
	return e.dst, nil
}

type configuration struct {
	*walk.Script
	dst []byte
}

// value writes desired's d. i is the edit of its position; -1 if nothing changes there.
func (e *configuration) value(d node.ID, i int32) {
	kind := e.Desired.Kind(d)
	if i >= 0 && e.Edits[i].Op == walk.OpTake {
		i = -1
	}
	switch {
	case kind == node.Map:
		e.fields(d, i)
	case kind == node.List && i >= 0 && e.Edits[i].Op == walk.OpElements:
		e.elements(i)
	case kind == node.List:
		e.dst = append(e.dst, '[')
		start := len(e.dst)
		for _, kid := range e.Desired.Kids(d) {
			if !e.ignored(kid) {
				e.comma(start)
				e.value(kid, -1)
			}
		}
		e.dst = append(e.dst, ']')
	default:
		e.dst = e.Desired.Append(e.dst, d)
	}
}

func (e *configuration) fields(d node.ID, i int32) {
	edits := map[string]int32{}
	if i >= 0 {
		for k := range e.Children(i) {
			edits[e.Key(k)] = k
		}
	}
	e.dst = append(e.dst, '{')
	start := len(e.dst)
	for _, kid := range e.Desired.Kids(d) {
		key := e.Desired.Key(kid)
		k, ok := edits[key]
		if !ok {
			k = -1
		}
		null := e.Desired.Kind(kid) == node.Null && e.Nulls != walk.NullStays
		if null || ok && e.Edits[k].Op == walk.OpRemove || e.ignored(kid) || key == "managedFields" && e.isMetadata(d) {
			continue
		}
		e.comma(start)
		e.dst = e.Desired.AppendKey(e.dst, kid)
		e.value(kid, k)
	}
	e.dst = append(e.dst, '}')
}

// elements writes what desired has of the merged list of edit i, in its order.
func (e *configuration) elements(i int32) {
	e.dst = append(e.dst, '[')
	start := len(e.dst)
	for k := range e.Children(i) {
		if d := e.Edits[k].Desired; d != node.None && e.Present(k) && !e.ignored(d) {
			e.comma(start)
			e.value(d, k)
		}
	}
	e.dst = append(e.dst, ']')
}

func (e *configuration) comma(start int) {
	if len(e.dst) > start {
		e.dst = append(e.dst, ',')
	}
}

func (e *configuration) ignored(d node.ID) bool {
	for _, p := range e.Ignore {
		if p.Matches(e.Desired, d) {
			return true
		}
	}
	return false
}

func (e *configuration) isMetadata(d node.ID) bool {
	return e.Desired.Parent(d) == 0 && e.Desired.Key(d) == "metadata"
}
