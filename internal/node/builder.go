package node

import (
	"fmt"
	"unicode/utf8"
)

// builder makes a tree of values that are not JSON text: Go's and YAML's. All text of
// the tree stands in extra.
type builder struct {
	parser
	line  int // of the text that is being read; 0 if there is none
	spent int // values that were made or looked at outside of this tree and count
	used  int // bytes of text outside of this tree that count
}

// tree returns what was built.
func (b *builder) tree() *Tree {
	return &Tree{extra: string(b.extra), nodes: b.nodes, kids: b.kids, nulls: b.nulls}
}

// begin adds a node below parent, under key if parent is a map.
func (b *builder) begin(parent ID, key string) (ID, bool) {
	if len(b.nodes)+b.spent >= b.lim.Nodes {
		return None, b.refuse(parent, ErrLimit, "more than %d values", b.lim.Nodes)
	}
	text, ok := b.add(parent, key)
	if !ok {
		return None, false
	}
	id := ID(len(b.nodes))
	n := node{prefix: Prefix(key), key: text, parent: parent, end: id + 1}
	if needsEscape(key) {
		n.flags = escKey
	}
	b.nodes = append(b.nodes, n)
	return id, true
}

// put makes id a scalar.
func (b *builder) put(id ID, k Kind, text string) bool {
	s, ok := b.add(id, text)
	n := &b.nodes[id]
	n.kind, n.val = k, s
	b.nulls = b.nulls || k == Null
	if k == String && needsEscape(text) {
		n.flags |= escText
	}
	return ok
}

// add appends s to the text.
func (b *builder) add(at ID, s string) (span, bool) {
	if b.used+len(b.extra)+len(s) > b.lim.Bytes {
		return span{}, b.refuse(at, ErrLimit, "more than %d bytes of text", b.lim.Bytes)
	}
	if !utf8.ValidString(s) {
		return span{}, b.refuse(at, ErrValue, "string is not valid UTF-8")
	}
	off := len(b.extra)
	b.extra = append(b.extra, s...)
	return span{uint32(off), uint32(len(s))}, true
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
