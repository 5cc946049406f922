package twin

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"example.com/braid/internal/schema"
	"example.com/braid/internal/walk"
)

// elem is one element of a list by its name: its key, and which occurrence of the
// key it is.
type elem struct {
	key string
	nth int
}

// list merges keyed lists and sets.
func (m *merger) list(path path, t *schema.Type, rule schema.Rule, a, l, d []any) any {
	keys, must := listKeys(t, rule, a, l, d)
	at := func(list []any, e elem) any {
		if i := slices.Index(names(list, keys, must...), e); i >= 0 {
			return list[i]
		}
		return none{}
	}
	unfolded := func(list []any) []elem {
		return slices.DeleteFunc(names(list, keys, must...), func(e elem) bool { return e.nth < 0 })
	}
	an, ln, dn := unfolded(a), unfolded(l), unfolded(d)
	// What becomes of each element?
	merged := map[elem]any{}
	changed := false
	for _, e := range slices.Concat(ln, dn, an) {
		if _, done := merged[e]; done {
			continue
		}
		av, lv, dv := at(a, e), at(l, e), at(d, e)
		lm, ok1 := lv.(map[string]any)
		dm, ok2 := dv.(map[string]any)
		am, _ := av.(map[string]any)
		here, whole := path.elem(e, keys, must, l, d, a), m.elemRule(t, rule).Merge == schema.Atomic
		switch {
		case here.in(m.Ignore):
			merged[e] = lv
		case ok1 && ok2 && !whole:
			am, dm = m.keyedAs(am, dm, lm, keys)
			merged[e] = m.fields(here, t.Elem, rule.RetainKeys || t.Elem.Union, am, lm, dm)
		case present(lv) && present(dv) && !whole:
			merged[e] = lv // of a set
		case !present(av) && !present(dv):
			merged[e] = m.undeclared(here, schema.Field{Type: t.Elem}, schema.Rule{}, lv)
		default:
			merged[e] = m.act(here, t.Elem, m.policy[m.classify(t.Elem, av, lv, dv)], lv, dv)
		}
		changed = changed || present(merged[e]) != present(lv) || present(lv) && !Equal(merged[e], lv)
	}
	goes := func(e elem) bool { return !present(merged[e]) }
	ln, dn = slices.DeleteFunc(ln, goes), slices.DeleteFunc(dn, goes)
	order := m.order(ln, dn, an, a != nil, func(order []elem) []elem { return order })
	had := slices.DeleteFunc(slices.Clone(order), func(e elem) bool { return !slices.Contains(ln, e) })
	if !changed && slices.Equal(had, ln) {
		return l
	}
	// The server lets the elements of one merge key stand together.
	merge := func(e elem) string {
		if rule.Keys == nil || e.key == "" {
			return ""
		}
		return keyOf(merged[e], rule.Keys)
	}
	grouped := func(order []elem) []elem {
		var list []any
		for _, e := range order {
			if e.key == "" { // it has no name, even if it has the merge key
				list = append(list, nil)
				continue
			}
			list = append(list, merged[e])
		}
		var out []elem
		for _, i := range together(list, rule.Keys) {
			out = append(out, order[i])
		}
		// In a group, desired's elements come first.
		for i := range out {
			for j := i; j > 0 && slices.Contains(dn, out[j]) && !slices.Contains(dn, out[j-1]) && merge(out[j]) == merge(out[j-1]) && merge(out[j]) != ""; j-- {
				out[j], out[j-1] = out[j-1], out[j]
			}
		}
		return out
	}
	out := []any{}
	for _, e := range grouped(m.order(ln, dn, an, a != nil, grouped)) {
		out = append(out, merged[e])
	}
	return out
}

// keyedAs returns what last and desired have of an element with the key fields of live's,
// where desired leaves them to their defaults.
func (m *merger) keyedAs(last, desired, live map[string]any, keys []schema.Key) (a, d map[string]any) {
	a, d = maps.Clone(last), maps.Clone(desired)
	for _, k := range keys {
		v, ok := live[k.Name]
		if m.Model != schema.Structured || !ok || d[k.Name] != nil || k.Default == "" {
			continue
		}
		if d[k.Name] = v; v == nil && a != nil {
			a[k.Name] = nil // a null that nobody changed
		}
	}
	return a, d
}

