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

// nulled is none where desired says so by a null.
type nulled struct{}

func present(v any) bool {
	switch v.(type) {
	case none, nulled:
		return false
	}
	return true
}

// Outcome is what a merge comes to.
type Outcome struct {
	Merged    map[string]any
	Conflicts int
	ByHand    []string          // where in live something was made by hand that nobody declares
	Lists     map[string]string // of lists that the schema does not know the guessed keys, "" for none; "?" where elements differ
}

// Merge returns what a merge comes to. The inputs are unstructured content; desired must
// be well formed. made are the places in live that were made by hand.
func Merge(last, live, desired map[string]any, made map[string]bool, r walk.Rules) Outcome {
	m := &merger{Rules: r, policy: *r.Policy, made: made, lists: map[string]string{}}
	root := r.Schema.Root
	merged := m.fields(nil, root, root.Rule(r.Model).RetainKeys || root.Union, last, live, desired)
	slices.Sort(m.byHand)
	return Outcome{merged, m.conflicts, slices.Compact(m.byHand), m.lists}
}

type merger struct {
	walk.Rules
	policy    walk.Policy
	made      map[string]bool
	conflicts int
	byHand    []string
	lists     map[string]string
}

// fields merges maps; in a union that changes, live keeps nothing undeclared.
func (m *merger) fields(at path, t *schema.Type, union bool, a, l, d map[string]any) map[string]any {
	conflicts, byHand, unowned := m.conflicts, m.byHand, m.Unowned
	if union {
		m.Unowned = walk.UnownedStays // what goes since it was made by hand changes no union
	}
	out := m.join(at, t, false, a, l, d)
	m.Unowned = unowned
	if union {
		m.conflicts, m.byHand = conflicts, byHand
		out = m.join(at, t, !Equal(out, l), a, l, d)
	}
	return out
}

func (m *merger) join(at path, t *schema.Type, clear bool, a, l, d map[string]any) map[string]any {
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
		f := fieldOf(t, key)
		av, lv, dv := get(a, key), get(l, key), get(d, key)
		if f.Alias != "" && !m.orAbsent(f.Type, lv) && !present(av) && !present(dv) && !m.leaves(at.field(f.Alias), get(d, f.Alias)) {
			av, dv = get(a, f.Alias), get(d, f.Alias)
		}
		handOver := m.HandOver
		if f.Alias != "" && get(d, f.Alias) != any(none{}) {
			m.HandOver = nil // desired declares it in other words
		}
		if v, ok := m.position(at.field(key), f, clear, av, lv, dv); ok && present(v) {
			out[key] = v
		}
		m.HandOver = handOver
	}
	return out
}

// position merges one field; there is none afterwards if it is not ok.
func (m *merger) position(at path, f schema.Field, clear bool, a, l, d any) (any, bool) {
	_, declared := d.(none)
	switch declared = !declared; {
	case m.ignores(at, f):
		return l, true
	case !declared && !present(a) && !clear:
		return m.undeclared(at, f, *f.Type.Rule(m.Model), l), true
	}
	shown := l // as what live counts
	if f.Zero != schema.ZeroTells && m.Equality == walk.Semantic {
		switch zero := m.orAbsent(f.Type, d); {
		case zero && m.orAbsent(f.Type, l):
			return l, true
		case (!present(l) || !present(d) || f.Zero == schema.ZeroIsAuto) && m.orAbsent(f.Type, a):
			a = none{}
			fallthrough
		default:
			if zero && f.Zero == schema.ZeroIsAuto {
				d = none{}
			}
			if !present(a) && !present(d) && !clear {
				return m.undeclared(at, f, *f.Type.Rule(m.Model), l), true
			}
			if f.Zero == schema.ZeroIsAuto && m.orAbsent(f.Type, l) {
				shown = none{}
			}
		}
	}
	if d == nil && !m.keepsNull(f.Type) && (clear || !present(l) || present(a) && a != nil) {
		d = nulled{}
	}
	if clear && !present(a) && present(l) && !present(d) {
		return m.act(at, f.Type, m.policy[walk.BothAddOther], l, d), true
	}
	return m.value(at, f.Type, *f.Type.Rule(m.Model), a, l, d, shown), true
}

