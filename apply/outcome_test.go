package apply_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/braid/apply"
	"example.com/braid/apply/memory"
	"example.com/braid/merge"
)

// named is a manifest with the name.
func named(t testing.TB, name string) *merge.Doc {
	return fromYAML(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: `+name+`, namespace: default}}`)
}

// One object that fails keeps none of the others from being applied, and each has its line.
func TestApplyMany(t *testing.T) {
	for _, concurrency := range []int{1, 3, 100} {
		c := memory.New(memory.Options{})
		var reported []string
		a := applier(t, c, apply.ApplierOptions{Concurrency: concurrency, Report: func(o apply.Outcome) { reported = append(reported, o.String()) }})
		desired := []*merge.Doc{named(t, "a"), named(t, "A_"), named(t, "b"), nil, fromYAML(t, `{apiVersion: v1, kind: ConfigMap}`), fromYAML(t, `{a: b}`), named(t, "c")}
		out, err := a.Apply(t.Context(), desired...)
		for i, want := range []string{
			"v1 ConfigMap default/a: Create",
			"v1 ConfigMap default/A_: Create: ",
			"v1 ConfigMap default/b: Create",
			"desired: wrong type: no document",
			"v1 ConfigMap : desired: metadata.name: wrong type: want a text",
			"desired: kind: wrong type: want a text",
			"v1 ConfigMap default/c: Create",
		} {
			if got := out[i].String(); !strings.HasPrefix(got, want) {
				t.Errorf("outcome %d: got %q, want %q", i, got, want)
			}
			if concurrency == 1 && reported[i] != out[i].String() {
				t.Errorf("reported %q, want %q", reported[i], out[i])
			}
		}
		var one *apply.Error
		if !errors.As(err, &one) || one.ID.Name != "A_" || !errors.Is(err, merge.ErrType) || strings.Count(err.Error(), "\n") != 3 {
			t.Errorf("error: %v", err)
		}
		if len(reported) != len(desired) {
			t.Errorf("reported %d outcomes of %d", len(reported), len(desired))
		}
	}
}

// What ctx leaves undone is told as such, in one error however much it is.
func TestApplyEnds(t *testing.T) {
	why := errors.New("shut down")
	ctx, cancel := context.WithCancelCause(t.Context())
	n := 0
	c := memory.New(memory.Options{Intercept: func(_ context.Context, call memory.Call, next func() error) error {
		if n++; n == 4 { // the create of the second
			cancel(why)
			return context.Canceled
		}
		return next()
	}})
	out, err := applier(t, c, apply.ApplierOptions{}).Apply(ctx, named(t, "a"), named(t, "b"), named(t, "c"), named(t, "d"))
	if out[0].Err != nil || !errors.Is(out[1].Err, why) || out[1].Attempts != 1 || out[3].Attempts != 0 || !errors.Is(out[2].Err, apply.ErrNotTried) || !errors.Is(out[3].Err, why) {
		t.Errorf("%v", out)
	}
	if want := "v1 ConfigMap default/b: shut down, after: context canceled\nnot tried: 2 of 4 objects: shut down"; err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

// No more objects than Concurrency says are applied at once, and that many are.
func TestApplyConcurrency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := memory.New(memory.Options{Intercept: func(_ context.Context, _ memory.Call, next func() error) error {
			time.Sleep(time.Second)
			return next()
		}})
		var desired []*merge.Doc
		for i := range 12 {
			desired = append(desired, named(t, fmt.Sprint("a", i)))
		}
		begin := time.Now()
		if _, err := applier(t, c, apply.ApplierOptions{Concurrency: 4}).Apply(t.Context(), desired...); err != nil {
			t.Error(err)
		}
		if d := time.Since(begin); d != 6*time.Second { // two calls each
			t.Errorf("12 objects, 4 at once: took %v, want 6s", d)
		}
	})
}

// A format that a server refused is not tried again, and a wait is what Random makes it.
func TestApplierRemembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{}
		c := memory.New(memory.Options{Intercept: r.intercept})
		a := applier(t, c, apply.ApplierOptions{Random: func() float64 { return 0.5 }})
		for i, step := range []struct{ manifest, calls string }{
			{configA1, "get, create"},
			{configA2, "get, patch strategic, patch json"},
			{configA1, "get, get, patch json"},
		} {
			r.calls = nil
			r.on = func(n int, next func() error) error {
				if i == 1 && n == 2 {
					return unsupported()
				}
				if i == 2 && n == 1 {
					return context.DeadlineExceeded
				}
				return next()
			}
			begin := time.Now()
			if _, err := a.Apply(t.Context(), fromYAML(t, step.manifest)); err != nil {
				t.Error(err)
			}
			if got := strings.Join(r.calls, ", "); got != step.calls {
				t.Errorf("step %d: got %s, want %s", i, got, step.calls)
			}
			if d := time.Since(begin); i == 2 && d != 7500*time.Microsecond {
				t.Errorf("waited %v, want 7.5ms", d)
			}
		}
	})
}

func TestApplierOptions(t *testing.T) {
	c := memory.New(memory.Options{})
	for why, o := range map[string]apply.ApplierOptions{
		"concurrency": {Concurrency: -1}, "attempts": {Attempts: -1}, "backoff": {MinBackoff: -1}, "longest": {MaxBackoff: -1},
		"plan": {Options: apply.Options{Guard: 99}}, "record": {Options: apply.Options{Record: apply.Record{Name: "A"}}},
	} {
		if a, err := apply.NewApplier(c, o); !errors.Is(err, merge.ErrOption) || a != nil {
			t.Errorf("%s: %v, %v", why, a, err)
		}
	}
	if _, err := apply.NewApplier(nil, apply.ApplierOptions{}); !errors.Is(err, merge.ErrOption) {
		t.Errorf("no client: %v", err)
	}
}
