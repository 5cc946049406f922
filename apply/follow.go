package apply

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
)

// Source is objects of one kind whose changes say what to reconcile.
type Source struct {
	Kind    schema.GroupVersionKind
	Objects ListOptions // which of them
	// Keys returns what to reconcile when obj has changed, been added or been deleted, and what
	// obj meant before is reconciled too. nil is the object itself; see also [OwnersOf]. Calls
	// come one at a time. It does not change obj.
	Keys func(obj *unstructured.Unstructured) []ID
}

// OwnersOf returns Keys for objects that owners of a kind have made: those owners, in the
// object's namespace, that its ownerReferences name, whatever version they give for the kind.
func OwnersOf(kind schema.GroupVersionKind) func(*unstructured.Unstructured) []ID {
	return func(obj *unstructured.Unstructured) []ID {
		var ids []ID
		for _, ref := range obj.GetOwnerReferences() {
			if schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).GroupKind() == kind.GroupKind() {
				ids = append(ids, ID{GVK: kind, Namespace: obj.GetNamespace(), Name: ref.Name})
			}
		}
		return ids
	}
}

const (
	maxWatchBackoff = 30 * time.Second
	// shortWatch is for less than how long a watch that tells nothing counts as a failure.
	shortWatch = time.Second
	// maxFailures is after how many failures in a row a watch no longer begins where the last
	// one ended: what is wrong may be that place.
	maxFailures = 3
)

// follower adds the keys of a source: it lists, then watches what happens next. Of each object
// it knows what that means, so that it also adds what went while nothing watched.
type follower struct {
	Source
	cluster interface {
		Lister
		Watcher
	}
	add     func(ID)
	log     *slog.Logger
	backoff backoff

	listed  chan struct{} // closed after the first list
	known   map[ID][]ID   // keys of objects; nil where Keys is
	version string        // of the last state that is known; "": list
	told    bool          // this watch has told something
}

// run follows until ctx ends. A watch that was closed is begun again where it ended: at once, or
// after a backoff if it was short and told nothing.
func (f *follower) run(ctx context.Context, resync time.Duration) {
	var due <-chan time.Time
	if resync > 0 {
		ticker := time.NewTicker(resync)
		defer ticker.Stop()
		due = ticker.C
	}
	for failures := 0; ctx.Err() == nil; {
		began := time.Now()
		err := f.follow(ctx, due)
		if ctx.Err() != nil {
			return
		}
		well := f.told || time.Since(began) >= shortWatch
		if f.told = false; well {
			failures = 0
		}
		if err != nil || !well {
			failures++
		}
		if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) || failures >= maxFailures {
			f.version = ""
		}
		wait := f.backoff.after(failures, err)
		if err != nil {
			f.log.LogAttrs(ctx, slog.LevelWarn, "watch failed", slog.String("kind", f.Kind.String()),
				slog.Int("failures", failures), slog.Duration("wait", wait), cause(err))
		}
		if sleep(ctx, wait) != nil {
			return
		}
	}
}

// follow lists, if it must, and watches until the watch ends.
func (f *follower) follow(ctx context.Context, due <-chan time.Time) error {
	if f.version == "" {
		if err := f.list(ctx); err != nil {
			return err
		}
	}
	w, err := f.cluster.Watch(ctx, f.Kind, WatchOptions{ListOptions: f.Objects, ResourceVersion: f.version})
	if err != nil {
		return err
	}
	defer w.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-due:
			f.version = "" // should it fail
			if err := f.list(ctx); err != nil {
				return err
			}
		case e, ok := <-w.ResultChan():
			if !ok {
				return nil
			}
			if err := f.see(ctx, e); err != nil {
				return err
			}
		}
	}
}

// list adds the keys of all there is, and of what is no longer there.
func (f *follower) list(ctx context.Context) error {
	list, err := f.cluster.List(ctx, f.Kind, f.Objects)
	if err != nil {
		return err
	}
	now := make(map[ID][]ID, len(list.Items))
	for i := range list.Items {
		id, keys := f.changed(ctx, &list.Items[i])
		now[id] = keys
	}
	for id, keys := range f.known {
		if _, ok := now[id]; !ok {
			f.addAll(id, keys)
		}
	}
	if f.known == nil {
		close(f.listed)
	}
	f.known, f.version = now, list.GetResourceVersion()
	return nil
}

// see adds the keys of what an event is about.
func (f *follower) see(ctx context.Context, e watch.Event) error {
	if e.Type == watch.Error {
		return apierrors.FromObject(e.Object)
	}
	obj, ok := e.Object.(*unstructured.Unstructured)
	if !ok {
		return fmt.Errorf("watch: event %s: want *unstructured.Unstructured, got %T", e.Type, e.Object)
	}
	if e.Type != watch.Bookmark {
		id, keys := f.changed(ctx, obj)
		if f.known[id] = keys; e.Type == watch.Deleted {
			delete(f.known, id)
		}
	}
	f.version, f.told = obj.GetResourceVersion(), true
	return nil
}

// changed adds the keys of obj, and those that it had if they are others. If Keys panics obj
// has none.
func (f *follower) changed(ctx context.Context, obj *unstructured.Unstructured) (ID, []ID) {
	id := ID{GVK: f.Kind, Namespace: obj.GetNamespace(), Name: obj.GetName()}
	var keys []ID
	if f.Keys != nil {
		err := contain(func() error { keys = f.Keys(obj); return nil })
		if err != nil {
			f.log.LogAttrs(ctx, slog.LevelError, "no keys", slog.String("id", id.String()), cause(err))
		}
	}
	if had, ok := f.known[id]; ok && !slices.Equal(had, keys) {
		f.addAll(id, had)
	}
	f.addAll(id, keys)
	return id, keys
}

func (f *follower) addAll(id ID, keys []ID) {
	if f.Keys == nil {
		f.add(id)
	}
	for _, key := range keys {
		f.add(key)
	}
}
