package merge

import (
	"errors"
	"fmt"
	"slices"

	"example.com/braid/internal/dialect"
	"example.com/braid/internal/node"
	"example.com/braid/internal/owner"
	"example.com/braid/internal/secret"
	"example.com/braid/internal/walk"
)

// Options configure a Merger. Schema is required; the zero value of the other
// fields is the default.
type Options struct {
	Schema   *Schema
	Model    Model    // Strategic
	Policy   *Policy  // Apply
	Equality Equality // Semantic
	Nulls    Nulls    // NullRemoves
	Guard    Guard    // none

	// Ignore names positions that the merge must not touch: they stay as live has them.
	// Where the whole map or list around such a position is made or goes, so does it.
	//
	// A path is written as in reports, with * for any field, [*] for any element:
	// spec.replicas, spec.template.spec.containers[name=istio-proxy],
	// metadata.annotations["example.com/a"], spec.ports[*].nodePort. Elements are named as
	// live has them, with the key fields that desired leaves to their defaults; a part of a
	// list or map that merges as one value is no position.
	Ignore []string
	// HandOver names positions that others take over: when desired no longer declares
	// them, or declares null, they stay whole, and are no conflict. They too go where the whole
	// map or list around goes. Without it what last declared and desired does not is removed.
	HandOver []string
	// ByHand names the managers, as in metadata.managedFields of live, by which people edit
	// objects: kubectl-edit. What only they made, and neither last nor desired declares, is
	// warned of, or removed too: see Unowned. nil looks for nothing.
	//
	// Made by hand is what such a manager owns by an Update of the object itself, in live's
	// apiVersion, and of which no other manager owns anything: so not a server's defaults,
	// which its creator owns or nobody, what admission put there, or what is written by way of
	// scale or status. A struct, and an element of a list, counts only as a whole where it was
	// made by hand, for the server's defaults came with it; so do not name managers that create
	// objects. A default that was changed and changed back counts, unless the schema tells
	// it. What is one value to a server, such as a nodeSelector, is owned by the last who
	// wrote to it. Of metadata only labels and annotations count.
	ByHand  []string
	Unowned Unowned // UnownedStays
	// InferKeys merges lists that the schema does not know element by element, if all
	// elements in the three documents have a name, key, id or type that tells them apart.
	// The model Plain infers nothing. To a server such a list is one value: an
	// ApplyConfiguration has it as merged.
	InferKeys bool
}

// Equality says when two values are equal.
type Equality = walk.Equality

// The equalities.
const (
	// Semantic compares by schema: 1000m and 1 are one quantity, 60s and 1m one
	// duration, and "", 0, false, {} and [] are absence where the field cannot tell
	// them apart. What is written keeps its author's spelling.
	Semantic = walk.Semantic
	// Exact compares JSON values; numbers as decimals.
	Exact = walk.Exact
)

// Nulls says what a null in a field of desired means. A null in a list is data.
type Nulls = walk.Nulls

// The meanings of null.
const (
	NullRemoves = walk.NullRemoves // the field is absent, on create and on update
	NullStays   = walk.NullStays   // null, where the schema says nullable or nothing; else the field is absent
	NullFails   = walk.NullFails   // an error, ErrNull
)

// Unowned says what becomes of what was made by hand. There is a warning of each either way.
type Unowned = walk.Unowned

// What becomes of it.
const (
	UnownedStays = walk.UnownedStays
	// UnownedGoes removes it as if last had declared it: in the case WeRemove, though last
	// has no value. An ApplyConfiguration cannot say this: it is ErrInexpressible then.
	UnownedGoes = walk.UnownedGoes
)

// Guard makes a patch fail on a server where live has changed since it was read. A
// patch that changes nothing is not guarded.
type Guard = dialect.Guard

// The guards.
const (
	GuardVersion = dialect.GuardVersion // live's resourceVersion, in every format
	GuardValues  = dialect.GuardValues  // in a JSON Patch: a test of what each edit meets
)

