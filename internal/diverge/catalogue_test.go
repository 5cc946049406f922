package diverge

import (
	"slices"
	"testing"
)

func TestCatalogue(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range slices.Concat(Catalogue, ServerSide) {
		if d.Name == "" || d.Theirs == "" || d.Ours == "" || d.Why == "" || seen[d.Name] {
			t.Errorf("%+v", d)
		}
		seen[d.Name] = true
		if got, ok := Find(d.Name); !ok || got != d {
			t.Errorf("Find(%q) = %v", d.Name, got)
		}
	}
	if _, ok := Find("no such entry"); ok {
		t.Error("found what is not there")
	}
}
