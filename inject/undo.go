package inject

import (
	"slices"

	"example.com/braid/internal/node"
	"example.com/braid/internal/schema"
)

// undo takes what a record says was injected out of a pod template, as far as it is there,
// and puts back what that stood in the place of. What is left is base: the template as its
// author would have it.
type undo struct {
	base  *value
	did   []entry                     // as far as they are true of live, in the order in which they were done
	odd   bool                        // a key repeats in a list that changes, or null comes or goes
	exact bool                        // live has what the record says, byte for byte
	wants func(list, key string) bool // whether a template has such an element
	lost  []node.Path                 // what is not as recorded, and so stays as it is
	needs map[string]bool             // the volumes of containers among lost
	held  map[string]bool             // the volumes that stay, for they are needed
}

// takeOut undoes r in base, but for volumes that are held. O(size of both).
func takeOut(base *value, r *record, wants func(list, key string) bool, held map[string]bool) *undo {
	u := &undo{base: base, exact: true, wants: wants, held: held}
	base.path("metadata", "annotations").remove(RecordAnnotation)
	for i := len(r.did) - 1; i >= 0; i-- { // later entries may stand within earlier ones
		e := r.did[i]
		if done := e.list && u.elements(&e) || !e.list && u.field(&e); done {
			u.did = append(u.did, e)
		} else {
			u.exact = false
		}
	}
	slices.Reverse(u.did)
	return u
}

// elements takes elements out of a list. It leaves in e those that were there.
func (u *undo) elements(e *entry) bool {
	last := len(e.at) - 1
	parent, t := walkTo(u.base, podType(), e.at[:last])
	list := parent.get(e.at[last].Field)
	if list == nil || list.kind != node.List {
		return false
	}
	lt := fieldType(t, e.at[last].Field)
	key := itemKey(lt, e.at[last].Field)
	if key == nil {
		return false
	}
	recorded := make(map[string]*value, len(e.add))
	for _, a := range e.add {
		recorded[key(a)] = a
	}
	delete(recorded, "")
	var left, found []*value
	for _, v := range list.elements() {
		k := key(v)
		a := recorded[k]
		if a == nil {
			left = append(left, v)
			continue
		}
		delete(recorded, k)
		as, held := same(elemType(lt), v, a, 0), e.at[last].Field == "volumes" && u.held[k]
		if (held || !as && !same(elemType(lt), v, a, defaults|additions)) && !u.wants(e.at[last].Field, k) {
			// It is not as recorded or still needed, and no template will say what becomes of it.
			left = append(left, v)
			u.lost = append(u.lost, append(slices.Clone(e.at), stepTo(keysOf(lt), v)))
			u.need(v)
			continue
		}
		u.exact = u.exact && as
		found = append(found, a)
	}
	if len(found) != len(e.add) {
		there := make(map[*value]bool, len(found))
		for _, a := range found {
			there[a] = true
		}
		e.add = slices.DeleteFunc(slices.Clone(e.add), func(a *value) bool { return !there[a] })
	}
	list.replace(left)
	u.odd = u.odd || repeats(list, key)
	if len(left) == 0 && e.made {
		u.restore(parent, e)
	}
	return len(found) > 0
}

// need notes which volumes an element needs that stays, if it is a container.
func (u *undo) need(v *value) {
	for _, list := range [...]string{"volumeMounts", "volumeDevices"} {
		for _, m := range v.look(list).elements() {
			if u.needs == nil {
				u.needs = map[string]bool{}
			}
			u.needs[m.str("name")] = true
		}
	}
}

// restore puts back what a map had in the place of what e set.
func (u *undo) restore(parent *value, e *entry) {
	if field := e.at[len(e.at)-1].Field; e.was != nil {
		u.odd = true
		parent.set(field, e.was)
	} else {
		parent.remove(field)
	}
}

// field undoes that a field or an element was set.
func (u *undo) field(e *entry) bool {
	last := len(e.at) - 1
	parent, pt := walkTo(u.base, podType(), e.at[:last])
	v, t := (*value)(nil), schema.Unknown
	if parent != nil {
		v, t = stepInto(parent, pt, e.at[last])
	}
	if v == nil || max(v.kind, e.is.kind) >= node.List && v.kind != e.is.kind || v.kind == node.List && itemKey(t, e.at[last].Field) != nil {
		return false // of lists with elements, only those are recorded
	}
	as := same(t, v, e.is, 0)
	u.exact = u.exact && as
	switch {
	case e.was != nil && e.was.kind != node.Null:
		if !as && !same(t, v, e.is, defaults|additions) {
			u.lost = append(u.lost, e.at)
			return false // somebody else's by now
		}
		if e.at[last].Elem {
			*v = *e.was.clone()
		} else {
			parent.set(e.at[last].Field, e.was)
		}
	case v.kind == node.Map && e.is.kind == node.Map && byField(t, e.at[last].Field):
		if u.strip(t, v, e.is); onlyDefaults(v) {
			u.restore(parent, e)
		}
	default:
		u.restore(parent, e)
	}
	return true
}

// strip removes from a map the fields that were injected, whatever they hold by now.
func (u *undo) strip(t *schema.Type, v, is *value) {
	for _, m := range is.members() {
		f := v.get(m.key)
		if f == nil {
			continue
		}
		ft := fieldType(t, m.key)
		if f.kind == node.Map && m.v.kind == node.Map && byField(ft, m.key) {
			if u.strip(ft, f, m.v); !onlyDefaults(f) {
				continue
			}
		}
		v.remove(m.key)
	}
}

