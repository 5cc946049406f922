package walk

import "example.com/braid/internal/node"

// in reports whether the position of e is at one of the patterns. O(depth) a pattern.
func (w *walker) in(patterns []node.Pattern, e *Edit) bool {
	t, id := w.nodeOf(e)
	for _, p := range patterns {
		if p.Matches(t, id) {
			return true
		}
	}
	return false
}
