package twin

import (
	"reflect"
	"slices"
	"strings"

	"example.com/braid/internal/schema"
)

// refusal is one way in which their generator or their applier gives up. It
// explains an error if the error says so and some position shows the cause.
type refusal struct {
	entry string
	text  string // part of the error
	cause func(at spot) bool
}

// spot is a position of a triple with its type and that of the map that holds it.
type spot struct {
	parent *schema.Type
	named  bool // parent has a field of that name
	t      *schema.Type
	place
}

var refusals = []refusal{
	{"map-of-structs", "data type is not struct", func(at spot) bool {
		return !at.named && at.parent.Elem != nil && at.containersDiffer()
	}},
	{"unknown-field", "unable to find api field", func(at spot) bool {
		return !at.named && at.parent.Elem == nil && at.containersDiffer()
	}},
	{"missing-key", "does not contain declared merge key", func(at spot) bool {
		return at.keyed() && at.someElement(func(e any) bool {
			m, ok := e.(map[string]any)
			_, has := m[at.t.Strategic.Keys[0].Name]
			return ok && !has
		})
	}},
	{"odd-element", "does not contain declared merge key", spot.oddElements},
	{"odd-element", "list element types are not identical", spot.oddElements},
	{"odd-element", "lists of lists are not supported", spot.oddElements},
	{"odd-element", "expected a map[string]interface {}", spot.oddElements},
	{"odd-element", "cannot merge lists without merge key", spot.oddElements},
	{"null-element-panic", "panic: runtime error: invalid memory address", func(at spot) bool {
		return at.t.Kind == schema.List && at.someElement(func(e any) bool { return e == nil })
	}},
	{"odd-list", "expected a []interface {}", func(at spot) bool {
		_, isList := at.live.([]any)
		return at.merges() && present(at.live) && !isList
	}},
	{"container-key-panic", "panic: runtime error: comparing uncomparable", func(at spot) bool {
		return at.keyed() && at.someElement(func(e any) bool {
			m, _ := e.(map[string]any)
			switch m[at.t.Strategic.Keys[0].Name].(type) {
			case map[string]any, []any:
				return true
			}
			return false
		})
	}},
	{"list-in-other-field", "expected slice or array type", func(at spot) bool {
		_, inLast := at.last.([]any)
		_, inLive := at.live.([]any)
		return at.t.Kind != schema.List && (inLast || inLive)
	}},
	{"patch-merge", "unknown patch type: merge in map", saysMerge},
	{"patch-merge", "merging lists cannot yet be specified in the patch", func(at spot) bool {
		return at.keyed() && at.someElement(func(e any) bool { return saysMerge(spot{place: place{desired: e}}) })
	}},
	{"missing-key", "cannot find merge key", func(at spot) bool {
		return at.keyed() && at.someElement(func(e any) bool { return keyOf(e, at.t.Strategic.Keys) == "" })
	}},
	{"strict-list-panic", "panic: runtime error: index out of range", func(at spot) bool {
		return at.t.Strategic.Merge == schema.Atomic && at.repeats()
	}},
	{"repeats-refused", "no elements in any of the given slices", somethingRepeats},
	{"strict-empty-list", "no elements in any of the given slices", func(at spot) bool {
		empty := func(v any) bool { list, ok := v.([]any); return ok && len(list) == 0 }
		return at.t.Kind == schema.List && empty(at.live) && empty(at.desired)
	}},
	{"strict-set-lookup", "for the json field \"$deleteFromPrimitiveList/", func(at spot) bool {
		_, isList := at.last.([]any)
		return at.merges() && isList && !same(at.last, at.live) && !same(at.last, at.desired)
	}},
	{"repeats-refused", "The order in patch list", somethingRepeats},
	{"repeats-refused", "invalid patch format of retainKeys", somethingRepeats},
	{"repeats-refused", "are not deep equal", somethingRepeats},
	{"repeats-refused", "but received a %!s(<nil>)", somethingRepeats},
	{"repeats-refused", "invalid patch format of setElementOrder", somethingRepeats},
}

