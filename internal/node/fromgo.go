package node

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
)

// FromMap builds a tree from unstructured content: maps with string keys,
// slices, strings, booleans, nil, json.Number and Go's numbers. Other values are
// an error that names their path. The map is read, never kept. O(n log n).
func FromMap(m map[string]any, lim Limits) (*Tree, error) {
	b := builder{parser{lim: lim.orDefault()}}
	if !b.any(None, span{}, 0, m, 0) {
		b.err.Offset = -1
		return nil, b.err
	}
	return &Tree{extra: string(b.extra), nodes: b.nodes, kids: b.kids}, nil
}

// FromObject builds a tree from a value with a JSON form, such as a typed
// Kubernetes object, as encoding/json would write it.
func FromObject(obj any, lim Limits) (*Tree, error) {
	if m, ok := obj.(map[string]any); ok {
		return FromMap(m, lim)
	}
	text, err := json.Marshal(obj)
	if err != nil {
		return nil, &Error{Offset: -1, Rule: ErrValue, Detail: fmt.Sprintf("%T cannot be written as JSON", obj)}
	}
	return Parse(text, lim)
}

// refuse is fail for values that have no text.
func (b *builder) refuse(at ID, rule error, format string, args ...any) bool {
	b.fail(-1, at, rule, format, args...)
	return false
}

func (b *builder) textOf(s span) string { return string(b.extra[s.off : s.off+s.n]) }

// builder makes nodes from Go values. All their text stands in extra.
type builder struct{ parser }

// any adds the node of one value and all below it.
func (b *builder) any(parent ID, key span, fl flags, v any, depth int) bool {
	id := ID(len(b.nodes))
	if len(b.nodes) >= b.lim.Nodes {
		return b.refuse(parent, ErrLimit, "more than %d values", b.lim.Nodes)
	}
	b.nodes = append(b.nodes, node{prefix: Prefix(b.textOf(key)), key: key, flags: fl, parent: parent, end: id + 1})
	if depth > b.lim.Depth {
		return b.refuse(id, ErrLimit, "nested deeper than %d", b.lim.Depth)
	}
	switch v := v.(type) {
	case map[string]any:
		return mapping(b, id, v, depth)
	case map[string]string:
		return mapping(b, id, v, depth)
	case []any:
		return sequence(b, id, v, depth)
	case []string:
		return sequence(b, id, v, depth)
	case []map[string]any:
		return sequence(b, id, v, depth)
	}
	return b.scalar(id, v)
}

func mapping[V any](b *builder, id ID, m map[string]V, depth int) bool {
	b.nodes[id].kind = Map
	if m == nil {
		return b.put(id, Null, "null")
	}
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	base := len(b.stack)
	for _, k := range keys {
		s, fl, ok := b.string(id, k)
		if !ok {
			return false
		}
		if fl != 0 {
			fl = escKey
		}
		b.stack = append(b.stack, ID(len(b.nodes)))
		if !b.any(id, s, fl, m[k], depth+1) {
			return false
		}
	}
	b.close(id, base)
	return true
}

func sequence[V any](b *builder, id ID, list []V, depth int) bool {
	b.nodes[id].kind = List
	if list == nil {
		return b.put(id, Null, "null")
	}
	base := len(b.stack)
	for _, v := range list {
		b.stack = append(b.stack, ID(len(b.nodes)))
		if !b.any(id, span{}, 0, v, depth+1) {
			return false
		}
	}
	b.close(id, base)
	return true
}

func (b *builder) scalar(id ID, v any) bool {
	switch v := v.(type) {
	case nil:
		return b.put(id, Null, "null")
	case bool:
		return b.put(id, Bool, strconv.FormatBool(v))
	case string:
		s, fl, ok := b.string(id, v)
		b.nodes[id].kind, b.nodes[id].val = String, s
		b.nodes[id].flags |= fl
		return ok
	case json.Number:
		return b.digits(id, string(v))
	case int:
		return b.put(id, Number, strconv.FormatInt(int64(v), 10))
	case int32:
		return b.put(id, Number, strconv.FormatInt(int64(v), 10))
	case int64:
		return b.put(id, Number, strconv.FormatInt(v, 10))
	case uint32:
		return b.put(id, Number, strconv.FormatUint(uint64(v), 10))
	case uint64:
		return b.put(id, Number, strconv.FormatUint(v, 10))
	case float32:
		return b.float(id, float64(v), 32)
	case float64:
		return b.float(id, v, 64)
	}
	return b.refuse(id, ErrValue, "a Go %T has no JSON form here", v)
}

// float writes v with the fewest digits that mean it, without an exponent where
// that stays short, as encoding/json does.
func (b *builder) float(id ID, v float64, bits int) bool {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return b.refuse(id, ErrValue, "NaN and infinity have no JSON form")
	}
	format := byte('f')
	if abs := math.Abs(v); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	return b.put(id, Number, strconv.FormatFloat(v, format, -1, bits))
}

// digits takes a json.Number after checking that it is one.
func (b *builder) digits(id ID, s string) bool {
	check := parser{src: s, nodes: make([]node, 1)}
	if s == "" || check.number(0, 0) != len(s) {
		return b.refuse(id, ErrValue, "a json.Number that is no number")
	}
	return b.put(id, Number, s)
}

func (b *builder) put(id ID, k Kind, text string) bool {
	b.nodes[id].kind = k
	b.nodes[id].val = span{uint32(len(b.extra)), uint32(len(text))}
	b.extra = append(b.extra, text...)
	return true
}

func (b *builder) string(at ID, s string) (span, flags, bool) {
	if !utf8.ValidString(s) {
		return span{}, 0, b.refuse(at, ErrValue, "string is not valid UTF-8")
	}
	sp := span{uint32(len(b.extra)), uint32(len(s))}
	b.extra = append(b.extra, s...)
	if needsEscape(s) {
		return sp, escText, true
	}
	return sp, 0, true
}
