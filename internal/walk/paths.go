package walk

import (
	"slices"

	"example.com/braid/internal/node"
	"example.com/braid/internal/schema"
)

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

// ignored reports whether the field at e, of the map of edit parent, or the one that says the
// same is ignored. f is nil if the map has none of that name.
func (w *walker) ignored(parent int32, f *schema.Field, e *Edit) bool {
	live := w.Edits[parent].Live
	return w.Ignore != nil && (w.in(w.Ignore, live, e) || f != nil && f.Alias != "" && named(w.Ignore, w.Live, live, f.Alias))
}

// named reports whether one of the patterns names a field of the map i.
func named(patterns []node.Pattern, t *node.Tree, i node.ID, field string) bool {
	return slices.ContainsFunc(patterns, func(p node.Pattern) bool { return p.MatchesField(t, i, field) })
}
