package memory

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"example.com/braid/apply"
)

// Verb is what a call or an admission is about.
type Verb string

// The verbs.
const (
	Get     Verb = "get"
	List    Verb = "list"
	Watch   Verb = "watch"
	Create  Verb = "create"
	Replace Verb = "replace"
	Patch   Verb = "patch"
	Delete  Verb = "delete"
)

// Call is one call of a method of the cluster.
type Call struct {
	Verb      Verb
	ID        apply.ID // of List and Watch without a name
	PatchType types.PatchType
	Patch     []byte // do not change it
	Options   apply.WriteOptions
}

// Interceptor stands around a call, for tests that record, delay or fail calls. It makes the
// call with next, and what it returns is what the caller gets: an error before next is a
// request that was lost, an error after it an answer that was lost. It may block and may be
// called at the same time by many.
type Interceptor func(ctx context.Context, call Call, next func() error) error

// Admission is a write on its way to be stored.
type Admission struct {
	Verb        Verb // Create, Replace (also for a patch) or Delete
	ID          apply.ID
	Subresource string
	Manager     string
	DryRun      bool

	Object *unstructured.Unstructured // nil at Delete
	Old    *unstructured.Unstructured // nil at Create
}

// Hook is one step of admission. Those of Options.Mutate may change a.Object, as a webhook
// would and as a server does that adds defaults; those of Options.Validate get a copy. An
// error refuses the write: a StatusError as it is, any other one as Forbidden.
//
// A hook may call the cluster.
type Hook func(ctx context.Context, a *Admission) error

// admit runs hooks. Old is fresh for each of them, and so is Object if copies says so.
func admit(ctx context.Context, hooks []Hook, a Admission, was *stored, copies bool) (*unstructured.Unstructured, error) {
	object := a.Object
	for _, hook := range hooks {
		a.Object = object
		if copies && object != nil {
			a.Object = object.DeepCopy()
		}
		if was != nil {
			a.Old = was.as(a.ID.GVK)
		}
		if err := hook(ctx, &a); err != nil {
			if status := apierrors.APIStatus(nil); errors.As(err, &status) {
				return nil, err
			}
			return nil, apierrors.NewForbidden(resource(a.ID.GVK), a.ID.Name, err)
		}
		if !copies {
			object = a.Object
		}
	}
	if copies || len(hooks) == 0 || a.Verb == Delete {
		return object, nil
	}
	if object == nil {
		return nil, apierrors.NewInternalError(errors.New("admission left no object"))
	}
	object, err := read(object)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return object, nil
}
