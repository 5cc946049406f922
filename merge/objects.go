package merge

import (
	"bytes"
	"reflect"
	"sync"

	"example.com/braid/internal/node"
)

// PatchObjects is ThreeWay and Result.Patch for Go values that [FromObject] can read: typed
// objects, unstructured content, one beside the other. last and live may be nil, and may be
// one object, which makes a two-way merge. The answer is that for their Docs, and costs less:
// nothing of the objects is kept but what the patch says, and where unstructured content is the
// same in all, it is only compared: what is no JSON there may go unnoticed. No goroutine may
// change the objects meanwhile.
func (m *Merger) PatchObjects(t PatchType, last, live, desired any) ([]byte, error) {
	if none(desired) {
		return nil, noDesired()
	}
	b := builders.Get().(*builder)
	defer b.release()
	if patch, ok := m.patchThin(b, t, last, live, desired); ok {
		return patch, nil
	}
	in, err := m.in, error(nil)
	if !none(last) {
		if in.Last, err = b[0].FromObject(last, Limits{}); err != nil {
			return nil, node.In("last", err)
		}
	}
	switch {
	case one(last, live):
		in.Live = in.Last
	case !none(live):
		if in.Live, err = b[1].FromObject(live, Limits{}); err != nil {
			return nil, node.In("live", err)
		}
	}
	if in.Desired, err = b[2].FromObject(desired, Limits{}); err != nil {
		return nil, node.In("desired", err)
	}
	return patchOf(t, in, m.guard, m.byHand)
}

// patchThin is PatchObjects for unstructured content, of which it looks only at what differs. It
// gives up where that does not do.
func (m *Merger) patchThin(b *builder, t PatchType, last, live, desired any) (patch []byte, ok bool) {
	if t == ApplyConfiguration || m.in.Infer || m.byHand != nil {
		return nil, false // these look at all there is
	}
	all := [3]any{last, live, desired}
	var maps [3]map[string]any
	for i, object := range all {
		if maps[i], ok = content(object); !ok && !none(object) {
			return nil, false
		}
	}
	twoWay := one(last, live)
	if twoWay {
		maps[1] = nil
	}
	in, trees := m.in, [3]*node.Tree{}
	defer func() {
		if !ok {
			b.reset() // for those who make whole trees
		}
	}()
	for i, content := range maps {
		if content == nil {
			continue
		}
		others := make([]map[string]any, 0, 2)
		for k, other := range maps {
			if k != i && other != nil {
				others = append(others, other)
			}
		}
		if len(others) == 0 {
			return nil, false
		}
		var err error
		if trees[i], err = b[i].FromMapBeside(content, others, in.Schema.Shape(), Limits{}); err != nil {
			return nil, false
		}
	}
	in.Last, in.Live, in.Desired = trees[0], trees[1], trees[2]
	if twoWay {
		in.Live = in.Last
	}
	patch, err := patchOf(t, in, m.guard, nil)
	if err != nil || bytes.Contains(patch, []byte(node.Seal)) {
		return nil, false
	}
	return patch, true
}

// content returns the content of an unstructured object.
func content(object any) (map[string]any, bool) {
	switch o := object.(type) {
	case map[string]any:
		return o, o != nil
	case interface{ UnstructuredContent() map[string]any }:
		if none(object) {
			return nil, false
		}
		return o.UnstructuredContent(), true
	}
	return nil, false
}

// none reports whether there is no object, or only the type of one or of a map.
func none(object any) bool {
	v := reflect.ValueOf(object)
	return !v.IsValid() || (v.Kind() == reflect.Pointer || v.Kind() == reflect.Map) && v.IsNil()
}

// one reports whether a and b are the same object.
func one(a, b any) bool {
	v, w := reflect.ValueOf(a), reflect.ValueOf(b)
	if !v.IsValid() || !w.IsValid() || v.Type() != w.Type() {
		return false
	}
	k := v.Kind()
	return (k == reflect.Pointer || k == reflect.Map) && v.Pointer() == w.Pointer()
}

// builder is memory for three objects that do not outlive a call.
type builder [3]node.Builder

func (b *builder) reset() {
	for i := range b {
		b[i].Reset()
	}
}

func (b *builder) release() {
	b.reset()
	builders.Put(b)
}

var builders = sync.Pool{New: func() any { return new(builder) }}