func onlyDefaults(v *value) bool {
	for _, m := range v.members() {
		if !isDefault(m.key, m.v) {
			return false
		}
	}
	return true
}

// byField reports whether each field of a map makes sense without the others, so that it
// is taken out of it alone. Other maps, such as probes, go whole or not at all.
func byField(t *schema.Type, key string) bool {
	switch key {
	case "metadata", "spec", "securityContext", "resources", "dnsConfig", "affinity":
		return true
	}
	return len(t.Fields) == 0
}

// bags are the lists without keys in which each element stands for itself, so that a
// template adds to what is there.
var bags = map[string]bool{
	"add": true, "drop": true, "envFrom": true, "nameservers": true, "options": true, "readinessGates": true,
	"searches": true, "supplementalGroups": true, "sysctls": true, "tolerations": true,
}

// itemKey returns what tells the elements of a list apart, or nil if the list is one value.
func itemKey(t *schema.Type, field string) func(*value) string {
	if keys := keysOf(t); keys != nil {
		return func(v *value) string { return keyOf(keys, v) }
	}
	if bags[field] {
		return func(v *value) string { return string(v.append(nil)) }
	}
	return nil
}

// elementsOf collects the elements of a document's lists, by the list's name and their key.
func elementsOf(t *schema.Type, v *value, name string, into map[[2]string]bool) {
	switch key := itemKey(t, name); {
	case v.kind == node.Map:
		for _, m := range v.members() {
			elementsOf(fieldType(t, m.key), m.v, m.key, into)
		}
	case v.kind == node.List && key != nil:
		for _, e := range v.elements() {
			into[[2]string{name, key(e)}] = true
			elementsOf(elemType(t), e, "", into)
		}
	}
}

// redo does again what was undone: what the injector last made of base. Elements stand at
// the end of their lists.
func redo(base *value, did []entry) *value {
	for _, e := range did {
		last := len(e.at) - 1
		parent, t := walkTo(base, podType(), e.at[:last])
		if parent == nil {
			continue
		}
		step := e.at[last]
		switch {
		case e.list:
			list := parent.get(step.Field)
			if list == nil || list.kind != node.List {
				list = newList()
				parent.set(step.Field, list)
			}
			list.replace(append(slices.Clone(list.elements()), e.add...))
		case step.Elem:
			if old, _ := stepInto(parent, t, step); old != nil {
				*old = *e.is.clone()
			}
		default:
			refill(parent, step.Field, e.is)
		}
	}
	return base
}

// refill sets a field, but leaves what a map has besides.
func refill(parent *value, field string, is *value) {
	old := parent.get(field)
	if old == nil || old.kind != node.Map || is.kind != node.Map {
		parent.set(field, is.clone())
		return
	}
	for _, m := range is.members() {
		refill(old, m.key, m.v)
	}
}

// settle returns what counts as last at one position, of what was injected, live and what
// is to be: was itself, but where live differs from it only by what a server does, what
// live has. It is nil where nothing was there.
func settle(t *schema.Type, key string, was, live, next *value) *value {
	switch {
	case was == nil && next != nil && isDefault(key, live):
		return live // or a template could not set what a server has set to its default
	case was == nil:
		return nil
	case next == nil:
		if same(t, live, was, defaults|additions) {
			return live
		}
		return was
	case live.kind == node.Map && was.kind == node.Map && next.kind == node.Map:
		return settleFields(t, was, live, next)
	case live.kind == node.List && was.kind == node.List && next.kind == node.List:
		if key := itemKey(t, key); key != nil {
			return settleElements(t, key, was, live, next)
		}
	}
	if same(t, live, was, defaults) {
		return live
	}
	return was
}

func settleFields(t *schema.Type, was, live, next *value) *value {
	if !was.open && !live.open && !next.open && node.Equal(was.tree, was.id, live.tree, live.id) {
		return live
	}
	out := newMap()
	for _, m := range live.members() {
		if last := settle(fieldType(t, m.key), m.key, was.get(m.key), m.v, next.get(m.key)); last != nil {
			out.fields = append(out.fields, member{m.key, last})
		}
	}
	for _, m := range was.members() {
		if live.get(m.key) == nil {
			out.set(m.key, m.v)
		}
	}
	return out
}

// settleElements gives last's elements in live's order, then those that live lacks.
func settleElements(t *schema.Type, key func(*value) string, was, live, next *value) *value {
	byKey := func(list *value) map[string][]*value {
		m := make(map[string][]*value, list.size())
		for _, e := range list.elements() {
			m[key(e)] = append(m[key(e)], e)
		}
		return m
	}
	take := func(m map[string][]*value, k string) *value {
		if len(m[k]) == 0 {
			return nil
		}
		e := m[k][0]
		m[k] = m[k][1:]
		return e
	}
	wasBy, nextBy, out := byKey(was), byKey(next), newList()
	used := make(map[*value]bool, was.size())
	for _, l := range live.elements() {
		w := take(wasBy, key(l))
		used[w] = true
		if last := settle(elemType(t), "", w, l, take(nextBy, key(l))); last != nil {
			out.elems = append(out.elems, last)
		}
	}
	for _, w := range was.elements() {
		if !used[w] {
			out.elems = append(out.elems, w)
		}
	}
	return out
}
