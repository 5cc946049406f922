package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
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

var (
	siteKind       = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Site"}
	deploymentKind = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	configMapKind  = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
)

// finalizer keeps a Site until what it owns has gone: the cluster in memory has no garbage
// collector, and a real one would not wait for it either.
const finalizer = "example.com/site"

var written = apply.WriteOptions{FieldManager: "site-controller"}

// controller keeps a ConfigMap and a Deployment for each Site.
type controller struct {
	cluster *memory.Cluster
	applier *apply.Applier
	out     io.Writer
}

func newController(cluster *memory.Cluster, out io.Writer) (*controller, error) {
	c := &controller{cluster: cluster, out: out}
	var err error
	c.applier, err = apply.NewApplier(cluster, apply.ApplierOptions{
		Options:      apply.Options{Schema: cluster.Schema},
		FieldManager: written.FieldManager,
		Attempts:     1, // it is the Reconciler that tries again
		Report:       c.say,
	})
	return c, err
}

// sources say that a change of a Site, or of what a Site owns, is about that Site.
func sources() []apply.Source {
	return []apply.Source{
		{Kind: siteKind},
		{Kind: configMapKind, Keys: apply.OwnersOf(siteKind)},
		{Kind: deploymentKind, Keys: apply.OwnersOf(siteKind)},
	}
}

// reconcile makes of a Site what it should be now.
func (c *controller) reconcile(ctx context.Context, id apply.ID) (time.Duration, error) {
	site, err := c.cluster.Get(ctx, id)
	switch {
	case apierrors.IsNotFound(err):
		return 0, nil
	case err != nil:
		return 0, err
	case site.GetDeletionTimestamp() != nil:
		return 0, c.remove(ctx, site)
	}
	if !slices.Contains(site.GetFinalizers(), finalizer) {
		site.SetFinalizers(append(site.GetFinalizers(), finalizer))
		if site, err = c.cluster.Replace(ctx, site, written); err != nil {
			return 0, err
		}
	}
	var desired []*merge.Doc
	for _, child := range children(site) {
		doc, err := merge.FromMap(child.Object)
		if err != nil {
			return 0, err
		}
		desired = append(desired, doc)
	}
	outcomes, err := c.applier.Apply(ctx, desired...)
	if err != nil {
		return 0, err
	}
	return 0, c.report(ctx, site, outcomes)
}

// say tells what was changed.
func (c *controller) say(o apply.Outcome) {
	if o.Err != nil || o.Operation == apply.None {
		return // the Reconciler logs errors
	}
	fmt.Fprintf(c.out, "   %s\n", o)
	if o.Operation == apply.Create {
		return
	}
	for _, e := range o.Plan.Edits() {
		if e.Path[0].Field != "metadata" {
			fmt.Fprintf(c.out, "      %s: %s → %s\n", e.Path, e.Live, e.Desired)
		}
	}
}

// report tells in the status which generation of the Site is in force, in which versions of
// what it owns.
func (c *controller) report(ctx context.Context, site *unstructured.Unstructured, outcomes []apply.Outcome) error {
	versions := map[string]any{}
	for _, o := range outcomes {
		versions[o.ID.GVK.Kind] = o.Object.GetResourceVersion()
	}
	now := map[string]any{"observedGeneration": site.GetGeneration(), "versions": versions}
	if reflect.DeepEqual(site.Object["status"], now) {
		return nil
	}
	patch, err := json.Marshal(map[string]any{"status": now})
	if err != nil {
		return err
	}
	status := written
	status.Subresource = "status"
	_, err = c.cluster.Patch(ctx, apply.IDOf(site), types.MergePatchType, patch, status)
	return err
}

// remove deletes what a Site owns, and lets it go.
func (c *controller) remove(ctx context.Context, site *unstructured.Unstructured) error {
	for _, child := range children(site) {
		switch err := c.cluster.Delete(ctx, apply.IDOf(child), apply.DeleteOptions{}); {
		case err == nil:
			fmt.Fprintf(c.out, "   Delete %s\n", apply.IDOf(child))
		case !apierrors.IsNotFound(err):
			return err
		}
	}
	site.SetFinalizers(slices.DeleteFunc(site.GetFinalizers(), func(f string) bool { return f == finalizer }))
	_, err := c.cluster.Replace(ctx, site, written)
	return err
}

// children returns what a Site should own.
func children(site *unstructured.Unstructured) []*unstructured.Unstructured {
	name := site.GetName()
	text, _, _ := unstructured.NestedString(site.Object, "spec", "text")
	replicas, _, _ := unstructured.NestedInt64(site.Object, "spec", "replicas")
	labels := map[string]any{"site": name}
	config := &unstructured.Unstructured{Object: map[string]any{"data": map[string]any{"index.html": text}}}
	config.SetGroupVersionKind(configMapKind)
	server := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"replicas": replicas,
		"selector": map[string]any{"matchLabels": labels},
		"template": map[string]any{
			"metadata": map[string]any{"labels": labels},
			"spec": map[string]any{"containers": []any{
				map[string]any{"name": "web", "image": "nginx:1.29"},
			}},
		},
	}}}
	server.SetGroupVersionKind(deploymentKind)
	all := []*unstructured.Unstructured{config, server}
	for _, child := range all {
		child.SetNamespace(site.GetNamespace())
		child.SetName(name)
		child.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(site, siteKind)})
	}
	return all
}
