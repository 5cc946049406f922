package dialect

import (
	"maps"
	"slices"
	"strconv"

	"example.com/braid/internal/node"
)

// value is a JSON value that can be edited: a node of a tree until something in it is,
// then a map or a list of values.
type value struct {
	tree   *node.Tree
	id     node.ID
	fields map[string]*value
	items  *sequence
	moved  bool // it does not stand where its document has it
}

// open takes a map or list apart.
func (v *value) open() {
	if v.fields != nil || v.items != nil {
		return
	}
	kids := v.tree.Kids(v.id)
	parts := make([]value, len(kids))
	for i, kid := range kids {
		parts[i] = value{tree: v.tree, id: kid, moved: v.moved}
	}
	switch v.tree.Kind(v.id) {
	case node.Map:
		v.fields = make(map[string]*value, len(kids))
		for i, kid := range kids {
			v.fields[v.tree.Key(kid)] = &parts[i]
		}
	case node.List:
		v.items = newSequence(parts)
	}
}

func (v *value) keys() []string {
	keys := slices.AppendSeq(make([]string, 0, len(v.fields)), maps.Keys(v.fields))
	slices.Sort(keys)
	return keys
}

// child returns what stands under a reference token, or nil.
func (v *value) child(token string) *value {
	v.open()
	if v.items != nil {
		if i, ok := index(token); ok && i < v.items.n {
			return v.items.at(i)
		}
		return nil
	}
	return v.fields[token]
}

// put stores x under a token and reports whether there is such a place.
func (v *value) put(token string, x *value, insert bool) bool {
	v.open()
	if v.items == nil {
		ok := v.fields != nil && (insert || v.fields[token] != nil)
		if ok {
			v.fields[token] = x
		}
		return ok
	}
	i, ok := index(token)
	if token == "-" {
		i, ok = v.items.n, true
	}
	switch {
	case !ok || i > v.items.n || !insert && i == v.items.n:
		return false
	case insert:
		v.items.insert(i, x)
	default:
		v.items.set(i, x)
	}
	return true
}

func (v *value) remove(token string) bool {
	v.open()
	if v.items != nil {
		i, ok := index(token)
		if ok = ok && i < v.items.n; ok {
			v.items.remove(i)
		}
		return ok
	}
	_, ok := v.fields[token]
	delete(v.fields, token)
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

// equal reports whether v is the JSON value of a node.
func (v *value) equal(t *node.Tree, i node.ID) bool {
	switch {
	case v.fields != nil:
		kids := t.Kids(i)
		if t.Kind(i) != node.Map || len(kids) != len(v.fields) {
			return false
		}
		for _, kid := range kids {
			if f := v.fields[t.Key(kid)]; f == nil || !f.equal(t, kid) {
				return false
			}
		}
		return true
	case v.items != nil:
		kids := t.Kids(i)
		if t.Kind(i) != node.List || len(kids) != v.items.n {
			return false
		}
		k := 0
		for e := range v.items.all {
			if !e.equal(t, kids[k]) {
				return false
			}
			k++
		}
		return true
	}
	return node.Equal(v.tree, v.id, t, i)
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
