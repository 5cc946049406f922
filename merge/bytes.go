package merge

import (
	"bytes"
	"errors"
	"sync"

	"example.com/braid/internal/node"
	"example.com/braid/internal/walk"
)

// ThreeWay is the whole of a merge on JSON bytes: it parses the three documents,
// merges them and returns the patch. last and live may be empty: nothing was
// declared before, there is no such object yet. Callers that merge one document
// again and again do better to parse it once.
func ThreeWay(t PatchType, last, live, desired []byte, o Options) ([]byte, error) {
	in, err := o.input()
	if err != nil {
		return nil, err
	}
	r := readers.Get().(*reader)
	defer r.release()
	for i, d := range []struct {
		name string
		json []byte
		tree **node.Tree
	}{{"last", last, &in.Last}, {"live", live, &in.Live}, {"desired", desired, &in.Desired}} {
		switch {
		case len(d.json) == 0 && d.name != "desired":
			continue
		case d.name != "last" && in.Last != nil && bytes.Equal(d.json, last):
			*d.tree = in.Last // a two-way merge, or nothing new declared
			continue
		}
		if *d.tree, err = r[i].ReadLike(d.json, in.Last, Limits{}); err != nil {
			return nil, node.In(d.name, err)
		}
	}
	return patchOf(t, in, o.Guard, o.ByHand)
}

// PatchLive is ThreeWay and Result.Patch for callers whose last and desired are parsed
// and whose live is read for this one merge: nothing of it is kept but what the patch
// says. The answer is the same, and costs less than parsing live into a Doc. live may be
// empty: there is no such object yet.
func (m *Merger) PatchLive(t PatchType, last *Doc, live []byte, desired *Doc) ([]byte, error) {
	if desired == nil {
		return nil, noDesired()
	}
	in := m.in
	in.Last, in.Desired = tree(last), desired.tree
	if len(live) > 0 {
		r := readers.Get().(*reader)
		defer r.release()
		like := in.Last
		if like == nil {
			like = in.Desired
		}
		var err error
		if in.Live, err = r[1].ReadLike(live, like, Limits{}); err != nil {
			return nil, node.In("live", err)
		}
	}
	return patchOf(t, in, m.guard, m.byHand)
}

// patchOf merges trees that do not outlive the call.
func patchOf(t PatchType, in walk.Input, guard Guard, byHand []string) ([]byte, error) {
	s, err := three(in, byHand)
	if err != nil {
		return nil, err
	}
	result := Result{s, guard}
	patch, err := result.Patch(t)
	var conflict *ConflictError
	if errors.As(err, &conflict) {
		conflict.detach()
	}
	return patch, err
}

// TwoWay is ThreeWay for a change from one document to another.
func TwoWay(t PatchType, from, to []byte, o Options) ([]byte, error) {
	return ThreeWay(t, from, from, to, o)
}

// ApplyPatch is Patch on JSON bytes: it returns the object that an API server would
// store before defaulting.
func ApplyPatch(t PatchType, object, patch []byte, o Options) ([]byte, error) {
	in, err := o.input()
	if err != nil {
		return nil, err
	}
	r := readers.Get().(*reader)
	defer r.release()
	live, err := r[0].Read(object, Limits{})
	if err != nil {
		return nil, node.In("live", err)
	}
	change, err := r[1].Read(patch, Limits{})
	if err != nil {
		return nil, node.In("patch", err)
	}
	return applied(make([]byte, 0, len(object)+len(patch)), t, live, change, &in)
}

// reader is the memory of one ThreeWay. Its trees do not outlive the call, and
// what the call returns is copied out of them.
type reader [3]node.Reader

func (r *reader) release() {
	for i := range r {
		r[i].Reset()
	}
	readers.Put(r)
}

var readers = sync.Pool{New: func() any { return new(reader) }}
