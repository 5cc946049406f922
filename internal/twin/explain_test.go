package twin

import (
	"fmt"
	"slices"
	"strings"

	"example.com/braid/internal/diverge"
	"example.com/braid/internal/schema"
	"example.com/braid/internal/walk"
)

// judge explains the places at which two results differ by entries of the
// catalogue in package diverge. Each place must meet what its entry claims of
// last, live and desired there.
type judge struct {
	used map[string]int
	// appliers: the two results come of one patch, so lists are compared by index.
	appliers bool
	strict   bool   // drift in the order stands
	open     []open // what no entry explains
}

// open is a difference that no entry explains. Those of one sort may have one
// cause.
type open struct{ sort, text string }

func newJudge() *judge { return &judge{used: map[string]int{}} }

func (j *judge) use(entry string) {
	if _, ok := diverge.Find(entry); !ok {
		panic("no entry " + entry)
	}
	j.used[entry]++
}

func (j *judge) unexplained(sort, format string, args ...any) {
	j.open = append(j.open, open{sort, fmt.Sprintf(format, args...)})
}

// has reports whether j has found something of a sort that it cannot explain.
func (j *judge) has(sort string) bool {
	return slices.ContainsFunc(j.open, func(o open) bool { return o.sort == sort })
}

// place is one position in last, live, desired and the two results. none{} stands
// for absence.
type place struct {
	path                string
	last, live, desired any
	theirs, ours        any
}

func (p place) field(key string) place {
	get := func(v any) any {
		if m, ok := v.(map[string]any); ok {
			if f, ok := m[key]; ok {
				return f
			}
		}
		return none{}
	}
	return place{p.path + "." + key, get(p.last), get(p.live), get(p.desired), get(p.theirs), get(p.ours)}
}

// elem is the position of the elements that a key names; of several in a list it
// is the nth or, if there are fewer, the last.
func (p place) elem(key string, nth int, keys []schema.Key) place {
	get := func(v any) any {
		var found any = none{}
		n := 0
		for _, e := range listOf(v) {
			if keyOf(e, keys) == key && n <= nth {
				found, n = e, n+1
			}
		}
		return found
	}
	return place{p.path + "[" + key + "]", get(p.last), get(p.live), get(p.desired), get(p.theirs), get(p.ours)}
}

func (p place) String() string {
	text := func(v any) string {
		if !present(v) {
			return "–"
		}
		return string(tree(map[string]any{"": v}).JSON()[4:])
	}
	return fmt.Sprintf("%s: last %s live %s desired %s theirs %s ours %s", p.path, text(p.last), text(p.live), text(p.desired), text(p.theirs), text(p.ours))
}

// value explains the differences below one position. whole says that it is inside
// a value that merges as one.
func (j *judge) value(t *schema.Type, rule schema.Rule, p place) {
	if same(p.theirs, p.ours) {
		return
	}
	if served(rule, p) {
		j.use(servedDefaults(t))
		return
	}
	if served(rule, p.sorted()) {
		j.use(servedDefaults(t))
		j.use("set-order-unnoticed") // they have sorted the lists inside
		return
	}
	if folded := p.sorted().folded(); repeatsInside(p.desired) && served(rule, folded) {
		j.use(servedDefaults(t))
		j.use("repeated-value") // they have folded and sorted the lists inside, in place
		return
	}
	tm, ok1 := p.theirs.(map[string]any)
	om, ok2 := p.ours.(map[string]any)
	if ok1 && ok2 {
		j.fields(t, rule, p, tm, om)
		return
	}
	tl, ok1 := p.theirs.([]any)
	ol, ok2 := p.ours.([]any)
	switch {
	case !ok1 || !ok2:
		j.unexplained("value", "%v", p)
	case !j.appliers && (rule.Merge == schema.Keyed || rule.Merge == schema.Set):
		j.list(t, rule, p, tl, ol)
	default:
		j.atomic(t, p, tl, ol)
	}
}

func same(x, y any) bool {
	if !present(x) || !present(y) {
		return present(x) == present(y)
	}
	return Equal(x, y)
}

func servedDefaults(t *schema.Type) string {
	if t.Kind == schema.List {
		return "defaults-in-atomic-list"
	}
	return "defaults-in-replaced-map"
}

