package node

import (
	"slices"
	"unsafe"
)

// ReadLike is Read for a document that is likely to have lists and maps in common with
// like, at the same paths and in the same bytes, as live and desired have with last. Those
// are copied, which costs a fraction of what parsing them does. The result is that of
// Read, whatever like is. O(n).
func (r *Reader) ReadLike(json []byte, like *Tree, lim Limits) (*Tree, error) {
	if err := r.read(json, unsafe.String(unsafe.SliceData(json), len(json)), like, lim.WithDefaults()); err != nil {
		return nil, err
	}
	r.tree.extra = unsafe.String(unsafe.SliceData(r.extra), len(r.extra))
	return &r.tree, nil
}

// ParseLike is ReadLike into memory of its own, as Parse is.
func ParseLike(json []byte, like *Tree, lim Limits) (*Tree, error) {
	r := readers.Get().(*Reader)
	defer func() { r.Reset(); readers.Put(r) }()
	if err := r.read(json, string(json), like, lim.WithDefaults()); err != nil {
		return nil, err
	}
	t := r.tree
	t.extra, t.nodes, t.kids = string(r.extra), slices.Clone(t.nodes), slices.Clone(t.kids)
	return &t, nil
}

// deepLike is how deep a parse looks for what it can copy: text in which nothing is found
// is compared once a level.
const deepLike = 64

// worthwhile is how many values there are in what is quicker to copy than to parse.
const worthwhile = 5

// follow makes like the model of the document's root, if it can serve.
func (p *parser) follow(like *Tree) ID {
	if like == nil || like.src == "" || like.depth > p.lim.Depth {
		return None
	}
	p.like = like
	return like.Root()
}

// ahead takes fields off models up to the one that has the key of kid, if any has.
func (p *parser) ahead(models *[]ID, kid ID) ID {
	prefix, key := p.nodes[kid].prefix, p.keyOf(kid)
	for len(*models) > 0 {
		m := (*models)[0]
		n := &p.like.nodes[m]
		if n.prefix > prefix || n.prefix == prefix && p.like.text(n.key) > key {
			break
		}
		*models = (*models)[1:]
		if n.prefix == prefix && p.like.text(n.key) == key {
			return m
		}
	}
	return None
}

// copied copies the list or map m of like into node id, the last so far, if the same
// text stands at i. It returns where that ends, or bad.
func (p *parser) copied(i int, id, m ID) int {
	size := int(p.like.nodes[m].end - m)
	if size < worthwhile {
		return bad
	}
	from, to := int(p.like.nodes[m].start), p.like.textEnd(m)
	text := to - from
	if text <= 0 || i+text > len(p.src) || p.src[i:i+text] != p.like.src[from:to] || len(p.nodes)+size > p.lim.Nodes {
		return bad
	}
	// The kids of a subtree stand together, its root's last.
	top := p.like.nodes[m].val
	last := int(top.off + top.n)
	first := last - (size - 1)
	c := copier{down: id - m, moved: uint32(i - from), kids: uint32(len(p.kids) - first)}
	at := len(p.kids)
	p.kids = append(p.kids, p.like.kids[first:last]...)
	for k, kid := range p.kids[at:] {
		p.kids[at+k] = kid + c.down
	}
	at = len(p.nodes)
	p.nodes = append(p.nodes, p.like.nodes[m+1:int(m)+size]...)
	c.nodes(p.nodes[at:])
	if len(p.like.extra) > 0 {
		p.copyKeys(p.nodes[at:], c.moved)
	}
	own := &p.nodes[id]
	own.kind, own.start, own.val, own.end = p.like.nodes[m].kind, uint32(i), span{top.off + c.kids, top.n}, id+ID(size)
	if canonical := p.like.nodes[m].flags & canon; canonical == 0 {
		p.loose++
	} else {
		own.flags |= canonical
	}
	p.nulls, p.depth = p.nulls || p.like.nulls, max(p.depth, p.like.depth)
	return i + text
}

// copier says by how much the parts of copied nodes move.
type copier struct {
	down        ID
	moved, kids uint32
}

func (c copier) nodes(nodes []node) {
	for k := range nodes {
		n := &nodes[k]
		n.end, n.parent = n.end+c.down, n.parent+c.down
		if n.key.n > 0 {
			n.key.off += c.moved
		} else {
			n.key.off = 0 // an empty key may stand anywhere, but not behind the end
		}
		if n.kind < List {
			n.val.off += c.moved
		} else {
			n.start, n.val.off = n.start+c.moved, n.val.off+c.kids
		}
	}
}

// copyKeys copies the keys of nodes that were written with escapes: decoded, they stand
// behind the document. They have been moved already.
func (p *parser) copyKeys(nodes []node, moved uint32) {
	for k := range nodes {
		n := &nodes[k]
		if was := n.key.off - moved; n.key.n > 0 && int(was) >= len(p.like.src) {
			key := p.like.text(span{was, n.key.n})
			n.key.off = uint32(len(p.src) + len(p.extra))
			p.extra = append(p.extra, key...)
		}
	}
}