func fieldOf(t *schema.Type, key string) schema.Field {
	if f := t.Field(key); f != nil {
		return *f
	}
	if t.Elem != nil {
		return schema.Field{Type: t.Elem}
	}
	return schema.Field{Type: schema.Unknown}
}

func (m *merger) value(at path, t *schema.Type, rule schema.Rule, a, l, d, shown any) any {
	if guess := m.guess(at, t, a, l, d); guess != nil {
		t, rule = guess, guess.Strategic
	}
	switch lv := l.(type) {
	case map[string]any:
		if dv, ok := d.(map[string]any); ok && rule.Merge != schema.Atomic {
			av, _ := a.(map[string]any)
			return m.fields(at, t, rule.RetainKeys || t.Union, av, lv, dv)
		}
	case []any:
		if dv, ok := d.([]any); ok && (rule.Merge == schema.Keyed || rule.Merge == schema.Set) {
			av, _ := a.([]any)
			return m.list(at, t, rule, av, lv, dv)
		}
	}
	kase := m.classify(t, a, shown, d)
	if _, silent := d.(none); silent && kase == walk.WeRemoveTheySet && m.policy[kase] == walk.Take && !at.in(m.HandOver) {
		if v, ok := m.takeBack(at, t, rule, a, l); ok {
			return v
		}
	}
	return m.act(at, t, m.policy[kase], l, d)
}

// takeBack removes from a map of any keys, a keyed list or a set what last declared, if
// anything of it is left.
func (m *merger) takeBack(at path, t *schema.Type, rule schema.Rule, a, l any) (any, bool) {
	conflicts := m.conflicts
	switch lv := l.(type) {
	case map[string]any:
		av, ok := a.(map[string]any)
		if ok && t.Kind == schema.Map && len(t.Fields) == 0 && rule.Merge != schema.Atomic {
			out := m.fields(at, t, false, av, lv, nil)
			return out, len(out) > 0 || m.conflicts > conflicts
		}
	case []any:
		av, ok := a.([]any)
		if ok && (rule.Merge == schema.Keyed || rule.Merge == schema.Set) {
			out := m.list(at, t, rule, av, lv, []any{})
			return out, len(out.([]any)) > 0 || m.conflicts > conflicts
		}
	}
	return nil, false
}

// act returns the merged value of a position that counts as a whole.
// What is handed over does not go.
func (m *merger) act(at path, t *schema.Type, action walk.Action, l, d any) any {
	if goes := !present(d) || d == nil && !m.keepsNull(t); goes && at.in(m.HandOver) {
		return l
	}
	switch action {
	case walk.Clash:
		m.conflicts++
	case walk.Take:
		if d == nil && !m.keepsNull(t) {
			return none{}
		}
		return m.strip(t, d)
	}
	return l
}

// classify finds the case by its pattern, as a person would: name the values in
// the order last, live, desired and look the names up.
func (m *merger) classify(t *schema.Type, a, l, d any) walk.Case {
	if present(a) && present(l) && present(d) && m.same(t, a, d) && m.covers(t, l, d) {
		l = a // a server's defaults inside an atomic value are no change
	}
	name := func(v any, olds ...string) string { // the letter of v, given those before it
		if !present(v) {
			return "–"
		}
		for i, old := range []any{a, l}[:len(olds)] {
			// Null in desired declares absence, which is what live may have.
			if present(old) && (m.same(t, old, v) || i == 1 && m.same(t, old, m.strip(t, v))) {
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

func (m *merger) keepsNull(t *schema.Type) bool {
	return m.Nulls == walk.NullStays && (t.Nullable || t.Kind == schema.Any)
}

// strip drops the null fields of maps: null declares absence.
func (m *merger) strip(t *schema.Type, v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			if child := fieldOf(t, k).Type; e != nil || m.keepsNull(child) {
				out[k] = m.strip(child, e)
			}
		}
		return out
	case []any:
		out := []any{}
		for _, e := range v {
			out = append(out, m.strip(elemOf(t), e))
		}
		return out
	}
	return v
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
