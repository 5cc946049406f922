package twin

import (
	"maps"
	"slices"
)

// shrink takes fields and elements away from the three documents as long as the
// triple stays bad, and returns the smallest that it finds.
func shrink(x triple, bad func(triple) bool) triple {
	for again := true; again; {
		again = false
		for i := range 3 {
			docs := []map[string]any{x.last, x.live, x.desired}
			for smaller := range smaller(docs[i]) {
				next := slices.Clone(docs)
				next[i] = smaller.(map[string]any)
				if y := (triple{next[0], next[1], next[2]}); bad(y) {
					x, again = y, true
					break
				}
			}
		}
	}
	return x
}

// smaller calls yield with copies of a value that lack one field or element, at
// any depth, the largest pieces first.
func smaller(v any) func(yield func(any) bool) {
	return func(yield func(any) bool) {
		switch v := v.(type) {
		case map[string]any:
			for _, k := range slices.Sorted(maps.Keys(v)) {
				out := maps.Clone(v)
				delete(out, k)
				if !yield(out) {
					return
				}
			}
			for _, k := range slices.Sorted(maps.Keys(v)) {
				for e := range smaller(v[k]) {
					out := maps.Clone(v)
					out[k] = e
					if !yield(out) {
						return
					}
				}
			}
		case []any:
			for i := range v {
				if !yield(slices.Delete(slices.Clone(v), i, i+1)) {
					return
				}
			}
			for i := range v {
				for e := range smaller(v[i]) {
					out := slices.Clone(v)
					out[i] = e
					if !yield(out) {
						return
					}
				}
			}
		}
	}
}
