package node

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"
	"unicode/utf8"
)

// check verifies all that doc.go says is always true of a tree, and that its JSON
// means the same tree.
func check(t testing.TB, tr *Tree) {
	t.Helper()
	if tr == nil || tr.Len() == 0 {
		t.Fatal("no tree")
	}
	if tr.Parent(0) != None || int(tr.End(0)) != tr.Len() {
		t.Fatalf("root: parent %d, end %d of %d", tr.Parent(0), tr.End(0), tr.Len())
	}
	children := make([][]ID, tr.Len())
	for i := ID(0); int(i) < tr.Len(); i++ {
		if i > 0 {
			p := tr.Parent(i)
			if p < 0 || p >= i || tr.End(i) > tr.End(p) || tr.Kind(p) < List {
				t.Fatalf("node %d: end %d, parent %d with end %d", i, tr.End(i), p, tr.End(p))
			}
			children[p] = append(children[p], i)
		}
		checkText(t, tr, i)
	}
	for i := ID(0); int(i) < tr.Len(); i++ {
		checkKids(t, tr, i, children[i])
	}
	text := tr.JSON()
	if !json.Valid(text) {
		t.Fatalf("not JSON: %s", text)
	}
	again, err := Parse(text, Limits{Depth: maxDepth})
	if err != nil {
		t.Fatalf("own JSON refused: %v", err)
	}
	if !Equal(tr, 0, again, 0) || !Equal(again, 0, tr, 0) {
		t.Fatalf("own JSON is another value: %s", text)
	}
	if twice := again.JSON(); !bytes.Equal(text, twice) {
		t.Fatalf("JSON changes when parsed:\n%s\n%s", text, twice)
	}
}

func checkText(t testing.TB, tr *Tree, i ID) {
	t.Helper()
	key, text := tr.Key(i), tr.Text(i)
	if !utf8.ValidString(key) || !utf8.ValidString(text) || tr.Kind(i) >= List && text != "" {
		t.Fatalf("node %d: not UTF-8", i)
	}
	isField := i > 0 && tr.Kind(tr.Parent(i)) == Map
	if !isField && key != "" {
		t.Fatalf("node %d: key %q outside of a map", i, key)
	}
	if tr.KeyPrefix(i) != Prefix(key) {
		t.Fatalf("node %d: prefix %x of key %q", i, tr.KeyPrefix(i), key)
	}
	if isField && tr.Field(tr.Parent(i), key) != i {
		t.Fatalf("node %d: Field(%d, %q) = %d", i, tr.Parent(i), key, tr.Field(tr.Parent(i), key))
	}
	switch tr.Kind(i) {
	case Null:
		if text != "null" {
			t.Fatalf("node %d: null is %q", i, text)
		}
	case Bool:
		if text != "true" && text != "false" {
			t.Fatalf("node %d: boolean is %q", i, text)
		}
	case Number:
		if !isNumber(text) {
			t.Fatalf("node %d: number is %q", i, text)
		}
	}
}

func checkKids(t testing.TB, tr *Tree, i ID, want []ID) {
	t.Helper()
	kids := tr.Kids(i)
	if tr.Kind(i) < List && tr.End(i) != i+1 {
		t.Fatalf("node %d: a scalar with a subtree", i)
	}
	if cap(kids) != len(kids) {
		t.Fatalf("node %d: an append to its kids would write into the tree", i)
	}
	byID := slices.Clone(kids)
	slices.Sort(byID)
	if !slices.Equal(byID, want) {
		t.Fatalf("node %d: kids %v, children %v", i, kids, want)
	}
	next := i + 1
	for _, k := range byID {
		if k != next {
			t.Fatalf("node %d: child %d begins at %d", i, k, next)
		}
		next = tr.End(k)
	}
	if next != tr.End(i) {
		t.Fatalf("node %d: children end at %d, it ends at %d", i, next, tr.End(i))
	}
	for k := 1; k < len(kids); k++ {
		switch {
		case tr.Kind(i) == List && kids[k-1] >= kids[k]:
			t.Fatalf("node %d: list out of order: %v", i, kids)
		case tr.Kind(i) == Map && tr.Key(kids[k-1]) >= tr.Key(kids[k]):
			t.Fatalf("node %d: keys out of order: %q, %q", i, tr.Key(kids[k-1]), tr.Key(kids[k]))
		case tr.Kind(i) == Map && CompareKeys(tr, kids[k-1], tr, kids[k]) >= 0:
			t.Fatalf("node %d: CompareKeys(%q, %q)", i, tr.Key(kids[k-1]), tr.Key(kids[k]))
		}
	}
}

// parsed is Parse for documents that are good, with check.
func parsed(t testing.TB, text string) *Tree {
	t.Helper()
	tr, err := Parse([]byte(text), Limits{})
	if err != nil {
		t.Fatalf("%.200s: %v", text, err)
	}
	check(t, tr)
	return tr
}
