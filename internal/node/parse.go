package node

import (
	"bytes"
	"fmt"
	"sync"
	"unsafe"

	"example.com/braid/internal/poison"
)

// Parse reads one JSON document (RFC 8259). The bytes are copied, so the caller
// may reuse them.
//
// It accepts what encoding/json accepts, except that it refuses repeated keys,
// invalid UTF-8 and unpaired surrogates, which encoding/json would silently
// change, and documents over the limits. Every failure is an [*Error] with path
// and byte offset.
//
// O(n) in the length of the text for documents whose maps are sorted or small,
// O(n log n) at worst.
func Parse(json []byte, lim Limits) (*Tree, error) { return ParseLike(json, nil, lim) }

// readers are memory for Parse, which cannot know beforehand how much a tree takes.
var readers = sync.Pool{New: func() any { return new(Reader) }}

// Reader parses one document after another into the same memory.
type Reader struct {
	tree  Tree
	extra []byte
	stack []ID
	order []ordinal
}

// Read is Parse without copies: the Tree refers to the bytes of json and to the
// memory of r. It is valid until the next call, and while json does not change.
// Paths and errors made from it hold copies, and stay valid.
func (r *Reader) Read(json []byte, lim Limits) (*Tree, error) {
	if err := r.read(json, unsafe.String(unsafe.SliceData(json), len(json)), nil, lim.WithDefaults()); err != nil {
		return nil, err
	}
	r.tree.extra = unsafe.String(unsafe.SliceData(r.extra), len(r.extra))
	return &r.tree, nil
}

// Reset drops the document that r holds and keeps the memory.
func (r *Reader) Reset() {
	clear(r.extra)
	poison.Fill(r.extra, poison.Byte)
	poison.Fill(r.tree.nodes, junk)
	poison.Fill(r.tree.kids, poison.Index)
	poison.Fill(r.stack[:cap(r.stack)], poison.Index)
	poison.Fill(r.order[:cap(r.order)], ordinal{id: poison.Index})
	r.tree = Tree{nodes: r.tree.nodes[:0], kids: r.tree.kids[:0]}
	r.extra = r.extra[:0]
}

// junk is a node from which nothing can be read.
var junk = node{
	prefix: 0xDBDBDBDBDBDBDBDB, key: span{1 << 31, 1 << 30}, val: span{1 << 31, 1 << 30},
	end: poison.Index, parent: poison.Index, kind: 0xDB, flags: 0xFF, start: 1 << 31,
}

// read parses src, which is the text of json. like may be nil.
func (r *Reader) read(json []byte, src string, like *Tree, lim Limits) error {
	if len(json) > lim.Bytes {
		return &Error{Offset: -1, Rule: ErrLimit, Detail: fmt.Sprintf("%d bytes, at most %d", len(json), lim.Bytes)}
	}
	p := parser{src: src, lim: lim, nodes: r.tree.nodes[:0], kids: r.tree.kids[:0], extra: r.extra[:0], stack: r.stack[:0], order: r.order}
	if cap(p.nodes) < len(json)/40+16 { // most documents have a value for 15 to 30 bytes
		n := atMost(json)
		p.nodes, p.kids = make([]node, 0, n), make([]ID, 0, n)
	}
	if cap(p.stack) == 0 {
		p.stack = make([]ID, 0, 64)
	}
	err := p.run(p.follow(like))
	r.tree = Tree{src: p.src, nodes: p.nodes, kids: p.kids, nulls: p.nulls, depth: p.depth}
	r.extra, r.stack, r.order = p.extra, p.stack, p.order
	return err
}

// atMost guesses, from above for all but dense documents, how many values there
// are.
func atMost(json []byte) int {
	n := 1
	for _, c := range []byte(",{[") {
		n += bytes.Count(json, []byte{c})
	}
	return min(n, len(json)/10+16)
}

// parser is the state of one parse. Children are collected on the stack while
// their container is open, and move to kids in one piece when it closes.
//
// Its methods take the offset at which they begin and return the one at which they
// stop, or bad after fail.
type parser struct {
	src   string
	extra []byte
	nodes []node
	kids  []ID
	stack []ID
	order []ordinal
	nulls bool
	depth int
	loose int // how often the text so far is not canonical
	lim   Limits
	like  *Tree // where there may be values to copy; a model is the value in it at the same path
	err   *Error
}

