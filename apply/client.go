package apply

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// ID is the address of an object. It is comparable: a key for maps.
type ID struct {
	GVK       schema.GroupVersionKind
	Namespace string // "" where the kind is cluster-scoped
	Name      string
}

// IDOf returns the address that an object says it has.
func IDOf(obj *unstructured.Unstructured) ID {
	return ID{GVK: obj.GroupVersionKind(), Namespace: obj.GetNamespace(), Name: obj.GetName()}
}

// String returns the address for people: apps/v1 Deployment default/web.
func (id ID) String() string {
	version, kind := id.GVK.ToAPIVersionAndKind()
	if id.Namespace != "" {
		return version + " " + kind + " " + id.Namespace + "/" + id.Name
	}
	return version + " " + kind + " " + id.Name
}

// Client is what applying needs of a cluster.
//
// An object that is passed is read and not kept; one that is returned is the caller's, and
// is what the cluster now holds. Errors of the cluster are apimachinery's StatusErrors, so
// that errors.IsNotFound, IsConflict and their like tell them apart. Safe for concurrent use.
type Client interface {
	Get(ctx context.Context, id ID) (*unstructured.Unstructured, error)
	Create(ctx context.Context, obj *unstructured.Unstructured, o WriteOptions) (*unstructured.Unstructured, error)
	// Replace stores obj in the place of what has its ID. If obj has a resourceVersion, then
	// only if that is still the object's.
	Replace(ctx context.Context, obj *unstructured.Unstructured, o WriteOptions) (*unstructured.Unstructured, error)
	Patch(ctx context.Context, id ID, t types.PatchType, patch []byte, o WriteOptions) (*unstructured.Unstructured, error)
	Delete(ctx context.Context, id ID, o DeleteOptions) error
}

// Lister lists the objects of one kind. The list's resourceVersion is where a watch of what
// happens next begins.
type Lister interface {
	List(ctx context.Context, kind schema.GroupVersionKind, o ListOptions) (*unstructured.UnstructuredList, error)
}

// Watcher reports the changes to objects of one kind, in order and without loss, until ctx
// ends or the watch is stopped.
type Watcher interface {
	Watch(ctx context.Context, kind schema.GroupVersionKind, o WatchOptions) (watch.Interface, error)
}

// WriteOptions say how to create, replace or patch.
type WriteOptions struct {
	FieldManager string // who writes
	Subresource  string // such as status; "" is the object itself
	DryRun       bool   // everything is checked and nothing stored
	Force        bool   // of an apply patch: take what other managers own
}

// DeleteOptions say what to delete. A field that is not "" must be the object's own.
type DeleteOptions struct {
	UID             types.UID
	ResourceVersion string
	DryRun          bool
}

// ListOptions say which objects to list. The zero value is all.
type ListOptions struct {
	Namespace string
	Labels    labels.Selector // nil is every object
}

// WatchOptions say which objects to watch, and from when on.
type WatchOptions struct {
	ListOptions
	// ResourceVersion is that of the last state that the caller knows. If it is "", what there
	// is comes first, as events that add it.
	ResourceVersion string
}
