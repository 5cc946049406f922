package dialect

import (
	"example.com/braid/internal/node"
	"example.com/braid/internal/walk"
)

// ApplyJSONMerge appends the canonical JSON of what a JSON merge patch (RFC 7396) makes
// of live. A patch that is no map takes its place. O(size of both).
func ApplyJSONMerge(dst []byte, live, patch *node.Tree) []byte {
	return mergeJSON(dst, live, 0, patch, 0)
}

// mergeJSON appends what patch's p makes of live's l, which may be None.
func mergeJSON(dst []byte, live *node.Tree, l node.ID, patch *node.Tree, p node.ID) []byte {
	if patch.Kind(p) != node.Map {
		return patch.Append(dst, p)
	}
	var ls []node.ID
	if l != node.None && live.Kind(l) == node.Map {
		ls = live.Kids(l)
	}
	ps := patch.Kids(p)
	dst = append(dst, '{')
	start := len(dst)
	for len(ls) > 0 || len(ps) > 0 {
		l, p := walk.NextField(live, &ls, patch, &ps)
		if p != node.None && patch.Kind(p) == node.Null {
			continue
		}
		if len(dst) > start {
			dst = append(dst, ',')
		}
		if p == node.None {
			dst = live.Append(live.AppendKey(dst, l), l)
		} else {
			dst = mergeJSON(patch.AppendKey(dst, p), live, l, patch, p)
		}
	}
	return append(dst, '}')
}
