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
	unsupported form = iota
	boolean
	signed
	unsigned
	float
	text
	numeral // json.Number
	base64Bytes
	pointer
	boxed // an interface
	structure
	array
	slice
	stringMap       // map[string]string
	keyedMap        // any other map
	marshals        // by its MarshalJSON
	marshalsText    // by its MarshalText
	unstructuredMap // a struct around a map[string]any, as unstructured.Unstructured is
)

// plan says how the values of one type become nodes. It is compiled once and never
// changes after planOf has returned it.
type plan struct {
	typ    reflect.Type
	form   form
	method form // where it is not unsupported: the form instead, of what is addressable
	quoted bool // a scalar in a string: the option "string" of a field
	bits   int  // of a float
	elem   *plan
	fields []objectField // of a struct, by key
	keys   form          // of a map: text, signed, unsigned, marshalsText
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
	unstructuredType  = reflect.TypeFor[interface{ UnstructuredContent() map[string]any }]()
	numberType        = reflect.TypeFor[json.Number]()
	mapOfStringsType  = reflect.TypeFor[*map[string]string]()
	mapOfAnyType      = reflect.TypeFor[map[string]any]()
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
	switch own, addressed := methodOf(t), methodOf(reflect.PointerTo(t)); {
	case own == marshals && t.Kind() == reflect.Pointer && wrapsMap(t.Elem()): // the plan of the struct does it
	case own == marshals:
		p.form = own
		return p
	case t.Kind() == reflect.Pointer || t.Kind() == reflect.Interface:
		p.form = own // the address of these has no methods
	case own == marshalsText && addressed == marshals: // by its address it has more to say
		p.form, p.method = own, addressed
	case own == marshalsText:
		p.form = own
	case addressed == marshals && wrapsMap(t):
		p.method = unstructuredMap
	default:
		p.method = addressed
	}
	if p.form == unsupported {
		c.compile(p)
	}
	return p
}

// methodOf returns the method by which t writes itself, or unsupported.
func methodOf(t reflect.Type) form {
	switch {
	case t.Implements(marshalerType):
		return marshals
	case t.Implements(textMarshalerType):
		return marshalsText
	}
	return unsupported
}

// wrapsMap reports whether t is unstructured.Unstructured or one like it, whose
// MarshalJSON writes the map: a struct that has this one field and says that it is
// unstructured content.
func wrapsMap(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t.NumField() == 1 && t.Field(0).Name == "Object" && t.Field(0).Type == mapOfAnyType &&
		reflect.PointerTo(t).Implements(unstructuredType)
}

// compile fills in the plan of a type by its kind.
func (c compiler) compile(p *plan) {
	t := p.typ
	switch t.Kind() {
	case reflect.Bool:
		p.form = boolean
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		p.form = signed
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		p.form = unsigned
	case reflect.Float32, reflect.Float64:
		p.form, p.bits = float, t.Bits()
	case reflect.String:
		p.form = text
		if t == numberType {
			p.form = numeral
		}
	case reflect.Interface:
		p.form = boxed
	case reflect.Struct:
		p.form, p.fields = structure, c.fields(t)
	case reflect.Pointer:
		p.form, p.elem = pointer, c.plan(t.Elem())
	case reflect.Array:
		p.form, p.elem = array, c.plan(t.Elem())
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 && methodOf(reflect.PointerTo(t.Elem())) == unsupported {
			p.form = base64Bytes
			return
		}
		p.form, p.elem = slice, c.plan(t.Elem())
	case reflect.Map:
		c.compileMap(p)
	}
}

func (c compiler) compileMap(p *plan) {
	t := p.typ
	if reflect.PointerTo(t).ConvertibleTo(mapOfStringsType) {
		p.form = stringMap
		return
	}
	switch kind := t.Key().Kind(); {
	case kind == reflect.String:
		p.keys = text
	case t.Key().Implements(textMarshalerType):
		p.keys = marshalsText
	case reflect.Int <= kind && kind <= reflect.Int64:
		p.keys = signed
	case reflect.Uint <= kind && kind <= reflect.Uintptr:
		p.keys = unsigned
	default:
		return // unsupported
	}
	p.form, p.elem = keyedMap, c.plan(t.Elem())
	p.spare = &sync.Pool{New: func() any { return newMapEntries(t) }}
}

// inString returns the plan of a field that has the option "string": itself, or what it
// points to, is a scalar.
func (p *plan) inString() *plan {
	q := *p
	if q.form == pointer {
		q.elem = q.elem.inString()
	}
	q.quoted = true
	return &q
}
