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
	planner, err := apply.NewPlanner(apply.Options{Schema: s.cluster.Schema})
	if err != nil {
		return err
	}
	c := &controller{cluster: s.cluster, planner: planner, out: out}
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
		until apply.ID
		holds func(*unstructured.Unstructured) bool // of nil if there is no such object
	}{
		{"1. We create the Site blog.",
			func() error { return s.create(ctx, blog) }, site, observed},
		{"2. We edit it: 3 replicas.",
			func() error { return s.patch(ctx, site, `{"spec":{"replicas":3}}`) }, site, observed},
		{"3. Somebody edits the Deployment by hand: another image, and a minReadySeconds that the\n   controller does not care about. The image is restored, the other field stays.",
			func() error {
				return s.patch(ctx, deployment, `{"spec":{"minReadySeconds":5,"template":{"spec":{"containers":[{"name":"web","image":"hacked"}]}}}}`)
			}, deployment, func(u *unstructured.Unstructured) bool {
				seconds, _, _ := unstructured.NestedInt64(u.Object, "spec", "minReadySeconds")
				return seconds == 5 && image(u) == "nginx:1.29"
			}},
		{"4. Somebody deletes the ConfigMap.",
			func() error { return s.cluster.Delete(ctx, config, apply.DeleteOptions{}) },
			config, func(u *unstructured.Unstructured) bool { return u != nil }},
		{"5. We edit the Site, but the server is too busy for the next two patches.",
			func() error {
				s.busy.Store(2)
				return s.patch(ctx, site, `{"spec":{"text":"Hello again"}}`)
			}, site, observed},
		{"6. We delete the Site. It goes when what it owns has gone.",
			func() error { return s.cluster.Delete(ctx, site, apply.DeleteOptions{}) },
			site, func(u *unstructured.Unstructured) bool { return u == nil }},
	} {
		fmt.Fprintln(s.out, chapter.title)
		if err := chapter.act(); err != nil {
			return err
		}
		if err := s.wait(ctx, chapter.until, chapter.holds); err != nil {
			return err
		}
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

// observed holds when the controller has done all that a Site asks for.
func observed(u *unstructured.Unstructured) bool {
	if u == nil {
		return false
	}
	generation, _, _ := unstructured.NestedInt64(u.Object, "status", "observedGeneration")
	return generation == u.GetGeneration()
}

func image(deployment *unstructured.Unstructured) string {
	containers, _, _ := unstructured.NestedSlice(deployment.Object, "spec", "template", "spec", "containers")
	if len(containers) == 0 {
		return ""
	}
	name, _, _ := unstructured.NestedString(containers[0].(map[string]any), "image")
	return name
}

// wait watches an object until something holds.
func (s *story) wait(ctx context.Context, id apply.ID, holds func(*unstructured.Unstructured) bool) error {
	w, err := s.cluster.Watch(ctx, id.GVK, apply.WatchOptions{ListOptions: apply.ListOptions{Namespace: id.Namespace}})
	if err != nil {
		return err
	}
	defer w.Stop()
	switch _, err := s.cluster.Get(ctx, id); {
	case apierrors.IsNotFound(err) && holds(nil): // no event will tell that
		return nil
	case err != nil && !apierrors.IsNotFound(err):
		return err
	}
	for e := range w.ResultChan() {
		u, ok := e.Object.(*unstructured.Unstructured)
		if !ok {
			return apierrors.FromObject(e.Object)
		}
		if apply.IDOf(u) != id {
			continue
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
	if call.Verb == memory.Patch && call.Options.FieldManager == written.FieldManager && s.busy.Add(-1) >= 0 {
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
