package inject

import (
	"slices"
	"strings"
	"sync"

	"example.com/braid/internal/docs"
	"example.com/braid/internal/node"
	"example.com/braid/internal/scalar"
	"example.com/braid/internal/schema"
	"example.com/braid/merge"
)

// value is a value of an immutable document that can be edited: it stands for a node until
// it is opened, and then has members or elements of its own. What nobody opens is never
// copied, but written from the document's own text.
type value struct {
	tree *node.Tree
	id   node.ID
	kind node.Kind

	open   bool
	ours   bool     // an element that a template has added
	growth int32    // of a list that grows: which of the overlay's, from 1
	fields []member // of an open map, by key
	elems  []*value // of an open list
	index  map[string]*value
}

type member struct {
	key string
	v   *value
}

func valueAt(t *node.Tree, id node.ID) *value { return &value{tree: t, id: id, kind: t.Kind(id)} }

func newMap() *value  { return &value{kind: node.Map, open: true} }
func newList() *value { return &value{kind: node.List, open: true} }

// textValue returns a string, of what has been in a document.
func textValue(text string) *value { return valueAt(node.Text(text), 0) }

// expand opens a map or list.
func (v *value) expand() {
	if v.open || v.kind < node.List {
		return
	}
	v.open = true
	kids := v.tree.Kids(v.id)
	children := make([]value, len(kids))
	if v.kind == node.Map {
		v.fields = make([]member, len(kids))
	} else {
		v.elems = make([]*value, len(kids))
	}
	for i, kid := range kids {
		children[i] = value{tree: v.tree, id: kid, kind: v.tree.Kind(kid)}
		if v.kind == node.Map {
			v.fields[i] = member{v.tree.Key(kid), &children[i]}
		} else {
			v.elems[i] = &children[i]
		}
	}
}

// clone returns a value that can be edited without a change of v.
func (v *value) clone() *value {
	c := new(value)
	v.cloneTo(c)
	return c
}

func (v *value) cloneTo(c *value) {
	*c = *v
	c.index, c.ours, c.growth = nil, false, 0
	c.fields, c.elems = slices.Clone(v.fields), slices.Clone(v.elems)
	children := make([]value, len(v.fields)+len(v.elems))
	for i := range c.fields {
		v.fields[i].v.cloneTo(&children[i])
		c.fields[i].v = &children[i]
	}
	for i := range c.elems {
		v.elems[i].cloneTo(&children[i])
		c.elems[i] = &children[i]
	}
}

// members returns the fields of what may be a map, by key.
func (v *value) members() []member {
	if v == nil {
		return nil
	}
	v.expand()
	return v.fields
}

// elements returns the elements of what may be a list.
func (v *value) elements() []*value {
	if v == nil {
		return nil
	}
	v.expand()
	return v.elems
}

func (v *value) find(key string) (int, bool) {
	return slices.BinarySearchFunc(v.fields, key, func(m member, key string) int { return strings.Compare(m.key, key) })
}

// get returns the field of a map, or nil.
func (v *value) get(key string) *value {
	if v == nil || v.kind != node.Map {
		return nil
	}
	if !v.open && v.tree.Field(v.id, key) == node.None {
		return nil
	}
	v.expand()
	if i, ok := v.find(key); ok {
		return v.fields[i].v
	}
	return nil
}

// path follows fields, or returns nil.
func (v *value) path(keys ...string) *value {
	for _, key := range keys {
		v = v.get(key)
	}
	return v
}

// look is path for those who only read: it opens nothing.
func (v *value) look(keys ...string) *value {
	for i, key := range keys {
		if v == nil || v.kind != node.Map {
			return nil
		}
		if !v.open {
			id := v.id
			for _, key := range keys[i:] {
				if id = v.tree.Field(id, key); id == node.None {
					return nil
				}
			}
			return valueAt(v.tree, id)
		}
		v = v.get(key)
	}
	return v
}

// scalar returns the kind and the text of a field of a map; of one that is not there, "".
// It opens nothing.
func (v *value) scalar(key string) (node.Kind, string) {
	if v.kind == node.Map && !v.open {
		if f := v.tree.Field(v.id, key); f != node.None {
			return v.tree.Kind(f), v.tree.Text(f)
		}
	} else if f := v.get(key); f != nil && f.kind < node.List {
		return f.kind, f.tree.Text(f.id)
	} else if f != nil {
		return f.kind, ""
	}
	return node.Null, ""
}

// str returns the text of a field that is a string, or "".
func (v *value) str(key string) string {
	if kind, text := v.scalar(key); kind == node.String {
		return text
	}
	return ""
}

