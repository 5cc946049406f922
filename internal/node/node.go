package node

import (
	"math"
	"strings"
)

// ID names a node of one Tree: its place in preorder.
type ID int32

// None stands for the absence of a node.
const None ID = -1

// Kind is the JSON type of a node.
type Kind uint8

const (
	Null Kind = iota
	Bool
	Number
	String
	List
	Map
)

// String returns the word that messages use for k.
func (k Kind) String() string {
	return [...]string{"null", "boolean", "number", "string", "list", "map"}[k]
}

// span is a piece of text, or of the kids slice.
type span struct{ off, n uint32 }

type flags uint8

const (
	escKey  flags = 1 << iota // the key needs escapes in JSON
	escText                   // the text needs escapes in JSON
	rawText                   // val is JSON text with escapes in it, not decoded yet
	canon                     // the text of a list or map, or what is rawText, is canonical JSON
)

type node struct {
	prefix uint64 // Prefix of the key
	key    span   // the decoded key, of a field
	val    span   // the text of a scalar; the kids of a list or map
	end    ID
	parent ID
	kind   Kind
	flags  flags
	start  uint32 // where the text of a list or map begins, in a tree that was parsed
}

// Tree is a JSON document. See the package documentation for what always holds.
type Tree struct {
	src   string // the document; spans below len(src) point into it
	extra string // decoded escapes; spans from len(src) on point into it
	nodes []node
	kids  []ID
	nulls bool // there may be a null
	depth int  // no list or map is nested deeper, in a tree that was parsed
}

// Text returns a document that is a string. Invalid UTF-8 must not reach it. O(n).
func Text(s string) *Tree {
	n := node{kind: String, end: 1, parent: None, val: span{0, uint32(len(s))}}
	if needsEscape(s) {
		n.flags = escText
	}
	return &Tree{src: s, nodes: []node{n}}
}

// Root returns the root node.
func (t *Tree) Root() ID { return 0 }

// Len returns the number of nodes.
func (t *Tree) Len() int { return len(t.nodes) }

// Kind returns the JSON type of i.
func (t *Tree) Kind(i ID) Kind { return t.nodes[i].kind }

// End returns the first ID after the subtree of i.
func (t *Tree) End(i ID) ID { return t.nodes[i].end }

// Parent returns the map or list that holds i, or None for the root.
func (t *Tree) Parent(i ID) ID { return t.nodes[i].parent }

// Key returns the key under which a map holds i.
func (t *Tree) Key(i ID) string { return t.text(t.nodes[i].key) }

// Text returns the decoded text of a string, the digits of a number, or the
// word of a literal; "" for lists and maps. It allocates for strings that the document
// wrote with escapes.
func (t *Tree) Text(i ID) string {
	n := &t.nodes[i]
	if n.kind >= List {
		return ""
	}
	if n.flags&rawText != 0 {
		return decode(t.text(n.val))
	}
	return t.text(n.val)
}

// Kids returns the children of a list in order and those of a map by key. The
// caller must not change the slice. It is empty for scalars.
func (t *Tree) Kids(i ID) []ID {
	n := &t.nodes[i]
	if n.kind < List {
		return nil
	}
	return t.kids[n.val.off : n.val.off+n.val.n : n.val.off+n.val.n]
}

// Prefix returns the first eight bytes of a key as a big-endian number, padded with
// zeros. Keys are in the order of their prefixes, where those differ, so that most
// comparisons are of two numbers.
func Prefix(key string) uint64 {
	if len(key) >= 8 {
		return uint64(key[7]) | uint64(key[6])<<8 | uint64(key[5])<<16 | uint64(key[4])<<24 |
			uint64(key[3])<<32 | uint64(key[2])<<40 | uint64(key[1])<<48 | uint64(key[0])<<56
	}
	var p uint64
	for i := range len(key) {
		p |= uint64(key[i]) << (56 - 8*i)
	}
	return p
}

