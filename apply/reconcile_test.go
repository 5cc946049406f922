package apply_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/watch"

	"example.com/braid/apply"
	"example.com/braid/apply/memory"
	"example.com/braid/merge"
)

var (
	configMaps = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	sites      = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Site"}
)

func idOf(name string) apply.ID {
	return apply.ID{GVK: configMaps, Namespace: "default", Name: name}
}

func object(id apply.ID) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(id.GVK)
	u.SetNamespace(id.Namespace)
	u.SetName(id.Name)
	return u
}

// diary is what was reconciled, in order, and when.
type diary struct {
	mu    sync.Mutex
	begin time.Time
	lines []string
}

func (d *diary) note(id apply.ID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, fmt.Sprint(time.Since(d.begin).Round(time.Second), " ", id.Name))
}

// expect compares what was noted since the last time.
func (d *diary) expect(t *testing.T, why string, want ...string) {
	t.Helper()
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	if !slices.Equal(d.lines, want) {
		t.Errorf("%s: reconciled %q, want %q", why, d.lines, want)
	}
	d.lines = nil
}

// start runs a reconciler that keeps a diary and then does what f says, until the test ends.
func start(t *testing.T, o apply.ReconcilerOptions, f func(context.Context, apply.ID) (time.Duration, error)) (*apply.Reconciler, *diary, *bytes.Buffer) {
	t.Helper()
	d, log := &diary{begin: time.Now()}, &bytes.Buffer{}
	o.Log = slog.New(slog.NewTextHandler(log, nil))
	o.Reconcile = func(ctx context.Context, id apply.ID) (time.Duration, error) {
		d.note(id)
		if f == nil {
			return 0, nil
		}
		return f(ctx, id)
	}
	r, err := apply.NewReconciler(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { r.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	return r, d, log
}

func TestReconcilerOptions(t *testing.T) {
	works := func(context.Context, apply.ID) (time.Duration, error) { return 0, nil }
	for name, o := range map[string]apply.ReconcilerOptions{
		"no function": {},
		"no cluster":  {Reconcile: works, Sources: []apply.Source{{Kind: configMaps}}},
		"workers":     {Reconcile: works, Workers: -1},
		"resync":      {Reconcile: works, Resync: -1},
		"backoff":     {Reconcile: works, MinBackoff: -1},
	} {
		if _, err := apply.NewReconciler(o); !errors.Is(err, merge.ErrOption) {
			t.Errorf("%s: got %v, want %v", name, err, merge.ErrOption)
		}
	}
}

// Errors wait longer and longer; a success forgets them.
func TestReconcilerBacksOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at []time.Duration
		begin := time.Now()
		r, _, log := start(t, apply.ReconcilerOptions{MinBackoff: time.Second, MaxBackoff: 10 * time.Second, Random: func() float64 { return 0.5 }},
			func(context.Context, apply.ID) (time.Duration, error) {
				at = append(at, time.Since(begin))
				if len(at) == 7 {
					return time.Hour, nil
				}
				return 0, errors.New("connection reset by peer")
			})
		r.Add(idOf("a"))
		time.Sleep(time.Hour + time.Minute)
		synctest.Wait()
		var got []time.Duration
		for i := range at[:min(8, len(at)-1)] {
			got = append(got, at[i+1]-at[i])
		}
		want := []time.Duration{750 * time.Millisecond, 1500 * time.Millisecond, 3 * time.Second, 6 * time.Second,
			7500 * time.Millisecond, 7500 * time.Millisecond, time.Hour, 750 * time.Millisecond}
		if !slices.Equal(got, want) {
			t.Errorf("waited %v, want %v: doubled, up to the most, less a random half of a half; then what the success asked for, and the first again", got, want)
		}
		if want := `msg="reconcile failed" id="v1 ConfigMap default/a" failures=6 wait=7.5s`; !strings.Contains(log.String(), want) {
			t.Errorf("the log does not say %q:\n%s", want, log)
		}
	})
}

func TestReconcilerWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type answer struct {
			again time.Duration
			err   error
		}
		var next atomic.Pointer[answer]
		r, d, _ := start(t, apply.ReconcilerOptions{}, func(context.Context, apply.ID) (time.Duration, error) {
			a := next.Load()
			return a.again, a.err
		})
		a, b := idOf("a"), idOf("b")
		d.expect(t, "nothing was added")

		next.Store(&answer{again: 10 * time.Second})
		r.Add(a)
		time.Sleep(25 * time.Second)
		d.expect(t, "every 10s", "0s a", "10s a", "20s a")

		r.Add(a)
		time.Sleep(8 * time.Second)
		d.expect(t, "an add begins the 10s anew", "25s a")

		next.Store(&answer{})
		time.Sleep(time.Hour)
		d.expect(t, "once more, and no more", "35s a")

		next.Store(&answer{err: apierrors.NewTooManyRequests("busy", 60)})
		r.Add(a)
		r.Add(b)
		synctest.Wait()
		next.Store(&answer{})
		r.Add(b)
		time.Sleep(time.Hour)
		d.expect(t, "the server's wait, unless it is added", "1h0m33s a", "1h0m33s b", "1h0m33s b", "1h1m33s a")
	})
}

func TestReconcilerAddedWhileWorking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, d, _ := start(t, apply.ReconcilerOptions{Workers: 3}, func(context.Context, apply.ID) (time.Duration, error) {
			time.Sleep(time.Second)
			return 0, nil
		})
		r.Add(idOf("a"))
		synctest.Wait()
		for range 5 {
			r.Add(idOf("a"))
		}
		r.Add(idOf("b"))
		time.Sleep(time.Minute)
		d.expect(t, "again when it is done, once, beside others", "0s a", "0s b", "1s a")
	})
}

// A panic is an error that is tried again; what it holds is not told.
func TestReconcilerPanic(t *testing.T) {
	for _, tt := range []struct {
		value any
		want  string
	}{
		{"password", "panic: string"},
		{errors.New("password"), "panic: *errors.errorString"},
		{nil, "panic: panic called with nil argument"},
	} {
		synctest.Test(t, func(t *testing.T) {
			first := true
			r, d, log := start(t, apply.ReconcilerOptions{MinBackoff: time.Nanosecond, MaxBackoff: time.Nanosecond},
				func(context.Context, apply.ID) (time.Duration, error) {
					if first {
						first = false
						panic(tt.value)
					}
					return 0, nil
				})
			r.Add(idOf("a"))
			time.Sleep(time.Second)
			d.expect(t, "again after the panic", "0s a", "0s a")
			if text := log.String(); !strings.Contains(text, tt.want) || !strings.Contains(text, "reconcile_test.go") || strings.Contains(text, "password") {
				t.Errorf("want %q and where, and not the value, in the log:\n%s", tt.want, text)
			}
		})
	}
}

// A server quotes what it finds invalid. That is not logged, wherever in an error it stands.
func TestReconcilerLogsNoContents(t *testing.T) {
	secret := apply.ID{GVK: schema.GroupVersionKind{Version: "v1", Kind: "Secret"}, Namespace: "default", Name: "s"}
	lost := errors.New("connection reset by peer")
	var invalid error = apierrors.NewInvalid(secret.GVK.GroupKind(), "s", field.ErrorList{
		field.Invalid(field.NewPath("data").Key("token"), "password", "no base64")})
	for _, tt := range []struct {
		err  error
		want string
	}{
		{lost, `"connection reset by peer"`},
		{fmt.Errorf("read: %w", lost), `"read: connection reset by peer"`},
		{invalid, `"invalid data[token]"`},
		{fmt.Errorf("apply %v: %w", invalid, invalid), `"invalid data[token]"`},
		{errors.Join(lost, &apply.Error{ID: secret, Err: fmt.Errorf("%w, after: %w", lost, invalid)}),
			`"connection reset by peer; v1 Secret default/s: connection reset by peer; invalid data[token]"`},
	} {
		synctest.Test(t, func(t *testing.T) {
			r, _, log := start(t, apply.ReconcilerOptions{MinBackoff: time.Hour, MaxBackoff: time.Hour},
				func(context.Context, apply.ID) (time.Duration, error) { return 0, tt.err })
			r.Add(idOf("a"))
			synctest.Wait()
			if text, want := log.String(), "cause.error="+tt.want+"\n"; !strings.HasSuffix(text, want) {
				t.Errorf("logged %q, want at its end %q", text, want)
			}
		})
	}
}

