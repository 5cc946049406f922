package node

import (
	"encoding/json"
	"math"
	"strconv"
)

// FromMap builds a tree from unstructured content: maps with string keys,
// slices, strings, booleans, nil, json.Number and Go's numbers; a nil map or slice
// is null. Other values, NaN and infinity, and strings that are not UTF-8 are an
// error that names their path. The map is read, never kept. Limits.Bytes bounds all
// keys and scalars together. O(n log n).
func FromMap(m map[string]any, lim Limits) (*Tree, error) { return build(m, lim, false) }

// lay makes id the value v.
func (b *builder) lay(id ID, v any, depth int) bool {
	switch v := v.(type) {
	case map[string]any:
		return mapping(b, id, v, depth, (*builder).lay)
	case map[string]string:
		return mapping(b, id, v, depth, laidString)
	case []any:
		return sequence(b, id, v, depth, (*builder).lay)
	case []string:
		return sequence(b, id, v, depth, laidString)
	case []map[string]any:
		return sequence(b, id, v, depth, func(b *builder, id ID, m map[string]any, depth int) bool {
			return mapping(b, id, m, depth, (*builder).lay)
		})
	}
	return b.scalar(id, v, depth)
}

func laidString(b *builder, id ID, s string, _ int) bool { return b.put(id, String, s) }

// mapping makes id a map, whose values lay lays.
func mapping[V any](b *builder, id ID, m map[string]V, depth int, lay func(*builder, ID, V, int) bool) bool {
	if m == nil {
		return b.null(id)
	}
	if !b.open(id, Map, depth) {
		return false
	}
	base, first := len(b.stack), len(b.keys)
	b.expect(len(m))
	for k := range m {
		b.keys = append(b.keys, entry{key: k})
	}
	last := len(b.keys)
	sortEntries(b.keys[first:last])
	for i := first; i < last; i++ {
		k := b.keys[i].key
		kid, ok := b.field(id, k)
		if !ok || !lay(b, kid, m[k], depth+1) {
			return false
		}
	}
	clear(b.keys[first:last])
	b.keys = b.keys[:first]
	b.close(id, base)
	return true
}

// sequence makes id a list, whose elements lay lays.
func sequence[V any](b *builder, id ID, list []V, depth int, lay func(*builder, ID, V, int) bool) bool {
	if list == nil {
		return b.null(id)
	}
	if !b.open(id, List, depth) {
		return false
	}
	b.expect(len(list))
	base := len(b.stack)
	for _, v := range list {
		kid, ok := b.child(id, "", 0)
		if !ok || !lay(b, kid, v, depth+1) {
			return false
		}
	}
	b.close(id, base)
	return true
}

func (b *builder) scalar(id ID, v any, depth int) bool {
	switch v := v.(type) {
	case nil:
		return b.null(id)
	case bool:
		return b.plain(id, Bool, strconv.FormatBool(v))
	case string:
		return b.put(id, String, v)
	case json.Number:
		return b.number(id, v)
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
	if b.typed {
		return b.hop(id) && b.dynamic(id, v, depth)
	}
	return b.refuse(id, ErrValue, "a Go %T has no JSON form here", v)
}

func (b *builder) number(id ID, n json.Number) bool {
	if b.typed && n == "" { // as encoding/json writes it
		n = "0"
	}
	if !isNumber(string(n)) {
		return b.refuse(id, ErrValue, "a json.Number that is no number")
	}
	return b.put(id, Number, string(n))
}

func (b *builder) signed(id ID, v int64) bool {
	off := len(b.extra)
	b.extra = strconv.AppendInt(b.extra, v, 10)
	return b.took(id, Number, off)
}

func (b *builder) unsigned(id ID, v uint64) bool {
	off := len(b.extra)
	b.extra = strconv.AppendUint(b.extra, v, 10)
	return b.took(id, Number, off)
}

// float writes v with the fewest digits that mean it, without an exponent where
// that stays short, as encoding/json does.
func (b *builder) float(id ID, v float64, bits int) bool {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return b.refuse(id, ErrValue, notFinite)
	}
	format, low, high := byte('f'), 1e-6, 1e21
	if bits == 32 { // the nearest that it has
		low, high = float64(float32(low)), float64(float32(high))
	}
	if abs := math.Abs(v); abs != 0 && (abs < low || abs >= high) {
		format = 'e'
	}
	off := len(b.extra)
	b.extra = strconv.AppendFloat(b.extra, v, format, -1, bits)
	if n := len(b.extra); format == 'e' && string(b.extra[n-4:n-1]) == "e-0" {
		b.extra = append(b.extra[:n-2], b.extra[n-1]) // e-07 is e-7
	}
	return b.took(id, Number, off)
}

// isNumber reports whether all of s is a JSON number.
func isNumber(s string) bool {
	p := parser{src: s, nodes: []node{{parent: None}}}
	return s != "" && p.number(0, 0) == len(s)
}
