package peers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"

	"example.com/braid/internal/dialect"
	"example.com/braid/internal/node"
	"example.com/braid/internal/schema"
	"example.com/braid/internal/twin"
	"example.com/braid/internal/walk"
)

// triple returns last, live and desired of a seed. Its low bits say what they may hold.
func triple(seed uint64, s *schema.Schema) (last, live, desired *node.Tree) {
	r := twin.NewRandom(seed)
	r.Odd, r.Nulls, r.Repeats = seed&1 != 0, seed&2 != 0, seed&12 == 12
	var docs [3]*node.Tree
	a, l, d := r.Triple(s)
	for i, m := range []map[string]any{a, l, d} {
		t, err := node.FromMap(m, node.Limits{})
		if err != nil {
			panic(err)
		}
		docs[i] = t
	}
	return docs[0], docs[1], docs[2]
}

func kind(t *testing.T) *schema.Schema {
	s, err := schema.FromType(reflect.TypeFor[twin.Kind]())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Our JSON merge patches and JSON Patches give merged in evanphx's hands too, guarded or
// not, under every model and policy.
func TestLawsByEvanphx(t *testing.T) {
	theirs := twin.Theirs{JSONMerge: mergeByEvanphx, JSONPatch: patchByEvanphx}
	policies := []*walk.Policy{&walk.Apply, &walk.Strict, &walk.Update, &walk.Branch}
	s := kind(t)
	for n := range uint64(*patches) {
		seed := uint64(*seed) + n
		last, live, desired := triple(seed, s)
		r := walk.Rules{Schema: s, Model: schema.Model(n / 16 % 3), Policy: policies[n/48%4], Equality: walk.Equality(n / 192 % 2)}
		if n/384%4 == 0 {
			r.Schema = schema.None
		}
		found, _ := twin.Laws(twin.Story{Last: last, Live: live, Desired: desired, Rules: r, Theirs: theirs})
		for _, b := range found {
			t.Fatalf("seed %d, model %d: %v\nlast    %s\nlive    %s\ndesired %s", seed, r.Model, b, last.JSON(), live.JSON(), desired.JSON())
		}
	}
}

// mergeByEvanphx applies a JSON merge patch. Where evanphx drops null fields of maps in
// lists, which are data (see the table of differences), ours stands.
func mergeByEvanphx(live, patch []byte) ([]byte, error) {
	out, err := jsonpatch.MergePatch(live, patch)
	if err != nil {
		return nil, err
	}
	l, p := treeOf(live), treeOf(patch)
	if ours := treeOf(dialect.ApplyJSONMerge(nil, l, p)); twin.Equal(withoutNulls(ours.Map()), withoutNulls(treeOf(out).Map())) {
		return ours.JSON(), nil
	}
	return out, nil
}

// patchByEvanphx applies a JSON Patch, but for one with tests: evanphx's panic at null
// and compare the digits of numbers.
func patchByEvanphx(live, patch []byte) ([]byte, error) {
	if bytes.Contains(patch, []byte(`{"op":"test"`)) {
		return dialect.ApplyJSONPatch(nil, treeOf(live), treeOf(patch), node.Limits{})
	}
	p, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		return nil, err
	}
	return p.Apply(live)
}

func treeOf(json []byte) *node.Tree {
	t, err := node.Parse(json, node.Limits{})
	if err != nil {
		panic(err)
	}
	return t
}

// Our merge without a schema against apimachinery's three-way JSON merge patch, applied
// by evanphx: what explains each difference, and how often.
func TestThreeWayJSONMerge(t *testing.T) {
	s := kind(t)
	used := map[string]int{}
	rules := walk.Rules{Schema: schema.None, Model: schema.Plain, Policy: &walk.Apply, Equality: walk.Exact}
	for n := range uint64(*patches) {
		seed := uint64(*seed) + n
		last, live, desired := triple(seed, s)
		patch, err := jsonmergepatch.CreateThreeWayJSONMergePatch(last.JSON(), desired.JSON(), live.JSON())
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		change, err := node.Parse(patch, node.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		sc, err := walk.Walk(walk.Input{Last: last, Live: live, Desired: desired, Rules: rules})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		theirs, ours := decode(t, dialect.ApplyJSONMerge(nil, live, change)), decode(t, sc.AppendMerged(nil))
		for _, why := range mergesApart(last.Map(), live.Map(), desired.Map(), theirs, ours) {
			if why[0] == '?' {
				t.Fatalf("seed %d: %s\nlast    %s\nlive    %s\ndesired %s\npatch   %s", seed, why, last.JSON(), live.JSON(), desired.JSON(), patch)
			}
			used[why]++
		}
	}
	t.Log(used)
}

func decode(t *testing.T, text []byte) map[string]any {
	t.Helper()
	tree, err := node.Parse(text, node.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return tree.Map()
}

// mergesApart returns the reasons for which two merged maps differ; "?…" where there is none.
func mergesApart(last, live, desired, theirs, ours any) (why []string) {
	tm, ok1 := theirs.(map[string]any)
	om, ok2 := ours.(map[string]any)
	if !ok1 || !ok2 {
		return []string{fmt.Sprintf("?%v, ours %v", theirs, ours)}
	}
	fieldOf := func(v any, key string) (any, bool) {
		m, _ := v.(map[string]any)
		f, ok := m[key]
		return f, ok
	}
	both := maps.Clone(tm)
	maps.Copy(both, om)
	for _, key := range slices.Sorted(maps.Keys(both)) {
		a, hasA := fieldOf(last, key)
		l, hasL := fieldOf(live, key)
		d, hasD := fieldOf(desired, key)
		x, hasX := tm[key]
		y, hasY := om[key]
		_, maps1 := x.(map[string]any)
		_, maps2 := y.(map[string]any)
		switch {
		case hasX && hasY && twin.Equal(x, y):
		case hasX && hasY && maps1 && maps2:
			why = append(why, mergesApart(a, l, d, x, y)...)
		case hasD && d == nil && !hasY && hasX && hasL && twin.Equal(x, l):
			why = append(why, "a null that last has too removes nothing")
		case hasD && d == nil && hasY && y == nil && !hasX && hasL && l == nil:
			why = append(why, "a null that live has too is left")
		case hasY && !hasX && hasD && twin.Equal(y, map[string]any{}) && twin.Equal(withoutNulls(d), y):
			why = append(why, "a map in which all is null is not made")
		case hasX && hasY && twin.Equal(withoutNulls(x), withoutNulls(y)):
			why = append(why, "null fields of maps in lists are data")
		case hasX && hasY && hasA && twin.Equal(withoutNulls(a), withoutNulls(d)) && twin.Equal(y, l):
			why = append(why, "a list to which live adds fields is drift")
		default:
			text := func(v any, has bool) string {
				if !has {
					return "–"
				}
				b, _ := json.Marshal(v)
				return string(b)
			}
			why = append(why, fmt.Sprintf("?%s: last %s live %s desired %s theirs %s ours %s", key, text(a, hasA), text(l, hasL), text(d, hasD), text(x, hasX), text(y, hasY)))
		}
	}
	return why
}

// withoutNulls drops the null fields of maps, in lists too.
func withoutNulls(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			if e != nil {
				out[k] = withoutNulls(e)
			}
		}
		return out
	case []any:
		out := []any{}
		for _, e := range v {
			out = append(out, withoutNulls(e))
		}
		return out
	}
	return v
}
