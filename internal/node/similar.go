package node

import (
	"math/bits"
	"unsafe"
)

// ReadSimilar is Read for a document that is likely to be base with other values in
// some scalars, as desired is to last. What both have in common is copied from base,
// which another Reader or Parse has read under the same limits. Where the documents
// differ in more, it is Read. O(n), at a fraction of what parsing costs.
func (r *Reader) ReadSimilar(json []byte, base *Tree, lim Limits) (*Tree, error) {
	src := unsafe.String(unsafe.SliceData(json), len(json))
	if lim = lim.WithDefaults(); len(json) > lim.Bytes || base.src == "" || !r.follow(src, base, lim) {
		return r.Read(json, lim)
	}
	r.tree.extra = unsafe.String(unsafe.SliceData(r.extra), len(r.extra))
	return &r.tree, nil
}

// unread stands where an error would, so that none is made.
var unread = new(Error)

// follow goes over both texts at once: to where they differ, which must be inside a
// scalar; over that scalar of base, and what stands in its place in src; and on. So
// src has the tokens of base but for scalars, hence its tree but for them.
func (r *Reader) follow(src string, base *Tree, lim Limits) bool {
	p := parser{src: src, lim: lim, err: unread, nodes: append(r.tree.nodes[:0], base.nodes...), stack: r.stack}
	r.tree.nodes = p.nodes // keep the memory, whatever comes
	was, is, next := 0, 0, 0
	for {
		same := common(base.src[was:], src[is:])
		was, is = was+same, is+same
		if was == len(base.src) && is == len(src) {
			break
		}
		for ; ; next++ {
			if next == len(p.nodes) {
				return false
			}
			p.nodes[next].shift(len(base.src), is-was, len(src)-len(base.src))
			if n := &base.nodes[next]; n.kind < List && n.textEnd() >= was {
				break
			}
		}
		n := &base.nodes[next]
		start := n.textStart()
		if start > was {
			return false
		}
		is -= was - start
		if c := at(src, is); c == '{' || c == '[' {
			return false
		}
		fresh := &p.nodes[next]
		fresh.flags, fresh.kind = fresh.flags&escKey, Null
		if is = p.fill(is, ID(next), 0); is == bad {
			return false // Read says what is wrong
		}
		was = n.textEnd()
		next++
	}
	for ; next < len(p.nodes); next++ {
		p.nodes[next].shift(len(base.src), is-was, len(src)-len(base.src))
	}
	r.tree = Tree{src: src, nodes: p.nodes, kids: append(r.tree.kids[:0], base.kids...), nulls: base.nulls || p.nulls}
	r.extra = append(r.extra[:0], base.extra...)
	return true
}

// shift moves the text that a node refers to by some bytes, or by more where it stands
// behind the document, which ended at end.
func (n *node) shift(end, by, more int) {
	switch {
	case n.key.n == 0:
		n.key.off = 0
	case int(n.key.off) >= end:
		n.key.off += uint32(more)
	default:
		n.key.off += uint32(by)
	}
	if n.kind < List {
		n.val.off += uint32(by)
	} else {
		n.start += uint32(by)
	}
}

// textStart returns where a scalar begins, with its quote.
func (n *node) textStart() int {
	if n.kind == String {
		return int(n.val.off) - 1
	}
	return int(n.val.off)
}

// textEnd returns where a scalar ends, with its quote.
func (n *node) textEnd() int {
	if n.kind == String {
		return int(n.val.off+n.val.n) + 1
	}
	return int(n.val.off + n.val.n)
}

// common returns how many bytes two texts begin with that are the same.
func common(a, b string) int {
	n, i := min(len(a), len(b)), 0
	for ; i+8 <= n; i += 8 {
		if x := word(a, i) ^ word(b, i); x != 0 {
			return i + bits.TrailingZeros64(x)/8
		}
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}
