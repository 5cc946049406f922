package twin

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"example.com/braid/internal/node"
	"example.com/braid/internal/schema"
	"example.com/braid/internal/walk"
)

// options adds random options to rules, and to live what they need. It returns who edits by
// hand.
func (r *Random) options(x *triple, rules *walk.Rules) (byHand []string) {
	if r.IntN(3) == 0 {
		rules.Ignore = r.patterns(*x)
	}
	if r.IntN(3) == 0 { // what matters is what desired no longer has
		for range 3 {
			rules.HandOver = append(rules.HandOver, r.patterns(triple{x.last, x.last, x.last})...)
		}
	}
	rules.Infer = r.IntN(2) == 0
	if r.IntN(3) == 0 {
		byHand = []string{"hand"}
		rules.Unowned = walk.Unowned(r.IntN(2))
		x.live = r.owned(rules.Schema.Root, x.live)
	}
	return byHand
}

// patterns names random positions of a triple: one each, and others like it.
func (r *Random) patterns(x triple) (out []node.Pattern) {
	for range 1 + r.IntN(3) {
		v := []any{x.last, x.live, x.desired}[r.IntN(3)]
		var p node.Pattern
		for range 1 + r.IntN(5) {
			step, kid, ok := r.step(v)
			if !ok {
				break
			}
			p, v = append(p, step), kid
		}
		if len(p) > 0 {
			out = append(out, p)
		}
	}
	return out
}

// step names a part of v, and maybe others too.
func (r *Random) step(v any) (s node.PatternStep, kid any, ok bool) {
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 {
			return s, nil, false
		}
		s.Field = slices.Sorted(maps.Keys(v))[r.IntN(len(v))]
		kid = v[s.Field]
		s.Any = r.IntN(12) == 0
	case []any:
		if len(v) == 0 {
			return s, nil, false
		}
		s.Elem, s.Index = true, r.IntN(len(v))
		kid = v[s.Index]
		switch m, isMap := kid.(map[string]any); {
		case r.IntN(3) == 0:
			s.Any = true
		case r.IntN(10) == 0: // by index
		case isMap:
			for _, key := range []string{"name", "port", "protocol", "key", "id"} {
				if text, ok := scalarText(m[key]); ok && (s.Keys == nil || r.IntN(2) == 0) {
					s.Keys = append(s.Keys, node.KeyPair{Name: key, Value: text})
				}
			}
		default:
			if text, ok := scalarText(kid); ok {
				s.Keys = []node.KeyPair{{Value: text}}
			}
		}
	default:
		return s, nil, false
	}
	return s, kid, true
}

func scalarText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case int64, json.Number, float64, bool:
		text, _ := json.Marshal(v)
		return string(text), true
	}
	return "", false
}

// owned returns live with managedFields that say at random who owns what of it.
func (r *Random) owned(root *schema.Type, live map[string]any) map[string]any {
	entry := func(manager string) map[string]any {
		return map[string]any{"manager": manager, "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": map[string]any{}}
	}
	hand, other := entry("hand"), entry("other")
	r.own(root, live, hand["fieldsV1"].(map[string]any), other["fieldsV1"].(map[string]any))
	live = maps.Clone(live)
	live["apiVersion"] = "v1"
	live["metadata"] = map[string]any{"managedFields": []any{hand, other}}
	return live
}

// own lets somebody own v's parts. Who makes a position by hand as a rule owns all in it.
func (r *Random) own(t *schema.Type, v any, hand, other map[string]any) {
	into := func(name string, t *schema.Type, kid any) {
		h, o := map[string]any{}, map[string]any{}
		switch r.IntN(8) {
		case 0, 1, 2:
			r.own(t, kid, h, map[string]any{}) // the rest is nobody's
			h["."] = map[string]any{}
		case 3, 4:
			r.own(t, kid, h, o)
			h["."] = map[string]any{}
		case 5:
			r.own(t, kid, h, o)
			o["."] = map[string]any{}
		default:
			r.own(t, kid, h, o)
		}
		if len(h) > 0 {
			hand[name] = h
		}
		if len(o) > 0 {
			other[name] = o
		}
	}
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			into("f:"+k, fieldOf(t, k).Type, v[k])
		}
	case []any:
		for _, e := range v {
			names := map[string]any{}
			m, _ := e.(map[string]any)
			for _, k := range t.Structured.Keys {
				if f, ok := m[k.Name]; ok {
					names[k.Name] = f
				} else if k.Default != "" {
					names[k.Name] = json.RawMessage(k.Default)
				}
			}
			if text, err := json.Marshal(names); err == nil && len(names) > 0 {
				into("k:"+string(text), elemOf(t), e)
			} else if text, ok := scalarText(e); ok && t.Structured.Merge == schema.Set {
				text, _ := json.Marshal(text)
				into("v:"+string(text), elemOf(t), e)
			}
		}
	}
}

// matter counts the options without which a triple merges to something else.
func (x triple) matter(r walk.Rules, byHand []string, count map[string]int) {
	last, live, desired := tree(x.last), tree(x.live), tree(x.desired)
	merge := func(r walk.Rules) string {
		sc, err := walkWith(last, live, desired, byHand, r)
		if err != nil {
			return ""
		}
		return fmt.Sprint(sc.Conflicts, string(sc.AppendMerged(nil)))
	}
	with := merge(r)
	look := func(option string, drawn bool, r walk.Rules) {
		if drawn && merge(r) != with {
			count[option]++
		}
	}
	ignore, handOver, infer, unowned := r, r, r, r
	ignore.Ignore, handOver.HandOver, infer.Infer, unowned.Unowned = nil, nil, false, walk.UnownedStays
	look("Ignore", r.Ignore != nil, ignore)
	look("HandOver", r.HandOver != nil, handOver)
	look("InferKeys", r.Infer, infer)
	look("Unowned", r.Unowned == walk.UnownedGoes, unowned)
}
