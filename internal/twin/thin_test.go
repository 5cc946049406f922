package twin

import (
	"bytes"
	"slices"
	"testing"

	"example.com/braid/internal/dialect"
	"example.com/braid/internal/node"
	"example.com/braid/internal/schema"
	"example.com/braid/internal/walk"
)

var encoders = []func(*walk.Script) ([]byte, error){
	func(s *walk.Script) ([]byte, error) { return dialect.EncodeStrategic(nil, s, dialect.GuardVersion) },
	func(s *walk.Script) ([]byte, error) { return dialect.EncodeJSONMerge(nil, s, dialect.GuardVersion) },
	func(s *walk.Script) ([]byte, error) {
		return dialect.EncodeJSONPatch(nil, s, dialect.GuardVersion|dialect.GuardValues)
	},
}

// thin returns the trees of a triple without what all have the same. A nil map has none.
func (x triple) thin(t *testing.T, s *schema.Schema) (trees [3]*node.Tree) {
	t.Helper()
	all := []map[string]any{x.last, x.live, x.desired}
	for i, m := range all {
		if m == nil {
			continue
		}
		others := slices.DeleteFunc(slices.Delete(slices.Clone(all), i, i+1), func(m map[string]any) bool { return m == nil })
		var err error
		if trees[i], err = new(node.Builder).FromMapBeside(m, others, s.Shape(), node.Limits{}); err != nil {
			t.Fatal(err)
		}
	}
	return trees
}

// What is left out of three documents because it is the same in all is in no patch: a patch is
// that of the whole documents, or the Seal in it says that it is made of something not whole.
func TestThin(t *testing.T) {
	whole, smaller, sealed := 0, 0, 0
	for n := range uint64(*triples) {
		s := *seed + n
		x, p := random(s), policies[s/128%4]
		switch s % 5 {
		case 0:
			x.live = x.last
		case 1:
			x.last = nil
		}
		r := walk.Rules{Schema: kind, Model: schema.Model(s / 16 % 3), Policy: &p.table, Equality: walk.Equality(s / 64 % 2), Nulls: walk.Nulls(s / 32 % 3)}
		if s/1024%4 == 0 {
			r.Schema = schema.None
		}
		NewRandom(s).options(&x, &r)
		r.Infer = false // looks at all there is
		var docs [3]*node.Tree
		for i, m := range []map[string]any{x.last, x.live, x.desired} {
			if m != nil {
				docs[i] = tree(m)
			}
		}
		thin := x.thin(t, r.Schema)
		full, fullErr := walk.Walk(walk.Input{Last: docs[0], Live: docs[1], Desired: docs[2], Rules: r})
		less, err := walk.Walk(walk.Input{Last: thin[0], Live: thin[1], Desired: thin[2], Rules: r})
		if whole++; thin[2].Len() < docs[2].Len() {
			smaller++
		}
		if err != nil || less.Conflicts > 0 {
			continue // the whole documents are merged then
		}
		if fullErr != nil || full.Conflicts > 0 {
			t.Fatalf("seed %d\n%v\nof what differs there is no error, of all there is %v, %d conflicts", s, x, fullErr, full.Conflicts)
		}
		for i, encode := range encoders {
			if i == 0 && r.Model != schema.Strategic {
				continue
			}
			want, wantErr := encode(&full)
			got, err := encode(&less)
			switch {
			case bytes.Contains(got, []byte(node.Seal)):
				sealed++
			case err == nil && (wantErr != nil || !bytes.Equal(got, want)):
				t.Fatalf("seed %d, model %d, equality %d, nulls %d, %s, format %d\n%v\nof what differs %s\nof all           %s, %v", s, r.Model, r.Equality, r.Nulls, p.name, i, x, got, want, wantErr)
			}
		}
	}
	t.Logf("of %d triples %d are smaller; %d patches have a seal", whole, smaller, sealed)
	if smaller < whole/4 {
		t.Errorf("of %d triples only %d are smaller", whole, smaller)
	}
}