// Merger merges documents of one schema. Immutable, safe for concurrent use.
type Merger struct {
	in     walk.Input
	guard  Guard
	byHand []string
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
	return &Merger{in, o.Guard, slices.Clone(o.ByHand)}, nil
}

// input checks the options and returns them as the engine wants them. It refers to
// the Policy.
func (o *Options) input() (walk.Input, error) {
	in := walk.Input{Rules: walk.Rules{Model: o.Model, Policy: o.Policy, Equality: o.Equality, Nulls: o.Nulls, Infer: o.InferKeys, Unowned: o.Unowned}}
	switch {
	case o.Schema == nil:
		return in, fmt.Errorf("%w: Schema is nil; Schemaless() is the one without rules", ErrOption)
	case o.Model > Plain:
		return in, fmt.Errorf("%w: Model %d", ErrOption, o.Model)
	case o.Equality > Exact:
		return in, fmt.Errorf("%w: Equality %d", ErrOption, o.Equality)
	case o.Nulls > NullFails:
		return in, fmt.Errorf("%w: Nulls %d", ErrOption, o.Nulls)
	case o.Unowned > UnownedGoes:
		return in, fmt.Errorf("%w: Unowned %d", ErrOption, o.Unowned)
	case o.Guard > GuardVersion|GuardValues:
		return in, fmt.Errorf("%w: Guard %d", ErrOption, o.Guard)
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
	var err error
	if in.Ignore, err = patterns(o.Ignore); err == nil {
		in.HandOver, err = patterns(o.HandOver)
	}
	return in, err
}

func patterns(paths []string) ([]node.Pattern, error) {
	var out []node.Pattern
	for _, path := range paths {
		p, err := node.ParsePattern(path)
		if err == nil && len(p) == 0 {
			err = errors.New("it names no position")
		}
		if err != nil {
			return nil, fmt.Errorf("%w: path %q: %v", ErrOption, path, err)
		}
		out = append(out, p)
	}
	return out, nil
}

// ThreeWay merges what desired changes since last into live. last is nil if nothing
// was declared before, and live is nil if there is no such object yet. O(n) in the
// size of the three.
//
// Conflicts are part of the Result, not an error. The error is an [*Error] about
// desired, or about a document that is no map.
func (m *Merger) ThreeWay(last, live, desired *Doc) (Result, error) {
	if desired == nil {
		return Result{}, noDesired()
	}
	in := m.in
	in.Last, in.Live, in.Desired = tree(last), tree(live), desired.tree
	s, err := three(in, m.byHand)
	return Result{s, m.guard}, err
}

func noDesired() error {
	return &Error{Doc: "desired", Offset: -1, Rule: ErrType, Detail: "no document"}
}

// three walks, once what desired and last say in other words is said in one, and it is known
// what was made by hand.
func three(in walk.Input, byHand []string) (walk.Script, error) {
	if in.Schema.Root.StringData {
		in.Last, in.Desired = secret.Fold(in.Last), secret.Fold(in.Desired)
	}
	if len(byHand) == 0 || in.Live == nil {
		return walk.Walk(in)
	}
	var bad error
	in.HandMade, bad = owner.FindHandMade(in.Live, in.Schema.Root, byHand)
	s, err := walk.Walk(in)
	if err != nil {
		return s, err
	}
	var unread *owner.Error
	switch {
	case errors.As(bad, &unread):
		s.Warnings = append(s.Warnings, walk.Warning{Doc: "live", Node: unread.Node, Text: unread.Error() + "; so nothing counts as made by hand"})
	case in.HandMade == nil && in.Unowned == UnownedGoes:
		s.Warnings = append(s.Warnings, walk.Warning{Doc: "live", Node: in.Live.Root(), Text: "there are no managedFields; so nothing counts as made by hand"})
	}
	return s, nil
}

// TwoWay merges what changes between two documents: from is both last and live.
func (m *Merger) TwoWay(from, to *Doc) (Result, error) { return m.ThreeWay(from, from, to) }

func tree(d *Doc) *node.Tree {
	if d == nil {
		return nil
	}
	return d.tree
}
