package inject

import (
	"fmt"
	"sync"

	"example.com/braid/internal/dialect"
	"example.com/braid/internal/docs"
	"example.com/braid/internal/node"
	"example.com/braid/internal/schema"
	"example.com/braid/merge"
)

// Warning is something that a person should know. It holds no values.
type Warning struct {
	Path merge.Path
	Text string
}

// String returns the path and the text.
func (w Warning) String() string { return w.Path.String() + ": " + w.Text }

// Drift is a position of what was injected that somebody has changed since, and so stays
// as it is. It holds no values.
type Drift struct {
	Path merge.Path
	Case merge.Case
}

// String returns the path and the case.
func (d Drift) String() string { return d.Path.String() + ": " + d.Case.String() }

// Result is the outcome of an injection or its removal. Safe for concurrent use by those
// who do not change its fields.
type Result struct {
	Conflicts  []Conflict // under KeepLive, UseTemplate and Skip
	Drift      []Drift
	Warnings   []Warning
	Injections []Injection // what is now injected

	object *merge.Doc
	root   *value
	parts  []part
}

// part is one pod template that changes.
type part struct {
	place      *place
	next       *value                       // what becomes of it
	operations []byte                       // those of a JSON Patch that gives next, without brackets
	merge      func() (merge.Result, error) // gives next as well, but for the order of elements of one key
}

// annotationLimit is what the keys and values of annotations may come to on an API server.
const annotationLimit = 256 << 10

// add merges what is to become of one pod template.
func (r *Result) add(p *place, w *work, drift OnDrift) error {
	if w == nil {
		return nil
	}
	if err := fits(p, w.next); err != nil {
		return err
	}
	made := part{place: p, next: w.next, operations: p.operations(w.next)}
	if len(made.operations) == 0 {
		return nil
	}
	made.merge = sync.OnceValues(func() (merge.Result, error) {
		live, next, err := p.documents(w.next)
		if err != nil {
			return merge.Result{}, err
		}
		return mergers().exact.TwoWay(live, next)
	})
	if w.was != nil {
		result, err := r.merge(p, w, drift)
		if err != nil {
			return err
		}
		merged, err := result.Merged()
		if err != nil {
			return err
		}
		made.next = valueAt(docs.Tree(merged), 0)
		if w.odd {
			reorder(podType(), made.next, w.next)
		}
		if made.operations = p.operations(made.next); len(made.operations) == 0 {
			return nil
		}
		made.merge = func() (merge.Result, error) { return result, nil }
	}
	r.parts = append(r.parts, made)
	return nil
}

// documents returns a pod template as it is and as it is to be.
func (p *place) documents(becomes *value) (live, next *merge.Doc, err error) {
	if live = docOf(p.pod.tree); p.pod.id != 0 {
		live = docOf(p.pod.tree.Subtree(p.pod.id))
	}
	next, err = becomes.doc(docs.Tree(live))
	return live, next, err
}

// reorder puts the elements of keyed lists in which a key repeats into next's order.
func reorder(t *schema.Type, v, next *value) {
	if v == nil || next == nil || v.kind != next.kind {
		return
	}
	if v.kind == node.Map {
		for _, m := range next.members() {
			if m.v.kind >= node.List {
				reorder(fieldType(t, m.key), v.get(m.key), m.v)
			}
		}
		return
	}
	keys := keysOf(t)
	if v.kind != node.List || keys == nil {
		return
	}
	byKey, repeats := make(map[string][]*value, v.size()), false
	for _, e := range v.elements() {
		k := keyOf(keys, e)
		byKey[k] = append(byKey[k], e)
		repeats = repeats || len(byKey[k]) > 1
	}
	var out []*value
	for _, e := range next.elements() {
		k := keyOf(keys, e)
		if len(byKey[k]) == 0 {
			continue
		}
		reorder(elemType(t), byKey[k][0], e)
		out, byKey[k] = append(out, byKey[k][0]), byKey[k][1:]
	}
	if !repeats {
		return
	}
	for _, e := range v.elements() { // those that next has not
		if k := keyOf(keys, e); len(byKey[k]) > 0 && byKey[k][0] == e {
			out, byKey[k] = append(out, e), byKey[k][1:]
		}
	}
	v.replace(out)
}

// lost tells of what was found to be another's by now.
func (r *Result) lost(p *place, u *undo) {
	for _, at := range u.lost {
		r.Drift = append(r.Drift, Drift{p.below(at), merge.WeRemoveTheySet})
	}
}

func fits(p *place, next *value) error {
	size := 0
	for _, m := range next.path("metadata", "annotations").members() {
		size += len(m.key) + len(m.v.text())
	}
	if size <= annotationLimit {
		return nil
	}
	return &merge.Error{Doc: "desired", Path: p.below(node.Path{{Field: "metadata"}, {Field: "annotations"}}), Offset: -1, Rule: merge.ErrLimit, Detail: "with the record of what is injected, over the 256 KiB that a server takes"}
}

