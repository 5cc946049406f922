package walk

import "example.com/braid/internal/node"

// in reports whether the position of e, in the map or list that live has at parent, is at one
// of the patterns. The way there is live's: desired may have an element at another index, or
// leave key fields to their defaults. O(depth) a pattern.
func (w *walker) in(patterns []node.Pattern, parent node.ID, e *Edit) bool {
	t, id := w.nodeOf(e)
	for _, p := range patterns {
		if p.MatchesPart(w.Live, parent, t, id) {
			return true
		}
	}
	return false
}
