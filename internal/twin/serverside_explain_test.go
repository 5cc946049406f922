package twin

import (
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/merge"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"example.com/braid/internal/node"
	"example.com/braid/internal/schema"
	"example.com/braid/internal/walk"
)

// sides explains the places at which what a server makes of an apply configuration
// differs from our merge, by entries of the catalogue of server-side apply. It knows
// what we and others own of live.
type sides struct {
	*judge
	ours, others *fieldpath.Set
}

// value explains the differences below one position, which is at in the words of
// structured-merge-diff.
func (j *sides) value(t *schema.Type, rule schema.Rule, p place, at fieldpath.Path) {
	switch {
	case same(p.theirs, p.ours):
		return
	case p.theirs == nil && present(p.last) && isContainer(p.live):
		j.use("apply-emptied")
		p.theirs = none{}
		j.value(t, rule, p, at)
		return
	case hollow(p.theirs) && hollow(p.ours) && isContainer(p.live):
		j.use("apply-emptied")
		return
	case p.stands(rule) && same(p.ours, p.live) && same(p.theirs, exactly.strip(schema.Unknown, p.desired)):
		j.use("apply-defaults-in-atomic")
		return
	case !present(p.theirs) && !declares(p.desired):
		j.gone(t, rule, p, at)
		return
	case !present(p.ours) && !declares(p.desired):
		j.left(t, rule, p, at, p.desired == nil)
		return
	}
	if rule.Merge != schema.Atomic && isContainer(p.ours) && (sameKind(p.theirs, p.ours) || !present(p.theirs)) {
		j.parts(t, rule, p, at, j.value)
		return
	}
	j.unexplained("value", "%v", p)
}

// parts calls visit for each field or element of a value that differs.
func (j *sides) parts(t *schema.Type, rule schema.Rule, p place, at fieldpath.Path, visit func(*schema.Type, schema.Rule, place, fieldpath.Path)) {
	tm, ok1 := p.theirs.(map[string]any)
	om, ok2 := p.ours.(map[string]any)
	if ok1 || ok2 {
		for _, key := range slices.Sorted(keysOf(join(tm, om))) {
			f, at := p.field(key), under(at, fieldpath.FieldNameElement(key))
			lives := !present(f.last) && present(f.live) && !present(f.desired) && same(f.theirs, f.live)
			switch c := fieldOf(t, key); {
			case lives && !same(f.theirs, f.ours) && c.Alias != "":
				j.use("alias-alone")
			case lives && !present(f.ours) && t.Union && present(p.ours):
				j.use("union-unknown")
			default:
				visit(c.Type, c.Type.Structured, f, at)
			}
		}
		return
	}
	seen := map[string]bool{}
	for _, e := range slices.Concat(listOf(p.theirs), listOf(p.ours)) {
		key := keyOf(e, rule.Keys)
		if j.repeated(t, rule, p, key) {
			p.theirs, p.ours = without(p.theirs, key, rule), without(p.ours, key, rule)
			continue
		}
		if !seen[key] {
			seen[key] = true
			visit(elemOf(t), elemOf(t).Structured, p.elem(key, 0, rule.Keys), under(at, element(rule, e)))
		}
	}
	j.order(rule, p)
}

// repeated explains the elements of a key that live repeats: a server makes desired's of
// them, or leaves all.
func (j *sides) repeated(t *schema.Type, rule schema.Rule, p place, key string) bool {
	live, theirs, want := matching(p.live, key, rule), matching(p.theirs, key, rule), matching(p.desired, key, rule)
	if len(want) == 0 {
		want = live
	}
	if len(live) < 2 || !Equal(theirs, exactly.strip(t, want)) {
		return false
	}
	j.use("apply-repeats")
	return true
}

// matching returns the elements of a key, without those of others.
func matching(list any, key string, rule schema.Rule) []any {
	return slices.DeleteFunc(slices.Clone(listOf(list)), func(e any) bool { return keyOf(e, rule.Keys) != key })
}

// without returns a list without the elements of a key.
func without(list any, key string, rule schema.Rule) any {
	return slices.DeleteFunc(slices.Clone(listOf(list)), func(e any) bool { return keyOf(e, rule.Keys) == key })
}

func sameKind(x, y any) bool {
	_, m1 := x.(map[string]any)
	_, m2 := y.(map[string]any)
	return isContainer(x) && isContainer(y) && m1 == m2
}

// hollow: there is no value, but for maps and lists without any.
func hollow(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			if !hollow(e) {
				return false
			}
		}
		return true
	case []any:
		return len(v) == 0
	}
	return !declares(v)
}

// stands: the value is one, we declare what we declared last, and live is that with only
// fields added.
func (p place) stands(rule schema.Rule) bool {
	return rule.Merge == schema.Atomic && present(p.last) && present(p.live) && same(p.last, p.desired) &&
		exactly.covers(schema.Unknown, p.live, exactly.strip(schema.Unknown, p.desired))
}

