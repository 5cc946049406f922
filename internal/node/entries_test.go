package node

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// Keys come out in byte order, whatever they begin with and whatever their number.
func TestSortEntries(t *testing.T) {
	for name, keys := range map[string][]string{
		"none":              nil,
		"one":               {"a"},
		"empty among few":   {"b", "", "a"},
		"zeros count":       {"a\x00", "a", "a\x00\x00", "a\x01"},
		"all alike":         slices.Repeat([]string{"same"}, 20),
		"one is the prefix": append(numbered("key-", 20), "key-", "key", "key-1\x00"),
		"no prefix":         append(numbered("key-", 20), "", "\xff", "é"),
		"far apart":         append(numbered("key-000000000", 20), numbered("key-111111111", 20)...),
	} {
		rand.New(rand.NewPCG(1, 2)).Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
		list := []entry{}
		for i, k := range keys {
			list = append(list, entry{key: k, val: i})
		}
		sortEntries(list)
		got := []string{}
		for _, e := range list {
			if keys[e.val] != e.key {
				t.Errorf("%s: entry %d is now of key %q, was of %q", name, e.val, e.key, keys[e.val])
			}
			got = append(got, e.key)
		}
		if want := slices.Sorted(slices.Values(keys)); !slices.Equal(got, want) {
			t.Errorf("%s:\n got %q\nwant %q", name, strings.Join(got, " "), strings.Join(want, " "))
		}
	}
}

func numbered(prefix string, n int) (keys []string) {
	for i := range n {
		keys = append(keys, fmt.Sprint(prefix, i))
	}
	return keys
}
