package schema

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// jsonField is a field that encoding/json writes of a struct.
type jsonField struct {
	reflect.StructField
	name   string
	tagged bool         // the name is of the tag
	quoted bool         // a number or bool in a string
	depth  int          // of the embedded struct that has it
	owner  reflect.Type // that struct
}

// jsonFields returns the fields that encoding/json writes of a struct, sorted by name.
// Those of embedded structs are among them; of several with one name the least deep
// counts, then the one tagged, and if still several are left none, by the rules of Go
// as encoding/json amends them. apimachinery looks patch tags up by a fork of the same
// code, which also takes a name in other case, skips the fields of unexported embedded
// structs, and panics at embedded pointers.
func jsonFields(t reflect.Type) []jsonField {
	var all []jsonField
	visited := map[reflect.Type]bool{}
	level, times := []reflect.Type{t}, map[reflect.Type]int{t: 1}
	for depth := 0; len(level) > 0; depth++ {
		var next []reflect.Type
		nextTimes := map[reflect.Type]int{}
		for _, s := range level {
			if visited[s] {
				continue
			}
			visited[s] = true
			for i := range s.NumField() {
				f, embedded := jsonFieldOf(s.Field(i))
				switch {
				case embedded != nil:
					if nextTimes[embedded]++; nextTimes[embedded] == 1 {
						next = append(next, embedded)
					}
				case f.name != "":
					f.depth, f.owner = depth, s
					all = append(all, f)
					if times[s] > 1 { // embedded twice at one depth, it hides itself
						all = append(all, f)
					}
				}
			}
		}
		level, times = next, nextTimes
	}
	return dominant(all)
}

// jsonFieldOf returns a field with its name, the struct that it embeds instead, or
// neither if it is not written.
func jsonFieldOf(sf reflect.StructField) (f jsonField, embedded reflect.Type) {
	tag := sf.Tag.Get("json")
	inner := sf.Type
	if inner.Name() == "" && inner.Kind() == reflect.Pointer {
		inner = inner.Elem()
	}
	if tag == "-" || !sf.IsExported() && (!sf.Anonymous || inner.Kind() != reflect.Struct) {
		return f, nil
	}
	name, options, _ := strings.Cut(tag, ",")
	if !validName(name) {
		name = ""
	}
	if name == "" && sf.Anonymous && inner.Kind() == reflect.Struct {
		return f, inner
	}
	f = jsonField{StructField: sf, name: cmp.Or(name, sf.Name), tagged: name != ""}
	switch scalarKind(inner.Kind()) {
	case String, Bool, Integer, Number:
		f.quoted = slices.Contains(strings.Split(options, ","), "string")
	}
	return f, nil
}

func dominant(all []jsonField) []jsonField {
	slices.SortStableFunc(all, func(a, b jsonField) int {
		tags := 0
		if a.tagged != b.tagged {
			tags = 1
			if a.tagged {
				tags = -1
			}
		}
		return cmp.Or(strings.Compare(a.name, b.name), cmp.Compare(a.depth, b.depth), tags)
	})
	out := all[:0]
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].name == all[0].name {
			n++
		}
		if n == 1 || all[1].depth > all[0].depth || all[1].tagged != all[0].tagged {
			out = append(out, all[0])
		}
		all = all[n:]
	}
	return out
}

// validName is encoding/json's isValidTag.
func validName(s string) bool {
	for _, c := range s {
		if !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", c) && !unicode.IsLetter(c) && !unicode.IsDigit(c) {
			return false
		}
	}
	return s != ""
}
