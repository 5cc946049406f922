package clients

import (
	"context"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"

	"example.com/braid/apply"
)

// Dynamic is client-go's dynamic client as an apply.Client, Lister and Watcher.
type Dynamic struct {
	Client dynamic.Interface
	Mapper meta.ResettableRESTMapper // such as restmapper.NewDeferredDiscoveryRESTMapper
}

// of finds the door to a kind. Kinds that the mapper does not know may be new.
func (c Dynamic) of(kind schema.GroupVersionKind, namespace string) (dynamic.ResourceInterface, error) {
	m, err := c.Mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if meta.IsNoMatchError(err) {
		c.Mapper.Reset()
		m, err = c.Mapper.RESTMapping(kind.GroupKind(), kind.Version)
	}
	switch {
	case meta.IsNoMatchError(err):
		resource := schema.GroupResource{Group: kind.Group, Resource: kind.Kind}
		return nil, apierrors.NewGenericServerResponse(http.StatusNotFound, "get", resource, "", err.Error(), 0, true)
	case err != nil:
		return nil, err
	case m.Scope.Name() == meta.RESTScopeNameNamespace:
		return c.Client.Resource(m.Resource).Namespace(namespace), nil
	}
	return c.Client.Resource(m.Resource), nil
}

func (c Dynamic) Get(ctx context.Context, id apply.ID) (*unstructured.Unstructured, error) {
	r, err := c.of(id.GVK, id.Namespace)
	if err != nil {
		return nil, err
	}
	return r.Get(ctx, id.Name, metav1.GetOptions{})
}

func (c Dynamic) Create(ctx context.Context, obj *unstructured.Unstructured, o apply.WriteOptions) (*unstructured.Unstructured, error) {
	r, err := c.of(obj.GroupVersionKind(), obj.GetNamespace())
	if err != nil {
		return nil, err
	}
	return r.Create(ctx, obj, metav1.CreateOptions{FieldManager: o.FieldManager, DryRun: dry(o.DryRun)}, sub(o)...)
}

func (c Dynamic) Replace(ctx context.Context, obj *unstructured.Unstructured, o apply.WriteOptions) (*unstructured.Unstructured, error) {
	r, err := c.of(obj.GroupVersionKind(), obj.GetNamespace())
	if err != nil {
		return nil, err
	}
	return r.Update(ctx, obj, metav1.UpdateOptions{FieldManager: o.FieldManager, DryRun: dry(o.DryRun)}, sub(o)...)
}

func (c Dynamic) Patch(ctx context.Context, id apply.ID, t types.PatchType, patch []byte, o apply.WriteOptions) (*unstructured.Unstructured, error) {
	r, err := c.of(id.GVK, id.Namespace)
	if err != nil {
		return nil, err
	}
	options := metav1.PatchOptions{FieldManager: o.FieldManager, DryRun: dry(o.DryRun)}
	if o.Force {
		options.Force = &o.Force
	}
	return r.Patch(ctx, id.Name, t, patch, options, sub(o)...)
}

func (c Dynamic) Delete(ctx context.Context, id apply.ID, o apply.DeleteOptions) error {
	r, err := c.of(id.GVK, id.Namespace)
	if err != nil {
		return err
	}
	options := metav1.DeleteOptions{DryRun: dry(o.DryRun)}
	if o.UID != "" || o.ResourceVersion != "" {
		options.Preconditions = &metav1.Preconditions{}
		if o.UID != "" {
			options.Preconditions.UID = &o.UID
		}
		if o.ResourceVersion != "" {
			options.Preconditions.ResourceVersion = &o.ResourceVersion
		}
	}
	return r.Delete(ctx, id.Name, options)
}

func (c Dynamic) List(ctx context.Context, kind schema.GroupVersionKind, o apply.ListOptions) (*unstructured.UnstructuredList, error) {
	r, err := c.of(kind, o.Namespace)
	if err != nil {
		return nil, err
	}
	return r.List(ctx, list(o))
}

func (c Dynamic) Watch(ctx context.Context, kind schema.GroupVersionKind, o apply.WatchOptions) (watch.Interface, error) {
	r, err := c.of(kind, o.Namespace)
	if err != nil {
		return nil, err
	}
	options := list(o.ListOptions)
	options.ResourceVersion = o.ResourceVersion
	return r.Watch(ctx, options)
}

func list(o apply.ListOptions) metav1.ListOptions {
	if o.Labels == nil {
		return metav1.ListOptions{}
	}
	return metav1.ListOptions{LabelSelector: o.Labels.String()}
}

func dry(run bool) []string {
	if run {
		return []string{metav1.DryRunAll}
	}
	return nil
}

func sub(o apply.WriteOptions) []string {
	if o.Subresource != "" {
		return []string{o.Subresource}
	}
	return nil
}
