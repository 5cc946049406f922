package inject

import (
	"fmt"
	"slices"

	"example.com/braid/internal/node"
	"example.com/braid/internal/schema"
)

// overlay lays templates over a pod template, and keeps account of what that does.
type overlay struct {
	in    *Injector
	p     *place
	pod   *value    // grows from what its author would have to what is to be
	live  *value    // as it is, with what was injected before
	was   []entry   // of that
	t     *Template // that is being laid
	rec   record    // of what is done
	grown []growth  // lists that got elements, in the order in which they got the first

	users    []string          // the containers of the author's own, in order
	owners   map[string]*value // of container ports, and of host ports
	odd      bool              // see undo
	clashes  []Conflict
	fatal    bool // one of them cannot be settled by taking a side
	warnings []Warning
}

// growth is a list that got elements.
type growth struct {
	path  node.Path
	typ   *schema.Type
	list  *value
	added []item
	did   int // its entry of the record; -1 if that need not know
}

// side says who wins where both say something.
type side uint8

const (
	nobody side = iota // it is a clash
	author             // the author of the pod, who was allowed to override
)

func (o *overlay) warn(path node.Path, format string, args ...any) {
	o.warnings = append(o.warnings, Warning{o.p.below(path), fmt.Sprintf(format, args...)})
}

// clash records a clash and reports whether the template's value is to be taken.
func (o *overlay) clash(rule Rule, path node.Path, final bool, format string, args ...any) (take bool) {
	o.clashes = append(o.clashes, Conflict{o.t.name, o.p.below(path), rule, fmt.Sprintf(format, args...)})
	if final && o.in.o.OnConflict == UseTemplate {
		o.fatal = true
	}
	return !final && o.in.o.OnConflict == UseTemplate
}

func field(path node.Path, key string) node.Path {
	return append(path[:len(path):len(path)], node.Step{Field: key})
}

// lay lays one template, with its values filled in, over the pod.
func (o *overlay) lay(t *Template, root *value) {
	o.t = t
	if meta := root.get("metadata"); meta != nil {
		o.metadata(meta)
	}
	spec := root.get("spec")
	if spec == nil {
		return
	}
	st := fieldType(podType(), "spec")
	at := node.Path{{Field: "spec"}}
	target := o.ensure(o.pod, nil, "spec")
	if target == nil {
		return
	}
	o.containers(spec)
	for _, m := range spec.members() {
		switch m.key {
		case "containers", "initContainers":
			continue
		case "imagePullSecrets":
			if have := target.get(m.key); have == nil || have.size() == 0 {
				o.warn(field(at, m.key), "the pod had none of its own: those of its ServiceAccount no longer count")
			}
		}
		o.position(fieldType(st, m.key), target, m.key, m.v, field(at, m.key), nobody, true)
	}
}

// metadata adds labels and annotations. Labels that are there never change: selectors of
// ReplicaSets and Services go by them.
func (o *overlay) metadata(meta *value) {
	target := o.ensure(o.pod, nil, "metadata")
	if target == nil {
		return
	}
	at := node.Path{{Field: "metadata"}}
	mt := fieldType(podType(), "metadata")
	for _, m := range meta.members() {
		path := field(at, m.key)
		if have := target.get(m.key); m.key == "labels" && have != nil && have.kind == node.Map {
			fresh := newMap()
			for _, l := range m.v.members() {
				if old := have.get(l.key); old == nil {
					fresh.set(l.key, l.v)
				} else if !same(schema.Unknown, old, l.v, 0) {
					o.warn(field(path, l.key), "template %q has another value: labels that are there stay as they are", o.t.name)
				}
			}
			m.v = fresh
		}
		o.position(fieldType(mt, m.key), target, m.key, m.v, path, nobody, true)
	}
}

// ensure returns the map under a key, which it makes if there is none.
func (o *overlay) ensure(parent *value, path node.Path, key string) *value {
	v := parent.get(key)
	if v == nil || v.kind == node.Null {
		o.odd = o.odd || v != nil
		o.rec.did = append(o.rec.did, entry{at: field(path, key), is: newMap(), was: v})
		v = newMap()
		parent.set(key, v)
	}
	if v.kind != node.Map {
		o.clash(Field, field(path, key), true, "a %s stands there", v.kind)
		return nil
	}
	return v
}

// fields lays a map over another.
func (o *overlay) fields(t *schema.Type, target, from *value, path node.Path, wins side, note bool) {
	for _, m := range from.members() {
		o.position(fieldType(t, m.key), target, m.key, m.v, field(path, m.key), wins, note)
	}
}