// served: the value merges as one, we declare what we declared last, and live is
// that with only fields added. They write ours, we let live stand.
func served(rule schema.Rule, p place) bool {
	return rule.Merge == schema.Atomic && present(p.last) && present(p.live) && present(p.desired) &&
		Equal(p.last, p.desired) && exactly.covers(schema.Unknown, p.live, exactly.strip(schema.Unknown, p.desired)) &&
		Equal(p.ours, p.live) && same(clean(p.theirs), exactly.strip(schema.Unknown, p.desired))
}

// sorted returns the place with all lists of scalars in it sorted.
func (p place) sorted() place {
	return place{p.path, sortScalars(p.last), sortScalars(p.live), sortScalars(p.desired), sortScalars(p.theirs), sortScalars(p.ours)}
}

func sortScalars(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			out[k] = sortScalars(e)
		}
		return out
	case []any:
		out := []any{}
		for _, e := range v {
			out = append(out, sortScalars(e))
		}
		if !slices.ContainsFunc(out, isContainer) {
			slices.SortFunc(out, func(x, y any) int { return strings.Compare(fmt.Sprint(x), fmt.Sprint(y)) })
		}
		return out
	}
	return v
}

// folded returns a sorted place with the lists of scalars in it without repeats.
func (p place) folded() place {
	return place{p.path, fold(p.last), fold(p.live), fold(p.desired), fold(p.theirs), fold(p.ours)}
}

func fold(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			out[k] = fold(e)
		}
		return out
	case []any:
		out := []any{}
		for i, e := range v {
			if i == 0 || isContainer(e) || !Equal(e, v[i-1]) {
				out = append(out, fold(e))
			}
		}
		return out
	}
	return v
}

// repeatsInside: a list of scalars in v has one of them twice.
func repeatsInside(v any) bool {
	sorted := sortScalars(v)
	return !Equal(sorted, fold(sorted))
}

func isContainer(v any) bool {
	_, isMap := v.(map[string]any)
	_, isList := v.([]any)
	return isMap || isList
}

// clean drops null fields and directives.
func clean(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			if e != nil && !directive(k) {
				out[k] = clean(e)
			}
		}
		return out
	case []any:
		out := []any{}
		for _, e := range v {
			out = append(out, clean(e))
		}
		return out
	}
	return v
}

func directive(key string) bool {
	return key == "$patch" || key == "$retainKeys" || strings.HasPrefix(key, "$setElementOrder/") || strings.HasPrefix(key, "$deleteFromPrimitiveList/")
}

func (j *judge) fields(t *schema.Type, rule schema.Rule, p place, theirs, ours map[string]any) {
	for _, key := range slices.Sorted(keysOf(join(theirs, ours))) {
		f := p.field(key)
		switch {
		case same(f.theirs, f.ours):
		case directive(key) && !present(f.ours):
			j.use("directive-stored")
		case present(f.theirs) && f.theirs == nil && !present(f.ours):
			j.use("null-stored")
		case rule.RetainKeys && !present(f.theirs) && !present(f.last) && !declares(f.desired) && same(f.ours, f.live) && same(p.ours, p.live):
			j.use("union-untouched")
		case rule.RetainKeys && declaresNothing(p.desired) && !present(f.ours) && !present(f.last) && !declares(f.desired) && same(f.theirs, f.live):
			j.use("union-emptied")
		case !present(f.theirs) && !present(f.desired) && othersOf(f.last, f.live, f.ours):
			j.use("removed-whole")
		case t.Union && !rule.RetainKeys && !present(f.ours) && !present(f.last) && !declares(f.desired) && same(f.theirs, f.live):
			j.use("union-unknown")
		case fieldOf(t, key).Alias != "" && present(f.live) && !present(f.last) && !present(f.desired) && same(f.theirs, f.live):
			j.use("alias-alone")
		default:
			c := fieldOf(t, key).Type
			j.value(c, c.Strategic, f)
		}
	}
}

// othersOf: ours is what live has in a map or list besides what last declared there.
func othersOf(last, live, ours any) bool {
	switch m := ours.(type) {
	case map[string]any:
		lm, ok := live.(map[string]any)
		am, ok2 := last.(map[string]any)
		for k, v := range m {
			_, declared := am[k]
			lv, has := lm[k]
			ok = ok && has && !declared && Equal(v, lv)
		}
		return ok && ok2 && len(m) > 0
	case []any:
		ll, ok := live.([]any)
		_, ok2 := last.([]any)
		for _, v := range m {
			ok = ok && slices.ContainsFunc(ll, func(l any) bool { return Equal(v, l) })
		}
		return ok && ok2 && len(m) > 0 && len(m) <= len(ll)
	}
	return false
}

