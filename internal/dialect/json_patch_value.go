package dialect

import (
	"slices"
	"strconv"
	"strings"

	"example.com/braid/internal/node"
)

// value is a JSON value that can be edited: a node of a tree, with what has become of some
// of its fields, or a list of values once one of them was looked at.
type value struct {
	tree   *node.Tree
	id     node.ID
	fields map[string]*value // of a map, those that were looked at; nil for one that is gone
	items  *sequence
	moved  bool // it does not stand where its document has it
}

// list returns the elements of a list, or nil.
func (v *value) list() *sequence {
	if v.items == nil && v.tree.Kind(v.id) == node.List {
		kids := v.tree.Kids(v.id)
		parts := make([]value, len(kids))
		for i, kid := range kids {
			parts[i] = value{tree: v.tree, id: kid, moved: v.moved}
		}
		v.items = newSequence(parts)
	}
	return v.items
}

// child returns what stands under a reference token, or nil.
func (v *value) child(token string) *value {
	if items := v.list(); items != nil {
		if i, ok := index(token); ok && i < items.n {
			return items.at(i)
		}
		return nil
	}
	if f, ok := v.fields[token]; ok {
		return f
	}
	id := v.tree.Field(v.id, token)
	if id == node.None {
		return nil
	}
	f := &value{tree: v.tree, id: id, moved: v.moved}
	v.field(token, f)
	return f
}

// field makes f what stands under a key.
func (v *value) field(key string, f *value) {
	if v.fields == nil {
		v.fields = map[string]*value{}
	}
	v.fields[key] = f
}

type member struct {
	key string
	v   value
}

// members returns the fields of a map, by key. O(n log n).
func (v *value) members() []member {
	kids := v.tree.Kids(v.id)
	out := make([]member, 0, len(kids)+len(v.fields))
	for key, f := range v.fields {
		if f != nil {
			out = append(out, member{key, *f})
		}
	}
	edited := len(out)
	for _, kid := range kids {
		key := v.tree.Key(kid)
		if _, seen := v.fields[key]; !seen {
			out = append(out, member{key, value{tree: v.tree, id: kid, moved: v.moved}})
		}
	}
	if edited > 0 {
		slices.SortFunc(out, func(a, b member) int { return strings.Compare(a.key, b.key) })
	}
	return out
}

// put stores x under a token and reports whether there is such a place.
func (v *value) put(token string, x *value, insert bool) bool {
	items := v.list()
	if items == nil {
		ok := v.tree.Kind(v.id) == node.Map && (insert || v.child(token) != nil)
		if ok {
			v.field(token, x)
		}
		return ok
	}
	i, ok := index(token)
	if token == "-" {
		i, ok = items.n, true
	}
	switch {
	case !ok || i > items.n || !insert && i == items.n:
		return false
	case insert:
		items.insert(i, x)
	default:
		items.set(i, x)
	}
	return true
}

func (v *value) remove(token string) bool {
	if items := v.list(); items != nil {
		i, ok := index(token)
		if ok = ok && i < items.n; ok {
			items.remove(i)
		}
		return ok
	}
	ok := v.child(token) != nil
	if ok {
		v.fields[token] = nil
	}
	return ok
}

// index reads an array index of RFC 6901: digits without a leading zero.
func index(token string) (int, bool) {
	if token == "" || len(token) > 1 && token[0] == '0' || token[0] < '0' || token[0] > '9' {
		return 0, false
	}
	i, err := strconv.Atoi(token)
	return i, err == nil
}

// equal reports whether v and w are one JSON value.
func (v *value) equal(w Edited) bool {
	if t, i := w.Node(); t != nil && v.fields == nil && v.items == nil {
		return t == v.tree && i == v.id || node.Equal(v.tree, v.id, t, i)
	}
	if v.tree.Kind(v.id) != w.Kind() {
		return false
	}
	n := 0 // how many are equal
	switch w.Kind() {
	case node.Map:
		members := v.members()
		if len(members) != w.Len() {
			return false
		}
		for ; n < len(members); n++ {
			m := &members[n]
			if key, x := w.At(n); key != m.key || !m.v.equal(x) {
				return false
			}
		}
	case node.List:
		for e := range v.list().all {
			if n == w.Len() {
				return false
			}
			if _, x := w.At(n); !e.equal(x) {
				return false
			}
			n++
		}
	}
	return n == w.Len()
}

// nodeAt is a node as a value.
type nodeAt struct {
	tree *node.Tree
	id   node.ID
}

func (n nodeAt) Node() (*node.Tree, node.ID) { return n.tree, n.id }
func (n nodeAt) Kind() node.Kind             { return n.tree.Kind(n.id) }
func (n nodeAt) Len() int                    { return len(n.tree.Kids(n.id)) }

func (n nodeAt) At(k int) (key string, v Edited) {
	kid := n.tree.Kids(n.id)[k]
	return n.tree.Key(kid), nodeAt{n.tree, kid}
}

// sequence is a list in pieces, so that edits at its front do not move all of it.
type sequence struct {
	pieces [][]*value
	n      int
}

const pieceSize = 512

func newSequence(parts []value) *sequence {
	s := &sequence{n: len(parts)}
	for len(parts) > 0 {
		n := min(len(parts), pieceSize/2)
		piece := make([]*value, n, n+n/8+4)
		for i := range piece {
			piece[i] = &parts[i]
		}
		s.pieces, parts = append(s.pieces, piece), parts[n:]
	}
	return s
}

// find returns the piece with element i, and where in it. The place behind the last
// element is in the last piece.
func (s *sequence) find(i int) (piece, at int) {
	for piece < len(s.pieces)-1 && i >= len(s.pieces[piece]) {
		i -= len(s.pieces[piece])
		piece++
	}
	return piece, i
}

func (s *sequence) at(i int) *value {
	p, at := s.find(i)
	return s.pieces[p][at]
}

func (s *sequence) set(i int, v *value) {
	p, at := s.find(i)
	s.pieces[p][at] = v
}

func (s *sequence) insert(i int, v *value) {
	if s.n++; len(s.pieces) == 0 {
		s.pieces = [][]*value{{v}}
		return
	}
	p, at := s.find(i)
	s.pieces[p] = slices.Insert(s.pieces[p], at, v)
	if full := s.pieces[p]; len(full) >= pieceSize {
		half := slices.Clone(full[len(full)/2:])
		s.pieces[p] = full[:len(full)/2]
		s.pieces = slices.Insert(s.pieces, p+1, half)
	}
}

func (s *sequence) remove(i int) {
	p, at := s.find(i)
	s.n--
	if s.pieces[p] = slices.Delete(s.pieces[p], at, at+1); len(s.pieces[p]) == 0 {
		s.pieces = slices.Delete(s.pieces, p, p+1)
	}
}

// all calls yield with the elements in order.
func (s *sequence) all(yield func(*value) bool) {
	for _, piece := range s.pieces {
		for _, v := range piece {
			if !yield(v) {
				return
			}
		}
	}
}
