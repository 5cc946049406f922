package strategicpatch

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/mergepatch"

	"example.com/braid/internal/node"
	"example.com/braid/internal/schema"
)

// compiled has the schemas of Go types that were asked for.
var compiled sync.Map // reflect.Type to *schema.Schema

// schemaOf returns the rules that meta has for what stands in some documents. Those of a
// Go type are compiled once.
func schemaOf(meta LookupPatchMeta, docs ...*node.Tree) (*schema.Schema, error) {
	switch m := meta.(type) {
	case nil:
		return nil, mergepatch.ErrBadArgKind(struct{}{}, nil)
	case PatchMetaFromStruct:
		return ofType(m.T)
	case *PatchMetaFromStruct:
		return ofType(m.T)
	}
	var roots []spot
	for _, t := range docs {
		roots = append(roots, spot{t, 0})
	}
	root, err := asked(meta, roots)
	if err != nil {
		return nil, err
	}
	return &schema.Schema{Name: meta.Name(), Root: root}, nil
}

func ofType(t reflect.Type) (*schema.Schema, error) {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil || t.Kind() != reflect.Struct {
		return nil, mergepatch.ErrBadArgKind(struct{}{}, t)
	}
	if s, ok := compiled.Load(t); ok {
		return s.(*schema.Schema), nil
	}
	s, err := schema.FromType(t)
	if err == nil {
		compiled.Store(t, s)
	}
	return s, err
}

// spot is a value in one of the documents.
type spot struct {
	tree *node.Tree
	id   node.ID
}

// asked returns a type for the maps at some spots, which knows of each field that one of
// them has what meta says. O(size).
func asked(meta LookupPatchMeta, maps []spot) (*schema.Type, error) {
	fields := map[string][]spot{}
	for _, m := range maps {
		if m.tree.Kind(m.id) != node.Map {
			continue
		}
		for _, kid := range m.tree.Kids(m.id) {
			key := m.tree.Key(kid)
			if word, name, ok := strings.Cut(key, "/"); ok && (word == "$setElementOrder" || word == "$deleteFromPrimitiveList") {
				key = name
			}
			fields[key] = append(fields[key], spot{m.tree, kid})
		}
	}
	t := &schema.Type{Kind: schema.Map}
	for key, values := range fields {
		child, err := field(meta, key, values)
		if err != nil {
			return nil, err
		}
		if child != nil {
			t.Fields = append(t.Fields, schema.Field{Name: key, Type: child, Prefix: node.Prefix(key)})
		}
	}
	slices.SortFunc(t.Fields, func(a, b schema.Field) int { return strings.Compare(a.Name, b.Name) })
	return t, nil
}

// field returns the type of a field with some values; nil if meta does not know it.
func field(meta LookupPatchMeta, key string, values []spot) (*schema.Type, error) {
	has := func(k node.Kind) bool {
		return slices.ContainsFunc(values, func(v spot) bool { return v.tree.Kind(v.id) == k })
	}
	switch {
	case has(node.List):
		sub, rules, err := meta.LookupPatchMetadataForSlice(key)
		if err != nil {
			return nil, nil // a server says so only when it comes to merging them
		}
		return list(sub, rules, values)
	case has(node.Map):
		sub, rules, err := meta.LookupPatchMetadataForStruct(key)
		if err != nil {
			return nil, nil
		}
		t, err := asked(sub, values)
		if err != nil {
			return nil, err
		}
		t.Kind = common(values, node.Map, schema.Map)
		for _, word := range rules.GetPatchStrategies() {
			switch word {
			case "replace":
				t.Strategic.Merge = schema.Atomic
			case "retainKeys":
				t.Strategic.RetainKeys = true
			}
		}
		return t, nil
	}
	return schema.Unknown, nil
}

// common returns kind, if all values are of it or null. Nobody says what they should be.
func common(values []spot, is node.Kind, kind schema.Kind) schema.Kind {
	for _, v := range values {
		if k := v.tree.Kind(v.id); k != is && k != node.Null {
			return schema.Any
		}
	}
	return kind
}

func list(meta LookupPatchMeta, rules PatchMeta, values []spot) (*schema.Type, error) {
	var elems []spot
	for _, v := range values {
		for _, kid := range v.tree.Kids(v.id) {
			elems = append(elems, spot{v.tree, kid})
		}
	}
	out := &schema.Type{Kind: common(values, node.List, schema.List), Elem: schema.Unknown, Strategic: schema.Rule{Merge: schema.Atomic}}
	maps := slices.ContainsFunc(elems, func(e spot) bool { return e.tree.Kind(e.id) == node.Map })
	if maps {
		var err error
		if out.Elem, err = asked(meta, elems); err != nil {
			return nil, err
		}
		out.Elem.Kind = common(elems, node.Map, schema.Map)
	}
	words, key := rules.GetPatchStrategies(), rules.GetPatchMergeKey()
	switch {
	case !slices.Contains(words, "merge"):
	case key != "" && (maps || len(elems) == 0):
		out.Strategic = schema.Rule{Merge: schema.Keyed, Keys: []schema.Key{{Name: key}}, RetainKeys: slices.Contains(words, "retainKeys")}
	case maps:
		return nil, fmt.Errorf("cannot merge lists without merge key for %s", meta.Name())
	default:
		out.Strategic = schema.Rule{Merge: schema.Set}
	}
	return out, nil
}