// Whenever ctx ends, Run returns when the work has, and what was cut short is done by the next.
func TestReconcilerEnds(t *testing.T) {
	for _, after := range []time.Duration{0, time.Second, 1500 * time.Millisecond, 2 * time.Second, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			c := memory.New(memory.Options{})
			for _, name := range []string{"a", "b", "c"} {
				if _, err := c.Create(t.Context(), object(idOf(name)), apply.WriteOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			var mu sync.Mutex
			var log bytes.Buffer
			done, at := map[string]int{}, 0
			r, err := apply.NewReconciler(apply.ReconcilerOptions{
				Cluster: c, Sources: []apply.Source{{Kind: configMaps}}, Workers: 2, Resync: time.Minute,
				Log: slog.New(slog.NewTextHandler(&log, nil)),
				Reconcile: func(ctx context.Context, id apply.ID) (time.Duration, error) {
					mu.Lock()
					at++
					mu.Unlock()
					select {
					case <-ctx.Done():
						time.Sleep(time.Second) // cleaning up
						return 0, ctx.Err()
					case <-time.After(time.Second):
					}
					mu.Lock()
					defer mu.Unlock()
					done[id.Name]++
					return 0, nil
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(after, cancel)
			r.Run(ctx)
			began := at
			time.Sleep(time.Hour)
			if at != began {
				t.Errorf("after %v: reconciled after Run had returned", after)
			}
			ctx, cancel = context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			r.Run(ctx)
			if len(done) != 3 {
				t.Errorf("after %v: the second run has left %v", after, done)
			}
			if log.Len() > 0 {
				t.Errorf("after %v: the end of ctx is logged as a failure:\n%s", after, &log)
			}
		})
	}
}

func TestReconcilerRunWithEndedContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		r, err := apply.NewReconciler(apply.ReconcilerOptions{Reconcile: func(context.Context, apply.ID) (time.Duration, error) {
			t.Error("reconciled")
			return 0, nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		r.Add(idOf("a"))
		r.Run(ctx)
	})
}

// Events, relists and resyncs say what to reconcile.
func TestReconcilerFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		var calls []string
		var mu sync.Mutex
		c := memory.New(memory.Options{Intercept: func(_ context.Context, call memory.Call, next func() error) error {
			if call.Verb == memory.List || call.Verb == memory.Watch {
				mu.Lock()
				calls = append(calls, string(call.Verb))
				mu.Unlock()
			}
			return next()
		}})
		owned := object(idOf("child"))
		owned.SetLabels(map[string]string{"app": "web"})
		owner := func(names ...string) {
			var refs []metav1.OwnerReference
			for i, name := range names {
				refs = append(refs, metav1.OwnerReference{APIVersion: "example.com/v1beta1", Kind: "Site", Name: name, UID: types.UID(fmt.Sprint(i))})
			}
			owned.SetOwnerReferences(append(refs, metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "x", UID: "y"}))
		}
		must := func(_ any, err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		owner("old")
		must(c.Create(ctx, owned, apply.WriteOptions{}))
		must(c.Create(ctx, object(idOf("stranger")), apply.WriteOptions{}))

		selector, err := labels.Parse("app=web")
		must(nil, err)
		_, d, _ := start(t, apply.ReconcilerOptions{Cluster: c, Resync: time.Hour, Sources: []apply.Source{
			{Kind: configMaps, Objects: apply.ListOptions{Labels: selector}, Keys: apply.OwnersOf(sites)},
		}}, nil)
		d.expect(t, "what there is", "0s old")

		owner("new")
		must(c.Replace(ctx, owned, apply.WriteOptions{}))
		d.expect(t, "another owner", "0s old", "0s new")

		must(c.Patch(ctx, idOf("child"), types.MergePatchType, []byte(`{"metadata":{"labels":{"app":"other"}}}`), apply.WriteOptions{}))
		d.expect(t, "no longer selected", "0s new")

		owned.SetName("other")
		owner("x", "y")
		must(c.Create(ctx, owned, apply.WriteOptions{}))
		time.Sleep(90 * time.Minute)
		d.expect(t, "created, and again after an hour", "0s x", "0s y", "1h0m0s x", "1h0m0s y")

		must(nil, c.Delete(ctx, idOf("other"), apply.DeleteOptions{}))
		d.expect(t, "deleted", "1h30m0s x", "1h30m0s y")
		time.Sleep(time.Hour)
		d.expect(t, "nothing is left to resync")
		if got, want := strings.Join(calls, " "), "list watch list list"; got != want {
			t.Errorf("called %s, want %s", got, want)
		}
	})
}

