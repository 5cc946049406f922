package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"example.com/braid/merge"
)

// change is one way in which the next declaration differs from the last.
type change struct {
	name    string // of its sort
	at      string
	desired map[string]any
}

// sampled is how many fields of one object are changed in turn, and how many taken away.
const sampled = 4

// changes makes of a declared object what an author might make of it: a label set, changed
// and taken away; fields set to another value and taken away; elements of lists added, taken
// away and put in another order. Whether the result is valid is for the server to say.
func changes(declared *merge.Doc) []change {
	var out []change
	add := func(name, at string, desired map[string]any) {
		out = append(out, change{name, at, desired})
	}
	labels := func(name string, change func(labels map[string]any)) {
		d := declared.Map()
		set := child(child(d, "metadata"), "labels")
		change(set)
		add(name, "metadata.labels", d)
	}
	labels("label set", func(l map[string]any) { l["braid.example.com/new"] = "x" })
	labels("label changed", func(l map[string]any) { l[ours] = "changed" })
	labels("label removed", func(l map[string]any) { delete(l, ours) })

	fields, lists := places(declared.Map())
	for _, at := range some(fields) {
		d := declared.Map()
		parent, key := lookup(d, at)
		m := parent.(map[string]any)
		m[key] = other(m[key])
		add("field changed", dotted(at), d)
		d = declared.Map()
		parent, key = lookup(d, at)
		delete(parent.(map[string]any), key)
		add("field removed", dotted(at), d)
	}
	for _, at := range some(lists) {
		for name, edit := range listEdits {
			d := declared.Map()
			parent, key := lookup(d, at)
			m := parent.(map[string]any)
			list := edit(m[key].([]any))
			if list == nil {
				continue
			}
			m[key] = list
			add(name, dotted(at), d)
		}
	}
	slices.SortStableFunc(out, func(a, b change) int { return strings.Compare(a.name, b.name) })
	return out
}

// ours is a label that every declared object has here.
const ours = "braid.example.com/ours"

// labelled is a manifest with our label.
func labelled(d *merge.Doc) (*merge.Doc, error) {
	m := d.Map()
	child(child(m, "metadata"), "labels")[ours] = "declared"
	return merge.FromMap(m)
}

var listEdits = map[string]func([]any) []any{
	"element added": func(list []any) []any {
		last := list[len(list)-1]
		return append(list, other(last))
	},
	"element first": func(list []any) []any { return append([]any{other(list[0])}, list...) },
	"element removed": func(list []any) []any {
		if len(list) < 2 {
			return nil
		}
		return list[1:]
	},
	"elements turned round": func(list []any) []any {
		if len(list) < 2 {
			return nil
		}
		slices.Reverse(list)
		return list
	},
}

// other is another value of the same sort: of a map, one with another name, key or first text.
func other(v any) any {
	switch v := v.(type) {
	case string:
		return v + "x"
	case bool:
		return !v
	case int64:
		return v + 1
	case float64:
		return v + 1
	case json.Number:
		return json.Number(string(v) + "1")
	case map[string]any:
		v = maps.Clone(v)
		for _, key := range append([]string{"name", "key", "containerPort", "port", "mountPath", "ip", "type"}, slices.Sorted(maps.Keys(v))...) {
			switch v[key].(type) {
			case string, int64, float64, json.Number:
				v[key] = other(v[key])
				return v
			}
		}
		return v
	}
	return v
}

// places returns where there are scalars in fields and lists that are not empty, outside of
// what names an object and of its status.
func places(o map[string]any) (fields, lists [][]string) {
	var visit func(v any, at []string)
	visit = func(v any, at []string) {
		switch v := v.(type) {
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(v)) {
				if len(at) > 0 || !slices.Contains([]string{"apiVersion", "kind", "metadata", "status"}, key) {
					visit(v[key], append(slices.Clip(at), key))
				}
			}
		case []any:
			if len(v) > 0 {
				lists = append(lists, at)
			}
			for i, elem := range v {
				if m, ok := elem.(map[string]any); ok {
					visit(m, append(slices.Clip(at), fmt.Sprint(i)))
				}
			}
		case nil:
		default:
			fields = append(fields, at)
		}
	}
	visit(o, nil)
	return fields, lists
}

// some takes at most sampled of the places, evenly spread.
func some(places [][]string) [][]string {
	var out [][]string
	n := min(len(places), sampled)
	for i := range n {
		out = append(out, places[i*len(places)/n])
	}
	return out
}

// lookup returns the map that has the last field of a path, and that field.
func lookup(o any, at []string) (any, string) {
	for _, step := range at[:len(at)-1] {
		switch v := o.(type) {
		case map[string]any:
			o = v[step]
		case []any:
			var i int
			fmt.Sscan(step, &i)
			o = v[i]
		}
	}
	return o, at[len(at)-1]
}

func child(m map[string]any, key string) map[string]any {
	c, ok := m[key].(map[string]any)
	if !ok {
		c = map[string]any{}
		m[key] = c
	}
	return c
}

func dotted(at []string) string { return strings.Join(at, ".") }
