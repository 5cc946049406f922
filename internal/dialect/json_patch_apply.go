package dialect

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"example.com/braid/internal/node"
)

// The rules that a JSON Patch can break.
var (
	ErrOperation = errors.New("malformed operation of a JSON Patch")
	ErrPointer   = errors.New("JSON Pointer that leads nowhere")
	ErrTest      = errors.New("test of a JSON Patch failed")
)

// ApplyJSONPatch appends the canonical JSON of what a JSON Patch (RFC 6902) makes of
// live: of all its operations or, with an error, of none. Array indices are those of
// RFC 6901, so none is negative.
//
// A list is taken apart when something in it is first edited: O(size) then. An operation
// costs O(depth), and in a list of n elements O(n/256), for the list is in
// pieces. Copies count against lim.Nodes, the result against lim.Bytes and lim.Depth.
func ApplyJSONPatch(dst []byte, live, patch *node.Tree, lim node.Limits) ([]byte, error) {
	p := patched(live, patch, lim)
	if p.start = len(dst); p.err == nil {
		dst = p.append(dst, p.root, 0)
	}
	if p.err != nil {
		return nil, p.err
	}
	return dst, nil
}

// Edited is a value of which parts may have been edited since it was read.
type Edited interface {
	// Node returns the node that the value is as it was read. It is nil for what was edited.
	Node() (*node.Tree, node.ID)
	Kind() node.Kind
	Len() int                        // of a map or list
	At(k int) (key string, v Edited) // a member, by key, or an element
}

// Read is a document that nobody has edited.
func Read(t *node.Tree) Edited { return nodeAt{t, 0} }

// JSONPatchGives reports whether ApplyJSONPatch makes of live a value that is equal to want,
// and writes nothing. Of what both have as live has it, it looks at nothing.
func JSONPatchGives(live, patch *node.Tree, want Edited, lim node.Limits) (bool, error) {
	p := patched(live, patch, lim)
	if p.err != nil {
		return false, p.err
	}
	return p.root.equal(want), nil
}

// patched returns what has applied all operations, or the first error.
func patched(live, patch *node.Tree, lim node.Limits) *patcher {
	p := &patcher{root: &value{tree: live}, patch: patch, lim: lim.WithDefaults()}
	if patch.Kind(0) != node.List {
		p.fail(0, "", ErrOperation, "a JSON Patch is a list, this is a %s", patch.Kind(0))
	}
	for _, op := range patch.Kids(0) {
		if p.err == nil {
			p.apply(op)
		}
	}
	return p
}

type patcher struct {
	root  *value
	patch *node.Tree
	lim   node.Limits
	start int // of the result in what it is appended to
	size  int // of all copies, in values
	moves bool
	err   *node.Error
}

// fail records the first error, at a member of an operation or at the operation itself.
func (p *patcher) fail(op node.ID, member string, rule error, format string, args ...any) {
	if p.err != nil {
		return
	}
	if f := p.patch.Field(op, member); f != node.None && member != "" {
		op = f
	}
	p.err = &node.Error{Doc: "patch", Path: p.patch.Path(op), Offset: -1, Rule: rule, Detail: fmt.Sprintf(format, args...)}
}

func (p *patcher) apply(op node.ID) {
	word, path := p.text(op, "op"), p.pointer(op, "path")
	if p.err != nil {
		return
	}
	switch word {
	case "add":
		p.put(op, path, p.given(op), true)
	case "replace":
		p.put(op, path, p.given(op), false)
	case "remove":
		p.remove(op, "path", path)
	case "test":
		want, got := p.given(op), p.find(op, "path", path)
		if p.err == nil && !got.equal(nodeAt{want.tree, want.id}) {
			p.fail(op, "", ErrTest, "another value stands at %q", p.text(op, "path"))
		}
	case "copy":
		if v := p.find(op, "from", p.pointer(op, "from")); p.err == nil {
			c := p.clone(op, v)
			p.put(op, path, &c, true)
		}
	case "move":
		p.move(op, path)
	default:
		p.fail(op, "op", ErrOperation, "want add, remove, replace, move, copy or test")
	}
}

func (p *patcher) move(op node.ID, path []string) {
	from := p.pointer(op, "from")
	v := p.find(op, "from", from)
	if p.err != nil {
		return
	}
	if len(path) >= len(from) && slices.Equal(path[:len(from)], from) {
		if len(path) > len(from) {
			p.fail(op, "path", ErrOperation, "a value cannot move into itself")
		}
		return
	}
	p.remove(op, "from", from)
	p.moves = true
	p.put(op, path, v, true)
}

// text returns a member that must be a string.
func (p *patcher) text(op node.ID, member string) string {
	f := p.patch.Field(op, member)
	if f == node.None || p.patch.Kind(f) != node.String {
		p.fail(op, member, ErrOperation, "want a string %q", member)
		return ""
	}
	return p.patch.Text(f)
}

