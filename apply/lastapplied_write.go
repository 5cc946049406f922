package apply

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"example.com/braid/internal/node"
)

// writer writes an object as canonical JSON, with changes.
type writer struct {
	tree *node.Tree
	// scalar appends what stands for a scalar. nil appends it as it is.
	scalar func(dst []byte, i node.ID) []byte
}

// field is one that a map is written with, in the place of its own of that key; without
// write, none.
type field struct {
	key   string
	write func(dst []byte) []byte
}

// object appends the object with notes for its records. tree may be nil: an empty object.
func (w writer) object(dst []byte, notes ...note) []byte {
	if w.tree == nil {
		w.tree = empty
	}
	if len(notes) == 0 && w.tree.Lookup("metadata", "annotations") == node.None {
		return w.value(dst, 0)
	}
	return w.objectWith(dst, w.annotations(notes))
}

var empty = func() *node.Tree {
	t, err := node.Parse([]byte("{}"), node.Limits{})
	if err != nil {
		panic(err) // it is valid
	}
	return t
}()

// objectWith appends the object with a field of metadata.
func (w writer) objectWith(dst []byte, annotations field) []byte {
	metadata := field{"metadata", func(dst []byte) []byte {
		return w.mapWith(dst, w.tree.Field(0, "metadata"), annotations)
	}}
	return w.mapWith(dst, 0, metadata)
}

// annotations returns the annotations with notes for the records, which are in the order of
// their keys.
func (w writer) annotations(notes []note) field {
	var fields []field
	for _, n := range notes {
		fields = append(fields, field{n.key, func(dst []byte) []byte { return node.AppendQuoted(dst, n.text) }})
	}
	for _, key := range w.notes() {
		at, has := slices.BinarySearchFunc(fields, key, func(f field, key string) int { return strings.Compare(f.key, key) })
		if !has {
			fields = slices.Insert(fields, at, field{key: key})
		}
	}
	return field{"annotations", func(dst []byte) []byte {
		return w.mapWith(dst, w.tree.Lookup("metadata", "annotations"), fields...)
	}}
}

// notes returns the keys of the records that the object has, in order.
func (w writer) notes() []string {
	at := w.tree.Lookup("metadata", "annotations")
	if at == node.None || w.tree.Kind(at) != node.Map {
		return nil
	}
	var keys []string
	for _, i := range w.tree.Kids(at) {
		if key := w.tree.Key(i); isNote(key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// mapWith appends the map i with other fields, which are in the order of their keys. What
// is no map counts as an empty one.
func (w writer) mapWith(dst []byte, i node.ID, fields ...field) []byte {
	var kids []node.ID
	if i != node.None && w.tree.Kind(i) == node.Map {
		kids = w.tree.Kids(i)
	}
	dst = append(dst, '{')
	start := len(dst)
	next := func() {
		if len(dst) > start {
			dst = append(dst, ',')
		}
	}
	for len(kids) > 0 || len(fields) > 0 {
		if len(fields) == 0 || len(kids) > 0 && w.tree.Key(kids[0]) < fields[0].key {
			next()
			dst = w.value(w.tree.AppendKey(dst, kids[0]), kids[0])
			kids = kids[1:]
			continue
		}
		f := fields[0]
		fields = fields[1:]
		if len(kids) > 0 && w.tree.Key(kids[0]) == f.key {
			kids = kids[1:]
		}
		if f.write != nil {
			next()
			dst = f.write(append(node.AppendQuoted(dst, f.key), ':'))
		}
	}
	return append(dst, '}')
}

// value appends what stands at i.
func (w writer) value(dst []byte, i node.ID) []byte {
	if w.scalar == nil {
		return w.tree.Append(dst, i)
	}
	switch w.tree.Kind(i) {
	case node.Map:
		return w.mapWith(dst, i)
	case node.List:
		dst = append(dst, '[')
		for k, kid := range w.tree.Kids(i) {
			if k > 0 {
				dst = append(dst, ',')
			}
			dst = w.value(dst, kid)
		}
		return append(dst, ']')
	}
	return w.scalar(dst, i)
}

// kubectlText returns an object as kubectl writes it into its annotation
// (kubectl/pkg/util.GetModifiedConfiguration): by encoding/json, with annotations even
// where there are none, in which null is "".
func kubectlText(t *node.Tree) []byte {
	w, inNotes := writer{tree: t}, writer{tree: t, scalar: func(dst []byte, i node.ID) []byte {
		if t.Kind(i) == node.Null {
			return append(dst, `""`...)
		}
		return t.Append(dst, i)
	}}
	if oddNumbers(t) {
		w.scalar = func(dst []byte, i node.ID) []byte { return appendKubectlScalar(dst, t, i) }
	}
	text := w.objectWith(nil, inNotes.annotations(nil))
	var out bytes.Buffer
	out.Grow(len(text) + len(text)/16)
	json.HTMLEscape(&out, text)
	out.WriteByte('\n')
	return out.Bytes()
}

// oddNumbers reports whether kubectl might spell a number in another way.
func oddNumbers(t *node.Tree) bool {
	for i := range node.ID(t.Len()) {
		if t.Kind(i) == node.Number {
			if s := t.Text(i); len(s) > 18 || s == "-0" || strings.ContainsAny(s, ".eE") {
				return true
			}
		}
	}
	return false
}

// appendKubectlScalar appends numbers as kubectl does, by way of int64 and float64; but as
// they are where that loses digits.
func appendKubectlScalar(dst []byte, t *node.Tree, i node.ID) []byte {
	if t.Kind(i) != node.Number {
		return t.Append(dst, i)
	}
	s := t.Text(i)
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return strconv.AppendInt(dst, n, 10)
	}
	if f, err := strconv.ParseFloat(s, 64); err == nil {
		if text, err := json.Marshal(f); err == nil && node.NumberEqual(s, string(text)) {
			return append(dst, text...)
		}
	}
	return append(dst, s...)
}
