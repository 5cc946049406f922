package node

import (
	"encoding/base64"
	"encoding/json"
	"reflect"
)

// FromObject builds a tree from a value with a JSON form, such as a typed Kubernetes
// object: the tree that Parse would make of what json.Marshal writes, but for
//
//   - strings that are not UTF-8, which encoding/json changes without a word: an error,
//     as in Parse and FromMap;
//   - cycles, which end at the limit of depth.
//
// No JSON is written on the way but by types that have a MarshalJSON or MarshalText of
// their own, whose bytes are checked as strictly as Parse does. unstructured.Unstructured
// is read as FromMap reads it. An error names the path, and never holds a value: neither
// does it hold the text of a marshaler's error. A panic of a marshaler is the caller's.
//
// O(n), and O(n log n) for maps. The first call for a type takes longer. The object is
// read, never kept or changed; no goroutine may change it meanwhile.
func FromObject(obj any, lim Limits) (*Tree, error) { return build(obj, lim, true) }

// dynamic makes id the value of an interface.
func (b *builder) dynamic(id ID, x any, depth int) bool {
	switch x.(type) {
	case nil, string, bool, int, int32, int64, float64, json.Number, map[string]any, []any, map[string]string, []string:
		return b.lay(id, x, depth)
	}
	v := reflect.ValueOf(x)
	if v.Kind() != reflect.Pointer { // methods are called by address
		v = reflect.New(v.Type()).Elem()
		v.Set(reflect.ValueOf(x))
	}
	return b.value(id, v, planOf(v.Type()), depth, false)
}

// value makes id the value v. All but pointers are addressable in memory; what counts as
// addressable for encoding/json, and so has the methods of its address, is said apart.
func (b *builder) value(id ID, v reflect.Value, p *plan, depth int, addressable bool) bool {
	form := p.form
	if addressable && p.method != asNothing {
		form = p.method
	}
	switch form {
	case asText:
		return b.text(id, v.String(), p.quoted)
	case asStruct:
		return b.structure(id, v, p, depth, addressable)
	case asPointer:
		if v.IsNil() {
			return b.null(id)
		}
		return b.hop(id) && b.value(id, v.Elem(), p.elem, depth, true)
	case asBoxed:
		if v.IsNil() {
			return b.null(id)
		}
		return b.hop(id) && b.dynamic(id, v.Interface(), depth)
	case asSlice:
		if v.IsNil() {
			return b.null(id)
		}
		return b.items(id, v, p, depth, true)
	case asArray:
		return b.items(id, v, p, depth, addressable)
	case asStringMap:
		return mapping(b, id, *v.Addr().Convert(mapOfStringsType).Interface().(*map[string]string), depth, laidString)
	case asMap:
		return b.keyedMap(id, v, p, depth)
	case asBase64:
		return b.base64(id, v)
	case asMarshaled, asMarshaledText:
		return b.marshaled(id, v, form, depth)
	case asUnstructured, asQuantity, asTime, asMicroTime, asIntOrString:
		return b.known(id, v, form, depth)
	}
	return b.basic(id, v, p)
}

// basic makes id a number or a boolean.
func (b *builder) basic(id ID, v reflect.Value, p *plan) bool {
	ok := true
	switch p.form {
	case asBool:
		word := "false"
		if v.Bool() {
			word = "true"
		}
		ok = b.plain(id, Bool, word)
	case asSigned:
		ok = b.signed(id, v.Int())
	case asUnsigned:
		ok = b.unsigned(id, v.Uint())
	case asFloat:
		ok = b.float(id, v.Float(), p.bits)
	case asNumeral:
		ok = b.number(id, json.Number(v.String()))
	default:
		return b.refuse(id, ErrValue, "a Go %s has no JSON form", p.typ)
	}
	if p.quoted {
		b.nodes[id].kind = String
	}
	return ok
}

// text makes id a string, or with the option "string" the JSON text of one, in which
// encoding/json escapes what HTML would take amiss.
func (b *builder) text(id ID, s string, quoted bool) bool {
	if quoted {
		if _, ok := b.check(id, s); !ok {
			return false
		}
		text, err := json.Marshal(s)
		if err != nil {
			return b.refuse(id, ErrValue, "a string that cannot be written as JSON")
		}
		s = string(text)
	}
	return b.put(id, String, s)
}

func (b *builder) structure(id ID, v reflect.Value, p *plan, depth int, addressable bool) bool {
	if !b.open(id, Map, depth) {
		return false
	}
	base := len(b.stack)
	for i := range p.fields {
		f := &p.fields[i]
		fv, addressable, ok := f.in(v, addressable)
		if !ok || f.omit[0] != emptyNever && f.omit[0].holds(fv) || f.omit[1] != emptyNever && f.omit[1].holds(fv) {
			continue
		}
		kid, ok := b.child(id, f.name, f.prefix)
		if !ok || !b.value(kid, fv, f.plan, depth+1, addressable) {
			return false
		}
	}
	b.close(id, base)
	return true
}

func (b *builder) items(id ID, v reflect.Value, p *plan, depth int, addressable bool) bool {
	if !b.open(id, List, depth) {
		return false
	}
	base := len(b.stack)
	for i := range v.Len() {
		kid, ok := b.child(id, "", 0)
		if !ok || !b.value(kid, v.Index(i), p.elem, depth+1, addressable) {
			return false
		}
	}
	b.close(id, base)
	return true
}

func (b *builder) base64(id ID, v reflect.Value) bool {
	if v.IsNil() {
		return b.null(id)
	}
	data, off := v.Bytes(), len(b.extra)
	if !b.room(id, base64.StdEncoding.EncodedLen(len(data))) {
		return false
	}
	b.extra = base64.StdEncoding.AppendEncode(b.extra, data)
	return b.took(id, String, off)
}

// hop counts the pointers and interfaces on the way from a node to its value, which
// may be a circle.
func (b *builder) hop(id ID) bool {
	if b.hopper != id {
		b.hopper, b.hops = id, 0
	}
	if b.hops++; b.hops > b.lim.Depth+maxHops {
		return b.refuse(id, ErrLimit, "more than %d pointers in a row", b.lim.Depth+maxHops)
	}
	return true
}

// maxHops is how many pointers may stand in a row whatever the limit of depth.
const maxHops = 1000
