// Package jsonfield knows which fields encoding/json writes of a struct, and under which
// names.
package jsonfield

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// Field is a field that encoding/json writes of a struct.
type Field struct {
	reflect.StructField
	Name    string
	Path    []int        // the way to it: an index for each embedded struct, and its own
	Owner   reflect.Type // the struct that has it
	Options []string     // of the tag
	Quoted  bool         // a scalar in a string
	tagged  bool         // the name is of the tag
}

// Of returns the fields of a struct, sorted by name. Those of embedded structs are among
// them; of several with one name the least deep counts, then the one tagged, and if still
// several are left none, by the rules of Go as encoding/json amends them. apimachinery looks
// patch tags up by a fork of the same code, which also takes a name in other case, skips the
// fields of unexported embedded structs, and panics at embedded pointers.
func Of(t reflect.Type) []Field {
	type level struct {
		typ  reflect.Type
		path []int
	}
	var all []Field
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
				f, embedded := fieldOf(s.typ.Field(i))
				f.Path, f.Owner = append(slices.Clip(s.path), i), s.typ
				switch {
				case embedded != nil:
					if nextTimes[embedded]++; nextTimes[embedded] == 1 {
						next = append(next, level{embedded, f.Path})
					}
				case f.Name != "":
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

// fieldOf returns a field with its name, the struct that it embeds instead, or
// neither if it is not written.
func fieldOf(sf reflect.StructField) (f Field, embedded reflect.Type) {
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
	f = Field{StructField: sf, Name: cmp.Or(name, sf.Name), Options: options[1:], tagged: name != ""}
	switch kind := inner.Kind(); {
	case reflect.Bool <= kind && kind <= reflect.Float64, kind == reflect.String:
		f.Quoted = slices.Contains(f.Options, "string")
	}
	return f, nil
}

func dominant(all []Field) []Field {
	slices.SortStableFunc(all, func(a, b Field) int {
		tags := 0
		if a.tagged != b.tagged {
			tags = 1
			if a.tagged {
				tags = -1
			}
		}
		return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(len(a.Path), len(b.Path)), tags)
	})
	out := all[:0]
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].Name == all[0].Name {
			n++
		}
		if n == 1 || len(all[1].Path) > len(all[0].Path) || all[1].tagged != all[0].tagged {
			out = append(out, all[0])
		}
		all = all[n:]
	}
	return out
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
