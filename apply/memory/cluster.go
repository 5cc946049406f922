package memory

import (
	"context"
	"fmt"
	"hash/maphash"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"example.com/braid/apply"
	"example.com/braid/merge"
)

// Options configure a Cluster. The zero value is useful.
type Options struct {
	// Now is the clock. By default time begins with the year 2000 and passes a second a write,
	// so that the same calls store the same bytes.
	Now func() time.Time
	// Mutate and Validate are admission, in order. They see every write but a delete's of
	// a missing object, also dry runs. A write that meets another one is admitted again.
	Mutate, Validate []Hook
	// Intercept stands around every call.
	Intercept Interceptor
	// History is how many events are kept for watches that begin in the past: 10,000 by
	// default. A watch that has begun loses none, however far behind it is.
	History int
}

// Cluster is a cluster in memory. Make it with New. Safe for concurrent use.
type Cluster struct {
	o           Options
	uids, names atomic.Uint64
	seed        maphash.Seed
	turns       [64]sync.Mutex // of those who update, by object

	mu      sync.Mutex
	version uint64 // the resourceVersion of the last write
	objects map[schema.GroupKind]map[types.NamespacedName]*stored
	kinds   map[schema.GroupKind]*definition // what CustomResourceDefinitions define
	log     eventLog
}

var _ interface {
	apply.Client
	apply.Lister
	apply.Watcher
} = (*Cluster)(nil)

// New returns an empty cluster. It holds no goroutines: drop it when you are done.
func New(o Options) *Cluster {
	if o.History <= 0 {
		o.History = 10_000
	}
	c := &Cluster{
		o: o, version: 1, seed: maphash.MakeSeed(),
		objects: map[schema.GroupKind]map[types.NamespacedName]*stored{},
		kinds:   map[schema.GroupKind]*definition{},
	}
	c.log.begin(c.version)
	return c
}

// stored is one state of one object. It never changes, and is told from other states by its
// address.
type stored struct {
	doc     *merge.Doc
	version string // metadata.resourceVersion
	labels  labels.Set
}

// as returns the object under one of its kind's versions. Nothing but apiVersion is converted,
// as by a CustomResourceDefinition with the strategy None.
func (s *stored) as(kind schema.GroupVersionKind) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: s.doc.Map()}
	u.SetGroupVersionKind(kind)
	return u
}

func key(id apply.ID) types.NamespacedName {
	return types.NamespacedName{Namespace: id.Namespace, Name: id.Name}
}

// load returns the present state of an object. The error is NotFound.
func (c *Cluster) load(id apply.ID) (*stored, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.objects[id.GVK.GroupKind()][key(id)]; s != nil {
		return s, nil
	}
	return nil, apierrors.NewNotFound(resource(id.GVK), id.Name)
}

// turn is what those who update an object hold one after the other.
func (c *Cluster) turn(id apply.ID) *sync.Mutex {
	return &c.turns[maphash.Comparable(c.seed, id)%uint64(len(c.turns))]
}

// change is a write that has passed all checks.
type change struct {
	id    apply.ID
	was   *stored                    // nil: created
	now   *unstructured.Unstructured // nil: removed
	kinds *definition                // what now defines, if it is a CustomResourceDefinition
}

// commit stores a change, unless the object is no longer what it was: then it returns false.
// All that happens in a cluster happens here, one change after the other.
func (c *Cluster) commit(ch change) (*stored, bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	kind := ch.id.GVK.GroupKind()
	if c.objects[kind][key(ch.id)] != ch.was {
		return nil, false, nil
	}
	var now *stored
	if ch.now != nil {
		version := strconv.FormatUint(c.version+1, 10)
		ch.now.SetResourceVersion(version)
		doc, err := merge.FromMap(ch.now.Object)
		if err != nil {
			return nil, false, apierrors.NewInternalError(err)
		}
		now = &stored{doc, version, ch.now.GetLabels()}
		if c.objects[kind] == nil {
			c.objects[kind] = map[types.NamespacedName]*stored{}
		}
		c.objects[kind][key(ch.id)] = now
	} else {
		delete(c.objects[kind], key(ch.id))
	}
	c.version++
	c.define(ch.was, ch.kinds)
	c.log.add(&event{version: c.version, kind: kind, namespace: ch.id.Namespace, was: ch.was, now: now}, c.o.History)
	return now, true, nil
}

// now is the time of the next write.
func (c *Cluster) now() time.Time {
	if c.o.Now != nil {
		return c.o.Now()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(c.version) * time.Second)
}

// newUID returns UIDs that differ within the cluster and are the same in every run.
func (c *Cluster) newUID() types.UID {
	return types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012x", c.uids.Add(1)))
}

// newName is what a server makes of generateName, but in turn and not at random.
func (c *Cluster) newName(prefix string) string {
	const letters, suffix, limit = "bcdfghjklmnpqrstvwxz2456789", 5, 63
	name := []byte(prefix[:min(len(prefix), limit-suffix)])
	for i, n := 0, c.names.Add(1); i < suffix; i, n = i+1, n/uint64(len(letters)) {
		name = append(name, letters[n%uint64(len(letters))])
	}
	return string(name)
}

// Schema returns the merge rules of a kind: those of a built-in one, or what the
// CustomResourceDefinition says that the cluster holds. The error is [merge.ErrNoSchema].
func (c *Cluster) Schema(kind schema.GroupVersionKind) (*merge.Schema, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d := c.kinds[kind.GroupKind()]; d != nil && d.schemas[kind] != nil {
		return d.schemas[kind], nil
	}
	return merge.SchemaFor(kind)
}

// through makes a call by way of the interceptor.
func through[T any](ctx context.Context, c *Cluster, call Call, f func() (T, error)) (T, error) {
	var none T
	if err := ctx.Err(); err != nil {
		return none, err
	}
	if c.o.Intercept == nil {
		return f()
	}
	out, inner := none, error(apierrors.NewInternalError(fmt.Errorf("the interceptor of %s neither made the call nor failed it", call.Verb)))
	err := c.o.Intercept(ctx, call, func() error {
		out, inner = f()
		return inner
	})
	if err == nil {
		err = inner
	}
	if err != nil {
		return none, err
	}
	return out, nil
}