func (v *value) set(key string, child *value) {
	v.expand()
	i, ok := v.find(key)
	if ok {
		v.fields[i].v = child
	} else {
		v.fields = slices.Insert(v.fields, i, member{key, child})
	}
}

// remove removes a field of what may be a map.
func (v *value) remove(key string) {
	if v == nil || v.kind != node.Map {
		return
	}
	v.expand()
	if i, ok := v.find(key); ok {
		v.fields = slices.Delete(v.fields, i, i+1)
	}
}

// size returns the number of fields or elements.
func (v *value) size() int {
	if !v.open && v.kind >= node.List {
		return len(v.tree.Kids(v.id))
	}
	return len(v.fields) + len(v.elems)
}

// text returns the text of a string, or "".
func (v *value) text() string {
	if v == nil || v.kind != node.String {
		return ""
	}
	return v.tree.Text(v.id)
}

// append appends the value as canonical JSON.
func (v *value) append(dst []byte) []byte { return v.write(dst, (*node.Tree).Append) }

// write appends the value as JSON; closed appends what nobody has opened.
func (v *value) write(dst []byte, closed func(*node.Tree, []byte, node.ID) []byte) []byte {
	switch {
	case !v.open:
		return closed(v.tree, dst, v.id)
	case v.kind == node.Map:
		dst = append(dst, '{')
		for i, m := range v.fields {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(node.AppendQuoted(dst, m.key), ':')
			dst = m.v.write(dst, closed)
		}
		return append(dst, '}')
	}
	dst = append(dst, '[')
	for i, e := range v.elems {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = e.write(dst, closed)
	}
	return append(dst, ']')
}

// doc returns the value as a document, which may have much in common with another.
func (v *value) doc(like *node.Tree) (*merge.Doc, error) {
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	*buffer = v.write((*buffer)[:0], (*node.Tree).AppendSource) // what is like the other is quicker to read
	t, err := node.ParseLike(*buffer, like, node.Limits{})
	if err != nil {
		return nil, err
	}
	return docOf(t), nil
}

var buffers = sync.Pool{New: func() any { return new([]byte) }}

func docOf(t *node.Tree) *merge.Doc { return docs.Of(t).(*merge.Doc) }

// relation is what a comparison takes for equal, beside what is.
type relation uint8

const (
	defaults  relation = 1 << iota // the left may have what a server adds by default
	additions                      // and elements of lists that others add to
)

// same reports whether a holds what b says: scalars by their type, lists in their order.
// O(size).
func same(t *schema.Type, a, b *value, rel relation) bool {
	if rel == 0 && !a.open && !b.open {
		return node.Equal(a.tree, a.id, b.tree, b.id)
	}
	if a.kind == node.List && b.kind == node.List {
		return sameLists(t, a, b, rel)
	}
	if a.kind == node.Map && b.kind == node.Map {
		return sameMaps(t, a, b, rel)
	}
	if a.kind >= node.List || b.kind >= node.List {
		return false
	}
	if node.EqualScalars(a.tree, a.id, b.tree, b.id) {
		return true
	}
	number := func(v *value) bool { return v.kind == node.String || v.kind == node.Number }
	return rel != 0 && t.Kind == schema.Quantity && number(a) && number(b) && scalar.EqualQuantity(a.tree.Text(a.id), b.tree.Text(b.id))
}

// othersAdd are the lists of a container to which webhooks and admission add.
var othersAdd = map[string]bool{"env": true, "envFrom": true, "ports": true, "volumeDevices": true, "volumeMounts": true}

func sameMaps(t *schema.Type, a, b *value, rel relation) bool {
	as, bs := a.members(), b.members()
	for len(as) > 0 || len(bs) > 0 {
		switch {
		case len(bs) == 0 || len(as) > 0 && as[0].key < bs[0].key:
			others := rel&additions != 0 && othersAdd[as[0].key]
			if rel == 0 || !others && !isDefault(as[0].key, as[0].v) {
				return false
			}
			as = as[1:]
		case len(as) == 0 || bs[0].key < as[0].key:
			if rel == 0 || !isZero(bs[0].v) {
				return false
			}
			bs = bs[1:]
		case !same(fieldType(t, as[0].key), as[0].v, bs[0].v, rel):
			return false
		default:
			as, bs = as[1:], bs[1:]
		}
	}
	return true
}

func sameLists(t *schema.Type, a, b *value, rel relation) bool {
	as, bs, elem := a.elements(), b.elements(), elemType(t)
	if keys := keysOf(t); rel&additions != 0 && keys != nil {
		for _, e := range bs {
			other := a.element(keys, keyOf(keys, e))
			if other == nil || !same(elem, other, e, rel) {
				return false
			}
		}
		return true
	}
	if len(as) != len(bs) {
		return false
	}
	for i := range as {
		if !same(elem, as[i], bs[i], rel) {
			return false
		}
	}
	return true
}