const bad = -1

func (p *parser) run(model ID) error {
	s := p.src
	i := space(s, 0)
	if i == len(p.src) {
		return &Error{Offset: i, Rule: ErrSyntax, Detail: "empty document"}
	}
	i = p.value(i, None, model, 0)
	if i != bad {
		if i = space(s, i); i < len(p.src) {
			p.fail(i, 0, ErrSyntax, "data after the document")
		}
	}
	if p.err != nil {
		return p.err
	}
	return nil
}

// fail records the first error, with the path of a node, and returns bad.
func (p *parser) fail(off int, at ID, rule error, format string, args ...any) int {
	if p.err == nil {
		p.err = &Error{Offset: off, Rule: rule, Detail: fmt.Sprintf(format, args...)}
		if at != None && int(at) < len(p.nodes) {
			t := Tree{src: p.src, extra: string(p.extra), nodes: p.nodes}
			p.err.Path = t.Path(at)
		}
	}
	return bad
}

// space skips white space from i on.
func space(s string, i int) int {
	for i < len(s) && s[i] <= ' ' && (s[i] == ' ' || s[i] == '\n' || s[i] == '\t' || s[i] == '\r') {
		i++
	}
	return i
}

// gap is space inside a list or map.
func (p *parser) gap(i int) int {
	if i < len(p.src) && p.src[i] <= ' ' {
		p.loose++
		return space(p.src, i)
	}
	return i
}

// at returns the byte at i, or 0 at the end.
func at(s string, i int) byte {
	if i < len(s) {
		return s[i]
	}
	return 0
}

// value reads the value at i into a new node. The caller has set its key.
func (p *parser) value(i int, parent, model ID, depth int) int {
	if len(p.nodes) >= p.lim.Nodes {
		return p.fail(i, parent, ErrLimit, "more than %d values", p.lim.Nodes)
	}
	return p.fill(i, p.node(parent), model, depth)
}

// node adds a node below parent.
func (p *parser) node(parent ID) ID {
	id := len(p.nodes)
	if id < cap(p.nodes) {
		p.nodes = p.nodes[:id+1]
	} else {
		p.nodes = append(p.nodes, node{})
	}
	n := &p.nodes[id]
	n.prefix, n.key = 0, span{}
	n.end, n.parent, n.kind, n.flags = ID(id+1), parent, Null, 0
	return ID(id) // what reads its value sets the rest
}

// fill reads the value at i into node id, the last so far.
func (p *parser) fill(i int, id, model ID, depth int) int {
	n, s := &p.nodes[id], p.src
	switch c := at(s, i); c {
	case '"':
		n.kind = String
		return p.str(i, id)
	case '{', '[':
		if depth >= p.lim.Depth {
			return p.fail(i, id, ErrLimit, "nested deeper than %d", p.lim.Depth)
		}
		if depth < deepLike && model != None {
			if end := p.copied(i, id, model); end != bad {
				return end
			}
			n = &p.nodes[id]
		}
		n.start, p.depth = uint32(i), max(p.depth, depth+1)
		if c == '{' {
			n.kind = Map
			return p.members(i+1, id, model, depth+1)
		}
		n.kind = List
		return p.elements(i+1, id, model, depth+1)
	case 't':
		n.kind = Bool
		return p.literal(i, id, "true")
	case 'f':
		n.kind = Bool
		return p.literal(i, id, "false")
	case 'n':
		p.nulls = true
		return p.literal(i, id, "null")
	}
	n.kind = Number
	return p.number(i, id)
}

