package clients

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/braid/apply"
)

// Runtime is controller-runtime's client as an apply.Client, Lister and Watcher. One that
// only applies needs no more than a client.Client.
type Runtime struct{ Client client.WithWatch }

func (c Runtime) Get(ctx context.Context, id apply.ID) (*unstructured.Unstructured, error) {
	u := empty(id)
	return u, status(id.GVK, c.Client.Get(ctx, client.ObjectKeyFromObject(u), u))
}

func (c Runtime) Create(ctx context.Context, obj *unstructured.Unstructured, o apply.WriteOptions) (*unstructured.Unstructured, error) {
	u, options := obj.DeepCopy(), &client.CreateOptions{FieldManager: o.FieldManager, DryRun: dry(o.DryRun)}
	return u, status(u.GroupVersionKind(), c.Client.Create(ctx, u, options))
}

func (c Runtime) Replace(ctx context.Context, obj *unstructured.Unstructured, o apply.WriteOptions) (*unstructured.Unstructured, error) {
	u, options := obj.DeepCopy(), client.UpdateOptions{FieldManager: o.FieldManager, DryRun: dry(o.DryRun)}
	if o.Subresource != "" {
		return u, status(u.GroupVersionKind(), c.Client.SubResource(o.Subresource).Update(ctx, u, &client.SubResourceUpdateOptions{UpdateOptions: options}))
	}
	return u, status(u.GroupVersionKind(), c.Client.Update(ctx, u, &options))
}

func (c Runtime) Patch(ctx context.Context, id apply.ID, t types.PatchType, patch []byte, o apply.WriteOptions) (*unstructured.Unstructured, error) {
	u, raw := empty(id), client.RawPatch(t, patch)
	options := client.PatchOptions{FieldManager: o.FieldManager, DryRun: dry(o.DryRun)}
	if o.Force {
		options.Force = &o.Force
	}
	if o.Subresource != "" {
		return u, status(id.GVK, c.Client.SubResource(o.Subresource).Patch(ctx, u, raw, &client.SubResourcePatchOptions{PatchOptions: options}))
	}
	return u, status(id.GVK, c.Client.Patch(ctx, u, raw, &options))
}

func (c Runtime) Delete(ctx context.Context, id apply.ID, o apply.DeleteOptions) error {
	return status(id.GVK, c.Client.Delete(ctx, empty(id), &client.DeleteOptions{DryRun: dry(o.DryRun), Preconditions: preconditions(o)}))
}

func (c Runtime) List(ctx context.Context, kind schema.GroupVersionKind, o apply.ListOptions) (*unstructured.UnstructuredList, error) {
	l := emptyList(kind)
	return l, status(kind, c.Client.List(ctx, l, &client.ListOptions{Namespace: o.Namespace, LabelSelector: o.Labels}))
}

func (c Runtime) Watch(ctx context.Context, kind schema.GroupVersionKind, o apply.WatchOptions) (watch.Interface, error) {
	w, err := c.Client.Watch(ctx, emptyList(kind), &client.ListOptions{
		Namespace: o.Namespace, LabelSelector: o.Labels, Raw: &metav1.ListOptions{ResourceVersion: o.ResourceVersion},
	})
	return w, status(kind, err)
}

func empty(id apply.ID) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(id.GVK)
	u.SetNamespace(id.Namespace)
	u.SetName(id.Name)
	return u
}

func emptyList(kind schema.GroupVersionKind) *unstructured.UnstructuredList {
	l := &unstructured.UnstructuredList{}
	l.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	return l
}
