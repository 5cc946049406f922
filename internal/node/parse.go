package node

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
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
func Parse(json []byte, lim Limits) (*Tree, error) {
	var r Reader
	if err := r.read(json, lim.orDefault()); err != nil {
		return nil, err
	}
	return &Tree{src: r.tree.src, extra: r.tree.extra, nodes: r.tree.nodes, kids: r.tree.kids}, nil
}

// Reader parses one document after another into the same memory.
type Reader struct {
	tree  Tree
	extra []byte
	stack []ID
}

// Read is Parse. The Tree is valid until the next call.
func (r *Reader) Read(json []byte, lim Limits) (*Tree, error) {
	if err := r.read(json, lim.orDefault()); err != nil {
		return nil, err
	}
	return &r.tree, nil
}

// Reset drops the document that r holds and keeps the memory.
func (r *Reader) Reset() {
	clear(r.extra)
	r.tree = Tree{nodes: r.tree.nodes[:0], kids: r.tree.kids[:0]}
	r.extra = r.extra[:0]
}

func (r *Reader) read(json []byte, lim Limits) error {
	if len(json) > lim.Bytes {
		return &Error{Offset: -1, Rule: ErrLimit, Detail: fmt.Sprintf("%d bytes, at most %d", len(json), lim.Bytes)}
	}
	p := parser{src: string(json), lim: lim, nodes: r.tree.nodes[:0], kids: r.tree.kids[:0], extra: r.extra[:0], stack: r.stack[:0]}
	if n := atMost(json); cap(p.nodes) < n {
		p.nodes, p.kids = make([]node, 0, n), make([]ID, 0, n)
	}
	if cap(p.stack) == 0 {
		p.stack = make([]ID, 0, 64)
	}
	err := p.run()
	r.tree = Tree{src: p.src, extra: string(p.extra), nodes: p.nodes, kids: p.kids}
	r.extra, r.stack = p.extra, p.stack
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
type parser struct {
	src   string
	extra []byte
	nodes []node
	kids  []ID
	stack []ID
	pos   int
	lim   Limits
	err   *Error
}

func (p *parser) run() error {
	p.space()
	if p.pos == len(p.src) {
		return &Error{Offset: p.pos, Rule: ErrSyntax, Detail: "empty document"}
	}
	ok := p.value(None, span{}, 0, 0)
	if p.space(); ok && p.pos < len(p.src) {
		ok = p.fail(p.pos, 0, ErrSyntax, "data after the document")
	}
	if !ok {
		return p.err
	}
	return nil
}

// fail records the first error, with the path of the node that was last begun at
// or above parent, and returns false.
func (p *parser) fail(off int, at ID, rule error, format string, args ...any) bool {
	if p.err == nil {
		p.err = &Error{Offset: off, Rule: rule, Detail: fmt.Sprintf(format, args...)}
		if at != None && int(at) < len(p.nodes) {
			t := Tree{src: p.src, extra: string(p.extra), nodes: p.nodes}
			p.err.Path = t.Path(at)
		}
	}
	return false
}

func (p *parser) space() {
	for p.pos < len(p.src) {
		switch p.src[p.pos] {
		case ' ', '\n', '\t', '\r':
			p.pos++
		default:
			return
		}
	}
}

// value reads one value, whose first byte is at pos.
func (p *parser) value(parent ID, key span, fl flags, depth int) bool {
	id := ID(len(p.nodes))
	if len(p.nodes) >= p.lim.Nodes {
		return p.fail(p.pos, parent, ErrLimit, "more than %d values", p.lim.Nodes)
	}
	p.nodes = append(p.nodes, node{key: key, flags: fl, parent: parent, end: id + 1})
	n := &p.nodes[id]
	start := p.pos
	switch c := p.peek(); c {
	case '{', '[':
		if depth >= p.lim.Depth {
			return p.fail(start, id, ErrLimit, "nested deeper than %d", p.lim.Depth)
		}
		p.pos++
		if c == '{' {
			n.kind = Map
			return p.members(id, depth+1)
		}
		n.kind = List
		return p.elements(id, depth+1)
	case '"':
		n.kind = String
		s, esc, ok := p.str(id)
		if esc {
			n.flags |= escText
		}
		n.val = s
		return ok
	case 't':
		n.kind = Bool
		return p.literal(id, "true")
	case 'f':
		n.kind = Bool
		return p.literal(id, "false")
	case 'n':
		return p.literal(id, "null")
	default:
		n.kind = Number
		return p.number(id)
	}
}

// peek returns the byte at pos, or 0 at the end.
func (p *parser) peek() byte {
	if p.pos < len(p.src) {
		return p.src[p.pos]
	}
	return 0
}

func (p *parser) members(id ID, depth int) bool {
	base := len(p.stack)
	p.space()
	if p.peek() == '}' {
		p.pos++
		return p.closeMap(id, base)
	}
	for {
		if p.peek() != '"' {
			return p.fail(p.pos, id, ErrSyntax, "want a key%s", p.got())
		}
		key, esc, ok := p.str(id)
		if !ok {
			return false
		}
		var fl flags
		if esc {
			fl = escKey
		}
		if p.space(); p.peek() != ':' {
			return p.fail(p.pos, id, ErrSyntax, "want ':' after a key%s", p.got())
		}
		p.pos++
		p.space()
		p.stack = append(p.stack, ID(len(p.nodes)))
		if !p.value(id, key, fl, depth) {
			return false
		}
		p.space()
		switch p.peek() {
		case ',':
			p.pos++
			p.space()
		case '}':
			p.pos++
			return p.closeMap(id, base)
		default:
			return p.fail(p.pos, id, ErrSyntax, "want ',' or '}' in a map%s", p.got())
		}
	}
}

func (p *parser) elements(id ID, depth int) bool {
	base := len(p.stack)
	p.space()
	if p.peek() == ']' {
		p.pos++
		p.close(id, base)
		return true
	}
	for {
		p.stack = append(p.stack, ID(len(p.nodes)))
		if !p.value(id, span{}, 0, depth) {
			return false
		}
		p.space()
		switch p.peek() {
		case ',':
			p.pos++
			p.space()
		case ']':
			p.pos++
			p.close(id, base)
			return true
		default:
			return p.fail(p.pos, id, ErrSyntax, "want ',' or ']' in a list%s", p.got())
		}
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

func (p *parser) closeMap(id ID, base int) bool {
	kids := p.stack[base:]
	sorted := true
	for i := 1; i < len(kids); i++ {
		if p.keyOf(kids[i-1]) >= p.keyOf(kids[i]) {
			sorted = false
			break
		}
	}
	if !sorted && !p.sortKids(kids) {
		return false
	}
	p.close(id, base)
	return true
}

// sortKids orders the fields of one map by key and finds repeated keys.
func (p *parser) sortKids(kids []ID) bool {
	slices.SortFunc(kids, func(a, b ID) int {
		if c := cmp.Compare(p.keyOf(a), p.keyOf(b)); c != 0 {
			return c
		}
		return cmp.Compare(a, b)
	})
	for i := 1; i < len(kids); i++ {
		if p.keyOf(kids[i-1]) == p.keyOf(kids[i]) {
			return p.fail(int(p.nodes[kids[i]].key.off), kids[i], ErrDuplicateKey, "the map has this key more than once")
		}
	}
	return true
}

func (p *parser) keyOf(i ID) string {
	s := p.nodes[i].key
	if off := int(s.off); off < len(p.src) {
		return p.src[off : off+int(s.n)]
	}
	off := int(s.off) - len(p.src)
	return string(p.extra[off : off+int(s.n)])
}

func (p *parser) literal(id ID, word string) bool {
	if len(p.src)-p.pos < len(word) || p.src[p.pos:p.pos+len(word)] != word {
		return p.fail(p.pos, id, ErrSyntax, "want a value%s", p.got())
	}
	p.nodes[id].val = span{uint32(p.pos), uint32(len(word))}
	p.pos += len(word)
	return true
}

// got names the byte at pos for a message. Letters and digits of the document
// stay out of it, for they may belong to a secret.
func (p *parser) got() string {
	if p.pos >= len(p.src) {
		return ", got the end"
	}
	switch c := p.src[p.pos]; c {
	case '{', '}', '[', ']', ',', ':', '"', '\'':
		return fmt.Sprintf(", got %q", c)
	}
	return ""
}