// position lays a value over what a map has under a key. note says whether the record needs
// to know: it does not of what stands within an element that is itself new.
func (o *overlay) position(t *schema.Type, parent *value, key string, from *value, path node.Path, wins side, note bool) {
	have := parent.get(key)
	absent := have == nil || have.kind == node.Null
	o.odd = o.odd || have != nil && absent
	itemsKey := itemKey(t, key)
	switch {
	case from.kind == node.List && itemsKey != nil && (absent || have.kind == node.List):
		if from.size() > 0 {
			o.elements(t, itemsKey, parent, key, from, path, wins, note)
		}
	case absent:
		if note {
			o.rec.did = append(o.rec.did, entry{at: path, is: from, was: have})
		}
		parent.set(key, from.clone())
	case have.kind == node.Map && from.kind == node.Map && t.Rule(schema.Strategic).Merge != schema.Atomic:
		o.fields(t, have, from, path, wins, note)
	case wins == author || same(t, have, from, defaults):
	case o.clash(Field, path, !note, "the object has another value"):
		o.rec.did = append(o.rec.did, entry{at: path, is: from, was: have})
		parent.set(key, from.clone())
	}
}

// elements adds to a list the elements that it lacks.
func (o *overlay) elements(t *schema.Type, key func(*value) string, parent *value, name string, from *value, path node.Path, wins side, note bool) {
	list := parent.get(name)
	keys := keysOf(t)
	have := map[string]*value{}
	for _, e := range list.elements() {
		if k := key(e); have[k] == nil {
			have[k] = e
		} else {
			o.odd = true
		}
	}
	var fresh []item
	for _, e := range from.elements() {
		k := key(e)
		old := have[k]
		at := path
		if keys != nil {
			at = append(path[:len(path):len(path)], stepTo(keys, e))
		}
		switch {
		case old == nil:
			if name == "ports" && !o.portsFree(e, at, parent) {
				continue
			}
			fresh = append(fresh, item{key: k, v: e.clone()})
		case keys == nil || wins == author || same(elemType(t), old, e, defaults):
		case o.clash(elementRule(name), at, old.ours || !note, "the object has one with another content"):
			o.rec.did = append(o.rec.did, entry{at: at, is: e, was: old.clone()})
			*old = *e.clone()
		}
	}
	if len(fresh) > 0 {
		if name == "env" {
			o.beforeUse(list, fresh, path)
		}
		o.grow(t, parent, name, path, fresh, note)
	}
}

// grow adds elements to the end of a list; where they stand in the end is for finish.
func (o *overlay) grow(t *schema.Type, parent *value, name string, path node.Path, fresh []item, note bool) {
	list := parent.get(name)
	if list == nil || list.growth == 0 {
		g := growth{path: path, typ: t, list: list, did: -1}
		e := entry{at: path, list: true}
		if list == nil || list.kind == node.Null {
			e.made, e.was = true, list
			g.list = newList()
			parent.set(name, g.list)
		}
		if note {
			g.did = len(o.rec.did)
			o.rec.did = append(o.rec.did, e)
		}
		o.grown = append(o.grown, g)
		list = g.list
		list.growth = int32(len(o.grown))
	}
	elems := slices.Grow(list.elements(), len(fresh))
	for _, f := range fresh {
		elems = append(elems, f.v)
		f.v.ours = true
	}
	list.replace(elems)
	g := &o.grown[list.growth-1]
	g.added = append(g.added, fresh...)
}

// finish puts the elements of lists that grew where they belong, and completes the record.
func (o *overlay) finish() {
	before := o.before()
	for i := range o.grown {
		g := &o.grown[i]
		if was := before[g.path.String()]; len(was) > 0 || slices.ContainsFunc(g.added, item.placed) {
			o.arrange(g, was)
		}
		if g.did < 0 {
			continue
		}
		did := &o.rec.did[g.did]
		did.add = make([]*value, len(g.added))
		for k, e := range g.added {
			did.add[k] = e.v
			if e.placed() {
				if did.order == nil {
					did.order = map[string]Order{}
				}
				did.order[e.key] = e.order
			}
		}
	}
}

// before returns what was injected before into each list, by the list's path.
func (o *overlay) before() map[string][]item {
	if len(o.was) == 0 {
		return nil
	}
	before := make(map[string][]item, len(o.was))
	for _, e := range o.was {
		if !e.list {
			continue
		}
		last := len(e.at) - 1
		_, pt := walkTo(o.live, podType(), e.at[:last])
		if pt == nil {
			continue
		}
		key, path := itemKey(fieldType(pt, e.at[last].Field), e.at[last].Field), e.at.String()
		for _, a := range e.add {
			k := key(a)
			before[path] = append(before[path], item{k, a, e.order[k]})
		}
	}
	return before
}

// arrange puts the elements of a list where they belong.
func (o *overlay) arrange(g *growth, was []item) {
	key := itemKey(g.typ, g.path[len(g.path)-1].Field)
	var live, base []item
	list, _ := walkTo(o.live, podType(), g.path)
	for _, e := range list.elements() {
		live = append(live, item{key: key(e), v: e})
	}
	for _, e := range g.list.elements() {
		if !e.ours {
			base = append(base, item{key: key(e), v: e})
		}
	}
	out, lost := arrange(live, base, was, g.added)
	elems := make([]*value, len(out))
	for i, e := range out {
		elems[i] = e.v
	}
	g.list.replace(elems)
	for _, e := range lost {
		o.warn(g.path, "%s: there is no place %s, so it stands last", e.key, e.order)
	}
}
