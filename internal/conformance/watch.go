package conformance

import (
	"context"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/watch"

	"example.com/braid/apply"
)

// selected selects what a case labels, so that cases do not see each other's objects.
func selected(name string) labels.Selector {
	return labels.SelectorFromSet(labels.Set{"watch": name})
}

func (e *env) labelled(name, label string) *unstructured.Unstructured {
	u := e.configMap(name, "1")
	u.SetLabels(map[string]string{"watch": label})
	return u
}

func (e *env) watch(ctx context.Context, label, version string) watch.Interface {
	e.Helper()
	w, err := e.c.Watch(ctx, configMaps, apply.WatchOptions{
		ListOptions: apply.ListOptions{Namespace: e.ns, Labels: selected(label)}, ResourceVersion: version,
	})
	if err != nil {
		e.Fatal(err)
	}
	return w
}

// sees reads events: type and name of each.
func (e *env) sees(w watch.Interface, want ...string) []*unstructured.Unstructured {
	e.Helper()
	var got []string
	var objects []*unstructured.Unstructured
	for range want {
		select {
		case event, ok := <-w.ResultChan():
			if !ok {
				e.Fatalf("the watch ended after %v, want %v", got, want)
			}
			u, ok := event.Object.(*unstructured.Unstructured)
			if !ok {
				e.Fatalf("event %v: %v", event.Type, apierrors.FromObject(event.Object))
			}
			got, objects = append(got, string(event.Type)+" "+u.GetName()), append(objects, u)
		case <-time.After(patience):
			e.Fatalf("saw %v, want %v", got, want)
		}
	}
	if !slices.Equal(got, want) {
		e.Errorf("saw %v, want %v", got, want)
	}
	return objects
}

// ends checks that a watch reports nothing more.
func (e *env) ends(w watch.Interface) {
	e.Helper()
	for end := time.After(patience); ; {
		select {
		case event, ok := <-w.ResultChan():
			if !ok {
				return
			}
			if event.Type != watch.Error { // some clients report their own end so
				e.Errorf("event %v after the last one", event)
			}
		case <-end:
			e.Fatal("the watch does not end")
		}
	}
}

var watching = []testCase{
	{"a watch reports changes in order", func(e *env) {
		list, err := e.c.List(e.ctx, configMaps, apply.ListOptions{Namespace: e.ns})
		if err != nil {
			e.Fatal(err)
		}
		w := e.watch(e.ctx, "order", list.GetResourceVersion())
		defer w.Stop()
		a := e.create(e.labelled("watch-a", "order"))
		e.create(e.labelled("watch-b", "order"))
		e.create(e.labelled("watch-c", "not"))
		changed := e.merge(a, `{"data":{"key":"2"}}`)
		e.merge(a, `{"data":{"key":"2"}}`)
		if err := e.c.Delete(e.ctx, apply.IDOf(a), apply.DeleteOptions{}); err != nil {
			e.Fatal(err)
		}
		e.merge(e.labelled("watch-b", ""), `{"data":{"key":"3"}}`)
		seen := e.sees(w, "ADDED watch-a", "ADDED watch-b", "MODIFIED watch-a", "DELETED watch-a", "MODIFIED watch-b")
		e.is(seen[0], "1", "data", "key")
		e.is(seen[2], changed.GetResourceVersion(), "metadata", "resourceVersion")
		e.is(seen[3], "2", "data", "key")
		if seen[3].GetResourceVersion() == changed.GetResourceVersion() {
			e.Error("a deletion has no resourceVersion of its own")
		}
	}},
	{"a watch from a version resumes there", func(e *env) {
		a := e.create(e.labelled("resume-a", "resume"))
		e.create(e.labelled("resume-b", "resume"))
		w := e.watch(e.ctx, "resume", a.GetResourceVersion())
		e.sees(w, "ADDED resume-b")
		w.Stop()
		e.ends(w)
	}},
	{"a watch from no version begins with what there is", func(e *env) {
		a := e.create(e.labelled("begin-a", "begin"))
		e.merge(a, `{"data":{"key":"2"}}`)
		w := e.watch(e.ctx, "begin", "")
		defer w.Stop()
		e.is(e.sees(w, "ADDED begin-a")[0], "2", "data", "key")
		e.merge(a, `{"data":{"key":"3"}}`)
		e.sees(w, "MODIFIED begin-a")
	}},
	{"an object comes into sight and leaves it", func(e *env) {
		a := e.create(e.labelled("sight", "not"))
		w := e.watch(e.ctx, "sight", a.GetResourceVersion())
		defer w.Stop()
		e.merge(a, `{"metadata":{"labels":{"watch":"sight"}}}`)
		e.merge(a, `{"data":{"key":"2"}}`)
		e.merge(a, `{"metadata":{"labels":{"watch":"not"}}}`)
		e.merge(a, `{"data":{"key":"3"}}`)
		e.merge(a, `{"metadata":{"labels":{"watch":"sight"}}}`)
		seen := e.sees(w, "ADDED sight", "MODIFIED sight", "DELETED sight", "ADDED sight")
		e.is(seen[2], "2", "data", "key")
	}},
	{"the end of its context ends a watch", func(e *env) {
		ctx, cancel := context.WithCancel(e.ctx)
		w := e.watch(ctx, "context", "")
		cancel()
		e.ends(w)
	}},
	{"a kind that nobody serves", func(e *env) {
		u := object(gadgets, e.ns, "a", nil)
		_, err := e.c.Get(e.ctx, apply.IDOf(u))
		e.fails(err, 404, metav1.StatusReasonNotFound)
	}},
}