func under(at fieldpath.Path, pe fieldpath.PathElement) fieldpath.Path {
	return append(slices.Clone(at), pe)
}

// left explains what we remove and a server leaves. null says that desired has a null for
// it.
func (j *sides) left(t *schema.Type, rule schema.Rule, p place, at fieldpath.Path, null bool) {
	owned, shared := j.ours.Has(at), j.others.Has(at)
	switch {
	case !present(p.theirs):
	case hollow(p.theirs) && isContainer(p.live):
		j.use("apply-emptied")
	case isContainer(p.theirs) && rule.Merge != schema.Atomic:
		j.parts(t, rule, p, at, func(t *schema.Type, rule schema.Rule, p place, at fieldpath.Path) { j.left(t, rule, p, at, null) })
	case !same(p.theirs, p.live):
		j.unexplained("left", "%v", p)
	case null:
		j.use("apply-null-unsaid")
	case owned && shared:
		j.use("apply-shared")
	case owned:
		j.unexplained("left", "though ours: %v", p)
	case present(p.last):
		j.use("apply-taken-over")
	default:
		j.use("apply-struct-of-others")
	}
}

// gone explains what a server removes and we leave.
func (j *sides) gone(t *schema.Type, rule schema.Rule, p place, at fieldpath.Path) {
	switch {
	case !present(p.ours):
	case hollow(p.ours) && isContainer(p.live):
		j.use("apply-emptied")
	case !part(p.ours, p.live):
		j.unexplained("gone", "%v", p)
	case isDefaultOfKey(t, at) && same(p.ours, parse(t.Default).Value(0)) && present(p.last):
		j.use("apply-key-default")
	case j.ours.Has(at) && !j.others.Has(at) && isContainer(p.ours) && rule.Merge != schema.Atomic:
		j.use("apply-entry-goes")
	case isContainer(p.ours) && rule.Merge != schema.Atomic:
		j.parts(t, rule, p, at, j.gone)
	case !j.ours.Has(at) && !j.others.Has(at):
		j.use("apply-unowned-goes")
	default:
		j.unexplained("gone", "%v", p)
	}
}

// isDefaultOfKey: a path is that of a key field, and a server has a default for it.
func isDefaultOfKey(t *schema.Type, at fieldpath.Path) bool {
	if len(at) < 2 || at[len(at)-2].Key == nil || t.Default == "" {
		return false
	}
	return slices.ContainsFunc(*at[len(at)-2].Key, func(f value.Field) bool { return f.Name == *at[len(at)-1].FieldName })
}

// part reports whether a value is another, or has less in its maps and lists.
func part(v, of any) bool {
	switch v := v.(type) {
	case map[string]any:
		m, ok := of.(map[string]any)
		for k, e := range v {
			whole, has := m[k]
			ok = ok && has && part(e, whole)
		}
		return ok
	case []any:
		l, ok := of.([]any)
		for _, e := range v {
			ok = ok && slices.ContainsFunc(l, func(whole any) bool { return part(e, whole) })
		}
		return ok
	}
	return same(v, of)
}

// element is how structured-merge-diff names an element of a list.
func element(rule schema.Rule, e any) fieldpath.PathElement {
	if rule.Merge == schema.Set {
		return fieldpath.ValueElement(value.NewValueInterface(e))
	}
	var fields value.FieldList
	m, _ := e.(map[string]any)
	for _, k := range rule.Keys {
		v, ok := m[k.Name]
		if !ok && k.Default != "" {
			v = parse(k.Default).Value(0)
		}
		fields = append(fields, value.Field{Name: k.Name, Value: value.NewValueInterface(v)})
	}
	fields.Sort()
	return fieldpath.PathElement{Key: &fields}
}

// order explains the order of keyed lists and sets.
func (j *sides) order(rule schema.Rule, p place) {
	common := func(list, with []string) []string {
		return slices.DeleteFunc(slices.Clone(list), func(k string) bool { return !slices.Contains(with, k) })
	}
	live, desired := keysOfList(p.live, rule.Keys), keysOfList(p.desired, rule.Keys)
	theirs, ours := keysOfList(p.theirs, rule.Keys), keysOfList(p.ours, rule.Keys)
	theirs, ours = common(theirs, ours), common(ours, theirs)
	switch {
	case slices.Equal(theirs, ours):
	case slices.Equal(theirs, common(theirOrder(live, desired), theirs)) && slices.Equal(ours, common(p.order(rule.Keys, false), ours)):
		j.use("apply-order")
	default:
		j.unexplained("order", "%v", p)
	}
}

