package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"example.com/braid/apply"
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
	cluster apply.Client
	planner *apply.Planner
	out     io.Writer
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
	for _, child := range children(site) {
		if err := c.apply(ctx, child); err != nil {
			return 0, fmt.Errorf("%s: %w", apply.IDOf(child), err)
		}
	}
	return 0, c.report(ctx, site)
}

// apply makes one object what it should be, and says what it changes.
func (c *controller) apply(ctx context.Context, child *unstructured.Unstructured) error {
	id := apply.IDOf(child)
	desired, err := merge.FromMap(child.Object)
	if err != nil {
		return err
	}
	var live *merge.Doc
	switch found, err := c.cluster.Get(ctx, id); {
	case err == nil:
		if live, err = merge.FromMap(found.Object); err != nil {
			return err
		}
	case !apierrors.IsNotFound(err):
		return err
	}
	plan, err := c.planner.Plan(live, desired)
	if err != nil || plan.Operation == apply.None {
		return err
	}
	fmt.Fprintf(c.out, "   %s %s\n", plan.Operation, id)
	if plan.Operation == apply.Create {
		_, err = c.cluster.Create(ctx, &unstructured.Unstructured{Object: plan.Object.Map()}, written)
		return err
	}
	for _, e := range plan.Edits() {
		if e.Path[0].Field != "metadata" {
			fmt.Fprintf(c.out, "      %s: %s → %s\n", e.Path, e.Live, e.Desired)
		}
	}
	_, err = c.cluster.Patch(ctx, id, plan.PatchType, plan.Patch, written)
	return err
}

// report tells in the status which generation of the Site is in force.
func (c *controller) report(ctx context.Context, site *unstructured.Unstructured) error {
	observed, _, _ := unstructured.NestedInt64(site.Object, "status", "observedGeneration")
	if observed == site.GetGeneration() {
		return nil
	}
	status := written
	status.Subresource = "status"
	patch := fmt.Appendf(nil, `{"status":{"observedGeneration":%d}}`, site.GetGeneration())
	_, err := c.cluster.Patch(ctx, apply.IDOf(site), types.MergePatchType, patch, status)
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
