package apply

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"example.com/braid/merge"
)

// ReconcilerOptions configure a Reconciler. Only Reconcile is required.
type ReconcilerOptions struct {
	// Reconcile makes what the cluster holds of one thing what it should be: it reads the
	// present state, compares and acts, whatever has happened since it was last called. It is
	// called again after an error, with growing waits; after a positive again, in that time; and
	// whenever the ID is added. Never is it called for the same ID by two at once. A panic is an
	// error. It should return soon after ctx has ended.
	Reconcile func(ctx context.Context, id ID) (again time.Duration, err error)

	// Sources are what is watched, on Cluster, for IDs to reconcile.
	Sources []Source
	Cluster interface {
		Lister
		Watcher
	}
	// Resync is how often all that Sources watch is listed again and reconciled. 0 is never. Only
	// this makes up for an object that was both made and deleted while its watch had expired.
	Resync time.Duration

	Workers int // how many IDs are reconciled at once: 1

	// MinBackoff is the wait after the first error, 50ms, and MaxBackoff the longest one, 5m.
	// Each error in a row doubles it, and up to half of it is taken off at random. A server that
	// asks for more gets it. Lost watches wait no longer than 30s.
	MinBackoff, MaxBackoff time.Duration
	// Random makes the waits repeatable: numbers in [0, 1), for any number of goroutines at the
	// same time. nil is math/rand's.
	Random func() float64

	// Log is told of errors, slog.Default() by default: with addresses and reasons, without what
	// objects hold: a server's errors about invalid fields, which quote them, are cut down to
	// the fields. Other errors of Reconcile are logged as they are.
	Log *slog.Logger
}

// Reconciler calls a function for each ID that needs it: the loop of a controller. It holds no
// objects. Make it with NewReconciler. Safe for concurrent use.
type Reconciler struct {
	o       ReconcilerOptions
	queue   *queue[ID]
	backoff backoff
}

// NewReconciler checks the options. The error is merge.ErrOption.
func NewReconciler(o ReconcilerOptions) (*Reconciler, error) {
	switch {
	case o.Reconcile == nil:
		return nil, fmt.Errorf("%w: Reconcile is nil", merge.ErrOption)
	case len(o.Sources) > 0 && o.Cluster == nil:
		return nil, fmt.Errorf("%w: Sources need a Cluster", merge.ErrOption)
	case o.Workers < 0 || o.Resync < 0 || o.MinBackoff < 0 || o.MaxBackoff < 0:
		return nil, fmt.Errorf("%w: Workers, Resync, MinBackoff or MaxBackoff is negative", merge.ErrOption)
	}
	if o.Workers == 0 {
		o.Workers = 1
	}
	if o.MinBackoff == 0 {
		o.MinBackoff = 50 * time.Millisecond
	}
	if o.MaxBackoff == 0 {
		o.MaxBackoff = 5 * time.Minute
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return &Reconciler{o: o, queue: newQueue[ID](), backoff: backoff{o.MinBackoff, o.MaxBackoff, o.Random}}, nil
}

// Add has id reconciled as soon as a worker is free, also if it waits after an error: once,
// however often it is added until then, and once more if it is being reconciled. What is added
// while nothing runs is kept for Run. O(1), or O(log n) of the IDs that wait if id does.
func (r *Reconciler) Add(id ID) { r.queue.add(id) }

// Run watches and reconciles until ctx ends, and returns when all that it began has returned.
// Nothing is reconciled before all Sources have been listed: else a reconcile might rely on what
// goes before anybody watches it.
// An ID whose work ctx cuts short is kept for the next Run. It may be called again, and by
// several at once, who then share the work.
func (r *Reconciler) Run(ctx context.Context) {
	var all sync.WaitGroup
	all.Go(func() { r.queue.run(ctx) })
	var sources []*follower
	for _, s := range r.o.Sources {
		f := &follower{Source: s, cluster: r.o.Cluster, add: r.Add, log: r.o.Log, backoff: r.backoff, listed: make(chan struct{})}
		f.backoff.most = min(f.backoff.most, maxWatchBackoff)
		sources = append(sources, f)
		all.Go(func() { f.run(ctx, r.o.Resync) })
	}
	for range r.o.Workers {
		all.Go(func() {
			for _, f := range sources {
				select {
				case <-f.listed:
				case <-ctx.Done():
					return
				}
			}
			for {
				id, failures, ok := r.queue.get(ctx)
				if !ok {
					return
				}
				failures, wait := r.work(ctx, id, failures)
				r.queue.done(id, failures, wait)
			}
		})
	}
	all.Wait()
}

// work reconciles id, which has failed so many times in a row, and returns that number as it is
// now, and when to do it again.
func (r *Reconciler) work(ctx context.Context, id ID, failures int) (int, time.Duration) {
	var again time.Duration
	err := contain(func() (err error) {
		again, err = r.o.Reconcile(ctx, id)
		return err
	})
	switch {
	case err != nil && ctx.Err() != nil:
		return failures, 0
	case err != nil:
		failures++
		wait := r.backoff.after(failures, err)
		r.o.Log.LogAttrs(ctx, slog.LevelWarn, "reconcile failed", slog.String("id", id.String()),
			slog.Int("failures", failures), slog.Duration("wait", wait), cause(err))
		return failures, wait
	case again > 0:
		return 0, again
	}
	return 0, never
}
