package merge

import (
	"example.com/braid/internal/node"
	"example.com/braid/internal/walk"
)

// Result is the outcome of one merge. It refers to the documents, and computes
// what it is asked for when it is asked. Safe for concurrent use.
type Result struct {
	s     walk.Script
	guard Guard
}

// Changed reports whether merged differs from live. O(1).
func (r *Result) Changed() bool { return r.s.Changes > 0 }

// Merged returns the merged object. The error is a [*ConflictError] if there are
// conflicts. O(size of live and desired).
func (r *Result) Merged() (*Doc, error) {
	if err := r.conflict(); err != nil {
		return nil, err
	}
	if r.s.Changes == 0 {
		return &Doc{r.s.Live}, nil
	}
	return Parse(r.s.AppendMerged(nil))
}

func (r *Result) conflict() error {
	if r.s.Conflicts == 0 {
		return nil
	}
	return &ConflictError{r.Conflicts()}
}

// Conflicts returns the positions at which the policy says Clash, in document
// order.
func (r *Result) Conflicts() []Conflict {
	if r.s.Conflicts == 0 {
		return nil
	}
	out := make([]Conflict, 0, r.s.Conflicts)
	for i, e := range r.s.Edits {
		if e.Op == walk.OpClash {
			out = append(out, Conflict(r.edit(int32(i))))
		}
	}
	return out
}

// Edits returns the positions at which merged differs from live, or would but for
// a conflict, in document order. A position that is taken or removed as a whole
// is one edit, and so is a new order of a list.
func (r *Result) Edits() []Edit {
	var out []Edit
	for i, e := range r.s.Edits {
		switch {
		case e.Op == walk.OpTake, e.Op == walk.OpRemove, e.Op == walk.OpClash,
			e.Op == walk.OpElements && e.Flags&walk.Reordered != 0:
			out = append(out, r.edit(int32(i)))
		}
	}
	return out
}

// Warning is something odd in live or desired that did not stop the merge.
type Warning struct {
	Doc  string // "live" or "desired"
	Path Path   // list elements by index
	Text string
}

// Warnings returns what was odd, in document order; then what was made by hand.
func (r *Result) Warnings() []Warning {
	var out []Warning
	for _, w := range r.s.Warnings {
		t := r.s.Live
		if w.Doc == "desired" {
			t = r.s.Desired
		}
		out = append(out, Warning{w.Doc, t.Path(w.Node), w.Text})
	}
	return out
}

func (r *Result) edit(i int32) Edit {
	e := &r.s.Edits[i]
	secret := r.secret(i)
	value := func(t *node.Tree, id node.ID) Value {
		if id == node.None {
			return Value{}
		}
		return Value{tree: t, id: id, secret: secret}
	}
	out := Edit{
		Path: r.s.Path(i), Case: e.Case, Action: Take,
		Last: value(r.s.Last, e.Last), Live: value(r.s.Live, e.Live), Desired: value(r.s.Desired, e.Desired),
	}
	switch e.Op {
	case walk.OpClash:
		out.Action = Clash
	case walk.OpElements:
		out.Order = true
	}
	return out
}
