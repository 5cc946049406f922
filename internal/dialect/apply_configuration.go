package dialect

import (
	"slices"

	"example.com/braid/internal/node"
	"example.com/braid/internal/schema"
	"example.com/braid/internal/walk"
)

// EncodeApplyConfiguration appends what a server-side apply sends (KEP-555): all that
// desired declares, for what a manager no longer sends it gives up. Left out are nulls,
// positions that the walk was told to ignore, but not keys of elements, members of a union
// that go, and metadata.managedFields, which a server refuses. A list of which keys may be
// guessed is one value to a server, which is sent as merged. O(size of desired and such lists).
//
// It is ErrInexpressible under a policy that keeps drift, for the manager would have to
// declare what it does not want; where something goes because it was made by hand, for the
// manager does not own it; and where a key repeats in a list, which a server refuses.
func EncodeApplyConfiguration(dst []byte, s *walk.Script) ([]byte, error) {
	if s.Policy[walk.TheySet] == walk.Keep || s.Policy[walk.TheyRemove] == walk.Keep {
		return nil, &node.Error{Offset: -1, Rule: ErrInexpressible, Detail: "an apply configuration makes desired hold; this policy keeps drift"}
	}
	for i, edit := range s.Edits {
		if edit.Op == walk.OpRemove && edit.Case == walk.WeRemove && edit.Last == node.None {
			return nil, &node.Error{Path: s.Path(int32(i)), Offset: -1, Rule: ErrInexpressible, Detail: "an apply configuration takes nothing away that others own; this was made by hand"}
		}
	}
	e, root := configuration{Script: s, dst: dst, again: node.None}, int32(-1)
	if len(s.Edits) > 0 {
		root = 0
	}
	e.value(declared{t: s.Schema.Root, edit: root})
	if e.again != node.None {
		return nil, &node.Error{Doc: "desired", Path: s.Desired.Path(e.again), Offset: -1, Rule: ErrInexpressible, Detail: "the list has an element of this key already, which a server that applies it refuses"}
	}
	return e.dst, nil
}

type configuration struct {
	*walk.Script
	dst   []byte
	again node.ID // the first element whose key stands in its list already, or None
}

// declared is a value of desired.
type declared struct {
	node node.ID
	live node.ID // None if live has none, or nobody knows which
	edit int32   // -1 if nothing changes there
	t    *schema.Type
	list *schema.Type // that it is an element of, or nil
	part bool         // of an atomic value: no position of the merge
}

func (e *configuration) value(d declared) {
	kind := e.Desired.Kind(d.node)
	if d.edit >= 0 && e.Edits[d.edit].Op == walk.OpTake {
		d.edit, d.live = -1, node.None
	}
	elements := d.edit >= 0 && e.Edits[d.edit].Op == walk.OpElements
	guessed := kind == node.List && e.Infer && d.t.Kind == schema.Any
	if kind == node.List && e.again == node.None {
		e.again = e.repeats(d)
	}
	rule := d.t.Rule(e.Model)
	d.part = d.part || rule.Merge == schema.Atomic || kind == node.List && rule.Merge == schema.Granular
	switch {
	case kind == node.Map:
		e.fields(d)
	case guessed && elements:
		e.dst = e.AppendValue(e.dst, d.edit)
	case guessed && d.live != node.None && e.Live.Kind(d.live) == node.List:
		e.dst = e.Live.Append(e.dst, d.live)
	case kind == node.List && elements:
		e.elements(d)
	case kind == node.List:
		e.dst = append(e.dst, '[')
		start := len(e.dst)
		inLive := e.counterparts(d)
		for _, kid := range e.Desired.Kids(d.node) {
			e.element(d, declared{node: kid, live: inLive(kid), edit: -1}, start)
		}
		e.dst = append(e.dst, ']')
	default:
		e.dst = e.Desired.Append(e.dst, d.node)
	}
}

// repeats returns the first element of a list of desired that has the key of another, by the
// rules of a server. It is None if none has.
func (e *configuration) repeats(d declared) node.ID {
	rule := &d.t.Structured
	if rule.Merge != schema.Keyed && rule.Merge != schema.Set {
		return node.None
	}
	kids := e.Desired.Kids(d.node)
	seen := make(map[string]bool, len(kids))
	var key []byte
	for _, kid := range kids {
		if key = appendKey(key[:0], e.Desired, kid, rule.Keys); seen[string(key)] {
			return kid
		}
		seen[string(key)] = true
	}
	return node.None
}