// What is reconciled is watched: also an object that goes while another source is still listed.
func TestReconcilerListsFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := make(chan struct{})
		c := memory.New(memory.Options{Intercept: func(ctx context.Context, call memory.Call, next func() error) error {
			if call.Verb == memory.List && call.ID.GVK == sites {
				select {
				case <-slow:
				case <-ctx.Done():
				}
			}
			return next()
		}})
		sources := []apply.Source{{Kind: configMaps}, {Kind: sites}}
		r, d, _ := start(t, apply.ReconcilerOptions{Cluster: c, Sources: sources}, nil)
		r.Add(idOf("a"))
		time.Sleep(time.Hour)
		d.expect(t, "before all is listed")
		close(slow)
		d.expect(t, "after", "1h0m0s a")
	})
}

// A resync that fails is made up for.
func TestReconcilerResyncFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lists := 0
		c := memory.New(memory.Options{Intercept: func(_ context.Context, call memory.Call, next func() error) error {
			if call.Verb == memory.List {
				if lists++; lists == 2 {
					return apierrors.NewServiceUnavailable("later")
				}
			}
			return next()
		}})
		if _, err := c.Create(t.Context(), object(idOf("a")), apply.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		_, d, _ := start(t, apply.ReconcilerOptions{Cluster: c, Sources: []apply.Source{{Kind: configMaps}}, Resync: time.Hour}, nil)
		time.Sleep(90 * time.Minute)
		d.expect(t, "soon after the failure", "0s a", "1h0m0s a")
	})
}

// A Keys that panics over one object does not keep the others from being followed.
func TestReconcilerKeysPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := memory.New(memory.Options{})
		_, d, log := start(t, apply.ReconcilerOptions{Cluster: c, Sources: []apply.Source{{Kind: configMaps, Keys: func(u *unstructured.Unstructured) []apply.ID {
			if u.GetName() == "bad" {
				panic("password")
			}
			return []apply.ID{apply.IDOf(u)}
		}}}}, nil)
		synctest.Wait()
		for _, name := range []string{"a", "bad", "b"} {
			if _, err := c.Create(t.Context(), object(idOf(name)), apply.WriteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		d.expect(t, "the good ones", "0s a", "0s b")
		if text := log.String(); !strings.Contains(text, "ConfigMap default/bad") || strings.Contains(text, "password") {
			t.Errorf("want the object and not the value in the log:\n%s", text)
		}
	})
}

// broken is a cluster whose watches a test ends.
type broken struct {
	*memory.Cluster
	mu      sync.Mutex
	calls   []string
	current *watch.FakeWatcher
	refuse  error // of Watch
}

func (b *broken) List(ctx context.Context, kind schema.GroupVersionKind, o apply.ListOptions) (*unstructured.UnstructuredList, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls = append(b.calls, "list")
	return b.Cluster.List(ctx, kind, o)
}

func (b *broken) Watch(_ context.Context, _ schema.GroupVersionKind, o apply.WatchOptions) (watch.Interface, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls = append(b.calls, "watch "+o.ResourceVersion)
	if b.refuse != nil {
		return nil, b.refuse
	}
	b.current = watch.NewFake()
	return b.current, nil
}

func (b *broken) expect(t *testing.T, why string, want ...string) {
	t.Helper()
	if got := b.take(); !slices.Equal(got, want) {
		t.Errorf("%s: called %q, want %q", why, got, want)
	}
}

// take returns the calls since it was last called.
func (b *broken) take() []string {
	synctest.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	calls := b.calls
	b.calls = nil
	return calls
}

