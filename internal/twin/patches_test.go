package twin

import (
	"slices"
	"strings"
	"testing"

	"example.com/braid/internal/dialect"
	"example.com/braid/internal/node"
	"example.com/braid/internal/schema"
)

// patch returns a patch as a person might write it for live, and worse.
func (r *Random) patch(t *schema.Type, live map[string]any, depth int) map[string]any {
	out := map[string]any{}
	keys := []string{}
	for _, f := range t.Fields {
		keys = append(keys, f.Name)
	}
	for k := range live {
		if _, named := t.Lookup(k); !named {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	for _, k := range keys {
		c := fieldOf(t, k).Type
		switch lv := live[k].(type) {
		case map[string]any:
			if r.IntN(3) == 0 {
				out[k] = r.patch(c, lv, depth+1)
			}
		case []any:
			if r.IntN(3) == 0 {
				r.patchList(c, k, lv, out, depth)
			}
		default:
			if r.IntN(6) == 0 && depth < 4 {
				out[k] = r.Value(c, depth)
				if list, ok := out[k].([]any); ok {
					r.patchList(c, k, list, out, depth)
				}
				if m, ok := out[k].(map[string]any); ok && r.IntN(4) == 0 {
					out[k] = r.patch(c, m, depth+1)
				}
			}
		}
		if _, pruned := out["$deleteFromPrimitiveList/"+k]; r.IntN(10) == 0 && !pruned {
			out[k] = nil
		}
	}
	if r.IntN(12) == 0 {
		out["$patch"] = []any{"replace", "delete", "merge", "odd", int64(1)}[r.IntN(5)]
	}
	if r.IntN(6) == 0 {
		retain := []any{}
		for _, k := range keys {
			if _, sent := out[k]; sent && r.IntN(10) > 0 || r.IntN(3) == 0 {
				retain = append(retain, k)
			}
		}
		out["$retainKeys"] = retain
	}
	return out
}

func (r *Random) patchList(t *schema.Type, name string, live []any, out map[string]any, depth int) {
	names, sent := []any{}, []any{}
	keyed := t.Strategic.Merge == schema.Keyed
	for _, e := range live {
		m, isMap := e.(map[string]any)
		if isMap && keyed {
			key := t.Strategic.Keys[0].Name
			names = append(names, map[string]any{key: m[key]})
			if r.IntN(2) == 0 {
				continue
			}
			e := r.patch(elemOf(t), m, depth+1)
			if delete(e, "$patch"); r.IntN(3) == 0 {
				e["$patch"] = []any{"delete", "delete", "replace", "merge", "odd"}[r.IntN(5)]
			}
			if e[key] = m[key]; r.IntN(20) == 0 {
				delete(e, key)
			}
			sent = append(sent, e)
		} else if names = append(names, e); r.IntN(3) == 0 {
			sent = append(sent, e)
		}
	}
	for range r.IntN(3) {
		v := r.Value(elemOf(t), depth+1)
		if m, ok := v.(map[string]any); ok && keyed {
			key := t.Strategic.Keys[0].Name
			typ, _ := elemOf(t).Lookup(key)
			m[key] = r.Value(typ, depth+1)
			names = append(names, map[string]any{key: m[key]})
		} else {
			names = append(names, v)
		}
		sent = append(sent, v)
	}
	if r.IntN(4) == 0 {
		r.Shuffle(len(sent), func(i, j int) { sent[i], sent[j] = sent[j], sent[i] })
	}
	if r.IntN(4) > 0 {
		out[name] = sent
	}
	if r.IntN(3) == 0 {
		if r.IntN(2) == 0 {
			r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		}
		for r.IntN(3) == 0 && len(names) > 0 {
			names = names[1:]
		}
		out["$setElementOrder/"+name] = names
	}
	// What becomes of a field with both is theirs to dice: TestPruneAndAdd.
	_, value := out[name]
	_, order := out["$setElementOrder/"+name]
	if r.IntN(4) == 0 && (!value || order) {
		prune := slices.Clone(live)
		if len(prune) > 0 && r.IntN(2) == 0 {
			prune = prune[:1]
		}
		if r.IntN(3) == 0 {
			prune = append(prune, r.word())
		}
		out["$deleteFromPrimitiveList/"+name] = prune
	}
}

// bothApply explains where two appliers part on a patch.
func bothApply(j *judge, live, patch map[string]any) {
	j.appliers = true
	they, err := theirs(tree(live).JSON(), tree(patch).JSON())
	own, ourErr := dialect.ApplyStrategic(nil, tree(live), tree(patch), kind)
	switch {
	case err != nil && ourErr != nil:
		return
	case err != nil:
		triple{live: live, desired: patch}.explain(j, "they refuse ", err)
		return
	case ourErr != nil:
		if prunesMaps(patch) && strings.Contains(ourErr.Error(), "the server prunes") {
			j.use("prune-of-maps")
			return
		}
		x := triple{live: live, desired: patch}
		if strings.Contains(ourErr.Error(), "the field is no list") && x.anywhere(ordersNoList) {
			j.use("list-in-other-field")
			return
		}
		_, text, _ := strings.Cut(ourErr.Error(), ": ")
		if i := strings.LastIndex(text, ": "); i >= 0 {
			text = text[i:]
		}
		j.unexplained("we refuse "+text, "theirs %s, ours %v", they, ourErr)
		return
	}
	got, err := node.Parse(own, node.Limits{})
	if err != nil {
		j.unexplained("no JSON", "%v", err)
		return
	}
	if holdsDirective(got.Map()) && !holdsDirective(live) {
		j.unexplained("we store a directive", "%s", own)
	}
	want, _ := parseMap(they)
	at := place{"", none{}, live, patch, want, got.Map()}
	j.value(kind.Root, kind.Root.Strategic, at)
}

func holdsDirective(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			if directive(k) || holdsDirective(e) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, holdsDirective)
	}
	return false
}

