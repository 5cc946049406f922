package node

import (
	"cmp"
	"slices"
	"strings"
)

// entry is an entry of a Go map whose entries are sorted.
type entry struct {
	key  string
	lead uint64 // for sortEntries
	val  int
}

// sortEntries sorts by key. The keys of a large map tend to begin alike, and to be far
// apart in memory: what differs is compared as a number first. O(n log n).
func sortEntries(list []entry) {
	const small = 12
	alike := 0
	if len(list) > small {
		alike = len(list[0].key)
		for i := range list {
			alike = commonLen(list[0].key[:alike], list[i].key)
		}
	}
	for i := range list {
		list[i].lead = Prefix(list[i].key[alike:])
	}
	slices.SortFunc(list, func(x, y entry) int {
		if x.lead != y.lead {
			return cmp.Compare(x.lead, y.lead)
		}
		return strings.Compare(x.key, y.key)
	})
}

// commonLen returns how many bytes two strings begin with in common.
func commonLen(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
