package apply_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"example.com/braid/apply"
	"example.com/braid/apply/memory"
	"example.com/braid/merge"
)

func applier(t testing.TB, c apply.Client, o apply.ApplierOptions) *apply.Applier {
	t.Helper()
	a, err := apply.NewApplier(c, o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

const (
	configA1 = `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default}, data: {key: "1", only: first}}`
	configA2 = `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default}, data: {key: "2", more: second}}`
)

var configA = apply.ID{GVK: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, Namespace: "default", Name: "a"}

// recorder keeps what is called, and does what a test wants around the call. It is for one
// applier at a time.
type recorder struct {
	calls []string
	on    func(n int, next func() error) error // around call n, from 1; nil is next
	aside bool                                 // while on runs: its own calls do not count
}

func (r *recorder) intercept(_ context.Context, call memory.Call, next func() error) error {
	if r.aside {
		return next()
	}
	line := string(call.Verb)
	switch call.PatchType {
	case types.StrategicMergePatchType:
		line += " strategic"
	case types.MergePatchType:
		line += " merge"
	case types.JSONPatchType:
		line += " json"
	}
	r.calls = append(r.calls, line)
	if r.on == nil {
		return next()
	}
	r.aside = true
	defer func() { r.aside = false }()
	return r.on(len(r.calls), next)
}

func tooMany(seconds int) error { return apierrors.NewTooManyRequests("later", seconds) }

func conflict() error {
	return apierrors.NewConflict(schema.GroupResource{Resource: "configmaps"}, "a", errors.New("modified"))
}

func unsupported() error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusUnsupportedMediaType, Reason: metav1.StatusReasonUnsupportedMediaType,
	}}
}