func declares(v any) bool { return present(v) && v != nil }

// declaresNothing: a map whose fields, if any, are null.
func declaresNothing(v any) bool {
	m, ok := v.(map[string]any)
	for _, f := range m {
		ok = ok && f == nil
	}
	return ok
}

func join(x, y map[string]any) map[string]any {
	out := map[string]any{}
	for k := range x {
		out[k] = nil
	}
	for k := range y {
		out[k] = nil
	}
	return out
}

// atomic explains the differences of lists that were written as they are, and of
// those that two appliers make of one patch.
func (j *judge) atomic(t *schema.Type, p place, theirs, ours []any) {
	if data := slices.DeleteFunc(slices.Clone(theirs), carriesPatch); len(data) < len(theirs) {
		j.use("directive-stored")
		theirs = data
	}
	tn, on := keysOfList(any(theirs), nil), keysOfList(any(ours), nil)
	if t.Strategic.Merge == schema.Set && (spot{t: t, place: p}).repeats() && slices.Equal(slices.Sorted(slices.Values(tn)), slices.Sorted(slices.Values(on))) {
		j.use("repeated-value")
		return
	}
	if len(theirs) != len(ours) {
		j.unexplained("value", "%v", p)
		return
	}
	for i := range theirs {
		e := p.elem(keyOf(ours[i], t.Strategic.Keys), 0, t.Strategic.Keys)
		at := place{fmt.Sprintf("%s[%d]", p.path, i), none{}, e.live, none{}, theirs[i], ours[i]}
		if j.appliers {
			at.desired = e.desired
		}
		j.value(elemOf(t), schema.Rule{Merge: schema.Atomic}, at)
	}
}

// list explains the differences of keyed lists and sets.
func (j *judge) list(t *schema.Type, rule schema.Rule, p place, theirs, ours []any) {
	if data := slices.DeleteFunc(slices.Clone(theirs), carriesPatch); len(data) < len(theirs) && !slices.ContainsFunc(ours, carriesPatch) {
		j.use("directive-stored")
		theirs = data
	}
	tn, on := keysOfList(theirs, rule.Keys), keysOfList(ours, rule.Keys)
	p.theirs = theirs
	for _, key := range slices.Concat(tn, on, keysOfList(p.last, rule.Keys), keysOfList(p.live, rule.Keys), keysOfList(p.desired, rule.Keys)) {
		if p.sibling(t, key) != "" {
			j.siblings(t, rule, p, theirs, ours)
			return
		}
	}
	for _, key := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(tn, on)))) {
		if e := p.elem(key, 0, rule.Keys); !same(e.theirs, e.ours) {
			j.value(elemOf(t), schema.Rule{RetainKeys: rule.RetainKeys}, e)
		}
	}
	switch {
	case slices.Equal(tn, on):
	case rule.Keys != nil && slices.Equal(tn, p.order(rule.Keys, true)) && slices.Equal(on, p.order(rule.Keys, false)):
		j.use("order-by-reused-memory")
	case j.strict && p.drifted(rule.Keys):
		j.use("strict-order")
	case rule.Keys == nil && slices.Equal(tn, keysOfList(p.live, nil)) && slices.Equal(slices.Sorted(slices.Values(tn)), keysOfList(p.desired, nil)):
		j.use("set-order-unnoticed")
	default:
		j.unexplained("order", "%v", p)
	}
}

func carriesPatch(v any) bool {
	m, _ := v.(map[string]any)
	_, ok := m["$patch"]
	return ok
}

func keysOfList(v any, keys []schema.Key) []string {
	var out []string
	list, _ := v.([]any)
	for _, e := range list {
		out = append(out, keyOf(e, keys))
	}
	return out
}

