package memory

import (
	"context"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/braid/apply"
)

// Create stores a new object. Its namespace need not exist.
func (c *Cluster) Create(ctx context.Context, obj *unstructured.Unstructured, o apply.WriteOptions) (*unstructured.Unstructured, error) {
	id := apply.IDOf(obj)
	return through(ctx, c, Call{Verb: Create, ID: id, Options: o}, func() (*unstructured.Unstructured, error) {
		t, err := c.resolve(Create, &id, o.Subresource)
		if err != nil {
			return nil, err
		}
		u, err := read(obj)
		if err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		u.SetNamespace(id.Namespace)
		const attempts = 8 // to find a name, as a server makes them
		for i := 1; ; i++ {
			out, err := c.create(ctx, id, u.DeepCopy(), t, o)
			if id.Name != "" || i == attempts || !apierrors.IsAlreadyExists(err) {
				return out, err
			}
		}
	})
}

// create admits u and stores it. The order of the steps is a server's.
func (c *Cluster) create(ctx context.Context, id apply.ID, u *unstructured.Unstructured, t traits, o apply.WriteOptions) (*unstructured.Unstructured, error) {
	a := Admission{Verb: Create, ID: id, Manager: o.FieldManager, DryRun: o.DryRun, Object: u}
	u, err := admit(ctx, c.o.Mutate, a, nil, false)
	if err != nil {
		return nil, err
	}
	if prefix := u.GetGenerateName(); u.GetName() == "" && prefix != "" {
		u.SetName(c.newName(prefix))
	}
	id.Name, a.ID.Name, a.Object = u.GetName(), u.GetName(), u
	u.SetGroupVersionKind(id.GVK)
	if u.GetNamespace() != id.Namespace {
		return nil, otherNamespace()
	}
	c.prepareCreate(u, t)
	if err := check(id, u, nil, t); err != nil {
		return nil, err
	}
	ch := change{id: id, now: u}
	if ch.kinds, err = defined(id, u); err != nil {
		return nil, err
	}
	if _, err := admit(ctx, c.o.Validate, a, nil, true); err != nil {
		return nil, err
	}
	if u.GetResourceVersion() != "" {
		return nil, status(http.StatusInternalServerError, metav1.StatusReasonUnknown, "resourceVersion should not be set on objects to be created")
	}
	if o.DryRun {
		if _, err := c.load(id); err == nil {
			return nil, apierrors.NewAlreadyExists(resource(id.GVK), id.Name)
		}
		return u, nil
	}
	s, ok, err := c.commit(ch)
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, apierrors.NewAlreadyExists(resource(id.GVK), id.Name)
	}
	return s.as(id.GVK), nil
}

func otherNamespace() error {
	return apierrors.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
}

// Delete removes an object. One with finalizers is marked as being deleted, and goes when a
// write leaves it none. Nothing that it owns is removed.
func (c *Cluster) Delete(ctx context.Context, id apply.ID, o apply.DeleteOptions) error {
	call := Call{Verb: Delete, ID: id, Options: apply.WriteOptions{DryRun: o.DryRun}}
	_, err := through(ctx, c, call, func() (struct{}, error) {
		_, err := c.resolve(Delete, &id, "")
		for done := false; err == nil && !done; {
			if err = ctx.Err(); err == nil {
				done, err = c.remove(ctx, id, o)
			}
		}
		return struct{}{}, err
	})
	return err
}

// remove reports whether the object is as Delete wants it. If it is not and there is no error,
// the object has changed meanwhile.
func (c *Cluster) remove(ctx context.Context, id apply.ID, o apply.DeleteOptions) (bool, error) {
	was, err := c.load(id)
	if err != nil {
		return false, err
	}
	u := was.as(id.GVK)
	switch uid := u.GetUID(); {
	case o.UID != "" && o.UID != uid:
		return false, mismatch(id, "UID", o.UID, uid)
	case o.ResourceVersion != "" && o.ResourceVersion != was.version:
		return false, mismatch(id, "ResourceVersion", o.ResourceVersion, was.version)
	}
	a := Admission{Verb: Delete, ID: id, DryRun: o.DryRun}
	for _, hooks := range [][]Hook{c.o.Mutate, c.o.Validate} {
		if _, err := admit(ctx, hooks, a, was, true); err != nil {
			return false, err
		}
	}
	ch := change{id: id, was: was}
	if len(u.GetFinalizers()) > 0 {
		if u.GetDeletionTimestamp() != nil {
			return true, nil
		}
		now := metav1.NewTime(c.now())
		u.SetDeletionTimestamp(&now)
		u.SetDeletionGracePeriodSeconds(new(int64))
		if g := u.GetGeneration(); g > 0 {
			u.SetGeneration(g + 1)
		}
		if ch.kinds, err = defined(id, u); err != nil {
			return false, err
		}
		ch.now = u
	}
	if o.DryRun {
		return true, nil
	}
	_, done, err := c.commit(ch)
	return done, err
}
