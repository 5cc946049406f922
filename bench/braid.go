package bench

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"example.com/braid/merge"
)

// What the documents of a work weigh.
var (
	AllThree = func(c *Case) int { return len(c.Last()) + len(c.Live()) + len(c.Desired()) }
	FromTo   = func(c *Case) int { return len(c.Last()) + len(c.Desired()) }
	LiveOnly = func(c *Case) int { return len(c.Live()) }
)

// Way is what a braid peer does: a patch format, under a model.
type Way struct {
	Format merge.PatchType
	Model  merge.Model
}

// The ways that are measured.
var (
	Strategic  = Way{merge.StrategicPatch, merge.Strategic}
	MergePatch = Way{merge.JSONMergePatch, merge.Plain} // lists are replaced, as jsonmergepatch does
	JSONPatch  = Way{merge.JSONPatch, merge.Strategic}
	Structured = Way{merge.JSONPatch, merge.Structured}
)

// applied returns what comes of an object and a patch: of a strategic one by the applier
// of an API server, where that has an end, and else by braid's, which the tests of
// bench/peers hold against evanphx's.
func (w Way) applied(c *Case, to func() []byte, o merge.Options) func(patch []byte) ([]byte, error) {
	if w.Format == merge.StrategicPatch && quadratic[c.Name] == "" {
		return upstream(c, to)
	}
	return func(patch []byte) ([]byte, error) { return merge.ApplyPatch(w.Format, to(), patch, o) }
}

// upstream applies a patch as an API server does.
func upstream(c *Case, to func() []byte) func(patch []byte) ([]byte, error) {
	return func(patch []byte) ([]byte, error) { return strategicpatch.StrategicMergePatch(to(), patch, c.New()) }
}

// quadratic are the cases on which strategicpatch would take minutes.
var quadratic = map[string]string{
	"list-100k": "quadratic in the list: a hundred times as long an element as on list-1k",
}

// ThreeWay merges from bytes.
func (w Way) ThreeWay(c *Case) (Task, error) {
	o, err := c.Options(w.Model)
	last, live, desired := c.Last(), c.Live(), c.Desired()
	return Answer(func() ([]byte, error) { return merge.ThreeWay(w.Format, last, live, desired, o) },
		w.applied(c, c.Live, o)), err
}

// TwoWay merges from bytes.
func (w Way) TwoWay(c *Case) (Task, error) {
	o, err := c.Options(w.Model)
	last, desired := c.Last(), c.Desired()
	return Answer(func() ([]byte, error) { return merge.TwoWay(w.Format, last, desired, o) },
		w.applied(c, c.Last, o)), err
}

// Trees is a two-way merge of documents that are parsed.
func (w Way) Trees(c *Case) (Task, error) {
	o, m, docs, err := w.prepare(c)
	return Answer(func() ([]byte, error) {
		r, err := m.TwoWay(docs.last, docs.desired)
		if err != nil {
			return nil, err
		}
		return r.Patch(w.Format)
	}, w.applied(c, c.Last, o)), err
}

// Prepared has last and desired parsed, and reads live each time: what a controller does.
func (w Way) Prepared(c *Case) (Task, error) {
	o, m, docs, err := w.prepare(c)
	live := c.Live()
	return Answer(func() ([]byte, error) { return m.PatchLive(w.Format, docs.last, live, docs.desired) },
		w.applied(c, c.Live, o)), err
}

// PreparedDocs does the same by way of a Doc of live, which the caller could keep.
func (w Way) PreparedDocs(c *Case) (Task, error) {
	o, m, docs, err := w.prepare(c)
	text := c.Live()
	return Answer(func() ([]byte, error) {
		live, err := merge.Parse(text)
		if err != nil {
			return nil, err
		}
		r, err := m.ThreeWay(docs.last, live, docs.desired)
		if err != nil {
			return nil, err
		}
		return r.Patch(w.Format)
	}, w.applied(c, c.Live, o)), err
}

// NoOp has all three parsed, and desired is what last was.
func (w Way) NoOp(c *Case) (Task, error) {
	_, m, docs, err := w.prepare(c)
	if err != nil {
		return Task{}, err
	}
	live, err := merge.Parse(c.Live())
	return Answer(func() (bool, error) {
		r, err := m.ThreeWay(docs.last, live, docs.last)
		return r.Changed(), err
	}, func(changed bool) ([]byte, error) {
		if changed {
			return nil, fmt.Errorf("%w: something changes", errAnswer)
		}
		return c.Live(), nil
	}), err
}

// Apply applies to live, from bytes, the patch that braid writes of the case.
func (w Way) Apply(c *Case) (Task, error) {
	o, err := c.Options(w.Model)
	if err != nil {
		return Task{}, err
	}
	live := c.Live()
	patch, err := w.Patch(c)
	return Answer(func() ([]byte, error) { return merge.ApplyPatch(w.Format, live, patch, o) }, Itself), err
}

// Patch returns the patch that every peer applies.
func (w Way) Patch(c *Case) ([]byte, error) {
	o, err := c.Options(w.Model)
	if err != nil {
		return nil, err
	}
	return merge.ThreeWay(w.Format, c.Last(), c.Live(), c.Desired(), o)
}

// Itself is of an answer that is an object.
func Itself(answer []byte) ([]byte, error) { return answer, nil }

type parsed struct{ last, desired *merge.Doc }

func (w Way) prepare(c *Case) (o merge.Options, m *merge.Merger, docs parsed, err error) {
	if o, err = c.Options(w.Model); err != nil {
		return
	}
	if m, err = merge.New(o); err != nil {
		return
	}
	if docs.last, err = merge.Parse(c.Last()); err != nil {
		return
	}
	docs.desired, err = merge.Parse(c.Desired())
	return
}

// ParseLive is the floor of Prepared: live is parsed, and no more.
func ParseLive(c *Case) (Task, error) {
	live := c.Live()
	return Task{Time: func() error { _, err := merge.Parse(live); return err }}, nil
}
