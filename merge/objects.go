package merge

import (
	"reflect"
	"sync"

	"example.com/braid/internal/node"
)

// PatchObjects is ThreeWay and Result.Patch for Go values that [FromObject] can read: typed
// objects, unstructured content, one beside the other. last and live may be nil, and may be
// one object, which makes a two-way merge. The answer is that for their Docs, and costs less:
// nothing of the objects is kept but what the patch says. No goroutine may change them
// meanwhile.
func (m *Merger) PatchObjects(t PatchType, last, live, desired any) ([]byte, error) {
	in, err := m.in, error(nil)
	b := builders.Get().(*builder)
	defer b.release()
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
	if none(desired) {
		return nil, noDesired()
	}
	if in.Desired, err = b[2].FromObject(desired, Limits{}); err != nil {
		return nil, node.In("desired", err)
	}
	return patchOf(t, in, m.guard, m.byHand)
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

func (b *builder) release() {
	for i := range b {
		b[i].Reset()
	}
	builders.Put(b)
}

var builders = sync.Pool{New: func() any { return new(builder) }}
