package inject

import (
	"slices"

	"example.com/braid/internal/dialect"
	"example.com/braid/internal/node"
	"example.com/braid/internal/schema"
)

// patcher writes what makes of live an edited value, by going down to where they differ.
type patcher struct {
	dialect.Operations
	live  *node.Tree
	root  node.ID // of what is patched
	grain grain
}

// mostOperations leaves room for a guard that is put before a patch.
const mostOperations = dialect.MostOperations - 1

// grain is the size of what a patch edits.
type grain uint8

const (
	eachPosition grain = iota // each field and element
	wholeLists                // lists whole
	wholeFields               // the fields of the pod template whole
)

// operations returns those of the JSON Patch (RFC 6902) that makes v of p's pod template: none
// exactly if these are one JSON value. Where it takes more of them than a server takes, they
// are larger. O(size of what is open in v).
func (p *place) operations(v *value) []byte {
	if !v.open && node.Equal(v.tree, v.id, p.pod.tree, p.pod.id) {
		return nil
	}
	w := patcher{live: p.pod.tree, root: p.pod.id}
	for _, s := range p.at {
		if s.Elem {
			w.DownTo(s.Index)
		} else {
			w.Down(s.Field)
		}
	}
	for w.value(podType(), "", v, w.root); w.N > mostOperations && w.grain < wholeFields; {
		w.Dst, w.N, w.grain = w.Dst[:0], 0, w.grain+1
		w.value(podType(), "", v, w.root)
	}
	return w.Dst
}

// value writes what makes v of node i, which stands where we are, under a key. Maps are not
// compared before they are gone through: that would take O(depth * size).
func (w *patcher) value(t *schema.Type, key string, v *value, i node.ID) {
	own := v.tree == w.live && v.id == i // v is what has become of it
	kind := w.live.Kind(i)
	switch {
	case own && !v.open:
	case v.kind == node.Map && kind == node.Map && (w.grain < wholeFields || i == w.root):
		w.fields(t, v, i)
	case v.kind == node.List && kind == node.List && w.grain == eachPosition && (own || itemKey(t, key) != nil):
		w.elements(t, key, v, i)
	case !same(schema.Unknown, v, valueAt(w.live, i), 0):
		w.add(v)
	}
}

func (w *patcher) add(v *value) {
	w.Begin("add", "")
	w.End(v.append(w.Value()))
}

func (w *patcher) fields(t *schema.Type, v *value, i node.ID) {
	kids, fields := w.live.Kids(i), v.members()
	for len(kids) > 0 || len(fields) > 0 {
		var at int
		switch {
		case len(fields) == 0 || len(kids) > 0 && w.live.Key(kids[0]) < fields[0].key:
			at = w.Down(w.live.Key(kids[0]))
			w.Remove()
			kids = kids[1:]
		case len(kids) == 0 || fields[0].key < w.live.Key(kids[0]):
			at = w.Down(fields[0].key)
			w.add(fields[0].v)
			fields = fields[1:]
		default:
			at = w.Down(fields[0].key)
			w.value(fieldType(t, fields[0].key), fields[0].key, fields[0].v, kids[0])
			kids, fields = kids[1:], fields[1:]
		}
		w.Up(at)
	}
}

func (w *patcher) elements(t *schema.Type, name string, v *value, i node.ID) {
	kids, elems, keyed := w.live.Kids(i), v.elements(), keysOf(t) != nil
	slots := w.slots(itemKey(t, name), kids, elems)
	moved := len(kids) != len(elems)
	for j, slot := range slots {
		moved = moved || slot != j
	}
	if moved {
		w.Reshape(&dialect.ListEdit{
			Live:  len(kids),
			Slots: slices.Clone(slots),
			Value: func(dst []byte, j int) []byte { return elems[j].append(dst) },
		})
	}
	for j, slot := range slots {
		if slot >= 0 && (keyed || elems[j].tree == w.live) { // else its key is all of it
			at := w.DownTo(j)
			w.value(elemType(t), "", elems[j], kids[slot])
			w.Up(at)
		}
	}
}

// slots returns for each element which of live's it is: itself, or else the next one of its
// key; -1 if there is none.
func (w *patcher) slots(key func(*value) string, kids []node.ID, elems []*value) []int {
	slots, taken, found := make([]int, len(elems)), make([]bool, len(kids)), 0
	for j, e := range elems {
		slots[j] = -1
		if e.tree != w.live {
			continue
		}
		if at, ok := slices.BinarySearch(kids, e.id); ok && !taken[at] {
			slots[j], taken[at] = at, true
			found++
		}
	}
	if found == min(len(kids), len(elems)) || key == nil {
		return slots
	}
	byKey := make(map[string][]int, len(kids))
	for at, kid := range kids {
		if taken[at] {
			continue
		}
		if k := key(valueAt(w.live, kid)); k != "" { // what has no key may be of another kind
			byKey[k] = append(byKey[k], at)
		}
	}
	for j, e := range elems {
		if slots[j] >= 0 {
			continue
		}
		k := key(e)
		if free := byKey[k]; len(free) > 0 {
			slots[j], byKey[k] = free[0], free[1:]
		}
	}
	return slots
}

// What a patch gives is held against a value that nobody need write.

// Node implements [dialect.Edited], as the methods that follow do.
func (v *value) Node() (*node.Tree, node.ID) {
	if v.open {
		return nil, 0
	}
	return v.tree, v.id
}

func (v *value) Kind() node.Kind { return v.kind }

func (v *value) Len() int { return v.size() }

func (v *value) At(k int) (key string, part dialect.Edited) {
	switch {
	case !v.open:
		kid := v.tree.Kids(v.id)[k]
		return v.tree.Key(kid), valueAt(v.tree, kid)
	case v.kind == node.Map:
		return v.fields[k].key, v.fields[k].v
	}
	return "", v.elems[k]
}