func saysMerge(at spot) bool {
	m, _ := at.desired.(map[string]any)
	return m["$patch"] == "merge"
}

func somethingRepeats(at spot) bool { return at.merges() && at.repeats() }

// explain finds the entry for an error.
func (x triple) explain(j *judge, what string, err error) {
	for _, r := range refusals {
		if strings.Contains(err.Error(), r.text) && x.anywhere(r.cause) {
			j.use(r.entry)
			return
		}
	}
	j.unexplained(what+short(err), "%v", err)
}

// anywhere reports whether a position meets a condition.
func (x triple) anywhere(cond func(spot) bool) bool {
	root := place{"", x.last, x.live, x.desired, none{}, none{}}
	return visit(spot{kind.Root, true, kind.Root, root}, cond)
}

func visit(at spot, cond func(spot) bool) bool {
	if cond(at) {
		return true
	}
	fields, elems := map[string]any{}, map[string]int{}
	for _, side := range []any{at.last, at.live, at.desired} {
		if m, ok := side.(map[string]any); ok {
			fields = join(fields, m)
		}
		count := map[string]int{}
		for _, k := range keysOfList(side, at.t.Strategic.Keys) {
			count[k]++
			elems[k] = max(elems[k], count[k])
		}
	}
	for key := range fields {
		_, named := at.t.Lookup(key)
		if visit(spot{at.t, named, fieldOf(at.t, key).Type, at.field(key)}, cond) {
			return true
		}
	}
	for key, n := range elems {
		for nth := 0; nth < n && at.keyed() && key != ""; nth++ {
			if visit(spot{at.t, true, elemOf(at.t), at.elem(key, nth, at.t.Strategic.Keys)}, cond) {
				return true
			}
		}
	}
	if at.t.Kind == schema.List && at.t.Strategic.Merge == schema.Atomic {
		n := max(len(listOf(at.last)), len(listOf(at.live)), len(listOf(at.desired)))
		for i := range n {
			get := func(v any) any {
				if list := listOf(v); i < len(list) {
					return list[i]
				}
				return none{}
			}
			elem := place{at.path, get(at.last), get(at.live), get(at.desired), none{}, none{}}
			if visit(spot{at.t, true, elemOf(at.t), elem}, cond) {
				return true
			}
		}
	}
	return false
}

func (at spot) keyed() bool { return at.t.Strategic.Merge == schema.Keyed }

func (at spot) merges() bool { return at.keyed() || at.t.Strategic.Merge == schema.Set }

// containersDiffer: two of the three have a map or both a list, and not the same.
func (at spot) containersDiffer() bool {
	differ := func(x, y any) bool {
		_, m1 := x.(map[string]any)
		_, m2 := y.(map[string]any)
		_, l1 := x.([]any)
		_, l2 := y.([]any)
		return (m1 && m2 || l1 && l2) && !reflect.DeepEqual(x, y)
	}
	return differ(at.last, at.desired) || differ(at.live, at.desired) || differ(at.last, at.live)
}

func (at spot) someElement(cond func(any) bool) bool {
	for _, side := range []any{at.last, at.live, at.desired} {
		if list, ok := side.([]any); ok && slices.ContainsFunc(list, cond) {
			return true
		}
	}
	return false
}

// oddElements: an element is not what the list holds.
func (at spot) oddElements() bool {
	return at.t.Kind == schema.List && at.someElement(func(e any) bool {
		want := elemOf(at.t).Kind
		switch e.(type) {
		case map[string]any:
			return want != schema.Map
		case []any, nil:
			return true
		case string:
			return want != schema.String
		}
		return true
	})
}

// repeats: a list has a key or a value twice.
func (at spot) repeats() bool {
	for _, side := range []any{at.last, at.live, at.desired} {
		if list, ok := side.([]any); ok && len(distinct(list, at.t.Strategic.Keys)) < len(list) {
			return true
		}
	}
	return false
}
