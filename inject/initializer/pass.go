package initializer

import (
	"context"
	"crypto/sha256"
	"errors"

	"k8s.io/apimachinery/pkg/types"

	"example.com/braid/apply"
	"example.com/braid/inject"
	"example.com/braid/internal/node"
	"example.com/braid/merge"
)

// pass is what comes of one object as it was read.
type pass struct {
	Observation
	uid   types.UID
	patch []byte // nil if there is nothing to do
}

// look reads an object, decides and injects. The error is one of reading, which another pass
// may mend.
func (i *Initializer) look(ctx context.Context, id apply.ID) (*pass, error) {
	object, err := i.o.Cluster.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	doc, err := merge.FromMap(object.Object)
	if err != nil {
		return nil, err
	}
	if object.GetResourceVersion() == "" {
		return nil, errors.New("an object without a resourceVersion cannot be patched safely")
	}
	p := &pass{Observation: Observation{ID: id, Version: object.GetResourceVersion()}, uid: object.GetUID()}
	c := i.config.Load()
	p.Reason, err = c.Decider.DecideAsking(inject.Candidate{Object: doc, Namespace: id.Namespace}, func(name string) (map[string]string, error) {
		return i.o.NamespaceLabels(ctx, name)
	})
	if err != nil {
		return nil, err
	}
	switch {
	case p.Reason.Inject():
		p.Outcome = Injected
		p.Result, p.Err = c.Injector.Inject(doc, inject.Values{Namespace: id.Namespace, Name: id.Name, Given: c.Given})
	case p.Reason.Uninject():
		p.Outcome = Removed
		p.Result, p.Err = c.Injector.Uninject(doc)
	default:
		p.Outcome = Skipped
		return p, nil
	}
	switch {
	case p.Err != nil:
		p.Outcome = Failed
	case p.Result.Changed():
		p.patch = p.Result.Patch()
	case p.Outcome == Injected:
		p.Outcome = Unchanged
	default:
		p.Outcome = Skipped
	}
	return p, err
}

// guarded returns the patch as it is sent. The resourceVersion that was read makes a server say
// that there is a conflict if it is another by now; a test operation would say the same of that
// as of an invalid object.
func (p *pass) guarded() []byte {
	out := node.AppendQuoted([]byte(`[{"op":"add","path":"/metadata/resourceVersion","value":`), p.Version)
	return append(append(out, '}', ','), p.patch[1:]...)
}

// what tells failures of an object apart: by its patch, or by the error if it has none.
func (p *pass) what() [sha256.Size]byte {
	h := sha256.New()
	h.Write([]byte(p.uid))
	if h.Write(p.patch); p.patch == nil {
		h.Write([]byte(p.Err.Error()))
	}
	return [sha256.Size]byte(h.Sum(nil))
}
