// Command reconcile is a whole controller: it keeps a ConfigMap and a Deployment for each
// object of a custom kind, Site, while somebody creates, changes, meddles and deletes. It needs
// no cluster: it runs on one in memory. It prints what the controller does, and why.
//
//	go run ./examples/reconcile
package main

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/yaml"

	"example.com/braid/apply"
	"example.com/braid/apply/memory"
)

//go:embed crd.yaml
var crd []byte

//go:embed site.yaml
var blog []byte

func main() {
	log.SetFlags(0)
	if err := tell(context.Background(), os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// story is what a person does, and sees.
type story struct {
	cluster *memory.Cluster
	busy    atomic.Int32 // how many patches the server will refuse
	out     io.Writer
}

var (
	site       = apply.ID{GVK: siteKind, Namespace: "default", Name: "blog"}
	config     = apply.ID{GVK: configMapKind, Namespace: "default", Name: "blog"}
	deployment = apply.ID{GVK: deploymentKind, Namespace: "default", Name: "blog"}
)

// tell runs the controller for as long as the story takes.
func tell(ctx context.Context, out io.Writer) error {
	s := &story{out: out}
	s.cluster = memory.New(memory.Options{Intercept: s.intercept})
	if err := s.create(ctx, crd); err != nil {
		return err
	}
	c, err := newController(s.cluster, out)
	if err != nil {
		return err
	}
	r, err := apply.NewReconciler(apply.ReconcilerOptions{
		Reconcile: c.reconcile, Cluster: s.cluster, Sources: sources(), Workers: 2, Log: slog.New(quiet(out)),
	})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { r.Run(ctx) })
	defer running.Wait()
	defer cancel()
	return s.tell(ctx)
}

func (s *story) tell(ctx context.Context) error {
	for _, chapter := range []struct {
		title string
		act   func() error
	}{
		{"1. We create the Site blog.", func() error { return s.create(ctx, blog) }},
		{"2. We edit it: 3 replicas.", func() error { return s.patch(ctx, site, `{"spec":{"replicas":3}}`) }},
		{"3. Somebody edits the Deployment by hand: another image, and a minReadySeconds that the\n   controller says nothing of. The image is restored, the other field stays.", func() error {
			return s.patch(ctx, deployment, `{"spec":{"minReadySeconds":5,"template":{"spec":{"containers":[{"name":"web","image":"hacked"}]}}}}`)
		}},
		{"4. Somebody deletes the ConfigMap.", func() error { return s.cluster.Delete(ctx, config, apply.DeleteOptions{}) }},
		{"5. We edit the Site, but the server is too busy for the next two patches.", func() error {
			s.busy.Store(2)
			return s.patch(ctx, site, `{"spec":{"text":"Hello again"}}`)
		}},
	} {
		fmt.Fprintln(s.out, chapter.title)
		if err := chapter.act(); err != nil {
			return err
		}
		if err := s.wait(ctx, s.settled); err != nil {
			return err
		}
	}
	live, err := s.cluster.Get(ctx, deployment)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.out, "   The Deployment's minReadySeconds: %v\n", live.Object["spec"].(map[string]any)["minReadySeconds"])

	fmt.Fprintln(s.out, "6. We delete the Site. It goes when what it owns has gone.")
	if err := s.cluster.Delete(ctx, site, apply.DeleteOptions{}); err != nil {
		return err
	}
	if err := s.wait(ctx, func(u *unstructured.Unstructured) bool { return u == nil }); err != nil {
		return err
	}
	for _, kind := range []schema.GroupVersionKind{siteKind, configMapKind, deploymentKind} {
		left, err := s.cluster.List(ctx, kind, apply.ListOptions{})
		if err != nil {
			return err
		}
		fmt.Fprintf(s.out, "   %ss left: %d\n", kind.Kind, len(left.Items))
	}
	return nil
}

// settled holds when the Site's status says that it has been reconciled as it is now, with what
// it owns as that is now.
func (s *story) settled(u *unstructured.Unstructured) bool {
	if u == nil {
		return false
	}
	if generation, _, _ := unstructured.NestedInt64(u.Object, "status", "observedGeneration"); generation != u.GetGeneration() {
		return false
	}
	for _, id := range []apply.ID{config, deployment} {
		version, _, _ := unstructured.NestedString(u.Object, "status", "versions", id.GVK.Kind)
		if live, err := s.cluster.Get(context.Background(), id); err != nil || live.GetResourceVersion() != version {
			return false
		}
	}
	return true
}

// wait watches the Site until something holds of it; nil is that there is none.
func (s *story) wait(ctx context.Context, holds func(*unstructured.Unstructured) bool) error {
	now, err := s.cluster.List(ctx, siteKind, apply.ListOptions{})
	if err != nil {
		return err
	}
	var u *unstructured.Unstructured
	if len(now.Items) > 0 {
		u = &now.Items[0]
	}
	if holds(u) {
		return nil
	}
	w, err := s.cluster.Watch(ctx, siteKind, apply.WatchOptions{ResourceVersion: now.GetResourceVersion()})
	if err != nil {
		return err
	}
	defer w.Stop()
	for e := range w.ResultChan() {
		u, ok := e.Object.(*unstructured.Unstructured)
		if !ok {
			return apierrors.FromObject(e.Object)
		}
		if e.Type == watch.Deleted {
			u = nil
		}
		if holds(u) {
			return nil
		}
	}
	return ctx.Err()
}

func (s *story) create(ctx context.Context, manifest []byte) error {
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(manifest, &u.Object); err != nil {
		return err
	}
	_, err := s.cluster.Create(ctx, u, person)
	return err
}

// patch edits as kubectl patch does.
func (s *story) patch(ctx context.Context, id apply.ID, patch string) error {
	t := types.StrategicMergePatchType
	if id.GVK == siteKind {
		t = types.MergePatchType
	}
	_, err := s.cluster.Patch(ctx, id, t, []byte(patch), person)
	return err
}

var person = apply.WriteOptions{FieldManager: "kubectl"}

// intercept refuses the controller's patches while the server is busy.
func (s *story) intercept(_ context.Context, call memory.Call, next func() error) error {
	if call.Verb == memory.Patch && call.Options == written && s.busy.Add(-1) >= 0 {
		return apierrors.NewServiceUnavailable("the server is too busy")
	}
	return next()
}

// quiet returns a handler of logs that leaves out what differs from run to run.
func quiet(out io.Writer) slog.Handler {
	return slog.NewTextHandler(out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == "wait" {
			return slog.Attr{}
		}
		return a
	}})
}
