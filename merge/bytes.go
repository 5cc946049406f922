package merge

import "example.com/braid/internal/node"

// ThreeWay is the whole of a merge on JSON bytes: it parses the three documents,
// merges them and returns the patch. last and live may be empty: nothing was
// declared before, there is no such object yet.
func ThreeWay(t PatchType, last, live, desired []byte, o Options) ([]byte, error) {
	m, err := New(o)
	if err != nil {
		return nil, err
	}
	var docs [3]*Doc
	for i, in := range []struct {
		name string
		json []byte
	}{{"last", last}, {"live", live}, {"desired", desired}} {
		if len(in.json) == 0 && in.name != "desired" {
			continue
		}
		if docs[i], err = Parse(in.json); err != nil {
			return nil, node.In(in.name, err)
		}
	}
	r, err := m.ThreeWay(docs[0], docs[1], docs[2])
	if err != nil {
		return nil, err
	}
	return r.Patch(t)
}

// TwoWay is ThreeWay for a change from one document to another.
func TwoWay(t PatchType, from, to []byte, o Options) ([]byte, error) {
	return ThreeWay(t, from, from, to, o)
}