// listKeys returns the fields that name the elements of three lists: the finer
// structured keys where the strategic one repeats. An element must then have the
// strategic key too.
func listKeys(t *schema.Type, rule schema.Rule, lists ...[]any) (keys, must []schema.Key) {
	for _, list := range lists {
		if len(t.Structured.Keys) > len(rule.Keys) && len(list) != len(distinct(list, rule.Keys)) {
			return t.Structured.Keys, rule.Keys
		}
	}
	return rule.Keys, nil
}

// order returns the merged order: desired's elements in desired's order, or in
// live's where the policy lets drift stand; live's others before the first of
// desired's that stands behind them in live. Desired's stand as grouped says.
func (m *merger) order(live, desired, last []elem, hasLast bool, grouped func([]elem) []elem) []elem {
	common := func(list, other []elem) []elem {
		return slices.DeleteFunc(slices.Clone(list), func(e elem) bool { return !slices.Contains(other, e) })
	}
	drift := m.policy[walk.TheySet] != walk.Take && slices.Equal(common(last, desired), common(desired, last))
	if !hasLast {
		drift = m.policy[walk.BothAddOther] != walk.Take
	}
	ours := slices.Clone(desired)
	if drift {
		behind := func(e elem) int { // where in live the element stands that e follows
			at := slices.Index(live, e)
			if at >= 0 {
				return at
			}
			for _, before := range desired[:slices.Index(desired, e)] {
				if i := slices.Index(live, before); i >= 0 {
					at = i
				}
			}
			for i, twin := range live { // it is never counted before those that are there
				if twin.key == e.key && slices.Contains(desired, twin) {
					at = max(at, i)
				}
			}
			return at
		}
		slices.SortStableFunc(ours, func(a, b elem) int { return cmp.Compare(behind(a), behind(b)) })
	}
	out, from := grouped(slices.Clone(ours)), 0
	for i, e := range live {
		if slices.Contains(desired, e) {
			continue
		}
		for from < len(out) && slices.Index(live, out[from]) <= i {
			from++
		}
		at := from
		for k := from; k < len(out); k++ { // occurrences of one key keep their order
			if out[k].key == e.key {
				at = k + 1
			}
		}
		out = slices.Insert(out, at, e)
	}
	return out
}

// together returns the indices of a list with those of one key behind the first of
// them. A set has no keys, and nothing moves.
func together(list []any, keys []schema.Key) []int {
	in := names(list, keys)
	var out []int
	for i := range list {
		if keys != nil && in[i].nth > 0 && in[i].key != "" {
			continue
		}
		out = append(out, i)
		for j := i + 1; keys != nil && in[i].key != "" && j < len(list); j++ {
			if in[j].key == in[i].key {
				out = append(out, j)
			}
		}
	}
	return out
}

// names returns what each element of a list is called. In a set, which has no
// keys, an element that stands there already is folded away: nth < 0.
func names(list []any, keys []schema.Key, must ...schema.Key) []elem {
	var out []elem
	for _, v := range list {
		e := elem{key: keyOf(v, keys)}
		if must != nil && keyOf(v, must) == "" {
			e.key = ""
		}
		for slices.Contains(out, e) && (keys != nil || e.key == "") {
			e.nth++
		}
		if keys == nil && slices.Contains(out, e) {
			e.nth = -1 - len(out)
		}
		out = append(out, e)
	}
	return out
}

func distinct(list []any, keys []schema.Key) map[string]bool {
	out := map[string]bool{}
	for i, e := range names(list, keys) {
		if e.key == "" {
			out[fmt.Sprint(i)] = true
		} else {
			out[e.key] = true
		}
	}
	return out
}

// keyOf returns the key of an element as text; "" if it has none.
func keyOf(v any, keys []schema.Key) string {
	if keys == nil {
		return scalar(v)
	}
	m, ok := v.(map[string]any)
	if !ok {
		return ""
	}
	out, has := "", false
	for _, k := range keys {
		f := m[k.Name]
		if f == nil {
			has = has || k.Default != ""
			var said any // none, if it is ""
			_ = json.Unmarshal([]byte(k.Default), &said)
			out += strconv.Quote(scalar(said))
			continue
		}
		if scalar(f) == "" {
			return ""
		}
		has = true
		out += strconv.Quote(scalar(f))
	}
	if !has {
		return ""
	}
	return out
}

func scalar(v any) string {
	switch v := canon(v).(type) {
	case nil, map[string]any, []any:
		return ""
	case decimal:
		return "number " + string(v)
	default:
		return fmt.Sprintf("%q", v)
	}
}
