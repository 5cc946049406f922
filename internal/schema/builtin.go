package schema

import (
	"cmp"
	_ "embed"
	"maps"
	"slices"
	"sync"
)

//go:generate go run ./gen

// builtin.bin is made by the program in gen from the OpenAPI v3 documents of the
// module k8s.io/kubernetes.
//
//go:embed builtin.bin
var builtinTable string

// builtin guards the decoded part of the table. It only grows, and what it has
// given away it never changes.
var builtin struct {
	sync.Mutex
	table   *table
	schemas map[GVK]*Schema
}

func openBuiltin() *table {
	if builtin.table == nil {
		builtin.table = openTable(builtinTable)
		builtin.schemas = map[GVK]*Schema{}
	}
	return builtin.table
}

// Builtin returns the schema of a built-in kind, such as "apps", "v1", "Deployment"; the
// group of a Pod is "". When a kind is first asked for, what it needs of the table is
// decoded: O(types that it reaches), and once O(table) to open it. Kinds share the
// types that are alike. The same kind gives the same pointer. Safe for concurrent use.
func Builtin(group, version, kind string) (*Schema, bool) {
	k := GVK{group, version, kind}
	builtin.Lock()
	defer builtin.Unlock()
	t := openBuiltin()
	if s, ok := builtin.schemas[k]; ok {
		return s, true
	}
	n, ok := t.kinds[k]
	if !ok {
		return nil, false
	}
	s := &Schema{Name: k.String(), Root: t.typ(n)}
	builtin.schemas[k] = s
	return s, true
}

// BuiltinKinds returns the kinds that Builtin knows, sorted.
func BuiltinKinds() []GVK {
	builtin.Lock()
	defer builtin.Unlock()
	return slices.SortedFunc(maps.Keys(openBuiltin().kinds), compareGVK)
}

func compareGVK(a, b GVK) int {
	return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Kind, b.Kind))
}

// BuiltinVersion returns the version of Kubernetes that the table is made from.
func BuiltinVersion() string {
	builtin.Lock()
	defer builtin.Unlock()
	return openBuiltin().version
}