// isZero reports whether a server may drop a value as empty.
func isZero(v *value) bool {
	switch v.kind {
	case node.Null:
		return true
	case node.Bool:
		return v.tree.Text(v.id) == "false"
	case node.Number:
		return node.NumberEqual(v.tree.Text(v.id), "0")
	case node.String:
		return v.tree.Text(v.id) == ""
	}
	return v.size() == 0
}

// serverDefaults are what an API server writes into pods where the author says nothing
// (k8s.io/kubernetes, pkg/apis/core/v1/defaults.go), by the name of the field; "*" is any
// text. Names mean the same all over a pod.
var serverDefaults = map[string][]string{
	"apiVersion": {"v1"}, "cachingMode": {"ReadWrite"}, "defaultMode": {"420"}, "divisor": {"0"},
	"expirationSeconds": {"3600"}, "failureThreshold": {"3"}, "fsType": {"ext4", "xfs"},
	"imagePullPolicy": {"*"}, "iscsiInterface": {"default"}, "keyring": {"/etc/ceph/keyring"},
	"kind": {"Shared"}, "path": {"/"}, "periodSeconds": {"10"}, "pool": {"rbd"}, "protocol": {"TCP"},
	"pullPolicy": {"*"}, "recursiveReadOnly": {"Disabled"}, "scheme": {"HTTP"}, "storageMode": {"ThinProvisioned"},
	"successThreshold": {"1"}, "terminationMessagePath": {"/dev/termination-log"},
	"terminationMessagePolicy": {"File"}, "timeoutSeconds": {"1"}, "user": {"admin"},
}

// isDefault reports whether a server may have put a field there.
func isDefault(key string, v *value) bool {
	known, ok := serverDefaults[key]
	return isZero(v) || ok && v.kind < node.List && (known[0] == "*" || slices.Contains(known, v.tree.Text(v.id)))
}

func fieldType(t *schema.Type, key string) *schema.Type {
	if child, _ := t.Lookup(key); child != nil {
		return child
	}
	return schema.Unknown
}

func elemType(t *schema.Type) *schema.Type {
	if t.Elem == nil {
		return schema.Unknown
	}
	return t.Elem
}

// keysOf returns the key fields of a keyed list, or nil. The structured rule tells more
// elements apart than the strategic one.
func keysOf(t *schema.Type) []schema.Key {
	if rule := t.Rule(schema.Structured); t.Kind == schema.List && rule.Merge == schema.Keyed {
		return rule.Keys
	}
	return nil
}

// keyOf returns a text that elements of one key share, or "" if it has not all keys.
func keyOf(keys []schema.Key, e *value) string {
	if len(keys) == 1 {
		return keyText(keys[0], e)
	}
	var out []byte
	for _, k := range keys {
		text := keyText(k, e)
		if text == "" {
			return ""
		}
		out = node.AppendQuoted(out, text)
	}
	return string(out)
}

func keyText(k schema.Key, e *value) string {
	if kind, text := e.scalar(k.Name); kind != node.Null {
		return text
	}
	return keyDefault(k)
}

// keyDefault returns the text that stands for an absent key field, or "" if it must be
// there: the schemas give also names a default, which is empty.
func keyDefault(k schema.Key) string {
	if k.Default == "0" {
		return ""
	}
	return strings.Trim(k.Default, `"`)
}

// stepTo returns the step of a path to an element.
func stepTo(keys []schema.Key, e *value) node.Step {
	s := node.Step{Elem: true}
	for _, k := range keys {
		s.Keys = append(s.Keys, node.KeyPair{Name: k.Name, Value: keyText(k, e)})
	}
	return s
}

// element returns the first element that has a key of what may be a list, or nil. O(1) after
// the first call.
func (v *value) element(keys []schema.Key, key string) *value {
	if v == nil {
		return nil
	}
	if v.index == nil {
		v.index = make(map[string]*value, len(v.elements()))
		for _, e := range v.elems {
			if k := keyOf(keys, e); k != "" && v.index[k] == nil {
				v.index[k] = e
			}
		}
	}
	return v.index[key]
}

// repeats reports whether a key of a list repeats.
func repeats(list *value, key func(*value) string) bool {
	elems := list.elements()
	seen := make(map[string]bool, len(elems))
	for _, e := range elems {
		seen[key(e)] = true
	}
	return len(seen) < len(elems)
}

// replace gives a list other elements.
func (v *value) replace(elems []*value) {
	v.expand()
	v.elems, v.index = elems, nil
}
