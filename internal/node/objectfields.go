package node

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// objectField is a field of a struct that is written.
type objectField struct {
	name   string
	prefix uint64
	index  int      // in the struct, or of the embedded struct that it is in
	rest   []int    // the way from there on
	omit   [2]empty // when it is not written: the options omitempty and omitzero
	plan   *plan
}

// empty is when a value counts as empty.
type empty uint8

const (
	emptyNever   empty = iota
	emptyLen           // it has no elements
	emptyNil           // it is nil
	emptyZero          // it is the zero value
	emptyIsZero        // its IsZero says so
	emptyPointer       // it is nil, or its IsZero says so
	emptyBoxed         // likewise of an interface, which may hold a nil pointer
)

var zeroerType = reflect.TypeFor[interface{ IsZero() bool }]()

// fields returns the fields that encoding/json writes of a struct, by key. Those of
// embedded structs are among them; of several with one name the least deep counts,
// then the one tagged, and if still several are left none.
func (c compiler) fields(t reflect.Type) []objectField {
	var out []objectField
	for _, f := range dominantFields(t) {
		p := c.plan(f.typ)
		if f.quoted {
			p = p.inString()
		}
		omit := [2]empty{f.emptiness(), f.zeroness()}
		if f.hidden && (p.form >= asMarshaled || p.method != asNothing || omit[1] > emptyZero) {
			p, omit = &plan{typ: f.typ}, [2]empty{} // encoding/json panics, for its methods cannot be called
		}
		of := objectField{name: f.name, prefix: Prefix(f.name), index: f.index[0], omit: omit, plan: p}
		if len(f.index) > 1 {
			of.rest = f.index[1:]
		}
		out = append(out, of)
	}
	return out
}

// candidate is a field before the rules of embedding.
type candidate struct {
	name    string
	typ     reflect.Type
	index   []int
	tagged  bool // the name is of the tag
	quoted  bool
	hidden  bool // an embedded struct of an unexported type under a name of its own
	options []string
}

// dominantFields finds the fields level by level, as Go's own rules for embedded
// fields do, and returns by name those that dominate.
func dominantFields(t reflect.Type) []candidate {
	type level struct {
		typ   reflect.Type
		index []int
	}
	var all []candidate
	visited := map[reflect.Type]bool{}
	structs, times := []level{{typ: t}}, map[reflect.Type]int{t: 1}
	for len(structs) > 0 {
		var next []level
		nextTimes := map[reflect.Type]int{}
		for _, s := range structs {
			if visited[s.typ] {
				continue
			}
			visited[s.typ] = true
			for i := range s.typ.NumField() {
				f, embedded := candidateOf(s.typ.Field(i))
				f.index = append(slices.Clip(s.index), i)
				switch {
				case embedded != nil:
					if nextTimes[embedded]++; nextTimes[embedded] == 1 {
						next = append(next, level{embedded, f.index})
					}
				case f.name != "":
					all = append(all, f)
					if times[s.typ] > 1 { // embedded twice at one depth, it hides itself
						all = append(all, f)
					}
				}
			}
		}
		structs, times = next, nextTimes
	}
	return dominant(all)
}

// candidateOf returns a field with its name, the struct that it embeds instead, or
// neither if it is not written.
func candidateOf(sf reflect.StructField) (f candidate, embedded reflect.Type) {
	tag := sf.Tag.Get("json")
	inner := sf.Type
	if inner.Name() == "" && inner.Kind() == reflect.Pointer {
		inner = inner.Elem()
	}
	if tag == "-" || !sf.IsExported() && (!sf.Anonymous || inner.Kind() != reflect.Struct) {
		return f, nil
	}
	options := strings.Split(tag, ",")
	name := options[0]
	if !validName(name) {
		name = ""
	}
	if name == "" && sf.Anonymous && inner.Kind() == reflect.Struct {
		return f, inner
	}
	f = candidate{name: cmp.Or(name, sf.Name), typ: sf.Type, tagged: name != "", hidden: !sf.IsExported(), options: options[1:]}
	switch kind := inner.Kind(); {
	case reflect.Bool <= kind && kind <= reflect.Float64, kind == reflect.String:
		f.quoted = slices.Contains(f.options, "string")
	}
	return f, nil
}

func dominant(all []candidate) []candidate {
	slices.SortStableFunc(all, func(a, b candidate) int {
		return cmp.Or(strings.Compare(a.name, b.name), cmp.Compare(len(a.index), len(b.index)), boolCompare(b.tagged, a.tagged))
	})
	out := all[:0]
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].name == all[0].name {
			n++
		}
		if n == 1 || len(all[1].index) > len(all[0].index) || all[1].tagged != all[0].tagged {
			out = append(out, all[0])
		}
		all = all[n:]
	}
	return out
}

func boolCompare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// validName is encoding/json's isValidTag. No such name needs escapes.
func validName(s string) bool {
	for _, c := range s {
		if !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", c) && !unicode.IsLetter(c) && !unicode.IsDigit(c) {
			return false
		}
	}
	return s != ""
}

func (f *candidate) emptiness() empty {
	if !slices.Contains(f.options, "omitempty") {
		return emptyNever
	}
	switch kind := f.typ.Kind(); kind {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return emptyLen
	case reflect.Pointer, reflect.Interface:
		return emptyNil
	default:
		if reflect.Bool <= kind && kind <= reflect.Float64 {
			return emptyZero
		}
	}
	return emptyNever
}

func (f *candidate) zeroness() empty {
	switch {
	case !slices.Contains(f.options, "omitzero"):
		return emptyNever
	case f.typ.Kind() == reflect.Interface && f.typ.Implements(zeroerType):
		return emptyBoxed
	case f.typ.Kind() == reflect.Pointer && f.typ.Implements(zeroerType):
		return emptyPointer
	case f.typ.Kind() != reflect.Interface && reflect.PointerTo(f.typ).Implements(zeroerType):
		return emptyIsZero
	}
	return emptyZero
}

// holds reports whether v is empty in this way.
func (e empty) holds(v reflect.Value) bool {
	switch e {
	case emptyLen:
		return v.Len() == 0
	case emptyNil:
		return v.IsNil()
	case emptyZero:
		return v.IsZero()
	case emptyIsZero:
		return v.Addr().Interface().(interface{ IsZero() bool }).IsZero()
	case emptyBoxed:
		if inner := v.Elem(); inner.Kind() == reflect.Pointer && inner.IsNil() {
			return true
		}
		fallthrough
	case emptyPointer:
		return v.IsNil() || v.Interface().(interface{ IsZero() bool }).IsZero()
	}
	return false
}

// in returns the field's value in v, and whether it is addressable if v is. A field
// behind an embedded nil pointer has none.
func (f *objectField) in(v reflect.Value, addressable bool) (reflect.Value, bool, bool) {
	v = v.Field(f.index)
	for _, i := range f.rest {
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return v, false, false
			}
			v, addressable = v.Elem(), true
		}
		v = v.Field(i)
	}
	return v, addressable, true
}