// given returns the value of an operation that must have one.
func (p *patcher) given(op node.ID) *value {
	f := p.patch.Field(op, "value")
	if f == node.None {
		p.fail(op, "", ErrOperation, "want a value")
		f = 0
	}
	return &value{tree: p.patch, id: f, moved: true}
}

// pointer reads a JSON Pointer (RFC 6901).
func (p *patcher) pointer(op node.ID, member string) []string {
	text := p.text(op, member)
	if text == "" {
		return nil
	}
	if text[0] != '/' {
		p.fail(op, member, ErrPointer, "%q does not begin with /", text)
		return nil
	}
	tokens := strings.Split(text[1:], "/")
	for i, token := range tokens {
		if !strings.Contains(token, "~") {
			continue
		}
		for _, rest := range strings.Split(token, "~")[1:] {
			if rest == "" || rest[0] != '0' && rest[0] != '1' {
				p.fail(op, member, ErrPointer, "%q has a ~ without 0 or 1", text)
			}
		}
		tokens[i] = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
	}
	return tokens
}

// find returns the value at a path.
func (p *patcher) find(op node.ID, member string, path []string) *value {
	v := p.root
	for _, token := range path {
		if p.err != nil {
			break
		}
		if v = v.child(token); v == nil {
			p.fail(op, member, ErrPointer, "nothing stands at %q", p.text(op, member))
		}
	}
	return v
}

// put stores v at a path: in a list before the element there if insert is set, else in
// its place.
func (p *patcher) put(op node.ID, path []string, v *value, insert bool) {
	if p.err != nil {
		return
	}
	if len(path) == 0 {
		p.root = v
		return
	}
	parent, last := p.find(op, "path", path[:len(path)-1]), path[len(path)-1]
	if p.err == nil && !parent.put(last, v, insert) {
		p.fail(op, "path", ErrPointer, "there is no such place as %q", p.text(op, "path"))
	}
}

func (p *patcher) remove(op node.ID, member string, path []string) {
	if len(path) == 0 {
		p.fail(op, member, ErrOperation, "the document itself cannot go")
		return
	}
	parent, last := p.find(op, member, path[:len(path)-1]), path[len(path)-1]
	if p.err == nil && !parent.remove(last) {
		p.fail(op, member, ErrPointer, "nothing stands at %q", p.text(op, member))
	}
}

// clone returns a copy of v that shares nothing that can change.
func (p *patcher) clone(op node.ID, v *value) value {
	out := value{tree: v.tree, id: v.id, moved: true}
	if p.size++; v.fields == nil && v.items == nil {
		p.size += int(v.tree.End(v.id) - v.id - 1)
	}
	if p.size > p.lim.Nodes {
		p.fail(op, "", node.ErrLimit, "copies of more than %d values", p.lim.Nodes)
	}
	switch {
	case p.err != nil:
	case v.fields != nil:
		for _, kid := range v.tree.Kids(v.id) {
			if _, seen := v.fields[v.tree.Key(kid)]; !seen {
				p.size += int(v.tree.End(kid) - kid)
			}
		}
		out.fields = make(map[string]*value, len(v.fields))
		for k, f := range v.fields {
			if out.fields[k] = nil; f != nil {
				c := p.clone(op, f)
				out.fields[k] = &c
			}
		}
	case v.items != nil:
		parts := make([]value, 0, v.items.n)
		for e := range v.items.all {
			parts = append(parts, p.clone(op, e))
		}
		out.items = newSequence(parts)
	}
	return out
}

// append writes a value that stands in so many maps and lists.
func (p *patcher) append(dst []byte, v *value, depth int) []byte {
	switch {
	case v.fields != nil || v.items != nil:
		depth++
	case v.moved || p.moves:
		depth += height(v.tree, v.id)
	}
	if depth > p.lim.Depth {
		p.fail(0, "", node.ErrLimit, "the result is deeper than %d", p.lim.Depth)
	}
	switch {
	case p.err != nil:
		return dst
	case v.fields != nil:
		dst = append(dst, '{')
		members := v.members()
		for i := range members {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(node.AppendQuoted(dst, members[i].key), ':')
			dst = p.append(dst, &members[i].v, depth)
		}
		dst = append(dst, '}')
	case v.items != nil:
		dst = append(dst, '[')
		first := true
		for e := range v.items.all {
			if !first {
				dst = append(dst, ',')
			}
			first = false
			dst = p.append(dst, e, depth)
		}
		dst = append(dst, ']')
	default:
		dst = v.tree.Append(dst, v.id)
	}
	if len(dst)-p.start > p.lim.Bytes {
		p.fail(0, "", node.ErrLimit, "the result is larger than %d bytes", p.lim.Bytes)
	}
	return dst
}

// height returns how many maps and lists stand on top of each other in a value.
func height(t *node.Tree, i node.ID) int {
	if t.Kind(i) < node.List {
		return 0
	}
	most := 0
	for _, kid := range t.Kids(i) {
		most = max(most, height(t, kid))
	}
	return most + 1
}