// Each row is one path through an applier: what is in the cluster, what goes wrong, and what
// calls come of it.
func TestApplierPaths(t *testing.T) {
	// somebody calls the cluster behind the applier's back.
	type somebody struct {
		*testing.T
		c *memory.Cluster
	}
	edits := func(s somebody, patch string) {
		if _, err := s.c.Patch(s.Context(), configA, types.MergePatchType, []byte(patch), apply.WriteOptions{}); err != nil {
			s.Error(err)
		}
	}
	deletes := func(s somebody) {
		if err := s.c.Delete(s.Context(), configA, apply.DeleteOptions{}); err != nil {
			s.Error(err)
		}
	}
	creates := func(s somebody) {
		u := &unstructured.Unstructured{Object: fromYAML(s, configA1).Map()}
		if _, err := s.c.Create(s.Context(), u, apply.WriteOptions{}); err != nil {
			s.Error(err)
		}
	}
	for _, tt := range []struct {
		name    string
		before  string // applied first
		options apply.ApplierOptions
		desired string
		on      func(s somebody, n int) error // before call n, which is not made after an error
		after   bool                          // after call n: its answer is lost
		calls   string
		want    apply.Operation
		err     func(error) bool
		wait    [2]time.Duration // the waits come to at least and at most
	}{
		{name: "create", desired: configA1, calls: "get, create", want: apply.Create},
		{name: "patch", before: configA1, desired: configA2, calls: "get, patch strategic", want: apply.Patch},
		{name: "nothing", before: configA1, desired: configA1, calls: "get", want: apply.None},
		{name: "replace", before: configA1, options: apply.ApplierOptions{Options: apply.Options{Replace: true}},
			desired: configA2, calls: "get, replace", want: apply.Replace},
		{name: "created in between", desired: configA2, on: func(s somebody, n int) error {
			if n == 2 {
				creates(s)
			}
			return nil
		}, calls: "get, create, get, patch strategic", want: apply.Patch, wait: [2]time.Duration{5 * time.Millisecond, 10 * time.Millisecond}},
		{name: "gone in between", before: configA1, desired: configA2, on: func(s somebody, n int) error {
			if n == 2 {
				deletes(s)
			}
			return nil
		}, calls: "get, patch strategic, get, create", want: apply.Create, wait: [2]time.Duration{5 * time.Millisecond, 10 * time.Millisecond}},
		{name: "changed in between, whole", before: configA1, options: apply.ApplierOptions{Options: apply.Options{Replace: true}},
			desired: configA2, on: func(s somebody, n int) error {
				if n == 2 || n == 4 {
					edits(s, fmt.Sprintf(`{"data":{"theirs":"%d"}}`, n))
				}
				return nil
			}, calls: "get, replace, get, replace, get, replace", want: apply.Replace, wait: [2]time.Duration{15 * time.Millisecond, 30 * time.Millisecond}},
		{name: "changed in between, guarded", before: configA1, options: apply.ApplierOptions{Options: apply.Options{Guard: merge.GuardVersion}},
			desired: configA2, on: func(s somebody, n int) error {
				if n == 2 {
					edits(s, `{"data":{"theirs":"1"}}`)
				}
				return nil
			}, calls: "get, patch strategic, get, patch strategic", want: apply.Patch, wait: [2]time.Duration{5 * time.Millisecond, 10 * time.Millisecond}},
		{name: "changed in between, elsewhere", before: configA1, desired: configA2, on: func(s somebody, n int) error {
			if n == 2 {
				edits(s, `{"data":{"theirs":"1"}}`)
			}
			return nil
		}, calls: "get, patch strategic", want: apply.Patch},
		{name: "strategic unknown", before: configA1, desired: configA2, on: func(_ somebody, n int) error {
			if n == 2 {
				return unsupported()
			}
			return nil
		}, calls: "get, patch strategic, patch json", want: apply.Patch},
		{name: "no format known", before: configA1, desired: configA2, on: func(_ somebody, n int) error {
			if n > 1 {
				return unsupported()
			}
			return nil
		}, calls: "get, patch strategic, patch json", want: apply.Patch, err: apierrors.IsUnsupportedMediaType},
		{name: "a test of a JSON Patch fails", before: configA1, desired: configA2, on: func(s somebody, n int) error {
			switch n {
			case 2:
				return unsupported()
			case 3:
				edits(s, `{"data":{"key":"3"}}`)
			}
			return nil
		}, calls: "get, patch strategic, patch json, get, patch json", want: apply.Patch, wait: [2]time.Duration{5 * time.Millisecond, 10 * time.Millisecond}},
		{name: "busy", desired: configA1, on: func(_ somebody, n int) error {
			if n <= 2 {
				return tooMany(n)
			}
			return nil
		}, calls: "get, get, get, create", want: apply.Create, wait: [2]time.Duration{3 * time.Second, 3 * time.Second}},
		{name: "the answer to a create is lost", desired: configA1, after: true, on: func(_ somebody, n int) error {
			if n == 2 {
				return apierrors.NewTimeoutError("no answer", 0)
			}
			return nil
		}, calls: "get, create, get", want: apply.Create, wait: [2]time.Duration{5 * time.Millisecond, 10 * time.Millisecond}},
		{name: "the answer to a patch is lost", before: configA1, desired: configA2, after: true, on: func(_ somebody, n int) error {
			if n == 2 {
				return context.DeadlineExceeded // the client's own, of one request
			}
			return nil
		}, calls: "get, patch strategic, get", want: apply.Patch, wait: [2]time.Duration{5 * time.Millisecond, 10 * time.Millisecond}},
		{name: "somebody does it for us", before: configA1, options: apply.ApplierOptions{Options: apply.Options{Replace: true}},
			desired: configA2, on: func(s somebody, n int) error {
				if n == 2 {
					if _, err := applier(s, s.c, apply.ApplierOptions{}).Apply(s.Context(), fromYAML(s, configA2)); err != nil {
						s.Error(err)
					}
					return conflict()
				}
				return nil
			}, calls: "get, replace, get", want: apply.None, wait: [2]time.Duration{5 * time.Millisecond, 10 * time.Millisecond}},
		{name: "no namespace", desired: configA1, on: func(_ somebody, n int) error {
			if n == 2 {
				return apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "default")
			}
			return nil
		}, calls: "get, create", want: apply.Create, err: apierrors.IsNotFound},
		{name: "forbidden", desired: configA1, on: func(_ somebody, n int) error {
			return apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "a", errors.New("no"))
		}, calls: "get", want: apply.None, err: apierrors.IsForbidden},
		{name: "invalid", desired: strings.Replace(configA1, "name: a,", "name: a, labels: {\"!\": \"\"},", 1),
			calls: "get, create", want: apply.Create, err: apierrors.IsInvalid},
		{name: "for another version", before: configA1, desired: strings.Replace(configA2, "name: a,", "name: a, resourceVersion: \"1\",", 1),
			calls: "get, patch strategic", want: apply.Patch, err: apierrors.IsConflict},
		{name: "never", desired: configA1, options: apply.ApplierOptions{Attempts: 3}, on: func(_ somebody, n int) error {
			return apierrors.NewInternalError(errors.New("boom"))
		}, calls: "get, get, get", want: apply.None, err: apierrors.IsInternalError, wait: [2]time.Duration{15 * time.Millisecond, 30 * time.Millisecond}},
		{name: "a conflict of the policy", before: configA1, options: apply.ApplierOptions{Options: apply.Options{Policy: &merge.Strict}}, desired: configA2,
			on: func(s somebody, n int) error {
				if n == 1 {
					edits(s, `{"data":{"key":"3"}}`)
				}
				return nil
			}, calls: "get", want: apply.None, err: func(err error) bool { return errors.Is(err, merge.ErrConflict) }},
		{name: "dry", before: configA1, options: apply.ApplierOptions{DryRun: true}, desired: configA2, calls: "get, patch strategic", want: apply.Patch},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &recorder{}
				c := memory.New(memory.Options{Intercept: r.intercept})
				if tt.before != "" {
					if _, err := applier(t, c, apply.ApplierOptions{}).Apply(t.Context(), fromYAML(t, tt.before)); err != nil {
						t.Fatal(err)
					}
				}
				r.calls = nil
				begin := time.Now()
				if tt.on != nil {
					r.on = func(n int, next func() error) error {
						first, second := func() error { return tt.on(somebody{t, c}, n) }, next
						if tt.after {
							first, second = second, first
						}
						if err := first(); err != nil {
							return err
						}
						return second()
					}
				}
				out, err := applier(t, c, tt.options).Apply(t.Context(), fromYAML(t, tt.desired))
				r.on = nil
				if got := strings.Join(r.calls, ", "); got != tt.calls {
					t.Errorf("calls:\ngot  %s\nwant %s", got, tt.calls)
				}
				if tt.err == nil && err != nil || tt.err != nil && (err == nil || !tt.err(err)) {
					t.Errorf("error %v", err)
				}
				if out[0].Operation != tt.want {
					t.Errorf("got %v, want %v", out[0].Operation, tt.want)
				}
				if d := time.Since(begin); d < tt.wait[0] || d > tt.wait[1] {
					t.Errorf("waited %v, want %v", d, tt.wait)
				}
				if err == nil {
					converged(t, c, out[0], tt.options, tt.desired)
				}
			})
		})
	}
}

// converged fails the test unless an outcome is what the cluster holds and there is nothing
// left to do.
func converged(t *testing.T, c *memory.Cluster, out apply.Outcome, o apply.ApplierOptions, desired string) {
	t.Helper()
	if out.Plan == nil || out.Object == nil || out.Attempts == 0 {
		t.Fatalf("outcome %+v", out)
	}
	if o.DryRun {
		return
	}
	live, err := c.Get(t.Context(), out.ID)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := out.Object.GetResourceVersion(), live.GetResourceVersion(); got != want {
		t.Errorf("outcome of version %s, live is %s", got, want)
	}
	out2, err := applier(t, c, o).Apply(t.Context(), fromYAML(t, desired))
	if err != nil || out2[0].Operation != apply.None {
		t.Errorf("applied again: %v, %v", out2, err)
	}
}