// ordersNoList: $setElementOrder is about a field that is no list.
func ordersNoList(at spot) bool {
	m, _ := at.desired.(map[string]any)
	for k := range m {
		if name, ok := strings.CutPrefix(k, "$setElementOrder/"); ok && fieldOf(at.t, name).Type.Kind != schema.List {
			return true
		}
	}
	return false
}

// prunesMaps: somewhere a $deleteFromPrimitiveList is about maps.
func prunesMaps(v any) bool {
	isMap := func(v any) bool { _, ok := v.(map[string]any); return ok }
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			if name, ok := strings.CutPrefix(k, "$deleteFromPrimitiveList/"); ok {
				prune, _ := e.([]any)
				sent, _ := v[name].([]any)
				if slices.ContainsFunc(slices.Concat(prune, sent), isMap) {
					return true
				}
			} else if prunesMaps(e) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, prunesMaps)
	}
	return false
}

func TestPatches(t *testing.T) {
	differential(t, *triples, func(x triple, j *judge) { bothApply(j, x.live, x.desired) }, func(seed uint64) (x triple) {
		r := NewRandom(seed)
		r.Odd = seed%4 == 0
		_, x.live, _ = r.Triple(kind)
		r.Odd = false
		x.desired = r.patch(kind.Root, x.live, 0)
		return x
	})
}

// Theirs takes the fields of a patch in the order of a Go map: whether a value is
// pruned before or after it is added is chance. Ours prunes last.
func TestPruneAndAdd(t *testing.T) {
	live, patch := []byte(`{"set":["b"]}`), []byte(`{"$deleteFromPrimitiveList/set":["a"],"set":["a"]}`)
	own, err := dialect.ApplyStrategic(nil, parse(string(live)), parse(string(patch)), kind)
	if err != nil || string(own) != `{"set":["b"]}` {
		t.Errorf("ours: %s, %v", own, err)
	}
	j := newJudge()
	j.use("prune-and-add")
	j.count()
	results := map[string]bool{}
	for range 100 {
		got, err := theirs(live, patch)
		if err != nil {
			t.Fatal(err)
		}
		results[string(got)] = true
	}
	if len(results) != 2 {
		t.Errorf("theirs: %v", results)
	}
}
