package apply_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"example.com/braid/apply"
	"example.com/braid/apply/memory"
	"example.com/braid/merge"
)

// faults are what may happen to a call, before it reaches the cluster or after.
var faults = []struct {
	name  string
	after bool
	err   error
}{
	{"conflict", false, conflict()},
	{"500", false, apierrors.NewInternalError(errors.New("boom"))},
	{"500 after the write", true, apierrors.NewInternalError(errors.New("boom"))},
	{"server timeout", false, apierrors.NewServerTimeout(schema.GroupResource{Resource: "configmaps"}, "write", 2)},
	{"timeout before the write", false, context.DeadlineExceeded},
	{"timeout after the write", true, context.DeadlineExceeded},
	{"gateway timeout after the write", true, apierrors.NewTimeoutError("no answer", 0)},
	{"connection reset", false, &net.OpError{Op: "read", Err: syscall.ECONNRESET}},
	{"connection reset after the write", true, &net.OpError{Op: "read", Err: syscall.ECONNRESET}},
	{"connection refused", false, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}},
	{"too many requests", false, tooMany(3)},
}

// A story is applied to a cluster in which somebody else writes, and each of its calls in turn
// meets each fault, or the end of the context. Whatever happens, there is no second object, what
// others wrote and what was last applied is there, and to apply again makes the rest good.
func TestApplierFaults(t *testing.T) {
	// In synctest's time no wait costs any, and a goroutine that is left fails the test.
	other := strings.Replace(configA1, "name: a,", "name: b,", 1)
	story := []string{configA1, configA2, configA1, other}
	for _, o := range []apply.Options{{}, {Replace: true}, {Guard: merge.GuardVersion}, {Record: apply.Record{Name: "me"}}} {
		total := runStory(t, o, story, nil)
		if total < 8 {
			t.Fatalf("the story has %d calls", total)
		}
		for n := 1; n <= total; n++ {
			for _, f := range faults {
				runStory(t, o, story, func(ctx context.Context, cancel func(), call int, next func() error) error {
					switch {
					case call != n:
						return next()
					case f.after:
						if err := next(); err != nil {
							return err
						}
					}
					return f.err
				})
			}
			for _, after := range []bool{false, true} {
				runStory(t, o, story, func(ctx context.Context, cancel func(), call int, next func() error) error {
					if call == n && !after {
						cancel()
						return ctx.Err()
					}
					err := next()
					if call == n {
						cancel()
						return ctx.Err()
					}
					return err
				})
			}
		}
	}
}

// runStory applies the manifests in turn, and checks what is left after each. It returns how
// many calls were made.
func runStory(t *testing.T, o apply.Options, story []string, fault func(ctx context.Context, cancel func(), call int, next func() error) error) (calls int) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		quiet, creates := true, map[string]int{}
		c := memory.New(memory.Options{
			Intercept: func(_ context.Context, call memory.Call, next func() error) error {
				if quiet {
					return next()
				}
				calls++
				if fault == nil {
					return next()
				}
				return fault(ctx, cancel, calls, next)
			},
			Validate: []memory.Hook{func(_ context.Context, a *memory.Admission) error {
				if a.Verb == memory.Create {
					creates[a.ID.Name]++
				}
				return nil
			}},
		})
		a := applier(t, c, apply.ApplierOptions{Options: o})
		for i, manifest := range story {
			desired := fromYAML(t, manifest)
			quiet = false
			out, err := a.Apply(ctx, desired)
			quiet = true
			if err != nil {
				if ctx.Err() == nil {
					t.Errorf("step %d: %v", i, err)
				} else if !errors.Is(err, context.Canceled) {
					t.Errorf("step %d: %v, want that the context was canceled", i, err)
				}
				ctx = t.Context()
			} else if out[0].Object == nil || out[0].Plan == nil {
				t.Errorf("step %d: %+v", i, out[0])
			}
			if ctx == t.Context() { // what was cut short is made good
				if out, err = applier(t, c, apply.ApplierOptions{Options: o}).Apply(ctx, desired); err != nil {
					t.Errorf("step %d, after the end of the context: %v", i, err)
				}
			}
			holds(t, c, a, i, desired)
			if i == 0 { // somebody writes what nobody declares
				patch := `{"metadata":{"labels":{"theirs":"1"}},"data":{"theirs":"1"}}`
				if _, err := c.Patch(ctx, out[0].ID, types.MergePatchType, []byte(patch), apply.WriteOptions{}); err != nil {
					t.Error(err)
				}
			}
		}
		for name, n := range creates {
			if n != 1 {
				t.Errorf("%s was created %d times", name, n)
			}
		}
		list, err := c.List(t.Context(), configA.GVK, apply.ListOptions{})
		if err != nil || len(list.Items) != 2 {
			t.Errorf("%d objects, want 2, %v", len(list.Items), err)
		}
	})
	return calls
}

// holds checks what a cluster has of a manifest: what is declared and its record, nothing of
// the manifest before, and what others wrote; and that nothing is left to do.
func holds(t *testing.T, c *memory.Cluster, a *apply.Applier, step int, desired *merge.Doc) {
	t.Helper()
	name, _ := desired.Text("metadata", "name")
	id := configA
	id.Name = name
	live, err := c.Get(t.Context(), id)
	if err != nil {
		t.Errorf("step %d: %v", step, err)
		return
	}
	want, _, _ := unstructured.NestedStringMap(desired.Map(), "data")
	if step > 0 && name == "a" {
		want["theirs"] = "1"
		if live.GetLabels()["theirs"] != "1" {
			t.Errorf("step %d: somebody's label was lost", step)
		}
	}
	if got, _, _ := unstructured.NestedStringMap(live.Object, "data"); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("step %d: data %v, want %v", step, got, want)
	}
	if len(live.GetAnnotations()) != 1 {
		t.Errorf("step %d: annotations %q, want the record", step, live.GetAnnotations())
	}
	out, err := a.Apply(t.Context(), desired)
	if err != nil || out[0].Operation != apply.None || out[0].Attempts != 1 {
		t.Errorf("step %d, again: %v after %d attempts, %v", step, out[0], out[0].Attempts, err)
	}
}

// What has only a generateName is sent again after answers that say that nothing was made, and
// never otherwise.
func TestApplierGenerateName(t *testing.T) {
	manifest := strings.Replace(configA1, "name: a,", "generateName: a-,", 1)
	for _, f := range faults {
		synctest.Test(t, func(t *testing.T) {
			r := &recorder{on: func(n int, next func() error) error {
				if n > 1 {
					return next()
				}
				if f.after {
					if err := next(); err != nil {
						return err
					}
				}
				return f.err
			}}
			c := memory.New(memory.Options{Intercept: r.intercept})
			out, err := applier(t, c, apply.ApplierOptions{}).Apply(t.Context(), fromYAML(t, manifest))
			again := apierrors.IsConflict(f.err) || apierrors.IsTooManyRequests(f.err)
			if again != (err == nil) || again && (out[0].ID.Name == "" || out[0].Attempts != 2) || !again && len(r.calls) != 1 {
				t.Errorf("%s: %v after %v", f.name, out[0], r.calls)
			}
			r.on = nil
			list, err := c.List(t.Context(), configA.GVK, apply.ListOptions{})
			if want := again || f.after; err != nil || (len(list.Items) == 1) != want {
				t.Errorf("%s: %d objects, %v", f.name, len(list.Items), err)
			}
		})
	}
}
