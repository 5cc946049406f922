package memory

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"example.com/braid/apply"
)

// Watch reports the changes to objects of a kind: in the order of the writes, each once. An
// object that begins or ceases to be selected is added or deleted. From a resourceVersion
// that is older than Options.History, the only event is the error Expired.
//
// Nothing is lost to a slow reader, and it delays no one; the events that it has not read
// yet take memory. The watch ends with ctx or Stop, one of which must come.
func (c *Cluster) Watch(ctx context.Context, kind schema.GroupVersionKind, o apply.WatchOptions) (watch.Interface, error) {
	id := apply.ID{GVK: kind, Namespace: o.Namespace}
	return through(ctx, c, Call{Verb: Watch, ID: id}, func() (watch.Interface, error) {
		if _, err := c.resolve(List, &id, ""); err != nil {
			return nil, err
		}
		w := &watcher{id: id, o: o, out: make(chan watch.Event)}
		if err := c.begin(w); err != nil {
			return nil, err
		}
		ctx, w.stop = context.WithCancel(ctx)
		go w.run(ctx)
		return w, nil
	})
}

// begin finds what w reports first.
func (c *Cluster) begin(w *watcher) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w.o.ResourceVersion == "" || w.o.ResourceVersion == "0" {
		w.first, w.last = c.find(w.id, w.o.Labels), c.log.newest
		return nil
	}
	version, err := strconv.ParseUint(w.o.ResourceVersion, 10, 64)
	switch {
	case err != nil:
		return apierrors.NewBadRequest("invalid resourceVersion " + strconv.Quote(w.o.ResourceVersion))
	case version > c.version:
		return status(http.StatusGatewayTimeout, metav1.StatusReasonTimeout, "Too large resource version: %d, current: %d", version, c.version)
	}
	w.last, w.err = c.log.since(version)
	return nil
}

// watcher is one watch. Its goroutine runs from Watch until ctx ends.
type watcher struct {
	id   apply.ID // without a name
	o    apply.WatchOptions
	out  chan watch.Event
	stop context.CancelFunc

	first []*stored // to report before all events
	err   error     // to report in place of all events
	last  *event    // the last event that is reported, or came before the watch
}

// ResultChan returns the events. It is closed when the watch has ended.
func (w *watcher) ResultChan() <-chan watch.Event { return w.out }

// Stop ends the watch.
func (w *watcher) Stop() { w.stop() }

func (w *watcher) run(ctx context.Context) {
	defer close(w.out)
	defer w.stop()
	if status := apierrors.APIStatus(nil); errors.As(w.err, &status) {
		s := status.Status()
		w.send(ctx, watch.Error, &s)
		return
	}
	for _, s := range w.first {
		if !w.send(ctx, watch.Added, s.as(w.id.GVK)) {
			return
		}
	}
	w.first = nil
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.last.more:
		}
		w.last = w.last.next
		if kind, u := w.see(w.last); u != nil && !w.send(ctx, kind, u) {
			return
		}
	}
}

// see returns an event as this watch sees it; nil if it does not.
func (w *watcher) see(e *event) (watch.EventType, *unstructured.Unstructured) {
	if e.kind != w.id.GVK.GroupKind() || w.id.Namespace != "" && e.namespace != w.id.Namespace {
		return "", nil
	}
	switch was, is := selects(w.o.Labels, e.was), selects(w.o.Labels, e.now); {
	case was && is:
		return watch.Modified, e.now.as(w.id.GVK)
	case is:
		return watch.Added, e.now.as(w.id.GVK)
	case was:
		u := e.was.as(w.id.GVK)
		u.SetResourceVersion(strconv.FormatUint(e.version, 10))
		return watch.Deleted, u
	}
	return "", nil
}

func (w *watcher) send(ctx context.Context, t watch.EventType, obj runtime.Object) bool {
	select {
	case <-ctx.Done():
		return false
	case w.out <- watch.Event{Type: t, Object: obj}:
		return true
	}
}
