package apply

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"example.com/braid/merge"
)

// Layout: this file is what callers see, and one attempt: read, plan, send. applier_retry.go
// says which errors another attempt may mend; outcome.go is what is told of an object.
//
// What holds: every attempt begins with a read, so a write whose answer was lost is found and
// not made again; and what was last applied is read and written in the same plan, so no attempt
// leaves an object without its record.

// ApplierOptions configure an Applier. The zero value applies as kubectl apply does, object by
// object.
type ApplierOptions struct {
	Options // how to plan; Guard says whether a write must meet what was read

	FieldManager string // who writes: braid
	DryRun       bool   // the server checks everything and stores nothing

	// Concurrency is how many objects are applied at once: 1, in the order given.
	Concurrency int
	// Attempts is how often an object is read, planned and sent at most: 10.
	Attempts int
	// MinBackoff is the wait before the second attempt, 10ms, and MaxBackoff the longest one, 1s.
	// Each attempt doubles it, and up to half of it is taken off at random. A server that asks for
	// more (Retry-After) gets it.
	MinBackoff, MaxBackoff time.Duration
	// Random makes the waits repeatable: numbers in [0, 1), for any number of goroutines at the
	// same time. nil is math/rand's.
	Random func() float64

	// Report is told of every object as soon as it is done, of one at a time.
	Report func(Outcome)
}

// Applier makes objects of a cluster what they are declared to be. Make it with NewApplier.
// Safe for concurrent use; it holds no goroutines.
//
// Any number of appliers may share an object if each has a record of its own ([Record.Name]):
// then no write takes back another's, and none has to be made again but by chance. Appliers with
// one record count as one, whose declarations replace each other.
type Applier struct {
	client  Client
	planner *Planner
	o       ApplierOptions
	backoff backoff
	refused sync.Map // of true, by format
}

// format is a kind of patch of a kind of object.
type format struct {
	kind  schema.GroupVersionKind
	patch types.PatchType
}

// NewApplier checks the options. The error is merge.ErrOption.
//
// Client's Get should read what the cluster holds now: an answer from a cache costs attempts.
func NewApplier(client Client, o ApplierOptions) (*Applier, error) {
	switch {
	case client == nil:
		return nil, fmt.Errorf("%w: Client is nil", merge.ErrOption)
	case o.Concurrency < 0 || o.Attempts < 0 || o.MinBackoff < 0 || o.MaxBackoff < 0:
		return nil, fmt.Errorf("%w: Concurrency, Attempts, MinBackoff or MaxBackoff is negative", merge.ErrOption)
	}
	if o.FieldManager == "" {
		o.FieldManager = "braid"
	}
	if o.Concurrency == 0 {
		o.Concurrency = 1
	}
	if o.Attempts == 0 {
		o.Attempts = 10
	}
	if o.MinBackoff == 0 {
		o.MinBackoff = 10 * time.Millisecond
	}
	if o.MaxBackoff == 0 {
		o.MaxBackoff = time.Second
	}
	planner, err := NewPlanner(o.Options)
	if err != nil {
		return nil, err
	}
	return &Applier{client: client, planner: planner, o: o, backoff: backoff{o.MinBackoff, o.MaxBackoff, o.Random}}, nil
}

// Apply creates or changes objects until they are as declared, and returns what became of each,
// in the order given. An object that fails keeps none of the others from being applied. The
// error joins an *[Error] for each that failed, and one for all that were not tried, with
// [ErrNotTried], because ctx ended.
//
// An object is read, planned and sent; and again, after a wait, while that may help: after a
// conflict, after it was made or went in between, after a server that is busy or an answer that
// was lost. What has only a generateName is created with every call, and sent again only after
// answers that say that nothing was made.
//
// No object may be given twice. A read and at most one write for each object and attempt.
func (a *Applier) Apply(ctx context.Context, desired ...*merge.Doc) ([]Outcome, error) {
	outcomes := make([]Outcome, len(desired))
	var next atomic.Int64
	var reporting sync.Mutex
	var workers sync.WaitGroup
	for range min(a.o.Concurrency, len(desired)) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(desired)); i = next.Add(1) - 1 {
				outcomes[i] = a.apply(ctx, desired[i])
				if a.o.Report != nil {
					reporting.Lock()
					a.o.Report(outcomes[i])
					reporting.Unlock()
				}
			}
		})
	}
	workers.Wait()
	return outcomes, join(ctx, outcomes)
}

