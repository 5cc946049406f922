package twin

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"

	"example.com/braid/internal/schema"
)

// Random makes objects of a schema from small domains, so that equal keys, equal
// values and shared elements are common. The same seed makes the same objects.
type Random struct {
	*rand.Rand
	// Odd lets live and last hold what a schema does not want: repeated keys,
	// elements without keys, unknown fields, values of a wrong type, 1.0 for 1.
	Odd bool
	// Nulls lets desired hold null fields.
	Nulls bool
	// Repeats lets all three, desired too, repeat keys and values in their lists.
	Repeats bool
	// Model says which rules of the schema the lists obey: Strategic.
	Model schema.Model
}

// NewRandom returns a source of objects.
func NewRandom(seed uint64) *Random { return &Random{Rand: rand.New(rand.NewPCG(seed, 1))} }

// Triple returns last, live and desired that are variations of one object.
func (r *Random) Triple(s *schema.Schema) (last, live, desired map[string]any) {
	odd, nulls := r.Odd, r.Nulls
	r.Odd, r.Nulls = false, false
	origin := r.object(s.Root, 0)
	pick := func() map[string]any {
		out, _ := r.vary(s.Root, origin, 0).(map[string]any)
		return out
	}
	last = pick()
	desired = last
	if r.IntN(4) > 0 {
		r.Nulls = nulls
		desired, _ = r.vary(s.Root, last, 0).(map[string]any)
	}
	r.Odd, r.Nulls = odd, false
	live = pick()
	if r.IntN(3) == 0 {
		live, _ = r.vary(s.Root, last, 0).(map[string]any)
	}
	if r.IntN(4) == 0 {
		last, _ = r.vary(s.Root, last, 0).(map[string]any)
	}
	r.Odd, r.Nulls = odd, nulls
	return last, live, desired
}

func (r *Random) object(t *schema.Type, depth int) map[string]any {
	out := map[string]any{}
	for _, f := range t.Fields {
		if r.IntN(3) == 0 && depth < 4 {
			out[f.Name] = r.Value(f.Type, depth+1)
		}
	}
	if t.Elem != nil {
		for range r.IntN(4) {
			out[r.word()] = r.Value(t.Elem, depth+1)
		}
	}
	return out
}

func (r *Random) word() string { return string(rune('a' + r.IntN(5))) }

// Value returns a random value that t allows.
func (r *Random) Value(t *schema.Type, depth int) any {
	switch t.Kind {
	case schema.Map:
		return r.object(t, depth)
	case schema.List:
		return r.list(t, depth)
	case schema.Bool:
		return r.IntN(2) == 0
	case schema.Integer, schema.Number:
		return int64(r.IntN(4))
	case schema.Quantity:
		return []any{"1", "1000m", int64(1), "0.5", "500m", "0", "1Ki", int64(1024)}[r.IntN(8)]
	case schema.Duration:
		return []any{"60s", "1m0s", "1m", "0s", "2s"}[r.IntN(5)]
	case schema.Time:
		return []any{"2026-01-02T03:04:05Z", "2026-01-02T04:04:05+01:00", "2026-01-02T03:04:06Z"}[r.IntN(3)]
	case schema.Bytes:
		return []any{"YWI=", "YWJ=", "", "Yw=="}[r.IntN(4)]
	case schema.IntOrString:
		return []any{int64(80), "80", int64(0), "", "http"}[r.IntN(5)]
	case schema.Any:
		return []any{r.word(), int64(r.IntN(3)), map[string]any{r.word(): r.word()}, []any{r.word()}}[r.IntN(4)]
	}
	return r.word()
}

func (r *Random) list(t *schema.Type, depth int) any {
	out := []any{}
	for range r.IntN(4) {
		out = r.insert(t, out, depth)
	}
	return out
}

