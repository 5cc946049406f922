package admission

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	admissionv1 "k8s.io/api/admission/v1"

	"example.com/braid/inject"
	"example.com/braid/merge"
)

// Review answers one request, for servers that read and write reviews themselves. Of req it
// looks at UID, Kind, SubResource, Name, Namespace, Operation, Object.Raw and DryRun; nil is
// a request without an object. It never panics. O(size of the object).
func (h *Handler) Review(ctx context.Context, req *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	if req == nil {
		req = &admissionv1.AdmissionRequest{}
	}
	return h.review(ctx, req, nil, h.o.Clock())
}

// review is Review of a request that came at start. object is its object, if that is read.
func (h *Handler) review(ctx context.Context, req *admissionv1.AdmissionRequest, object *merge.Doc, start time.Time) *admissionv1.AdmissionResponse {
	c := call{handler: h, config: h.config.Load(), req: req}
	c.candidate.Object = object
	c.err = c.run(ctx)
	resp := c.answer()
	c.seen.Duration = h.o.Clock().Sub(start)
	h.o.Observe(c.seen)
	c.log(ctx)
	return resp
}

// call is one review on its way.
type call struct {
	handler   *Handler
	config    *Config
	req       *admissionv1.AdmissionRequest
	candidate inject.Candidate
	mutation  Mutation
	err       error
	stack     []byte // of a panic
	seen      Observation
}

// run decides and makes the patch.
func (c *call) run(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err, c.stack = panicked(p), debug.Stack()
		}
	}()
	c.candidate.Namespace, c.candidate.Operation, c.candidate.Subresource = c.req.Namespace, string(c.req.Operation), c.req.SubResource
	if c.candidate.Object == nil && len(c.req.Object.Raw) > 0 {
		if c.candidate.Object, err = merge.Parse(c.req.Object.Raw); err != nil {
			return err
		}
	}
	if c.candidate.Object != nil {
		if own, _ := c.candidate.Object.Text("metadata", "namespace"); own != "" {
			c.candidate.Namespace = own
		}
	}
	if err = c.decide(ctx); err != nil {
		return err
	}
	mutate := c.config.Mutate
	switch {
	case c.seen.Reason.Uninject():
		mutate = c.config.Undo
	case !c.seen.Reason.Inject():
		return nil
	}
	values := inject.Values{Namespace: c.candidate.Namespace, Name: c.req.Name}
	if c.mutation, err = mutate(c.candidate.Object, values); err != nil {
		return err
	}
	return c.check()
}

// decide decides.
func (c *call) decide(ctx context.Context) (err error) {
	var ask func(string) (map[string]string, error)
	if lookup := c.handler.o.NamespaceLabels; lookup != nil {
		ask = func(namespace string) (map[string]string, error) { return lookup(ctx, namespace) }
	}
	if c.seen.Reason, err = c.config.Decider.DecideAsking(c.candidate, ask); err != nil {
		return fmt.Errorf("%w: %w", ErrNamespace, err)
	}
	return nil
}

// check applies the patch to the object as an API server will.
func (c *call) check() error {
	m := &c.mutation
	if string(m.Patch) == "[]" {
		m.Patch = nil
	}
	if m.Object == nil && m.Result == nil && len(m.Patch) == 0 {
		return nil
	}
	gives, err := m.check(c.candidate.Object)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", ErrPatch, err)
	case !gives:
		return ErrPatch
	}
	return nil
}

// panicked makes an error of what was recovered. A value that is not the runtime's may hold
// parts of an object, and is not told.
func panicked(p any) error {
	if e, ok := p.(runtime.Error); ok {
		return fmt.Errorf("%w: %v", ErrPanic, e)
	}
	return fmt.Errorf("%w of type %T", ErrPanic, p)
}
