package merge

import (
	"fmt"

	"example.com/braid/internal/dialect"
	"example.com/braid/internal/node"
	"example.com/braid/internal/walk"
)

// Options configure a Merger. Schema is required; the zero value of the other
// fields is the default.
type Options struct {
	Schema *Schema
	Model  Model   // Strategic
	Policy *Policy // Apply
}

// Merger merges documents of one schema. Immutable, safe for concurrent use.
type Merger struct {
	in walk.Input
}

// New checks the options, once for all merges.
func New(o Options) (*Merger, error) {
	if o.Policy != nil {
		own := *o.Policy // the caller may change its own
		o.Policy = &own
	}
	in, err := o.input()
	if err != nil {
		return nil, err
	}
	return &Merger{in}, nil
}

// input checks the options and returns them as the engine wants them. It refers to
// the Policy.
func (o *Options) input() (walk.Input, error) {
	in := walk.Input{Model: o.Model, Policy: o.Policy}
	switch {
	case o.Schema == nil:
		return in, fmt.Errorf("%w: Schema is nil; Schemaless() is the one without rules", ErrOption)
	case o.Model > Plain:
		return in, fmt.Errorf("%w: Model %d", ErrOption, o.Model)
	}
	in.Schema = o.Schema.s
	if in.Policy == nil {
		in.Policy = &walk.Apply
	}
	for c, a := range in.Policy {
		if a > Clash {
			return in, fmt.Errorf("%w: Policy has action %d for %s", ErrOption, a, Case(c))
		}
	}
	return in, nil
}

// ThreeWay merges what desired changes since last into live. last is nil if nothing
// was declared before, and live is nil if there is no such object yet. O(n) in the
// size of the three.
//
// Conflicts are part of the Result, not an error. The error is an [*Error] about
// desired, or about a document that is no map.
func (m *Merger) ThreeWay(last, live, desired *Doc) (Result, error) {
	if desired == nil {
		return Result{}, &Error{Doc: "desired", Offset: -1, Rule: ErrType, Detail: "no document"}
	}
	in := m.in
	in.Last, in.Live, in.Desired = tree(last), tree(live), desired.tree
	s, err := walk.Walk(in)
	return Result{s}, err
}

// TwoWay merges what changes between two documents: from is both last and live.
func (m *Merger) TwoWay(from, to *Doc) (Result, error) { return m.ThreeWay(from, from, to) }

// PatchType is a patch format.
type PatchType uint8

// The patch formats.
const (
	StrategicPatch PatchType = iota // application/strategic-merge-patch+json
)

// MediaType returns the Content-Type under which an API server takes the format.
func (t PatchType) MediaType() string {
	return [...]string{"application/strategic-merge-patch+json"}[t]
}

// Patch applies a patch to a document as the API server would, and returns the
// object that it would store before defaulting. The error is an [*Error] about the
// patch, or about a list of doc that no API server could merge.
func (m *Merger) Patch(t PatchType, doc, patch *Doc) (*Doc, error) {
	if t != StrategicPatch {
		return nil, fmt.Errorf("%w: PatchType %d", ErrOption, t)
	}
	if doc == nil || patch == nil {
		return nil, &Error{Doc: "patch", Offset: -1, Rule: ErrType, Detail: "no document"}
	}
	out, err := dialect.ApplyStrategic(nil, doc.tree, patch.tree, m.in.Schema)
	if err != nil {
		return nil, err
	}
	return Parse(out)
}

func tree(d *Doc) *node.Tree {
	if d == nil {
		return nil
	}
	return d.tree
}
