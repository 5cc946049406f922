package twin

import (
	"fmt"
	"slices"
	"strconv"

	"example.com/braid/internal/node"
	"example.com/braid/internal/schema"
	"example.com/braid/internal/walk"
)

// path is the way to a position: the names of fields, and elements as live has them, else
// desired, else last.
type path []step

type step struct {
	field  string
	isElem bool
	index  int
	elem   any
}

func (p path) field(name string) path { return append(slices.Clip(p), step{field: name}) }

// elem goes to an element by its name, in the first of the lists that has it.
func (p path) elem(e elem, keys, must []schema.Key, lists ...[]any) path {
	for _, list := range lists {
		if i := slices.Index(names(list, keys, must...), e); i >= 0 {
			return append(slices.Clip(p), step{isElem: true, index: i, elem: list[i]})
		}
	}
	panic("no list has the element")
}

// String writes a path with elements by index.
func (p path) String() string {
	out := ""
	for _, s := range p {
		if s.isElem {
			out += fmt.Sprintf("[%d]", s.index)
		} else {
			out += fmt.Sprintf("[%q]", s.field)
		}
	}
	return out
}

// each writes a path with [*] for elements.
func (p path) each() string {
	var out node.Pattern
	for _, s := range p {
		out = append(out, node.PatternStep{Step: node.Step{Field: s.field, Elem: s.isElem}, Any: s.isElem})
	}
	return out.String()
}

func (p path) in(patterns []node.Pattern) bool {
	return slices.ContainsFunc(patterns, func(q node.Pattern) bool { return slices.EqualFunc(p, q, step.is) })
}

// is reports whether the step of a pattern names this one.
func (s step) is(q node.PatternStep) bool {
	switch {
	case q.Any:
		return q.Elem || !s.isElem
	case q.Elem != s.isElem:
		return false
	case !s.isElem:
		return q.Field == s.field
	case len(q.Keys) == 0:
		return q.Index == s.index
	}
	return !slices.ContainsFunc(q.Keys, func(k node.KeyPair) bool {
		v := s.elem
		if k.Name != "" {
			m, _ := v.(map[string]any)
			v = m[k.Name]
		}
		return !reads(v, k.Value)
	})
}

// reads reports whether a scalar is written as text.
func reads(v any, text string) bool {
	switch v := canon(v).(type) {
	case string:
		return v == text
	case bool:
		return strconv.FormatBool(v) == text
	case decimal:
		n, err := node.Parse([]byte(text), node.Limits{})
		return err == nil && n.Kind(0) == node.Number && canon(n.Value(0)) == v
	}
	return false
}

// ignores reports whether a field is ignored, or the one that says the same.
func (m *merger) ignores(at path, f schema.Field) bool {
	return at.in(m.Ignore) || f.Alias != "" && at[:len(at)-1].field(f.Alias).in(m.Ignore)
}

// leaves reports whether a merge leaves a position alone of which desired has d.
func (m *merger) leaves(at path, d any) bool {
	return at.in(m.Ignore) || !present(d) && at.in(m.HandOver)
}

// undeclared returns what becomes of what only live has: all stays but what was made by
// hand, if that is to go as if last had declared it.
func (m *merger) undeclared(at path, f schema.Field, rule schema.Rule, l any) any {
	if len(m.made) == 0 || m.leaves(at, none{}) {
		return l
	}
	if m.made[at.String()] {
		if m.unset(f, l) {
			return l
		}
		m.byHand = append(m.byHand, at.String())
		if m.Unowned == walk.UnownedGoes {
			return m.act(at, f.Type, m.policy[walk.WeRemove], l, none{})
		}
		return l
	}
	switch lv := l.(type) {
	case map[string]any:
		if rule.Merge != schema.Atomic {
			return m.fields(at, f.Type, false, nil, lv, nil)
		}
	case []any:
		if rule.Merge == schema.Keyed || rule.Merge == schema.Set {
			return m.list(at, f.Type, rule, nil, lv, nil)
		}
	}
	return l
}

// unset reports whether a field would mean the same without its value.
func (m *merger) unset(f schema.Field, v any) bool {
	if m.Equality == walk.Semantic && f.Zero != schema.ZeroTells && m.zero(f.Type, v) {
		return true
	}
	def, ok := parseMap([]byte(`{"v":` + f.Type.Default + `}`))
	return ok && m.same(f.Type, v, def["v"])
}

// guess returns the type of lists that the schema does not know, if a key tells the elements
// of each apart; else nil.
func (m *merger) guess(at path, t *schema.Type, a, l, d any) *schema.Type {
	if !m.Infer || m.Model == schema.Plain || t.Kind != schema.Any {
		return nil
	}
	var lists [][]any
	for _, v := range []any{a, l, d} {
		if list, ok := v.([]any); ok {
			lists = append(lists, list)
		}
	}
	_, isList := l.([]any)
	if _, ok := d.([]any); !isList || len(lists) < 2 || present(d) && !ok {
		return nil
	}
	for _, name := range []string{"name", "key", "id", "type"} {
		keys := []schema.Key{{Name: name}}
		if !slices.ContainsFunc(lists, func(list []any) bool {
			return slices.ContainsFunc(names(list, keys), func(e elem) bool { return e.key == "" || e.nth > 0 })
		}) {
			m.guessed(at, name)
			rule := schema.Rule{Merge: schema.Keyed, Keys: keys}
			return &schema.Type{Kind: schema.List, Elem: schema.Unknown, Strategic: rule, Structured: rule}
		}
	}
	m.guessed(at, "")
	return nil
}

// guessed notes the key of a list.
func (m *merger) guessed(at path, key string) {
	if old, ok := m.lists[at.each()]; ok && old != key {
		key = "?"
	}
	m.lists[at.each()] = key
}
