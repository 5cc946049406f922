package apply

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"example.com/braid/merge"
)

// Operation is what a plan does to an object.
type Operation uint8

const (
	None    Operation = iota // nothing: live is as declared
	Create                   // there is no such object yet
	Patch                    // send what changes
	Replace                  // send the whole object, guarded by live's resourceVersion
)

// String returns the name of the operation.
func (o Operation) String() string {
	if int(o) < len(operations) {
		return operations[o]
	}
	return fmt.Sprintf("Operation(%d)", o)
}

var operations = [...]string{"None", "Create", "Patch", "Replace"}

// Options configure a Planner. The zero value applies built-in kinds as kubectl apply does.
type Options struct {
	// Schema returns the rules of a kind. nil is [merge.SchemaFor]. Of kinds for which the
	// error is merge.ErrNoSchema, maps are merged by field and lists replaced. The schemas of
	// custom kinds are looked up with every plan, and may change.
	Schema func(schema.GroupVersionKind) (*merge.Schema, error)

	Policy           *merge.Policy // merge.Apply
	Equality         merge.Equality
	Nulls            merge.Nulls
	Guard            merge.Guard // none, but that a JSON Patch always tests what it meets
	Ignore, HandOver []string    // see merge.Options

	// Unowned says what becomes of fields of live that somebody made by hand and nobody
	// declares: they stay or go, with a warning of each. See merge.Options.ByHand for what
	// counts.
	Unowned merge.Unowned
	ByHand  []string // managers by which people edit objects; nil means those of the function ByHand

	Record  Record // how last-applied is kept
	Replace bool   // plan Replace where a patch would do
}

// Planner plans how to apply objects. Immutable, safe for concurrent use.
type Planner struct {
	o       Options
	unknown *merge.Schema // of kinds without one
	kinds   sync.Map      // of *kind, by schema.GroupVersionKind
}

// NewPlanner checks the options, once for all plans. The error is merge.ErrOption.
func NewPlanner(o Options) (*Planner, error) {
	if o.Schema == nil {
		o.Schema = merge.SchemaFor
	}
	if o.ByHand == nil {
		o.ByHand = ByHand()
	}
	if err := o.Record.check(); err != nil {
		return nil, err
	}
	p := &Planner{o: o, unknown: merge.Schemaless()}
	_, err := p.merger(p.unknown, false)
	return p, err
}

// kind is what a planner knows of a kind.
type kind struct {
	schema  *merge.Schema
	merger  *merge.Merger
	formats []merge.PatchType // that a server takes, the best first
}

// Plan is what applying one object does, and why. Nothing has been sent.
type Plan struct {
	ID        ID
	Operation Operation
	PatchType types.PatchType // of a Patch
	Patch     []byte          // of a Patch
	Object    *merge.Doc      // of a Create or Replace: what to store
	Warnings  []Warning

	result merge.Result
}

// Warning is something that a person should know before a plan is carried out.
type Warning struct {
	Path string // "" is the object
	Text string
}

// String returns the path and the text.
func (w Warning) String() string {
	if w.Path == "" {
		return w.Text
	}
	return w.Path + ": " + w.Text
}

// Edits returns what changes, and why, in document order.
func (p *Plan) Edits() []merge.Edit { return p.result.Edits() }

// Merged returns what live becomes, with the record of what was applied. The error is a
// *merge.ConflictError if there are conflicts. O(size of the object).
func (p *Plan) Merged() (*merge.Doc, error) { return p.result.Merged() }

// Conflicts returns where the policy says Clash.
func (p *Plan) Conflicts() []merge.Conflict { return p.result.Conflicts() }

// WriteReport writes the plan for a person. What Secrets hold is masked.
func (p *Plan) WriteReport(w io.Writer, color bool) error {
	if _, err := fmt.Fprintf(w, "%s: %s\n", p.ID, p.Operation); err != nil {
		return err
	}
	if p.Operation != None || len(p.Conflicts()) > 0 {
		if err := p.result.WriteReport(w, color); err != nil {
			return err
		}
	}
	for _, warning := range p.Warnings {
		if _, err := fmt.Fprintf(w, "! %s\n", warning); err != nil {
			return err
		}
	}
	return nil
}

