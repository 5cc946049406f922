package node

import (
	"fmt"
	"slices"
	"sync"
	"unicode/utf8"
	"unsafe"

	"example.com/braid/internal/poison"
)

// builder makes a tree of values that are not JSON text: Go's and YAML's. All text of
// the tree stands in extra.
type builder struct {
	parser
	line  int // of the text that is being read; 0 if there is none
	spent int // values that were made or looked at outside of this tree and count
	used  int // bytes of text outside of this tree that count

	keys   []entry // of the maps that are open, each sorted
	typed  bool    // values of any Go type count, as encoding/json writes them
	hopper ID      // the node whose value was reached over pointers or interfaces last
	hops   int     // over so many

	scratch [48]byte // for what is appended to text next
}

// tree returns what was built.
func (b *builder) tree() *Tree {
	return &Tree{extra: string(b.extra), nodes: b.nodes, kids: b.kids, nulls: b.nulls}
}

// Builder makes one tree after another in the same memory.
type Builder struct {
	b builder
	t Tree
}

// FromObject is the function of that name without copies of what it makes: the Tree refers to
// the memory of b, and is valid until Reset. Paths and errors made from it stay valid.
func (b *Builder) FromObject(obj any, lim Limits) (*Tree, error) {
	b.b.typed = true
	if b.t = b.b.build(lim, obj); b.b.err != nil {
		return nil, b.b.err
	}
	return &b.t, nil
}

// Reset drops what b holds, and keeps memory of common size.
func (b *Builder) Reset() {
	b.b.reset()
	b.t = Tree{}
}

// builders are memory for build, which cannot know beforehand how much a tree takes.
var builders = sync.Pool{New: func() any { return new(builder) }}

// build returns a tree of x, which has memory of its own of just the size that it needs.
func build(x any, lim Limits, typed bool) (*Tree, error) {
	b := builders.Get().(*builder)
	defer func() { b.reset(); builders.Put(b) }()
	b.typed = typed
	t := b.build(lim, x)
	if b.err != nil {
		return nil, b.err
	}
	return &Tree{extra: string(b.extra), nodes: slices.Clone(t.nodes), kids: slices.Clone(t.kids), nulls: t.nulls}, nil
}

// build returns a tree of x that refers to the memory of b, unless b.err says what is wrong.
func (b *builder) build(lim Limits, x any) Tree {
	b.lim = lim.WithDefaults()
	if root, ok := b.begin(None, ""); ok && b.typed {
		b.dynamic(root, x, 0)
	} else if ok {
		b.lay(root, x, 0)
	}
	return b.lent()
}

// lent returns what was built, in the memory of b.
func (b *builder) lent() Tree {
	return Tree{extra: unsafe.String(unsafe.SliceData(b.extra), len(b.extra)), nodes: b.nodes, kids: b.kids, nulls: b.nulls}
}

// reset drops what b holds, and keeps memory of common size.
func (b *builder) reset() {
	const common = 1 << 16
	clear(b.extra) // it may be of a Secret
	clear(b.keys)
	poison.Fill(b.extra, poison.Byte)
	poison.Fill(b.nodes, junk)
	poison.Fill(b.kids, poison.Index)
	poison.Fill(b.stack[:cap(b.stack)], poison.Index)
	kept := parser{extra: b.extra[:0], nodes: b.nodes[:0], kids: b.kids[:0], stack: b.stack[:0]}
	keys := b.keys[:0]
	if cap(kept.extra) > 16*common || max(cap(kept.nodes), cap(kept.stack), cap(keys)) > common {
		kept, keys = parser{}, nil
	}
	*b = builder{parser: kept, keys: keys}
}

// begin adds a node below parent, under key if parent is a map.
func (b *builder) begin(parent ID, key string) (ID, bool) {
	esc, ok := b.check(parent, key)
	if !ok {
		return None, false
	}
	id, ok := b.under(parent, key, Prefix(key))
	if ok && esc {
		b.nodes[id].flags = escKey
	}
	return id, ok
}

// field is begin, and puts the node on the stack.
func (b *builder) field(parent ID, key string) (ID, bool) {
	b.stack = append(b.stack, ID(len(b.nodes)))
	return b.begin(parent, key)
}

// child is field for a key that needs no check, or none.
func (b *builder) child(parent ID, key string, prefix uint64) (ID, bool) {
	b.stack = append(b.stack, ID(len(b.nodes)))
	return b.under(parent, key, prefix)
}

func (b *builder) under(parent ID, key string, prefix uint64) (ID, bool) {
	id, off := len(b.nodes), len(b.extra)
	if id+b.spent >= b.lim.Nodes {
		return None, b.refuse(parent, ErrLimit, "more than %d values", b.lim.Nodes)
	}
	if !b.room(parent, len(key)) {
		return None, false
	}
	b.nodes = append(b.nodes, node{prefix: prefix, key: span{uint32(off), uint32(len(key))}, end: ID(id + 1), parent: parent})
	b.extra = append(b.extra, key...)
	return ID(id), true
}

// open makes id a map or list, whose children follow.
func (b *builder) open(id ID, k Kind, depth int) bool {
	b.nodes[id].kind = k
	if depth >= b.lim.Depth {
		return b.refuse(id, ErrLimit, "nested deeper than %d", b.lim.Depth)
	}
	return true
}

// expect makes room for n children, which are there to be added.
func (b *builder) expect(n int) {
	n = min(n, max(b.lim.Nodes-len(b.nodes), 0))
	b.nodes, b.stack = slices.Grow(b.nodes, n), slices.Grow(b.stack, n)
}

// put makes id a scalar.
func (b *builder) put(id ID, k Kind, text string) bool {
	esc, ok := b.check(id, text)
	if ok && esc && k == String {
		b.nodes[id].flags |= escText
	}
	return ok && b.plain(id, k, text)
}

// plain is put for a text that needs no check but for its length.
func (b *builder) plain(id ID, k Kind, text string) bool {
	if !b.room(id, len(text)) {
		return false
	}
	off := len(b.extra)
	b.extra = append(b.extra, text...)
	n := &b.nodes[id]
	n.kind, n.val = k, span{uint32(off), uint32(len(text))}
	return true
}

func (b *builder) null(id ID) bool {
	b.nulls = true
	return b.plain(id, Null, "null")
}

// took is plain for the text from off on, which has been appended.
func (b *builder) took(id ID, k Kind, off int) bool {
	n := &b.nodes[id]
	n.kind, n.val = k, span{uint32(off), uint32(len(b.extra) - off)}
	return b.room(id, 0)
}

// room reports whether n more bytes of text are within the limit.
func (b *builder) room(at ID, n int) bool {
	if b.used+len(b.extra)+n > b.lim.Bytes {
		return b.refuse(at, ErrLimit, "more than %d bytes of text", b.lim.Bytes)
	}
	return true
}

// check reports whether s can be text of the tree, and whether it needs escapes.
func (b *builder) check(at ID, s string) (esc, ok bool) {
	i := plainRun(s, 0)
	if i == len(s) {
		return false, true
	}
	if !utf8.ValidString(s[i:]) {
		return false, b.refuse(at, ErrValue, "string is not valid UTF-8")
	}
	return needsEscape(s[i:]), true
}

// refuse is fail without an offset, and with the line if there is one.
func (b *builder) refuse(at ID, rule error, format string, args ...any) bool {
	detail := fmt.Sprintf(format, args...)
	if b.line > 0 {
		detail = fmt.Sprintf("line %d: %s", b.line, detail)
	}
	b.fail(-1, at, rule, "%s", detail)
	return false
}