// merge merges with what others have changed.
func (r *Result) merge(p *place, w *work, drift OnDrift) (merge.Result, error) {
	m := mergers()
	live, next, err := p.documents(w.next)
	if err != nil {
		return merge.Result{}, err
	}
	last := settleFields(podType(), w.was, valueAt(p.pod.tree, p.pod.id), w.next)
	lastDoc, err := last.doc(docs.Tree(live))
	if err != nil {
		return merge.Result{}, err
	}
	if drift == UndoDrift {
		return m.undo.ThreeWay(lastDoc, live, next)
	}
	result, err := m.strict.ThreeWay(lastDoc, live, next)
	conflicts := result.Conflicts()
	if err != nil || len(conflicts) == 0 {
		return result, err
	}
	for _, c := range conflicts {
		r.Drift = append(r.Drift, Drift{p.below(c.Path), c.Case})
	}
	return m.semantic.ThreeWay(lastDoc, live, next)
}

// Changed reports whether anything changes.
func (r *Result) Changed() bool { return len(r.parts) > 0 }

// Object returns the object as it becomes: the one given, if nothing changes. O(size).
func (r *Result) Object() (*merge.Doc, error) {
	if !r.Changed() {
		return r.object, nil
	}
	return r.becomes().doc(docs.Tree(r.object))
}

// becomes returns the object as it becomes.
func (r *Result) becomes() *value {
	if !r.Changed() {
		return r.root
	}
	if p := &r.parts[0]; len(p.place.at) == 0 {
		return p.next
	}
	root := r.root.clone()
	for i := range r.parts {
		root.put(r.parts[i].place.at, r.parts[i].next)
	}
	return root
}

// Check reports whether a JSON Patch makes of an object what Object returns, which it need not
// build for that: for those who want to know before they send a patch, or send another than
// Patch returned. The error is a [*merge.Error], as that of [merge.Merger.Patch]. O(size of the
// patch and of what changes), and of the object if it is not the one given or somebody else has
// been there.
func (r *Result) Check(object *merge.Doc, patch []byte) (bool, error) {
	if object == nil {
		return false, &merge.Error{Doc: "live", Offset: -1, Rule: merge.ErrType, Detail: "no document"}
	}
	reader := readers.Get().(*node.Reader)
	defer readers.Put(reader)
	defer reader.Reset()
	t, err := reader.Read(patch, node.Limits{})
	if err != nil {
		return false, node.In("patch", err)
	}
	return dialect.JSONPatchGives(docs.Tree(object), t, r.becomes(), node.Limits{})
}

var readers = sync.Pool{New: func() any { return new(node.Reader) }}

// put sets what stands at a path of fields and indices.
func (v *value) put(at node.Path, what *value) {
	v.expand()
	s := at[0]
	switch {
	case len(at) > 1 && s.Elem:
		v.elems[s.Index].put(at[1:], what)
	case len(at) > 1:
		v.get(s.Field).put(at[1:], what)
	case s.Elem:
		v.elems[s.Index] = what
	default:
		v.set(s.Field, what)
	}
}

// Patch returns the JSON Patch (RFC 6902) that turns the object as given into Object: []
// exactly if not Changed. O(size of what changes).
func (r *Result) Patch() []byte {
	out := []byte{'['}
	for i := range r.parts {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, r.parts[i].operations...)
	}
	return append(out, ']')
}

// StrategicPatch returns Patch as a strategic merge patch, which API servers take for
// built-in kinds: {} exactly if not Changed. Such a server lets variables of one name stand
// together, and takes null for absence. The error is merge.ErrInexpressible for lists.
func (r *Result) StrategicPatch() ([]byte, error) {
	if !r.Changed() {
		return []byte("{}"), nil
	}
	p := &r.parts[0]
	result, err := p.merge()
	if err != nil { // the object has elements without names, say
		return nil, &merge.Error{Path: p.place.at, Offset: -1, Rule: merge.ErrInexpressible, Detail: err.Error()}
	}
	patch, err := result.Patch(merge.StrategicPatch)
	if err != nil {
		return nil, err
	}
	for i := len(p.place.at) - 1; i >= 0; i-- {
		s := p.place.at[i]
		if s.Elem {
			return nil, &merge.Error{Offset: -1, Rule: merge.ErrInexpressible, Detail: "a server takes no strategic merge patch for a list of objects"}
		}
		patch = fmt.Appendf(nil, "{%s:%s}", node.AppendQuoted(nil, s.Field), patch)
	}
	return patch, nil
}
