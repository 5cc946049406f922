package node

import (
	"encoding"
	"encoding/json"
	"reflect"
	"sync"
)

// form is how the values of a Go type are written.
type form uint8

const (
	asNothing form = iota
	asBool
	asSigned
	asUnsigned
	asFloat
	asText
	asNumeral // json.Number
	asBase64
	asPointer
	asBoxed // an interface
	asStruct
	asArray
	asSlice
	asStringMap     // map[string]string
	asMap           // any other map
	asMarshaled     // by its MarshalJSON
	asMarshaledText // by its MarshalText
	asUnstructured  // these are well known
	asQuantity
	asTime
	asMicroTime
	asIntOrString
)

// plan says how the values of one type become nodes. It is compiled once and never
// changes after planOf has returned it.
type plan struct {
	typ    reflect.Type
	form   form
	method form // where it is not asNothing: the form instead, of what is addressable
	quoted bool // a scalar in a string: the option "string" of a field
	bits   int  // of a float
	elem   *plan
	fields []objectField // of a struct, by key
	keys   form          // of a map: asText, asSigned, asUnsigned or asMarshaledText
	spare  *sync.Pool    // of a map: *mapEntries
}

var plans sync.Map // of *plan, by reflect.Type

// planOf returns the plan of t. The first call for a type costs microseconds for each
// field that can be reached from it without an interface. Safe for concurrent use: of
// several plans made at once, all are good and one is kept.
func planOf(t reflect.Type) *plan {
	if p, ok := plans.Load(t); ok {
		return p.(*plan)
	}
	c := compiler{}
	p := c.plan(t)
	for t, p := range c {
		plans.LoadOrStore(t, p)
	}
	return p
}

// compiler has the plans of one call of planOf, which may refer to each other and are
// published when all are complete.
type compiler map[reflect.Type]*plan

var (
	marshalerType     = reflect.TypeFor[json.Marshaler]()
	textMarshalerType = reflect.TypeFor[encoding.TextMarshaler]()
	numberType        = reflect.TypeFor[json.Number]()
	mapOfStringsType  = reflect.TypeFor[*map[string]string]()
)

func (c compiler) plan(t reflect.Type) *plan {
	if p, ok := plans.Load(t); ok {
		return p.(*plan)
	}
	if p, ok := c[t]; ok {
		return p
	}
	p := &plan{typ: t}
	c[t] = p
	own, addressed := methodOf(t, t), methodOf(reflect.PointerTo(t), t)
	if t.Kind() == reflect.Pointer && own == asMarshaled && knownForm(t.Elem()) != asMarshaled {
		own = asNothing // the plan of what it points to does it
	}
	p.form = own
	if addressed != own {
		p.method = addressed
	}
	if p.form == asNothing {
		c.compile(p)
	}
	return p
}

// methodOf returns how a t is written by the methods of m, which is t or the pointer to it,
// or asNothing if it has none.
func methodOf(m, t reflect.Type) form {
	switch {
	case m.Implements(marshalerType):
		return knownForm(t)
	case m.Implements(textMarshalerType):
		return asMarshaledText
	}
	return asNothing
}

// compile fills in the plan of a type by its kind.
func (c compiler) compile(p *plan) {
	t := p.typ
	switch t.Kind() {
	case reflect.Bool:
		p.form = asBool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		p.form = asSigned
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		p.form = asUnsigned
	case reflect.Float32, reflect.Float64:
		p.form, p.bits = asFloat, t.Bits()
	case reflect.String:
		p.form = asText
		if t == numberType {
			p.form = asNumeral
		}
	case reflect.Interface:
		p.form = asBoxed
	case reflect.Struct:
		p.form, p.fields = asStruct, c.fields(t)
	case reflect.Pointer:
		p.form, p.elem = asPointer, c.plan(t.Elem())
	case reflect.Array:
		p.form, p.elem = asArray, c.plan(t.Elem())
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 && methodOf(reflect.PointerTo(t.Elem()), t.Elem()) == asNothing {
			p.form = asBase64
			return
		}
		p.form, p.elem = asSlice, c.plan(t.Elem())
	case reflect.Map:
		c.compileMap(p)
	}
}

func (c compiler) compileMap(p *plan) {
	t := p.typ
	if reflect.PointerTo(t).ConvertibleTo(mapOfStringsType) {
		p.form = asStringMap
		return
	}
	switch kind := t.Key().Kind(); {
	case kind == reflect.String:
		p.keys = asText
	case t.Key().Implements(textMarshalerType):
		p.keys = asMarshaledText
	case reflect.Int <= kind && kind <= reflect.Int64:
		p.keys = asSigned
	case reflect.Uint <= kind && kind <= reflect.Uintptr:
		p.keys = asUnsigned
	default:
		return // unsupported
	}
	p.form, p.elem = asMap, c.plan(t.Elem())
	p.spare = &sync.Pool{New: func() any { return newMapEntries(t) }}
}

// inString returns the plan of a field that has the option "string": itself, or what it
// points to, is a scalar.
func (p *plan) inString() *plan {
	q := *p
	if q.form == asPointer {
		q.elem = q.elem.inString()
	}
	q.quoted = true
	return &q
}