// insert puts a new element somewhere. Keyed lists and sets get no second element
// of one key, unless r is odd.
func (r *Random) insert(t *schema.Type, list []any, depth int) []any {
	rule := t.Rule(r.Model)
	v := r.Value(t.Elem, depth+1)
	if rule.Merge == schema.Keyed {
		m, ok := v.(map[string]any)
		if !ok {
			return list
		}
		for _, k := range rule.Keys {
			typ, _ := t.Elem.Lookup(k.Name)
			m[k.Name] = r.Value(typ, depth+1)
			if r.Odd && r.IntN(12) == 0 || k.Default != "" && r.IntN(2) == 0 {
				delete(m, k.Name)
			}
		}
	}
	if rule.Merge == schema.Keyed || rule.Merge == schema.Set {
		k := keyOf(v, rule.Keys)
		if !((r.Odd || r.Repeats) && r.IntN(4) == 0) && slices.ContainsFunc(list, func(e any) bool { return keyOf(e, rule.Keys) == k }) {
			return list
		}
	}
	return slices.Insert(slices.Clone(list), r.IntN(len(list)+1), v)
}

// Vary returns a copy of an object with a few changes.
func (r *Random) Vary(s *schema.Schema, object map[string]any) map[string]any {
	out, _ := r.vary(s.Root, object, 0).(map[string]any)
	return out
}

// vary returns a copy of v, which t types, with a few changes.
func (r *Random) vary(t *schema.Type, v any, depth int) any {
	if depth > 0 && r.Odd && r.IntN(60) == 0 {
		return []any{nil, "odd", int64(7), map[string]any{"odd": "x"}, []any{"odd"}}[r.IntN(5)]
	}
	switch v := v.(type) {
	case map[string]any:
		return r.varyMap(t, v, depth)
	case []any:
		return r.varyList(t, v, depth)
	case int64:
		if r.Odd && r.IntN(20) == 0 {
			return json.Number(fmt.Sprintf("%d.0", v))
		}
	}
	if r.IntN(5) == 0 {
		return r.Value(t, depth)
	}
	return v
}

func (r *Random) varyMap(t *schema.Type, v map[string]any, depth int) any {
	out := map[string]any{}
	for _, k := range slices.Sorted(keysOf(v)) {
		child, _ := t.Lookup(k)
		if child == nil {
			child = schema.Unknown
		}
		switch r.IntN(10) {
		case 0:
			if r.Nulls {
				out[k] = nil
			}
		default:
			out[k] = r.vary(child, v[k], depth+1)
		}
	}
	for _, f := range t.Fields {
		if _, ok := out[f.Name]; !ok && depth < 4 && r.IntN(8) == 0 {
			out[f.Name] = r.Value(f.Type, depth+1)
		}
	}
	if t.Elem != nil && r.IntN(5) == 0 {
		out[r.word()] = r.Value(t.Elem, depth+1)
	}
	if r.Odd && r.IntN(20) == 0 {
		out[fmt.Sprintf("unknown%d", r.IntN(2))] = r.Value(schema.Unknown, depth)
	}
	return out
}

func keysOf(m map[string]any) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func (r *Random) varyList(t *schema.Type, v []any, depth int) any {
	out := []any{}
	elem, rule := t.Elem, t.Rule(r.Model)
	if elem == nil {
		elem = schema.Unknown
	}
	for _, e := range v {
		if r.IntN(8) == 0 {
			continue
		}
		e2 := r.vary(elem, e, depth+1)
		if m, ok := e2.(map[string]any); ok && rule.Merge == schema.Keyed && !(r.Odd && r.IntN(20) == 0) {
			if old, ok := e.(map[string]any); ok {
				r.keepKeys(m, old, rule.Keys)
			}
		}
		if rule.Merge == schema.Set && !r.Odd {
			e2 = e
		}
		out = append(out, e2)
	}
	if r.IntN(4) == 0 && t.Kind == schema.List {
		out = r.insert(t, out, depth)
	}
	if r.IntN(5) == 0 {
		r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	}
	return out
}

// keepKeys gives an element the key of another. What is the default of a key field may be
// said, or not.
func (r *Random) keepKeys(m, old map[string]any, keys []schema.Key) {
	for _, k := range keys {
		v, ok := old[k.Name]
		if k.Default == "" {
			m[k.Name] = v
			continue
		}
		var said any
		if err := json.Unmarshal([]byte(k.Default), &said); err == nil && r.IntN(4) == 0 && (!ok || Equal(v, said)) {
			v, ok = said, !ok
		}
		if delete(m, k.Name); ok {
			m[k.Name] = v
		}
	}
}
