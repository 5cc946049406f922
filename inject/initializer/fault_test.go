package initializer_test

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/braid/apply/memory"
	"example.com/braid/inject"
	"example.com/braid/inject/initializer"
)

// faults are what may happen to a call, before it reaches the cluster or after. nil is the end
// of the loop's context.
var faults = map[string]error{
	"conflict":           apierrors.NewConflict(schema.GroupResource{Resource: "deployments"}, "web", errors.New("changed")),
	"500":                apierrors.NewInternalError(errors.New("boom")),
	"too many requests":  apierrors.NewTooManyRequests("later", 3),
	"unauthorized":       apierrors.NewUnauthorized("the token has expired"),
	"timeout":            context.DeadlineExceeded,
	"connection reset":   &net.OpError{Op: "read", Err: syscall.ECONNRESET},
	"connection refused": &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED},
	"the end":            nil,
}

// One object is made, edited, upgraded and opted out, and each call of the loop in turn meets
// each fault, before it reaches the cluster or after. Whatever happens, each step comes to what
// it should, and no step writes twice.
func TestFaults(t *testing.T) {
	calls := faulty(t, 0, false, nil)
	if calls < 12 {
		t.Fatalf("the story has %d calls", calls)
	}
	for n := int32(1); n <= calls; n++ {
		for name, err := range faults {
			for _, after := range []bool{false, true} {
				if faulty(t, n, after, err); t.Failed() {
					t.Fatalf("call %d: %s, after %t", n, name, after)
				}
			}
		}
	}
}

func faulty(t *testing.T, n int32, after bool, fault error) int32 {
	t.Helper()
	var calls atomic.Int32
	synctest.Test(t, func(t *testing.T) {
		var stop atomic.Pointer[context.CancelFunc]
		written := 0
		w := &world{T: t}
		w.Cluster = memory.New(memory.Options{
			Intercept: func(ctx context.Context, call memory.Call, next func() error) error {
				if ctx == t.Context() { // the test's own
					return next()
				}
				if calls.Add(1) != n {
					return next()
				}
				if after {
					if err := next(); err != nil {
						return err
					}
				}
				if fault == nil {
					(*stop.Load())()
					return ctx.Err()
				}
				return fault
			},
			Validate: []memory.Hook{func(_ context.Context, a *memory.Admission) error {
				if a.Manager == "braid" {
					written++
				}
				return nil
			}},
		})
		i := w.loop(initializer.Options{Kinds: []schema.GroupVersionKind{deployments}})
		// The loop runs again when its context has ended, until the test does.
		var ended atomic.Bool
		over := make(chan struct{})
		go func() {
			defer close(over)
			for !ended.Load() {
				ctx, cancel := context.WithCancel(t.Context())
				stop.Store(&cancel)
				i.Run(ctx)
			}
		}()
		step := func(writes int, act func()) {
			t.Helper()
			written = 0
			act()
			settle(time.Hour)
			if written != writes {
				t.Errorf("written %d times, want %d", written, writes)
			}
		}
		step(1, func() { w.create(deployment("web", "true")) })
		w.holds(web, deployment("web", "true"), sidecar)
		edited := deployment("web", "true")
		setImage(t, edited, "app:2")
		step(0, func() {
			w.edit(web, `{"spec":{"replicas":3,"template":{"spec":{"containers":[{"name":"app","image":"app:2"}]}}}}`)
		})
		w.holds(web, edited, sidecar)
		step(1, func() {
			if err := i.Reload(config(t, newer)); err != nil {
				t.Error(err)
			}
		})
		w.holds(web, edited, newer)
		if err := unstructured.SetNestedField(edited.Object, "false", "spec", "template", "metadata", "labels", inject.DefaultKey); err != nil {
			t.Fatal(err)
		}
		step(1, func() {
			w.edit(web, `{"spec":{"template":{"metadata":{"labels":{"`+inject.DefaultKey+`":"false"}}}}}`)
		})
		w.holds(web, edited, "")
		ended.Store(true)
		(*stop.Load())()
		<-over
	})
	return calls.Load()
}