// apply applies one object.
func (a *Applier) apply(ctx context.Context, desired *merge.Doc) Outcome {
	var out Outcome
	if out.ID, out.Err = address(desired); out.Err != nil {
		return out
	}
	if ctx.Err() != nil {
		out.Err = fmt.Errorf("%w: %w", ErrNotTried, context.Cause(ctx))
		return out
	}
	for {
		out.Attempts++
		plan, err := a.attempt(ctx, desired, &out)
		if out.Err = err; err == nil {
			return out
		}
		if ctx.Err() == nil && (out.Attempts == a.o.Attempts || !mayHelp(err, plan, desired)) {
			return out
		}
		if ended := sleep(ctx, a.backoff.after(out.Attempts, err)); ended != nil {
			if !errors.Is(err, ended) { // a client may say only that it was stopped
				out.Err = fmt.Errorf("%w, after: %w", ended, err)
			}
			return out
		}
	}
}

// attempt reads, plans and sends once. plan is what was sent, or nil.
func (a *Applier) attempt(ctx context.Context, desired *merge.Doc, out *Outcome) (sent *Plan, err error) {
	var live *merge.Doc
	var object *unstructured.Unstructured
	if out.ID.Name != "" {
		object, err = a.client.Get(ctx, out.ID)
		switch {
		case err == nil:
			if live, err = merge.FromMap(object.Object); err != nil {
				return nil, err
			}
		case !apierrors.IsNotFound(err):
			return nil, err
		}
	}
	plan, err := a.planner.Plan(live, desired)
	if err != nil {
		out.Operation, out.Plan = None, plan
		return nil, err
	}
	if plan.Operation == None {
		if !out.unknown { // else what out has is what was done, and its answer was lost
			out.Operation, out.Plan = None, plan
		}
		out.Object = object
		return nil, nil
	}
	out.Operation, out.Plan, out.unknown = plan.Operation, plan, false
	object, err = a.send(ctx, plan)
	if err != nil {
		out.unknown = !refused(err)
		return plan, err
	}
	out.Object, out.ID.Name = object, object.GetName()
	return plan, nil
}

// send carries out a plan. A patch in a format that the server does not take for the kind is
// sent in the next one, and later ones at once.
func (a *Applier) send(ctx context.Context, plan *Plan) (*unstructured.Unstructured, error) {
	o := WriteOptions{FieldManager: a.o.FieldManager, DryRun: a.o.DryRun}
	switch plan.Operation {
	case Create:
		return a.client.Create(ctx, &unstructured.Unstructured{Object: plan.Object.Map()}, o)
	case Replace:
		return a.client.Replace(ctx, &unstructured.Unstructured{Object: plan.Object.Map()}, o)
	}
	if _, known := a.refused.Load(format{plan.ID.GVK, plan.PatchType}); known {
		if err := a.recode(plan); err != nil {
			return nil, err
		}
	}
	for {
		object, err := a.client.Patch(ctx, plan.ID, plan.PatchType, plan.Patch, o)
		if !apierrors.IsUnsupportedMediaType(err) {
			return object, err
		}
		a.refused.Store(format{plan.ID.GVK, plan.PatchType}, true)
		if a.recode(plan) != nil {
			return nil, err
		}
	}
}

// recode says a patch in another format, which the server has not refused.
func (a *Applier) recode(plan *Plan) error {
	k, err := a.planner.kind(plan.ID.GVK)
	if err != nil {
		return err
	}
	var left []merge.PatchType
	for _, f := range k.formats {
		if _, known := a.refused.Load(format{plan.ID.GVK, types.PatchType(f.MediaType())}); !known {
			left = append(left, f)
		}
	}
	if len(left) == 0 {
		return fmt.Errorf("%w: the server takes patches of %s in no format", merge.ErrInexpressible, plan.ID.GVK.Kind)
	}
	return plan.encode(left)
}
