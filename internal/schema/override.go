package schema

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"example.com/braid/internal/node"
)

// Override returns a copy of s in which the one position that path names has another
// rule; s stays as it is, and shares with the copy all that is not on the way. A path is
// as node.ParsePattern reads it, where [*] stands for the elements of a list and * for
// the values of a map: spec.containers[*].env, metadata.labels["example.com/a"].
//
// The rules are, for lists,
//
//	atomic        one value
//	set           of distinct scalars
//	map=KEY,...   of maps, merged by the fields that name them
//
// for maps
//
//	atomic        one value
//	granular      merged by field
//	retainKeys    a union: what desired does not declare goes when anything changes.
//	              Of a keyed list: each of its elements
//	preserve-unknown-fields
//
// for scalars, how they compare,
//
//	quantity, int-or-string, duration, time, bytes, string
//
// and nullable for all. They count under the models Strategic and Structured; what a
// server goes by stays known, as Served. Where the schema knows nothing, the rule and the
// path make the type. The error names the path and the rule, where the schema has no such
// position or the rule does not fit it. O(fields on the way).
func (s *Schema) Override(path, rule string) (*Schema, error) {
	fail := func(err error) (*Schema, error) {
		return nil, fmt.Errorf("rule %q for path %q: %w", rule, path, err)
	}
	pattern, err := node.ParsePattern(path)
	if err != nil {
		return fail(err)
	}
	set, err := parseRule(rule)
	if err != nil {
		return fail(err)
	}
	out, root := *s, *s.Root
	out.Root = &root
	t := out.Root
	for i := range pattern {
		if t, err = t.part(&pattern[i]); err != nil {
			return fail(fmt.Errorf("%s: %w", pattern[:i], err))
		}
	}
	if t == out.Root && !set.fitsRoot() {
		return fail(errors.New("an object is a map that merges by field"))
	}
	if err := t.override(set); err != nil {
		return fail(err)
	}
	return &out, nil
}

// part returns the type of a part of t, which nothing else refers to, as nothing does
// to t.
func (t *Type) part(step *node.PatternStep) (*Type, error) {
	switch isMap := t.Kind == Map || t.Kind == Any && (t.Elem != nil || len(t.Fields) > 0); {
	case step.Elem && !step.Any:
		return nil, errors.New("all elements of a list have one type; write [*]")
	case step.Elem && t.Kind == Any && !isMap:
		t.makeList()
		return t.each(), nil
	case step.Elem && t.Kind == List:
		return t.each(), nil
	case t.Kind != Map && t.Kind != Any:
		return nil, fmt.Errorf("it has no such part, for it is %s", t.Kind.word())
	case !step.Any && t.Field(step.Field) != nil:
		return t.named(step.Field), nil
	case t.Elem == nil && t.Kind == Map && !t.PreserveUnknown:
		return nil, errors.New("the schema has no such field")
	case step.Any:
		return t.each(), nil
	}
	return t.extra(step.Field), nil
}

// each replaces the type of the elements by a copy.
func (t *Type) each() *Type {
	t.Elem = copyOf(t.Elem)
	return t.Elem
}

// named replaces the type of a field by a copy.
func (t *Type) named(name string) *Type {
	t.Fields = slices.Clone(t.Fields) // types share them
	f := t.Field(name)
	f.Type = copyOf(f.Type)
	return f.Type
}

// extra names a key that was one of any.
func (t *Type) extra(name string) *Type {
	f := field(name, copyOf(t.Elem))
	f.Extra = true
	at, _ := slices.BinarySearchFunc(t.Fields, name, func(f Field, name string) int { return strings.Compare(f.Name, name) })
	t.Fields = slices.Insert(slices.Clone(t.Fields), at, f)
	return f.Type
}

func copyOf(t *Type) *Type {
	if t == nil {
		t = Unknown
	}
	c := *t
	return &c
}

// makeList makes a List of what may be anything.
func (t *Type) makeList() {
	t.Kind, t.Elem = List, Unknown
	t.Strategic, t.Structured, t.Served = Rule{Merge: Atomic}, Rule{Merge: Atomic}, nil
}
