package inject

import (
	"fmt"
	"strings"

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
	place  *place
	result merge.Result
	// letter gives what is to be where result does not, to a server: it lets elements of one key
	// stand together, and takes null for absence. nil if there is no difference.
	letter   *merge.Result
	nameless bool       // a list has elements that no strategic patch can name
	object   *merge.Doc // what becomes of it, if that needs no merge
}

// annotationLimit is what the keys and values of annotations may come to on an API server.
const annotationLimit = 256 << 10

// add merges what is to become of one pod template.
func (r *Result) add(p *place, w *work, drift OnDrift) error {
	if w == nil {
		return nil
	}
	live := r.object
	if p.pod.id != 0 {
		live = docOf(p.pod.tree.Subtree(p.pod.id))
	}
	if err := fits(p, w.next); err != nil {
		return err
	}
	next, err := w.next.doc(docs.Tree(live))
	if err != nil {
		return err
	}
	if next.Equal(live) {
		return nil
	}
	result, err := r.merge(p, w, live, next, drift)
	if err != nil {
		return err
	}
	made := part{place: p, result: result, nameless: w.nameless}
	if w.was == nil {
		made.object = next
	}
	if w.odd {
		if err := made.finish(w, live, next); err != nil {
			return err
		}
	}
	if result.Changed() || made.letter != nil && made.letter.Changed() {
		r.parts = append(r.parts, made)
	}
	return nil
}

// full returns the merge that gives what is to be, to the letter.
func (p *part) full() *merge.Result {
	if p.letter != nil {
		return p.letter
	}
	return &p.result
}

// finish holds what was merged to what is to be: to the letter where only we have been
// there, and else in the order of elements whose keys repeat, of which a later one may refer
// to an earlier.
func (p *part) finish(w *work, live, next *merge.Doc) error {
	merged, err := p.result.Merged()
	if err != nil {
		return err
	}
	want := next
	if w.was != nil {
		v := valueAt(docs.Tree(merged), 0)
		reorder(podType(), v, w.next)
		if want, err = v.doc(v.tree); err != nil {
			return err
		}
	}
	if merged.Equal(want) {
		return nil
	}
	letter, err := mergers().letter.TwoWay(live, want)
	p.letter = &letter
	return err
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

func (r *Result) merge(p *place, w *work, live, next *merge.Doc, drift OnDrift) (merge.Result, error) {
	m := mergers()
	if w.was == nil {
		result, err := m.exact.TwoWay(live, next)
		if err != nil { // the object has elements without names, say: they stay as they are
			w.nameless = true
			return m.letter.TwoWay(live, next)
		}
		return result, nil
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
	root := r.root.clone()
	for i := range r.parts {
		p := &r.parts[i]
		object, err := p.object, error(nil)
		if object == nil {
			object, err = p.full().Merged()
		}
		if err != nil || len(p.place.at) == 0 {
			return object, err
		}
		root.put(p.place.at, valueAt(docs.Tree(object), 0))
	}
	return root.doc(docs.Tree(r.object))
}

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
func (r *Result) Patch() ([]byte, error) {
	out := []byte{'['}
	for i := range r.parts {
		p := &r.parts[i]
		patch, err := p.full().Patch(merge.JSONPatch)
		if err != nil {
			return nil, err
		}
		if len(p.place.at) == 0 {
			return patch, nil
		}
		if out, err = appendBelow(out, patch, pointer(p.place.at)); err != nil {
			return nil, err
		}
	}
	return append(out, ']'), nil
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// pointer writes a path of fields and indices as a JSON Pointer (RFC 6901).
func pointer(at node.Path) string {
	out := ""
	for _, s := range at {
		if s.Elem {
			out += fmt.Sprintf("/%d", s.Index)
		} else {
			out += "/" + pointerEscapes.Replace(s.Field)
		}
	}
	return out
}

// appendBelow appends the operations of a JSON Patch, with a prefix to their pointers.
func appendBelow(dst, patch []byte, prefix string) ([]byte, error) {
	t, err := node.Parse(patch, node.Limits{})
	if err != nil {
		return nil, err
	}
	for _, op := range t.Kids(0) {
		if len(dst) > 1 {
			dst = append(dst, ',')
		}
		dst = append(dst, '{')
		for i, f := range t.Kids(op) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = t.AppendKey(dst, f)
			if key := t.Key(f); key == "path" || key == "from" {
				dst = node.AppendQuoted(dst, prefix+t.Text(f))
			} else {
				dst = t.Append(dst, f)
			}
		}
		dst = append(dst, '}')
	}
	return dst, nil
}

// StrategicPatch returns Patch as a strategic merge patch, which API servers take for
// built-in kinds: {} exactly if not Changed. Such a server lets variables of one name stand
// together, and takes null for absence. The error is merge.ErrInexpressible for lists.
func (r *Result) StrategicPatch() ([]byte, error) {
	if !r.Changed() {
		return []byte("{}"), nil
	}
	p := &r.parts[0]
	if p.nameless {
		return nil, &merge.Error{Path: p.place.at, Offset: -1, Rule: merge.ErrInexpressible, Detail: "elements without names, which a strategic merge patch cannot tell apart"}
	}
	patch, err := p.result.Patch(merge.StrategicPatch)
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