func (p *parser) members(i int, id, model ID, depth int) int {
	base, s, loose := len(p.stack), p.src, p.loose
	i = p.gap(i)
	if at(s, i) == '}' {
		p.shut(id, base, loose)
		return i + 1
	}
	var models []ID
	if model != None && p.like.nodes[model].kind == Map {
		models = p.like.Kids(model)
	}
	sorted, last, least := true, ID(None), uint64(0)
	for {
		if at(s, i) != '"' {
			return p.fail(i, id, ErrSyntax, "want a key%s", p.got(i))
		}
		if len(p.nodes) >= p.lim.Nodes {
			return p.fail(i, id, ErrLimit, "more than %d values", p.lim.Nodes)
		}
		kid := p.node(id)
		var prefix uint64
		if i, prefix = p.key(i, kid); i == bad {
			return bad
		}
		if last == None || prefix > least {
			least = prefix
		} else {
			sorted = sorted && prefix == least && p.keyOf(last) < p.keyOf(kid)
		}
		last = kid
		if i = p.gap(i); at(s, i) != ':' {
			return p.fail(i, kid, ErrSyntax, "want ':' after a key%s", p.got(i))
		}
		p.stack = append(p.stack, kid)
		if i = p.gap(i + 1); at(s, i) == '"' { // most values are strings
			p.nodes[kid].kind = String
			i = p.str(i, kid)
		} else {
			m := None
			if len(models) > 0 {
				m = p.ahead(&models, kid)
			}
			i = p.fill(i, kid, m, depth)
		}
		if i == bad {
			return bad
		}
		switch i = p.gap(i); at(s, i) {
		case ',':
			i = p.gap(i + 1)
		case '}':
			if !sorted {
				if p.loose++; !p.sortKids(p.stack[base:], i) {
					return bad
				}
			}
			p.shut(id, base, loose)
			return i + 1
		default:
			return p.fail(i, id, ErrSyntax, "want ',' or '}' in a map%s", p.got(i))
		}
	}
}

func (p *parser) elements(i int, id, model ID, depth int) int {
	base, s, loose := len(p.stack), p.src, p.loose
	i = p.gap(i)
	if at(s, i) == ']' {
		p.shut(id, base, loose)
		return i + 1
	}
	var models []ID
	if model != None && p.like.nodes[model].kind == List {
		models = p.like.Kids(model)
	}
	for {
		p.stack = append(p.stack, ID(len(p.nodes)))
		m := None
		if len(models) > 0 {
			m, models = models[0], models[1:]
		}
		if i = p.value(i, id, m, depth); i == bad {
			return bad
		}
		switch i = p.gap(i); at(s, i) {
		case ',':
			i = p.gap(i + 1)
		case ']':
			p.shut(id, base, loose)
			return i + 1
		default:
			return p.fail(i, id, ErrSyntax, "want ',' or ']' in a list%s", p.got(i))
		}
	}
}

// shut is close for a container with a text of its own; loose is how often the text before
// it was not canonical.
func (p *parser) shut(id ID, base, loose int) {
	p.close(id, base)
	if p.loose == loose {
		p.nodes[id].flags |= canon
	}
}

// close ends a container whose children are the stack from base on.
func (p *parser) close(id ID, base int) {
	off := len(p.kids)
	p.kids = append(p.kids, p.stack[base:]...)
	n := &p.nodes[id]
	n.val = span{uint32(off), uint32(len(p.stack) - base)}
	n.end = ID(len(p.nodes))
	p.stack = p.stack[:base]
}

// keyOf returns a key to compare: it refers to extra, whose bytes stay as they are
// while the parse lasts.
func (p *parser) keyOf(i ID) string {
	s := p.nodes[i].key
	if off := int(s.off); off < len(p.src) {
		return p.src[off : off+int(s.n)]
	}
	key := p.extra[int(s.off)-len(p.src):][:s.n]
	return unsafe.String(unsafe.SliceData(key), len(key))
}

func (p *parser) literal(i int, id ID, word string) int {
	if len(p.src)-i < len(word) || p.src[i:i+len(word)] != word {
		return p.fail(i, id, ErrSyntax, "want a value%s", p.got(i))
	}
	p.nodes[id].val = span{uint32(i), uint32(len(word))}
	return i + len(word)
}

// got names the byte at i for a message. Letters and digits of the document stay
// out of it, for they may belong to a secret.
func (p *parser) got(i int) string {
	if i >= len(p.src) {
		return ", got the end"
	}
	switch c := p.src[i]; c {
	case '{', '}', '[', ']', ',', ':', '"', '\'':
		return fmt.Sprintf(", got %q", c)
	}
	return ""
}