// order returns the keys of the list that a server makes of desired's under
// $setElementOrder. It takes elements out of live's array, appends new ones, and
// reads the order of live from the array: with reuse, the first of the new
// elements stand in the places that became free.
func (p place) order(keys []schema.Key, reuse bool) []string {
	last, live, desired := keysOfList(p.last, keys), keysOfList(p.live, keys), keysOfList(p.desired, keys)
	array := slices.DeleteFunc(slices.Clone(live), func(k string) bool {
		return slices.Contains(last, k) && !slices.Contains(desired, k)
	})
	kept := slices.Clone(array)
	for _, k := range desired {
		if reuse && !slices.Contains(live, k) && len(array) < len(live) {
			array = append(array, k)
		}
	}
	out := slices.Clone(desired)
	from := 0
	for _, k := range kept {
		if slices.Contains(desired, k) {
			continue
		}
		for from < len(out) && slices.Index(array, out[from]) <= slices.Index(array, k) {
			from++
		}
		out = slices.Insert(out, from, k)
		from++
	}
	return out
}

// drifted: others have put the elements that desired has into another order, and
// desired asks for none that last did not.
func (p place) drifted(keys []schema.Key) bool {
	common := func(of, with any) []string {
		in := keysOfList(with, keys)
		return slices.DeleteFunc(keysOfList(of, keys), func(k string) bool { return !slices.Contains(in, k) })
	}
	wanted := present(p.last) && !slices.Equal(common(p.last, p.desired), common(p.desired, p.last))
	return !wanted && !slices.Equal(common(p.live, p.desired), common(p.desired, p.live))
}

// sibling says why a key of a list names elements that theirs mixes up: it stands
// twice in one list, or is 1 here and 1.0 there, or its elements differ in the
// structured keys, by which we tell them apart. It is "" for most keys.
func (p place) sibling(t *schema.Type, key string) string {
	if key == "" {
		return ""
	}
	keys := t.Strategic.Keys
	finer, _ := listKeys(t, t.Strategic, listOf(p.last), listOf(p.live), listOf(p.desired))
	var spellings, names []string
	for _, side := range []any{p.last, p.live, p.desired} {
		n := 0
		for _, e := range listOf(side) {
			if keyOf(e, keys) != key {
				continue
			}
			n++
			names = append(names, keyOf(e, finer))
			if keys != nil {
				spellings = append(spellings, fmt.Sprintf("%T", e.(map[string]any)[keys[0].Name]))
			}
		}
		switch {
		case n > 1 && keys == nil:
			return "repeated-value"
		case n > 1:
			return "repeated-key"
		}
	}
	switch {
	case len(slices.Compact(spellings)) > 1:
		return "number-key"
	case len(slices.Compact(names)) > 1:
		return "finer-keys"
	}
	return ""
}

func listOf(v any) []any {
	list, _ := v.([]any)
	return list
}

// siblings explains the differences of lists in which theirs mixes some elements
// up. The others must agree, and in a keyed list stand in the same order.
func (j *judge) siblings(t *schema.Type, rule schema.Rule, p place, theirs, ours []any) {
	alone := func(list any) (out []string) {
		for _, k := range keysOfList(list, rule.Keys) {
			if p.sibling(t, k) == "" {
				out = append(out, k)
			}
		}
		return out
	}
	for _, side := range []any{p.last, p.live, p.desired} {
		for _, k := range keysOfList(side, rule.Keys) {
			if why := p.sibling(t, k); why != "" {
				j.use(why)
			}
		}
	}
	tn, on := alone(any(theirs)), alone(any(ours))
	for _, key := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(tn, on)))) {
		if e := p.elem(key, 0, rule.Keys); !same(e.theirs, e.ours) {
			j.value(elemOf(t), schema.Rule{RetainKeys: rule.RetainKeys}, e)
		}
	}
	// Siblings are other landmarks in live's order for the two, so elements that
	// only live has may stand elsewhere among desired's.
	wanted := keysOfList(p.desired, rule.Keys)
	split := func(list []string) (declared, other []string) {
		for _, k := range list {
			if slices.Contains(wanted, k) {
				declared = append(declared, k)
			} else {
				other = append(other, k)
			}
		}
		return declared, other
	}
	td, to := split(tn)
	od, oo := split(on)
	switch {
	case rule.Keys == nil, slices.Equal(td, od) && slices.Equal(to, oo):
	case j.strict && p.drifted(rule.Keys):
		j.use("strict-order")
	default:
		j.unexplained("order with siblings", "%v", p)
	}
}

// exactly compares JSON values.
var exactly = &merger{Rules: walk.Rules{Equality: walk.Exact}}
