package twin

import (
	"encoding/json"
	"reflect"
	"slices"

	"example.com/braid/internal/node"
	"example.com/braid/internal/schema"
	"example.com/braid/internal/walk"
)

// none is the value of an absent position; nil is null.
type none struct{}

func present(v any) bool {
	_, absent := v.(none)
	return !absent
}

// Merge returns the merged object and the number of conflicts, under the model
// Strategic. The inputs are unstructured content; desired must be well formed.
func Merge(last, live, desired map[string]any, s *schema.Schema, p walk.Policy) (map[string]any, int) {
	m := &merger{policy: p}
	merged := m.fields(s.Root, false, last, live, desired)
	return merged, m.conflicts
}

type merger struct {
	policy    walk.Policy
	conflicts int
}

// fields merges maps; in a union that changes, live keeps nothing undeclared.
func (m *merger) fields(t *schema.Type, union bool, a, l, d map[string]any) map[string]any {
	conflicts := m.conflicts
	out := m.join(t, false, a, l, d)
	if union && !Equal(out, l) {
		m.conflicts = conflicts
		out = m.join(t, true, a, l, d)
	}
	return out
}

func (m *merger) join(t *schema.Type, clear bool, a, l, d map[string]any) map[string]any {
	out := map[string]any{}
	keys := map[string]bool{}
	for _, side := range []map[string]any{a, l, d} {
		for k := range side {
			keys[k] = true
		}
	}
	get := func(side map[string]any, key string) any {
		if v, ok := side[key]; ok {
			return v
		}
		return none{}
	}
	for key := range keys {
		child, _ := t.Lookup(key)
		if child == nil {
			child = schema.Unknown
		}
		av, lv, dv := get(a, key), get(l, key), get(d, key)
		if dv == nil && (clear || !present(lv) || present(av) && av != nil) {
			dv = none{}
		}
		var v any
		if clear && !present(av) && present(lv) && !present(dv) {
			v = m.act(m.policy[walk.BothAddOther], lv, dv)
		} else {
			v = m.value(child, child.Strategic, av, lv, dv)
		}
		if present(v) {
			out[key] = v
		}
	}
	return out
}

func (m *merger) value(t *schema.Type, rule schema.Rule, a, l, d any) any {
	switch lv := l.(type) {
	case map[string]any:
		if dv, ok := d.(map[string]any); ok && rule.Merge != schema.Atomic {
			av, _ := a.(map[string]any)
			return m.fields(t, rule.RetainKeys, av, lv, dv)
		}
	case []any:
		if dv, ok := d.([]any); ok && (rule.Merge == schema.Keyed || rule.Merge == schema.Set) {
			av, _ := a.([]any)
			return m.list(t, rule, av, lv, dv)
		}
	}
	return m.act(m.policy[classify(a, l, d)], l, d)
}

// act returns the merged value of a position that counts as a whole.
func (m *merger) act(action walk.Action, l, d any) any {
	switch action {
	case walk.Clash:
		m.conflicts++
	case walk.Take:
		if d == nil {
			return none{}
		}
		return strip(d)
	}
	return l
}

// classify finds the case by its pattern, as a person would: name the values in
// the order last, live, desired and look the names up.
func classify(a, l, d any) walk.Case {
	if present(a) && present(l) && present(d) && Equal(a, d) && covers(l, strip(d)) {
		l = a // a server's defaults inside an atomic value are no change
	}
	name := func(v any, olds ...string) string { // the letter of v, given those before it
		if !present(v) {
			return "–"
		}
		for i, old := range []any{a, l}[:len(olds)] {
			// Null in desired declares absence, which is what live may have.
			if present(old) && (Equal(old, v) || i == 1 && Equal(old, strip(v))) {
				return olds[i]
			}
		}
		return "xyz"[len(slices.DeleteFunc(slices.Compact(olds), func(o string) bool { return o == "–" })):][:1]
	}
	x := name(a)
	y := name(l, x)
	pattern := x + " " + y + " " + name(d, x, y)
	for c := range walk.Case(walk.Cases) {
		if c.Pattern() == pattern {
			return c
		}
	}
	panic("no case " + pattern)
}

// strip drops the null fields of maps: null declares absence.
func strip(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			if e != nil {
				out[k] = strip(e)
			}
		}
		return out
	case []any:
		out := []any{}
		for _, e := range v {
			out = append(out, strip(e))
		}
		return out
	}
	return v
}

// covers reports whether live is v with only fields added.
func covers(live, v any) bool {
	switch v := v.(type) {
	case map[string]any:
		l, ok := live.(map[string]any)
		for k, e := range v {
			lv, has := l[k]
			ok = ok && has && covers(lv, e)
		}
		return ok
	case []any:
		l, ok := live.([]any)
		ok = ok && len(l) == len(v)
		for i := 0; ok && i < len(v); i++ {
			ok = covers(l[i], v[i])
		}
		return ok
	}
	return Equal(live, v)
}

// Equal compares unstructured content, numbers as decimals.
func Equal(x, y any) bool { return reflect.DeepEqual(canon(x), canon(y)) }

type decimal string

func canon(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			out[k] = canon(e)
		}
		return out
	case []any:
		out := []any{}
		for _, e := range v {
			out = append(out, canon(e))
		}
		return out
	case int64, float64, json.Number:
		text, _ := json.Marshal(v)
		return decimal(node.AppendNumberKey(nil, string(text)))
	}
	return v
}
