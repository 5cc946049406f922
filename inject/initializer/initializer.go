package initializer

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"example.com/braid/apply"
	"example.com/braid/inject"
	"example.com/braid/merge"
)

// Layout: this file is what callers see, and the loop around apply.Reconciler; pass.go is one
// read of one object and what comes of it; observe.go what is told.

// Config is what an Initializer injects, and into what. It is swapped as a whole.
type Config struct {
	Decider  *inject.Decider
	Injector *inject.Injector
	Given    map[string]string // the values of placeholders; see inject.Values. Do not change it.
}

// Options configure an Initializer.
type Options struct {
	// Cluster's Get should read what the cluster holds now: an answer from a cache costs attempts.
	Cluster interface {
		apply.Client
		apply.Lister
		apply.Watcher
	}
	Config Config

	// Kinds says which objects: Workloads(). Pods and Jobs are patched too if they are among them,
	// and are Refused by a server that holds them immutable.
	Kinds     []schema.GroupVersionKind
	Namespace string // of those in one namespace only; "" is all
	// NamespaceLabels returns the labels of a namespace. It is asked where nothing else decides.
	// nil is to read namespaces from Cluster, and to watch them for a change of the label.
	NamespaceLabels func(ctx context.Context, name string) (map[string]string, error)

	FieldManager string // who writes: braid
	// RetryRefused is how long a patch that was refused is not sent again, unless it would be
	// another one by then: 10m.
	RetryRefused time.Duration

	// Observe is told what became of each object that was decided about, by several workers at
	// the same time. It may be nil.
	Observe func(Observation)

	// Loop says how the loop runs: workers, waits after errors, resync, log. Its Reconcile,
	// Sources and Cluster are the Initializer's own.
	Loop apply.ReconcilerOptions
}

// Workloads returns the kinds of which pods are made again when their template changes, or
// the next time.
func Workloads() []schema.GroupVersionKind {
	return []schema.GroupVersionKind{
		{Group: "apps", Version: "v1", Kind: "Deployment"},
		{Group: "apps", Version: "v1", Kind: "StatefulSet"},
		{Group: "apps", Version: "v1", Kind: "DaemonSet"},
		{Group: "batch", Version: "v1", Kind: "CronJob"},
	}
}

// Initializer injects into the objects of a cluster. Make it with New. Safe for concurrent use.
type Initializer struct {
	o      Options
	config atomic.Pointer[Config]
	loop   *apply.Reconciler

	mu       sync.Mutex
	failures map[apply.ID]failure // of objects whose last pass failed for good
}

// failure is what need not be tried or told again.
type failure struct {
	what [sha256.Size]byte
	at   time.Time
}

// New checks the options. The error is merge.ErrOption.
func New(o Options) (*Initializer, error) {
	if err := o.Config.check(); err != nil {
		return nil, err
	}
	switch {
	case o.Cluster == nil:
		return nil, fmt.Errorf("%w: Cluster is nil", merge.ErrOption)
	case o.RetryRefused < 0:
		return nil, fmt.Errorf("%w: RetryRefused is negative", merge.ErrOption)
	case o.Loop.Reconcile != nil || o.Loop.Sources != nil || o.Loop.Cluster != nil:
		return nil, fmt.Errorf("%w: Loop with a Reconcile, Sources or a Cluster", merge.ErrOption)
	}
	if o.Kinds = slices.Clone(o.Kinds); len(o.Kinds) == 0 {
		o.Kinds = Workloads()
	}
	if o.FieldManager == "" {
		o.FieldManager = "braid"
	}
	if o.RetryRefused == 0 {
		o.RetryRefused = 10 * time.Minute
	}
	if o.Observe == nil {
		o.Observe = func(Observation) {}
	}
	i := &Initializer{failures: map[apply.ID]failure{}}
	for _, kind := range o.Kinds {
		o.Loop.Sources = append(o.Loop.Sources, apply.Source{Kind: kind, Objects: apply.ListOptions{Namespace: o.Namespace}})
	}
	if o.NamespaceLabels == nil {
		o.Loop.Sources = append(o.Loop.Sources, apply.Source{Kind: namespaces, Keys: i.inNamespace})
		o.NamespaceLabels = i.namespaceLabels
	}
	o.Loop.Cluster, o.Loop.Reconcile = o.Cluster, i.reconcile
	i.o = o
	i.config.Store(&o.Config)
	var err error
	if i.loop, err = apply.NewReconciler(o.Loop); err != nil {
		return nil, err
	}
	return i, nil
}

// Reload makes c what objects are injected into by from now on, and has all of them looked at
// again. The Decider's Keys.Namespace stays, for it is what namespaces are watched for. The error
// is merge.ErrOption, and changes nothing. O(number of kinds).
func (i *Initializer) Reload(c Config) error {
	if err := c.check(); err != nil {
		return err
	}
	if key := i.config.Load().Decider.Keys().Namespace; c.Decider.Keys().Namespace != key {
		return fmt.Errorf("%w: Config with another Keys.Namespace than %q", merge.ErrOption, key)
	}
	i.config.Store(&c)
	for _, kind := range i.o.Kinds {
		i.loop.Add(apply.ID{GVK: kind, Namespace: i.o.Namespace})
	}
	return nil
}

