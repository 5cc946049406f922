package memory

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/braid/apply"
)

// Replace stores obj in the place of what has its ID. One without a resourceVersion replaces
// whatever there is, where the kind allows that; custom kinds do not.
func (c *Cluster) Replace(ctx context.Context, obj *unstructured.Unstructured, o apply.WriteOptions) (*unstructured.Unstructured, error) {
	id := apply.IDOf(obj)
	return through(ctx, c, Call{Verb: Replace, ID: id, Options: o}, func() (*unstructured.Unstructured, error) {
		u, err := read(obj)
		if err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		return c.update(ctx, id, o, func(live *stored) (*unstructured.Unstructured, error) {
			has, _ := live.doc.Text("metadata", "uid")
			if asked := string(u.GetUID()); asked != "" && asked != has {
				return nil, mismatch(id, "UID", asked, has)
			}
			return u.DeepCopy(), nil
		})
	})
}

// Patch changes an object by a strategic merge patch (of built-in kinds only), a JSON merge
// patch or a JSON Patch. It meets the object as it is when it is stored: a patch fails for a
// write in between only if it says which resourceVersion it is for.
func (c *Cluster) Patch(ctx context.Context, id apply.ID, t types.PatchType, patch []byte, o apply.WriteOptions) (*unstructured.Unstructured, error) {
	return through(ctx, c, Call{Verb: Patch, ID: id, PatchType: t, Patch: patch, Options: o}, func() (*unstructured.Unstructured, error) {
		p, err := patcher(id, t, patch)
		if err != nil {
			return nil, err
		}
		return c.update(ctx, id, o, p)
	})
}

// edit is what a request makes of an object. It returns a new one.
type edit func(live *stored) (*unstructured.Unstructured, error)

// update edits an object until no other write comes in between. Without hooks they take turns:
// of many at once all but one would have to begin again.
func (c *Cluster) update(ctx context.Context, id apply.ID, o apply.WriteOptions, f edit) (*unstructured.Unstructured, error) {
	t, err := c.resolve(Replace, &id, o.Subresource)
	if err != nil {
		return nil, err
	}
	if len(c.o.Mutate)+len(c.o.Validate) == 0 { // which may take long, or write themselves
		turn := c.turn(id)
		turn.Lock()
		defer turn.Unlock()
	}
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		was, err := c.load(id)
		if err != nil {
			return nil, err
		}
		u, err := f(was)
		if err != nil {
			return nil, err
		}
		out, done, err := c.store(ctx, id, was, u, t, o)
		if done || err != nil {
			return out, err
		}
	}
}

// store admits u and stores it where was stands, unless that is no longer there: then it
// returns false. The order of the steps is a server's.
func (c *Cluster) store(ctx context.Context, id apply.ID, was *stored, u *unstructured.Unstructured, t traits, o apply.WriteOptions) (*unstructured.Unstructured, bool, error) {
	if u.GetName() != id.Name {
		return nil, false, apierrors.NewBadRequest("the name of the object (" + u.GetName() + ") does not match the name on the URL (" + id.Name + ")")
	}
	if ns := u.GetNamespace(); ns != "" && ns != id.Namespace && !t.cluster {
		return nil, false, otherNamespace()
	}
	u.SetNamespace(id.Namespace)
	a := Admission{Verb: Replace, ID: id, Subresource: o.Subresource, Manager: o.FieldManager, DryRun: o.DryRun, Object: u}
	u, err := admit(ctx, c.o.Mutate, a, was, false)
	if err != nil {
		return nil, false, err
	}
	switch asked := u.GetResourceVersion(); {
	case asked != "" && asked != "0" && asked != was.version:
		return nil, false, stale(id)
	case (asked == "" || asked == "0") && t.conditional:
		return nil, false, invalid(id, field.Invalid(field.NewPath("metadata", "resourceVersion"), asked, "must be specified for an update"))
	}
	u.SetResourceVersion(was.version)
	u.SetGroupVersionKind(id.GVK)
	old := was.as(id.GVK)
	prepareUpdate(u, old, t, o.Subresource)
	same, err := compare(u, old, was, t)
	if err != nil {
		return nil, false, apierrors.NewInternalError(err)
	}
	if err := check(id, u, old, t); err != nil {
		return nil, false, err
	}
	ch := change{id: id, was: was}
	if ch.kinds, err = defined(id, u); err != nil {
		return nil, false, err
	}
	a.Object = u
	if _, err := admit(ctx, c.o.Validate, a, was, true); err != nil {
		return nil, false, err
	}
	if gone := old.GetDeletionTimestamp() != nil && len(u.GetFinalizers()) == 0; gone {
		if o.DryRun {
			return u, true, nil
		}
		_, done, err := c.commit(change{id: id, was: was})
		return u, done, err
	}
	if same || o.DryRun {
		return u, true, nil
	}
	u.SetGroupVersionKind(was.doc.GVK())
	ch.now = u
	s, done, err := c.commit(ch)
	if !done || err != nil {
		return nil, false, err
	}
	return s.as(id.GVK), true, nil
}
