package node

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// FromMap builds a tree from unstructured content: maps with string keys,
// slices, strings, booleans, nil, json.Number and Go's numbers; a nil map or slice
// is null. Other values, NaN and infinity, and strings that are not UTF-8 are an
// error that names their path. The map is read, never kept. Limits.Bytes bounds all
// keys and scalars together. O(n log n).
func FromMap(m map[string]any, lim Limits) (*Tree, error) {
	b := builder{parser: parser{lim: lim.WithDefaults()}}
	if !b.any(None, "", m, 0) {
		return nil, b.err
	}
	return b.tree(), nil
}

// FromObject builds a tree from a value with a JSON form, such as a typed
// Kubernetes object, as encoding/json would write it.
func FromObject(obj any, lim Limits) (*Tree, error) {
	if m, ok := obj.(map[string]any); ok {
		return FromMap(m, lim)
	}
	text, err := json.Marshal(obj)
	if err != nil { // its text may quote a value
		return nil, &Error{Offset: -1, Rule: ErrValue, Detail: fmt.Sprintf("%T cannot be written as JSON", obj)}
	}
	return Parse(text, lim)
}

// any adds the node of one value and all below it.
func (b *builder) any(parent ID, key string, v any, depth int) bool {
	id, ok := b.begin(parent, key)
	if !ok {
		return false
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
	if m == nil {
		return b.put(id, Null, "null")
	}
	b.nodes[id].kind = Map
	if depth >= b.lim.Depth {
		return b.refuse(id, ErrLimit, "nested deeper than %d", b.lim.Depth)
	}
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	base := len(b.stack)
	for _, k := range keys {
		b.stack = append(b.stack, ID(len(b.nodes)))
		if !b.any(id, k, m[k], depth+1) {
			return false
		}
	}
	b.close(id, base)
	return true
}

func sequence[V any](b *builder, id ID, list []V, depth int) bool {
	if list == nil {
		return b.put(id, Null, "null")
	}
	b.nodes[id].kind = List
	if depth >= b.lim.Depth {
		return b.refuse(id, ErrLimit, "nested deeper than %d", b.lim.Depth)
	}
	base := len(b.stack)
	for _, v := range list {
		b.stack = append(b.stack, ID(len(b.nodes)))
		if !b.any(id, "", v, depth+1) {
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
		return b.put(id, String, v)
	case json.Number:
		if !isNumber(string(v)) {
			return b.refuse(id, ErrValue, "a json.Number that is no number")
		}
		return b.put(id, Number, string(v))
	case int:
		return b.signed(id, int64(v))
	case int8:
		return b.signed(id, int64(v))
	case int16:
		return b.signed(id, int64(v))
	case int32:
		return b.signed(id, int64(v))
	case int64:
		return b.signed(id, v)
	case uint:
		return b.unsigned(id, uint64(v))
	case uint8:
		return b.unsigned(id, uint64(v))
	case uint16:
		return b.unsigned(id, uint64(v))
	case uint32:
		return b.unsigned(id, uint64(v))
	case uint64:
		return b.unsigned(id, v)
	case float32:
		return b.float(id, float64(v), 32)
	case float64:
		return b.float(id, v, 64)
	}
	return b.refuse(id, ErrValue, "a Go %T has no JSON form here", v)
}

func (b *builder) signed(id ID, v int64) bool { return b.put(id, Number, strconv.FormatInt(v, 10)) }

func (b *builder) unsigned(id ID, v uint64) bool {
	return b.put(id, Number, strconv.FormatUint(v, 10))
}

// float writes v with the fewest digits that mean it, without an exponent where
// that stays short, as encoding/json does.
func (b *builder) float(id ID, v float64, bits int) bool {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return b.refuse(id, ErrValue, notFinite)
	}
	format := byte('f')
	if abs := math.Abs(v); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	return b.put(id, Number, strconv.FormatFloat(v, format, -1, bits))
}

// isNumber reports whether all of s is a JSON number.
func isNumber(s string) bool {
	p := parser{src: s, nodes: []node{{parent: None}}}
	return s != "" && p.number(0, 0) == len(s)
}