func (c *Config) check() error {
	if c.Decider == nil || c.Injector == nil {
		return fmt.Errorf("%w: Config without a Decider or an Injector", merge.ErrOption)
	}
	return nil
}

// Run watches and injects until ctx ends, and returns when all that it began has returned. It
// may be called again.
//
// Of an object that was added or changed: a read, one of its namespace where that decides, and
// a write where something changes.
func (i *Initializer) Run(ctx context.Context) { i.loop.Run(ctx) }

var namespaces = schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}

// inNamespace returns what stands for all objects in a namespace, if its label may decide about
// them. Where it loses the label, that is what it meant before.
func (i *Initializer) inNamespace(namespace *unstructured.Unstructured) (ids []apply.ID) {
	name := namespace.GetName()
	if _, ok := namespace.GetLabels()[i.config.Load().Decider.Keys().Namespace]; !ok || i.o.Namespace != "" && i.o.Namespace != name {
		return nil
	}
	for _, kind := range i.o.Kinds {
		ids = append(ids, apply.ID{GVK: kind, Namespace: name})
	}
	return ids
}

// namespaceLabels reads the labels of a namespace. One that is not there has none.
func (i *Initializer) namespaceLabels(ctx context.Context, name string) (map[string]string, error) {
	namespace, err := i.o.Cluster.Get(ctx, apply.ID{GVK: namespaces, Name: name})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return namespace.GetLabels(), nil
}

// attempts is how often an object is read and patched in a row where others write to it: then
// it waits as after any other error.
const attempts = 5

// reconcile makes of one object what it should be; of an ID without a name, it has all objects
// looked at that it stands for.
func (i *Initializer) reconcile(ctx context.Context, id apply.ID) (time.Duration, error) {
	if id.Name == "" {
		return 0, i.addAll(ctx, id)
	}
	var refusal error
	var version string // of the object, that refusal is about
	for attempt := 1; ; attempt++ {
		p, err := i.look(ctx, id)
		switch {
		case apierrors.IsNotFound(err):
			i.forget(id)
			return 0, nil
		case err != nil:
			return 0, err
		case p.Err != nil:
			return 0, i.fail(p)
		case p.patch == nil:
			i.forget(id)
			i.o.Observe(p.Observation)
			return 0, nil
		case refusal != nil && p.Version == version: // it is not that others have written
			p.Outcome, p.Err = Refused, refusal
			return 0, i.fail(p)
		}
		if wait := i.waits(p); wait > 0 {
			return wait, nil
		}
		_, err = i.o.Cluster.Patch(ctx, id, types.JSONPatchType, p.guarded(), apply.WriteOptions{FieldManager: i.o.FieldManager})
		switch {
		case err == nil:
			i.forget(id)
			i.o.Observe(p.Observation)
			return 0, nil
		case attempt == attempts || !refused(err):
			return 0, err
		case !apierrors.IsConflict(err):
			refusal, version = err, p.Version
		}
	}
}

// addAll has all objects of a kind and namespace looked at.
func (i *Initializer) addAll(ctx context.Context, id apply.ID) error {
	list, err := i.o.Cluster.List(ctx, id.GVK, apply.ListOptions{Namespace: id.Namespace})
	if err != nil {
		return err
	}
	for _, object := range list.Items {
		i.loop.Add(apply.ID{GVK: id.GVK, Namespace: object.GetNamespace(), Name: object.GetName()})
	}
	return nil
}

// refused reports whether an error is an answer that the request is not as it should be. Others
// may have written: a JSON Patch that does not fit has the same code as one that makes an
// invalid object.
func refused(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	switch code := status.Status().Code; code {
	case http.StatusUnauthorized, http.StatusRequestTimeout, http.StatusTooManyRequests:
		return false
	default:
		return code >= 400 && code < 500
	}
}

// fail tells of a pass that failed for good: the first time, and when a patch is refused again
// after RetryRefused. The error is for the loop's log; the pass that follows it finds out that
// nothing has changed.
func (i *Initializer) fail(p *pass) error {
	i.mu.Lock()
	now := failure{p.what(), time.Now()}
	was := i.failures[p.ID]
	told := was.what == now.what && (p.Outcome != Refused || now.at.Sub(was.at) < i.o.RetryRefused)
	if !told {
		i.failures[p.ID] = now
	}
	i.mu.Unlock()
	if told {
		return nil
	}
	i.o.Observe(p.Observation)
	return p.Err
}

// waits returns how long not to send a patch that was refused.
func (i *Initializer) waits(p *pass) time.Duration {
	i.mu.Lock()
	defer i.mu.Unlock()
	was, ok := i.failures[p.ID]
	if !ok || was.what != p.what() {
		return 0
	}
	return i.o.RetryRefused - time.Since(was.at)
}

func (i *Initializer) forget(id apply.ID) {
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.failures, id)
}