// counterparts finds the elements of a list that does not change in live's list, where it
// matters how live names them.
func (e *configuration) counterparts(d declared) func(elem node.ID) node.ID {
	keys := d.t.Rule(e.Model).Keys
	if len(e.Ignore) == 0 || len(keys) == 0 || d.live == node.None || e.Live.Kind(d.live) != node.List {
		return func(node.ID) node.ID { return node.None }
	}
	kids := e.Live.Kids(d.live)
	byKey := make(map[string]node.ID, len(kids))
	var key []byte
	for _, kid := range slices.Backward(kids) {
		key = appendKey(key[:0], e.Live, kid, keys)
		byKey[string(key)] = kid
	}
	return func(elem node.ID) node.ID {
		key = appendKey(key[:0], e.Desired, elem, keys)
		if live, ok := byKey[string(key)]; ok {
			return live
		}
		return node.None
	}
}

// appendKey appends what elements of one key share.
func appendKey(dst []byte, t *node.Tree, elem node.ID, keys []schema.Key) []byte {
	if len(keys) == 0 {
		return appendScalar(dst, t, elem)
	}
	for _, k := range keys {
		if f := t.Field(elem, k.Name); f != node.None && t.Kind(f) != node.Null {
			dst = appendScalar(dst, t, f)
		} else {
			dst = append(dst, k.Default...)
		}
		dst = append(dst, ',')
	}
	return dst
}

func appendScalar(dst []byte, t *node.Tree, i node.ID) []byte {
	if t.Kind(i) == node.Number {
		return node.AppendNumberKey(dst, t.Text(i))
	}
	return t.Append(dst, i)
}

func (e *configuration) fields(d declared) {
	edits := map[string]int32{}
	if d.edit >= 0 {
		for k := range e.Children(d.edit) {
			edits[e.Key(k)] = k
		}
	}
	e.dst = append(e.dst, '{')
	start := len(e.dst)
	for _, kid := range e.Desired.Kids(d.node) {
		key := e.Desired.Key(kid)
		k, ok := edits[key]
		if !ok {
			k = -1
		}
		f := declared{node: kid, live: node.None, edit: k, part: d.part}
		if f.t, _ = d.t.Lookup(key); f.t == nil {
			f.t = schema.Unknown
		}
		if d.live != node.None {
			f.live = e.Live.Field(d.live, key)
		}
		null := e.Desired.Kind(kid) == node.Null && !e.KeepsNull(f.t, kid, false)
		if null || ok && e.Edits[k].Op == walk.OpRemove || e.ignored(d, f) && !e.isKey(d.list, key) || key == "managedFields" && e.isMetadata(d.node) {
			continue
		}
		e.comma(start)
		e.dst = e.Desired.AppendKey(e.dst, kid)
		e.value(f)
	}
	e.dst = append(e.dst, '}')
}

// elements writes what desired has of a merged list, in its order.
func (e *configuration) elements(d declared) {
	d.t = e.Edits[d.edit].Type
	e.dst = append(e.dst, '[')
	start := len(e.dst)
	for k := range e.Children(d.edit) {
		if edit := &e.Edits[k]; edit.Desired != node.None && e.Present(k) {
			e.element(d, declared{node: edit.Desired, live: edit.Live, edit: k}, start)
		}
	}
	e.dst = append(e.dst, ']')
}

// element writes an element of the list d.
func (e *configuration) element(d, elem declared, start int) {
	if elem.list, elem.part = d.t, d.part; e.ignored(d, elem) {
		return
	}
	if elem.t = d.t.Elem; elem.t == nil {
		elem.t = schema.Unknown
	}
	e.comma(start)
	e.value(elem)
}

func (e *configuration) comma(start int) {
	if len(e.dst) > start {
		e.dst = append(e.dst, ',')
	}
}

// ignored reports whether the merge does not touch the part p of d.
func (e *configuration) ignored(d, p declared) bool {
	if d.part {
		return false
	}
	t, i := e.Desired, p.node
	if p.live != node.None {
		t, i = e.Live, p.live
	}
	alias := ""
	if e.Desired.Kind(d.node) == node.Map {
		if f := d.t.Field(e.Desired.Key(p.node)); f != nil {
			alias = f.Alias
		}
	}
	for _, pattern := range e.Ignore {
		if alias != "" && d.live != node.None && pattern.MatchesField(e.Live, d.live, alias) {
			return true
		}
		if d.live == node.None && pattern.Matches(e.Desired, p.node) || d.live != node.None && pattern.MatchesPart(e.Live, d.live, t, i) {
			return true
		}
	}
	return false
}

// isKey reports whether a field names the elements of a list, to the merge or to the server.
func (e *configuration) isKey(list *schema.Type, field string) bool {
	isIt := func(k schema.Key) bool { return k.Name == field }
	return list != nil && (slices.ContainsFunc(list.Rule(e.Model).Keys, isIt) || slices.ContainsFunc(list.Structured.Keys, isIt))
}

func (e *configuration) isMetadata(d node.ID) bool {
	return e.Desired.Parent(d) == 0 && e.Desired.Key(d) == "metadata"
}
