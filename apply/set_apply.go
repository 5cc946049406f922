package apply

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/braid/merge"
)

// SetClient is what applying a set needs of a cluster.
type SetClient interface {
	Client
	Lister
}

// Pruning says when to delete what a set no longer declares. It needs an Inventory.
type Pruning uint8

const (
	PruneIfApplied Pruning = iota // if all that is declared was applied
	PruneAnyway                   // also if some of it was not; what failed stays, as the set declares it
	PruneNever
)

// SetApplierOptions configure a SetApplier. Options.Schema is [Set.Schema] if it is nil.
type SetApplierOptions struct {
	ApplierOptions
	Pruning Pruning
	// Step is told of every object as soon as it is done, of one at a time.
	Step func(Step)
}

// SetApplier makes a cluster what a set declares. Make it with NewSetApplier. Safe for
// concurrent use, but two runs of one set at the same time undo each other's prunes.
type SetApplier struct {
	client  SetClient
	set     *Set
	o       SetApplierOptions
	applier *Applier
}

// NewSetApplier checks the options. The error is merge.ErrOption.
func NewSetApplier(client SetClient, set *Set, o SetApplierOptions) (*SetApplier, error) {
	if client == nil || set == nil || o.Pruning > PruneNever {
		return nil, fmt.Errorf("%w: want a client, a set and a known Pruning", merge.ErrOption)
	}
	if o.Schema == nil {
		o.Schema = set.Schema
	}
	applier, err := NewApplier(memberClient{client, set}, o.ApplierOptions)
	if err != nil {
		return nil, err
	}
	return &SetApplier{client, set, o, applier}, nil
}

// Apply applies what is declared, in order, and then prunes what no longer is. Objects of kinds
// between which the order does not matter are applied as many at once as Concurrency says.
//
// With an Inventory, the parent says first where all members are or will be, and only when all
// has been pruned where they are, so that a run that breaks off leaks no object: the next one
// finds them. Pruned are members found by their label where the parent said they were, but no
// Namespaces, with the UID as precondition. What has the label of another set is not touched:
// [ErrOtherSet]. Kinds that the cluster no longer defines stay in the parent's list.
//
// An object that fails keeps none of the others from being applied, but see Pruning. The error
// joins an *[Error] for each object that failed, the parent among them, and one with
// [ErrNotTried] if ctx ended before all were tried. In memory are what is declared, as many live
// objects as are applied at once, and one list of members.
func (a *SetApplier) Apply(ctx context.Context) (Counts, error) {
	r := &setRun{SetApplier: a, ctx: ctx}
	if a.set.inventory.label() != "" {
		if err := r.begin(); err != nil {
			return r.counts, err
		}
	}
	r.apply()
	if a.set.inventory.label() != "" && a.o.Pruning != PruneNever && (len(r.errs) == 0 || a.o.Pruning == PruneAnyway) && ctx.Err() == nil {
		if err := r.prune(); err != nil {
			r.errs = append(r.errs, err)
		}
	}
	return r.counts, errors.Join(r.errs...)
}

// setRun is one run of a SetApplier.
type setRun struct {
	*SetApplier
	ctx    context.Context
	counts Counts
	errs   []error
	done   int     // steps
	before content // where members were
}

// begin makes the parent say where members are and will be.
func (r *setRun) begin() error {
	i := r.set.inventory
	if !i.builtin() {
		defined, err := r.definitions()
		if err != nil {
			return &Error{i.Parent, err}
		}
		if !defined[i.Parent.GVK.GroupKind()].parent {
			return &Error{i.Parent, fmt.Errorf("%w: the definition of its kind has no label %s", ErrInventory, ParentTypeLabel)}
		}
	}
	var err error
	r.before, err = i.update(r.ctx, r.client, r.o.DryRun, func(c content) (content, error) { return c.and(r.set.content()), nil })
	return err
}