// theirOrder is the order that structured-merge-diff gives to two lists: desired's
// elements in desired's order, and before each all that live alone has and that stands in
// live before the next that both have.
func theirOrder(live, desired []string) (out []string) {
	i := 0
	upTo := func(stop string) {
		for ; i < len(live) && live[i] != stop; i++ {
			if !slices.Contains(desired, live[i]) {
				out = append(out, live[i])
			}
		}
	}
	for n, d := range desired {
		next := "" // no key
		if shared := slices.IndexFunc(desired[n:], func(k string) bool { return slices.Contains(live, k) }); shared >= 0 {
			next = desired[n+shared]
		}
		upTo(next)
		if out = append(out, d); d == next && i < len(live) {
			i++
		}
	}
	upTo("")
	return out
}

// conflicts holds the conflicts of Strict against those of a server.
func (j *sides) conflicts(root *schema.Type, sc *walk.Script, x triple, theirs merge.Conflicts) {
	var ours []fieldpath.Path
	for i := range sc.Edits {
		if sc.Edits[i].Op != walk.OpClash {
			continue
		}
		at := pathOf(sc, int32(i))
		ours = append(ours, at)
		if !slices.ContainsFunc(theirs, func(c merge.Conflict) bool { return within(c.Path, at) }) {
			j.missed(sc, &sc.Edits[i], at)
		}
	}
	for _, c := range theirs {
		if !slices.ContainsFunc(ours, func(at fieldpath.Path) bool { return within(c.Path, at) }) {
			j.falseAlarm(root, c.Path, x)
		}
	}
}

// within reports whether a path is another, or below it.
func within(p, at fieldpath.Path) bool { return len(p) >= len(at) && p[:len(at)].Equals(at) }

// pathOf is the path of an edit, in the words of structured-merge-diff.
func pathOf(sc *walk.Script, i int32) fieldpath.Path {
	parent := sc.Edits[i].Parent
	if parent < 0 {
		return nil
	}
	if sc.Edits[parent].Op == walk.OpFields {
		return under(pathOf(sc, parent), fieldpath.FieldNameElement(sc.Key(i)))
	}
	t, id := sc.Node(i)
	return under(pathOf(sc, parent), element(sc.Edits[parent].Type.Structured, t.Value(id)))
}

// missed explains a conflict that a server does not see.
func (j *sides) missed(sc *walk.Script, e *walk.Edit, at fieldpath.Path) {
	switch {
	case e.Live == node.None:
		j.use("conflict-absent")
	case e.Flags&walk.ByNull != 0, e.Desired != node.None && sc.Desired.Kind(e.Desired) == node.Null:
		j.use("apply-null-unsaid")
	case e.Case == walk.TheyAdd && sc.Edits[e.Parent].Type.Union:
		j.use("union-unknown")
	case e.Desired != node.None && sc.Edits[e.Parent].Op == walk.OpFields && sc.Desired.Key(e.Desired) != sc.Live.Key(e.Live),
		e.Last != node.None && sc.Edits[e.Parent].Op == walk.OpFields && sc.Last.Key(e.Last) != sc.Live.Key(e.Live):
		j.use("alias-alone")
	case !j.own(at):
		j.use("conflict-unowned")
	case e.Desired == node.None:
		j.use("conflict-removal")
	case sc.Live.Kind(e.Live) >= node.List && sc.Live.Kind(e.Live) != sc.Desired.Kind(e.Desired):
		j.use("conflict-other-type")
	default:
		j.unexplained("missed", "%v %v", at, e.Case)
	}
}

// own reports whether others own something at a path or below.
func (j *sides) own(at fieldpath.Path) bool {
	set := j.others
	for _, pe := range at {
		set = set.WithPrefix(pe)
	}
	return j.others.Has(at) || !set.Empty()
}

// falseAlarm explains a conflict that we do not see.
func (j *sides) falseAlarm(t *schema.Type, at fieldpath.Path, x triple) {
	p := place{"", x.last, x.live, x.desired, none{}, none{}}
	rule := t.Structured
	for _, pe := range at {
		if pe.FieldName != nil {
			t, p = fieldOf(t, *pe.FieldName).Type, p.field(*pe.FieldName)
		} else {
			key := ""
			for _, e := range slices.Concat(listOf(p.last), listOf(p.live), listOf(p.desired)) {
				if element(rule, e).Equals(pe) {
					key = keyOf(e, rule.Keys)
				}
			}
			if len(matching(p.live, key, rule)) > 1 {
				j.use("apply-repeats")
				return
			}
			t, p = elemOf(t), p.elem(key, 0, rule.Keys)
		}
		rule = t.Structured
	}
	switch {
	case present(p.live) && same(p.last, p.live) && j.others.Has(at):
		j.use("conflict-shared")
	case p.stands(rule):
		j.use("apply-defaults-in-atomic")
	default:
		j.unexplained("false alarm", "%v: %v", at, p)
	}
}