// set has Watch fail with err.
func (b *broken) set(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refuse = err
}

func TestReconcilerWatchesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, b := t.Context(), &broken{Cluster: memory.New(memory.Options{})}
		for _, name := range []string{"a", "b"} { // versions 2 and 3
			if _, err := b.Create(ctx, object(idOf(name)), apply.WriteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		tell := func(version string) {
			u := object(idOf("a"))
			u.SetResourceVersion(version)
			b.current.Modify(u)
		}
		expired := apierrors.NewResourceExpired("too old").Status()
		gone := metav1.Status{Reason: metav1.StatusReasonGone, Code: http.StatusGone}
		lost := apierrors.NewInternalError(errors.New("lost")).Status()

		_, d, log := start(t, apply.ReconcilerOptions{Cluster: b, Sources: []apply.Source{{Kind: configMaps}}, MinBackoff: 100 * time.Millisecond}, nil)
		b.expect(t, "the beginning", "list", "watch 3")
		d.expect(t, "all there is", "0s a", "0s b")

		tell("4")
		b.current.Stop()
		b.expect(t, "closed after an event: at once", "watch 4")
		d.expect(t, "the event", "0s a")

		time.Sleep(time.Minute)
		b.current.Stop()
		b.expect(t, "closed after a minute: at once", "watch 4")

		bookmark := object(apply.ID{GVK: configMaps})
		bookmark.SetResourceVersion("9")
		b.current.Action(watch.Bookmark, bookmark)
		b.current.Stop()
		b.expect(t, "a bookmark is a place", "watch 9")
		d.expect(t, "a bookmark is no change")

		last := b.current
		last.Error(&lost)
		b.expect(t, "an error waits")
		if !last.IsStopped() {
			t.Error("the watch that has failed was not stopped")
		}
		time.Sleep(100 * time.Millisecond)
		b.expect(t, "an error: from where it was", "watch 9")

		if err := b.Delete(ctx, idOf("b"), apply.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		for _, status := range []*metav1.Status{&expired, &gone} {
			tell("10")
			b.current.Error(status)
			time.Sleep(100 * time.Millisecond)
			b.expect(t, "expired: all again", "list", "watch 4")
		}
		d.expect(t, "what went meanwhile, too", "1m0s a", "1m0s a", "1m0s b", "1m0s a", "1m0s a")

		time.Sleep(time.Minute)
		b.set(apierrors.NewGenericServerResponse(http.StatusGatewayTimeout, "get", schema.GroupResource{}, "", "Too large resource version", 0, true))
		b.current.Stop()
		time.Sleep(10 * time.Second)
		calls := b.take()
		got := strings.Join(calls, ", ")
		if !strings.HasPrefix(got, "watch 4, watch 4, watch 4, list, watch 4, list, watch 4") || len(calls) > 18 {
			t.Errorf("refused for 10s: called %s; want the same place thrice, then lists, with growing waits", got)
		}
		b.set(nil)
		time.Sleep(30 * time.Second)
		b.expect(t, "well again", "list", "watch 4")

		b.current.Action(watch.Added, &metav1.Status{})
		time.Sleep(time.Second)
		b.expect(t, "an event without an object: again", "watch 4")
		if want := "want *unstructured.Unstructured, got *v1.Status"; !strings.Contains(log.String(), want) {
			t.Errorf("the log does not say %q:\n%s", want, log)
		}
	})
}

// A watch that is closed as soon as it is open is no busy loop.
func TestReconcilerWatchThatIsClosedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &closing{Cluster: memory.New(memory.Options{})}
		start(t, apply.ReconcilerOptions{Cluster: b, Sources: []apply.Source{{Kind: configMaps}}}, nil)
		time.Sleep(time.Hour)
		synctest.Wait()
		if b.watches < 120 || b.watches > 300 {
			t.Errorf("watched %d times in an hour, want one every 15s to 30s", b.watches)
		}
	})
}

type closing struct {
	*memory.Cluster
	watches int
}

func (c *closing) Watch(context.Context, schema.GroupVersionKind, apply.WatchOptions) (watch.Interface, error) {
	c.watches++
	w := watch.NewFake()
	w.Stop()
	return w, nil
}