// prefixAt is Prefix of the n bytes of s at off.
func prefixAt(s string, off, n int) uint64 {
	if off+8 > len(s) {
		return Prefix(s[off : off+n])
	}
	p := Prefix(s[off : off+8])
	if n < 8 {
		p &= ^uint64(0) << (64 - 8*n)
	}
	return p
}

// KeyPrefix returns the Prefix of the key of i.
func (t *Tree) KeyPrefix(i ID) uint64 { return t.nodes[i].prefix }

// CompareKeys orders the keys of two fields in byte order.
func CompareKeys(t *Tree, i ID, u *Tree, j ID) int {
	x, y := t.nodes[i].prefix, u.nodes[j].prefix
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return compareRest(t, i, u, j)
}

// compareRest is CompareKeys for keys of one prefix.
func compareRest(t *Tree, i ID, u *Tree, j ID) int {
	a, b := t.nodes[i].key, u.nodes[j].key
	if a.n <= 8 && a.n == b.n {
		return 0
	}
	return strings.Compare(t.text(a), u.text(b))
}

// Field returns the child of a map under key, or None. O(log n).
func (t *Tree) Field(i ID, key string) ID {
	if t.nodes[i].kind != Map {
		return None
	}
	kids := t.Kids(i)
	for len(kids) > 8 {
		m, prefix := len(kids)/2, Prefix(key)
		if n := &t.nodes[kids[m]]; n.prefix < prefix || n.prefix == prefix && t.text(n.key) <= key {
			kids = kids[m:]
		} else {
			kids = kids[:m]
		}
	}
	for _, kid := range kids {
		if n := &t.nodes[kid]; int(n.key.n) == len(key) && t.text(n.key) == key {
			return kid
		}
	}
	return None
}

// FieldNear is Field for a small map, of a key with a known Prefix. O(n).
func (t *Tree) FieldNear(i ID, prefix uint64, key string) ID {
	if t.nodes[i].kind != Map {
		return None
	}
	for _, kid := range t.Kids(i) {
		if n := &t.nodes[kid]; n.prefix == prefix && int(n.key.n) == len(key) && (len(key) <= 8 || t.text(n.key) == key) {
			return kid
		}
	}
	return None
}

// Flat reports whether i is a map of scalars none of which is null. O(1), unless there
// is a null in the document.
func (t *Tree) Flat(i ID) bool {
	n := &t.nodes[i]
	if n.kind != Map || int(n.end)-int(i)-1 != int(n.val.n) {
		return false
	}
	for k := i + 1; t.nulls && k < n.end; k++ {
		if t.nodes[k].kind == Null {
			return false
		}
	}
	return true
}

// Lookup follows fields from the root, or returns None.
func (t *Tree) Lookup(fields ...string) ID {
	i := t.Root()
	for _, f := range fields {
		if i = t.Field(i, f); i == None {
			break
		}
	}
	return i
}

// Subtree returns a copy of what stands at i as a document of its own. O(size).
func (t *Tree) Subtree(i ID) *Tree {
	if from, to := t.source(i); to > from {
		size := int(t.End(i) - i)
		p := parser{
			src: strings.Clone(t.src[from:to]), like: t, lim: Limits{Nodes: size + 1},
			nodes: make([]node, 0, size), kids: make([]ID, 0, size),
		}
		if p.copied(0, p.node(None), i) != bad {
			return &Tree{src: p.src, extra: string(p.extra), nodes: p.nodes, kids: p.kids, nulls: p.nulls, depth: p.depth}
		}
	}
	sub, err := Parse(t.Append(nil, i), Limits{Bytes: math.MaxInt32, Depth: len(t.nodes), Nodes: len(t.nodes)})
	if err != nil {
		panic(err) // what a tree writes is valid
	}
	return sub
}

func (t *Tree) text(s span) string {
	if off := int(s.off); off < len(t.src) {
		return t.src[off : off+int(s.n)]
	}
	off := int(s.off) - len(t.src)
	return t.extra[off : off+int(s.n)]
}
