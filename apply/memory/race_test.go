package memory_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/watch"

	"example.com/braid/apply"
	"example.com/braid/apply/memory"
)

func parallel(n int, f func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}

func count(u *unstructured.Unstructured) int {
	text, _, _ := unstructured.NestedString(u.Object, "data", "key")
	n, _ := strconv.Atoi(text)
	return n
}

// Watches that read at once, late, or from the middle see the same events in the same order:
// one for each write, which lead from nothing to what a list returns.
func TestWatchUnderLoad(t *testing.T) {
	c := memory.New(memory.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	begin := func(version string) watch.Interface {
		w, err := c.Watch(ctx, configMaps, apply.WatchOptions{ResourceVersion: version})
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	prompt, late := begin("1"), begin("1")
	const total = 16 * 25 * 4
	got := make(chan []string)
	go func() { got <- read(t, prompt, total) }()
	parallel(16, func(writer int) {
		for i := range 25 {
			made := create(t, c, fmt.Sprintf(`{apiVersion: v1, kind: ConfigMap, metadata: {name: w%d-%d, namespace: default}, data: {key: "1"}}`, writer, i))
			create(t, c, fmt.Sprintf(`{apiVersion: v1, kind: Secret, metadata: {name: w%d-%d, namespace: default}}`, writer, i)) // which no one watches
			patch(t, c, made, `{"data":{"key":"2"}}`)
			if err := c.Delete(t.Context(), apply.IDOf(made), apply.DeleteOptions{}); err != nil {
				t.Error(err)
			}
			create(t, c, fmt.Sprintf(`{apiVersion: v1, kind: ConfigMap, metadata: {name: w%d-%d, namespace: default}, data: {key: "3"}}`, writer, i))
		}
	})
	events := <-got
	if diff := cmp.Diff(events, read(t, late, total)); diff != "" {
		t.Error(diff)
	}
	middle := len(events) / 2
	var version int
	_, _ = fmt.Sscan(events[middle-1], &version)
	if diff := cmp.Diff(events[middle:], read(t, begin(strconv.Itoa(version)), total-middle)); diff != "" {
		t.Error(diff)
	}
	list, err := c.List(ctx, configMaps, apply.ListOptions{})
	if err != nil || len(list.Items) != 16*25 {
		t.Errorf("%d objects, %v", len(list.Items), err)
	}
	if got := read(t, begin(""), 16*25); len(got) != len(list.Items) {
		t.Errorf("%d objects at first, %d listed", len(got), len(list.Items))
	}
}

// read reads n events, as version, type and name. Versions ascend, but among objects that a
// watch begins with, and each event fits what was before it.
func read(t *testing.T, w watch.Interface, n int) []string {
	defer w.Stop()
	var out []string
	state := map[string]string{} // the key of each object
	follows := map[string]string{"": "ADDED 1", "1": "MODIFIED 2", "2": "DELETED 2", "gone": "ADDED 3"}
	last := 0
	for range n {
		event := <-w.ResultChan()
		u, ok := event.Object.(*unstructured.Unstructured)
		if !ok {
			t.Errorf("event %v", event)
			return out
		}
		version, _ := strconv.Atoi(u.GetResourceVersion())
		what := fmt.Sprintf("%s %d", event.Type, count(u))
		was, known := state[u.GetName()]
		if want := follows[was]; (known || n == 16*25*4) && what != want {
			t.Errorf("%s: %s after %q, want %s", u.GetName(), what, was, want)
		}
		if version <= last && n != 16*25 {
			t.Errorf("version %d after %d", version, last)
		}
		last = version
		state[u.GetName()] = strconv.Itoa(count(u))
		if event.Type == watch.Deleted {
			state[u.GetName()] = "gone"
		}
		out = append(out, fmt.Sprintf("%d %s %s", version, event.Type, u.GetName()))
	}
	return out
}

// No goroutine outlives a watch that is stopped or whose context has ended, whatever it was
// doing: the bubble of synctest does not end before the goroutines in it.
func TestWatchLeaksNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := memory.New(memory.Options{History: 1})
		ctx, cancel := context.WithCancel(t.Context())
		made := create(t, c, a)
		begin := func(version string) watch.Interface {
			w, err := c.Watch(ctx, configMaps, apply.WatchOptions{ResourceVersion: version})
			if err != nil {
				t.Fatal(err)
			}
			return w
		}
		begin("").Stop()                        // with an object to report
		begin(made.GetResourceVersion()).Stop() // with nothing to report
		begin("")
		waiting := begin(made.GetResourceVersion())
		patch(t, c, made, `{"data":{"key":"2"}}`)
		patch(t, c, made, `{"data":{"key":"3"}}`)
		begin("1") // too old, with an error to report
		<-waiting.ResultChan()
		cancel()
		synctest.Wait()
		for range waiting.ResultChan() {
			t.Error("an event after the end")
		}
	})
}

// A watch that has begun loses nothing to a short history; one that begins before it is told
// that it must list again.
func TestWatchHistory(t *testing.T) {
	c := memory.New(memory.Options{History: 2})
	begin := func(version string) (watch.Interface, error) {
		return c.Watch(t.Context(), configMaps, apply.WatchOptions{ResourceVersion: version})
	}
	slow, err := begin("1")
	if err != nil {
		t.Fatal(err)
	}
	made := create(t, c, a)
	for i := range 4 { // versions 3 to 6
		patch(t, c, made, fmt.Sprintf(`{"data":{"key":"%d"}}`, i))
	}
	versions := func(w watch.Interface, n int) (out []string) {
		defer w.Stop()
		for range n {
			switch obj := (<-w.ResultChan()).Object.(type) {
			case *unstructured.Unstructured:
				out = append(out, obj.GetResourceVersion())
			default:
				err := apierrors.FromObject(obj)
				out = append(out, fmt.Sprint(apierrors.IsResourceExpired(err), " ", err))
			}
		}
		return out
	}
	if got := versions(slow, 5); !slices.Equal(got, []string{"2", "3", "4", "5", "6"}) {
		t.Errorf("a slow watch saw %v", got)
	}
	for from, want := range map[string][]string{"4": {"5", "6"}, "5": {"6"}, "3": {"true too old resource version: 3 (4)"}} {
		w, err := begin(from)
		if err != nil {
			t.Fatal(err)
		}
		if got := versions(w, len(want)); !slices.Equal(got, want) {
			t.Errorf("from %s: %q, want %q", from, got, want)
		}
	}
	for from, want := range map[string]int32{"7": 504, "x": 400} {
		if _, err := begin(from); code(err) != want {
			t.Errorf("from %s: %v", from, err)
		}
	}
}

// Two selectors, two views of one object.
func TestWatchSelects(t *testing.T) {
	c := memory.New(memory.Options{})
	other, err := c.Watch(t.Context(), configMaps, apply.WatchOptions{ListOptions: apply.ListOptions{Namespace: "other", Labels: labels.Everything()}})
	if err != nil {
		t.Fatal(err)
	}
	create(t, c, a)
	create(t, c, `{apiVersion: v1, kind: ConfigMap, metadata: {name: b, namespace: other}}`)
	if u := (<-other.ResultChan()).Object.(*unstructured.Unstructured); u.GetName() != "b" {
		t.Errorf("saw %v of another namespace", u)
	}
	other.Stop()
}