// definitions returns what the cluster knows of custom kinds.
func (r *setRun) definitions() (map[schema.GroupKind]definition, error) {
	out := map[schema.GroupKind]definition{}
	list, err := r.client.List(r.ctx, definitionKind.WithVersion("v1"), ListOptions{})
	if absent(err) {
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	for _, u := range list.Items {
		d, err := merge.FromMap(u.Object)
		if err != nil {
			return nil, err
		}
		kind, of := definitionOf(d)
		out[kind] = of
	}
	return out, nil
}

// absent reports whether an error says that there is no such object or kind.
func absent(err error) bool { return apierrors.IsNotFound(err) || meta.IsNoMatchError(err) }

// apply applies what is declared, a few objects at a time.
func (r *setRun) apply() {
	left := r.set.members
	for len(left) > 0 && r.ctx.Err() == nil {
		n := 1
		for n < min(len(left), 4*r.applier.o.Concurrency) && CompareKinds(left[0].id.GVK.GroupKind(), left[n].id.GVK.GroupKind()) == 0 {
			n++
		}
		r.batch(left[:n])
		left = left[n:]
	}
	if missing := r.set.Len() - r.done; missing > 0 {
		r.errs = append(r.errs, fmt.Errorf("%w: %d of %d objects: %w", ErrNotTried, missing, r.set.Len(), context.Cause(r.ctx)))
	}
}

func (r *setRun) batch(members []member) {
	docs := make([]*merge.Doc, len(members))
	for i, m := range members {
		docs[i], _ = m.doc() // the applier refuses what is none
	}
	outcomes, _ := r.applier.Apply(r.ctx, docs...) // the errors are those of the outcomes
	for i, out := range outcomes {
		if errors.Is(out.Err, ErrNotTried) {
			continue
		}
		r.step(Step{ID: out.ID, Place: members[i].place, Plan: out.Plan, Outcome: &out, Err: out.Err}, r.set.Len())
	}
}

// step counts and tells a step of so many.
func (r *setRun) step(s Step, of int) {
	r.done++
	s.Number, s.Total = r.done, of
	r.counts.Add(s)
	if s.Err != nil {
		r.errs = append(r.errs, &Error{s.ID, s.Err})
	}
	if r.o.Step != nil {
		r.o.Step(s)
	}
}

// prune deletes what is no longer declared, and makes the parent say where the members are.
func (r *setRun) prune() error {
	places, unknown, err := r.places()
	if err != nil {
		return &Error{r.set.inventory.Parent, err}
	}
	steps, err := r.set.prunes(r.members(places))
	if err != nil {
		return &Error{r.set.inventory.Parent, fmt.Errorf("listing members: %w", err)}
	}
	failed := r.counts.Fail
	for _, s := range steps {
		if r.ctx.Err() != nil {
			return fmt.Errorf("%w: %d of %d objects to prune: %w", ErrNotTried, r.set.Len()+len(steps)-r.done, len(steps), context.Cause(r.ctx))
		}
		if s.Prune.Kept == "" {
			err := r.client.Delete(r.ctx, s.ID, DeleteOptions{UID: s.Prune.UID, DryRun: r.o.DryRun})
			if !absent(err) {
				s.Err = err
			}
		}
		r.step(s, r.set.Len()+len(steps))
	}
	if r.counts.Fail > failed || r.o.DryRun {
		return nil
	}
	after, whole := r.set.content().and(unknown), r.before.and(r.set.content())
	_, err = r.set.inventory.update(r.ctx, r.client, false, func(now content) (content, error) {
		if !now.equal(whole) && !now.equal(after) {
			return content{}, fmt.Errorf("%w any more: another run has changed it", ErrInventory)
		}
		return after, nil
	})
	return err
}

// listing is a place where members may be.
type listing struct {
	kind      schema.GroupVersionKind
	namespace string
}

// places returns where members were, and of that what the cluster no longer defines.
func (r *setRun) places() ([]listing, content, error) {
	var out []listing
	unknown := newContent()
	var defined map[schema.GroupKind]definition
	versions := r.set.versions()
	for _, kind := range slices.SortedFunc(maps.Keys(r.before.kinds), func(a, b schema.GroupKind) int { return cmp.Compare(a.String(), b.String()) }) {
		version, cluster := versions[kind], r.set.clusterScoped(kind)
		if version == "" {
			version = builtinVersion(kind)
		}
		if version == "" {
			if defined == nil {
				var err error
				if defined, err = r.definitions(); err != nil {
					return nil, unknown, err
				}
			}
			version, cluster = defined[kind].version, defined[kind].cluster
		}
		if version == "" {
			unknown.kinds[kind] = true
			maps.Copy(unknown.namespaces, r.before.namespaces)
			continue
		}
		if cluster {
			out = append(out, listing{kind.WithVersion(version), ""})
			continue
		}
		for _, n := range slices.Sorted(maps.Keys(r.before.namespaces)) {
			out = append(out, listing{kind.WithVersion(version), n})
		}
	}
	return out, unknown, nil
}

// builtinVersion returns a version of a built-in kind, or "".
func builtinVersion(kind schema.GroupKind) string {
	for _, v := range [...]string{"v1", "v2", "v1beta2", "v1beta1", "v1alpha3", "v1alpha2", "v1alpha1"} {
		if _, err := merge.SchemaFor(kind.WithVersion(v)); err == nil {
			return v
		}
	}
	return ""
}

// members lists what has the label of the set, place by place.
func (r *setRun) members(places []listing) iter.Seq2[*merge.Doc, error] {
	return func(yield func(*merge.Doc, error) bool) {
		label := labels.SelectorFromSet(labels.Set{PartOfLabel: r.set.inventory.label()})
		for _, at := range places {
			list, err := r.client.List(r.ctx, at.kind, ListOptions{Namespace: at.namespace, Labels: label})
			if absent(err) {
				continue
			}
			if err != nil {
				yield(nil, err)
				return
			}
			for _, u := range list.Items {
				if !yield(merge.FromMap(u.Object)) {
					return
				}
			}
		}
	}
}

// memberClient keeps an Applier from members of other sets, and makes it wait for the kinds that
// the set has only just defined: a server takes a moment until it serves them.
type memberClient struct {
	Client
	set *Set
}

// Get refuses an object of another set.
func (c memberClient) Get(ctx context.Context, id ID) (*unstructured.Unstructured, error) {
	u, err := c.Client.Get(ctx, id)
	if err != nil {
		if meta.IsNoMatchError(err) {
			err = c.soon(id.GVK, err)
		}
		return nil, err
	}
	return u, c.set.mine(u.GetLabels()[PartOfLabel])
}

// Create says that a kind is not yet served where it is not served.
func (c memberClient) Create(ctx context.Context, obj *unstructured.Unstructured, o WriteOptions) (*unstructured.Unstructured, error) {
	u, err := c.Client.Create(ctx, obj, o)
	if absent(err) {
		err = c.soon(obj.GroupVersionKind(), err)
	}
	return u, err
}

func (c memberClient) soon(kind schema.GroupVersionKind, err error) error {
	if status, ok := statusOf(err); ok && status.Details != nil && status.Details.Kind == "namespaces" || c.set.schemas()[kind] == nil {
		return err
	}
	return apierrors.NewServiceUnavailable("not served yet: " + err.Error())
}