// Plan plans how desired is applied to live, which is nil if there is no such object yet.
// What was last applied is read from live, and the record of desired is part of the plan.
// Neither document changes. O(size of both).
//
// The patch is in the best format that an API server takes for the kind: strategic for
// built-in kinds; for others a JSON merge patch, or a JSON Patch that tests what it meets
// where an element of a list changes.
//
// If there are conflicts the error is a *merge.ConflictError, and the plan says what else
// there is to say. After other errors, which are *merge.Errors or the Schema's, there is none.
func (p *Planner) Plan(live, desired *merge.Doc) (*Plan, error) {
	plan := &Plan{ID: idOf(desired)}
	if live != nil { // generateName has made a name, and a request a namespace
		gvk := plan.ID.GVK
		plan.ID = idOf(live)
		plan.ID.GVK = gvk
	}
	k, err := p.kind(plan.ID.GVK)
	if err != nil {
		return nil, err
	}
	last, recorded, err := p.o.Record.Exchange(live, desired)
	switch {
	case errors.Is(err, ErrRecord) && recorded != nil:
		plan.warn("", "%v: fields that are no longer declared stay this time", err)
	case err != nil:
		return nil, err
	case live != nil && last == nil:
		plan.warn("", "live says nothing of what was last applied: fields that are no longer declared stay this time")
	}
	if plan.result, err = k.merger.ThreeWay(last, live, recorded); err != nil {
		return nil, err
	}
	if plan.result, err = p.spare(k, plan.result, last, live, recorded); err != nil {
		return nil, err
	}
	if live != nil {
		plan.observe()
	}
	switch conflicts := plan.Conflicts(); {
	case len(conflicts) > 0:
		return plan, &merge.ConflictError{Conflicts: conflicts}
	case live != nil && !plan.result.Changed():
		return plan, nil
	case live != nil && !p.o.Replace:
		return plan, plan.encode(k.formats)
	}
	plan.Operation = Create
	if live != nil {
		plan.Operation = Replace
	}
	plan.Object, err = plan.Merged()
	return plan, err
}

// encode makes the patch, in the first format that can say it.
func (p *Plan) encode(formats []merge.PatchType) error {
	var err error
	for _, f := range formats {
		if f == merge.JSONMergePatch && p.insideList() {
			continue // it would send the list whole, also what others write to it meanwhile
		}
		if p.Patch, err = p.result.Patch(f); err == nil {
			p.Operation, p.PatchType = Patch, types.PatchType(f.MediaType())
			return nil
		}
	}
	return err
}

// insideList reports whether anything changes within an element of a list.
func (p *Plan) insideList() bool {
	for _, e := range p.result.Edits() {
		for _, step := range e.Path {
			if step.Elem {
				return true
			}
		}
	}
	return false
}

func (p *Planner) kind(gvk schema.GroupVersionKind) (*kind, error) {
	rules, err := p.o.Schema(gvk)
	if errors.Is(err, merge.ErrNoSchema) {
		rules, err = p.unknown, nil
	}
	if err != nil {
		return nil, err
	}
	if known, ok := p.kinds.Load(gvk); ok && known.(*kind).schema == rules {
		return known.(*kind), nil
	}
	_, notBuiltin := merge.SchemaFor(gvk)
	k := &kind{schema: rules, formats: []merge.PatchType{merge.StrategicPatch, merge.JSONPatch}}
	if notBuiltin != nil {
		k.formats = []merge.PatchType{merge.JSONMergePatch, merge.JSONPatch}
	}
	if k.merger, err = p.merger(rules, notBuiltin == nil); err != nil {
		return nil, err
	}
	p.kinds.Store(gvk, k)
	return k, nil
}

func (p *Planner) merger(rules *merge.Schema, builtin bool) (*merge.Merger, error) {
	o := merge.Options{
		Schema: rules, Model: merge.Structured, Policy: p.o.Policy, Equality: p.o.Equality, Nulls: p.o.Nulls,
		Guard: p.o.Guard | merge.GuardValues, Ignore: p.o.Ignore, HandOver: p.o.HandOver,
		ByHand: p.o.ByHand, Unowned: p.o.Unowned,
	}
	if builtin {
		o.Model = merge.Strategic
		o.Ignore = append([]string{"status"}, o.Ignore...) // written by its subresource alone
	}
	return merge.New(o)
}

func idOf(doc *merge.Doc) ID {
	namespace, _ := doc.Text("metadata", "namespace")
	name, _ := doc.Text("metadata", "name")
	return ID{GVK: doc.GVK(), Namespace: namespace, Name: name}
}

func (p *Plan) warn(path, format string, args ...any) {
	p.Warnings = append(p.Warnings, Warning{path, fmt.Sprintf(format, args...)})
}
