package twin

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	gvk "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"example.com/braid/internal/dialect"
	"example.com/braid/internal/kinds"
	"example.com/braid/internal/node"
	"example.com/braid/internal/schema"
	"example.com/braid/internal/walk"
)

var every = flag.Bool("every", false, "change every field of every kind, also those of types that other kinds have too")

// rules are what kind and meta are to the Go type Kind.
type rules struct {
	schema *schema.Schema
	meta   strategicpatch.PatchMetaFromStruct
}

// under judges by the rules of another kind. Tests of this package do not run in
// parallel.
func (r rules) under(f func()) {
	k, m := kind, meta
	defer func() { kind, meta = k, m }()
	kind, meta = r.schema, r.meta
	f()
}

// builtinRules are the rules of built-in kinds, by group, version and kind.
type builtinRules struct {
	scheme *runtime.Scheme
	known  map[gvk.GroupVersionKind]*rules
}

func newBuiltinRules(t *testing.T) *builtinRules {
	t.Helper()
	scheme, err := kinds.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	return &builtinRules{scheme, map[gvk.GroupVersionKind]*rules{}}
}

// of returns the rules of an object, or nil if its kind is not served any more or
// not built in.
func (b *builtinRules) of(t *testing.T, object map[string]any) *rules {
	t.Helper()
	version, _ := object["apiVersion"].(string)
	name, _ := object["kind"].(string)
	k := gvk.FromAPIVersionAndKind(version, name)
	if r, ok := b.known[k]; ok {
		return r
	}
	b.known[k] = nil
	s, ok := schema.Builtin(k.Group, k.Version, k.Kind)
	if !ok || !b.scheme.Recognizes(k) {
		return nil
	}
	meta, err := strategicpatch.NewPatchMetaFromStruct(reflect.New(b.scheme.AllKnownTypes()[k]).Interface())
	if err != nil {
		t.Fatal(err)
	}
	b.known[k] = &rules{s, meta}
	return b.known[k]
}

// station is one position of an object, and the steps to it.
type station struct {
	path  []any // field names and indexes
	typ   *schema.Type
	value any
	isKey bool
}

// stations returns the positions of an object at which seen has no such field of such
// a type yet.
func stations(t *schema.Type, v any, path []any, key string, seen map[string]bool, out []station) []station {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(keysOf(v)) {
			c := fieldOf(t, k).Type
			p := append(slices.Clone(path), k)
			id := strings.Join([]string{pointer(t), k}, " ")
			if seen[id] && !*every {
				continue
			}
			seen[id] = true
			out = append(out, station{p, c, v[k], k == key})
			out = stations(c, v[k], p, "", seen, out)
		}
	case []any:
		name := ""
		if t.Strategic.Merge == schema.Keyed {
			name = t.Strategic.Keys[0].Name
		}
		for i, e := range v {
			out = stations(elemOf(t), e, append(slices.Clone(path), i), name, seen, out)
		}
	}
	return out
}

// pointer names a type by its fields, which types that differ in their rules share.
func pointer(t *schema.Type) string {
	if len(t.Fields) == 0 {
		return reflect.ValueOf(t).String()
	}
	text, _ := json.Marshal(reflect.ValueOf(t.Fields).Pointer())
	return string(text)
}

// edit returns a copy of v in which f has changed what stands at path.
func edit(v any, path []any, f func(m map[string]any, key string)) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			out[k] = e
		}
		k := path[0].(string)
		if len(path) == 1 {
			f(out, k)
		} else {
			out[k] = edit(v[k], path[1:], f)
		}
		return out
	case []any:
		out := slices.Clone(v)
		i := path[0].(int)
		out[i] = edit(v[i], path[1:], f)
		return out
	}
	return v
}

// other returns a value of v's type that differs from it.
func other(v any) any {
	switch v := v.(type) {
	case string:
		return v + "x"
	case int64:
		return v + 1
	case bool:
		return !v
	case []any:
		if len(v) > 0 {
			return []any{}
		}
	}
	return nil
}

// Each field of each built-in kind is set, changed, removed by us, and changed by
// somebody else: their patch and ours give the same object, or the catalogue says
// why not.
func TestUpstreamEveryField(t *testing.T) {
	b := newBuiltinRules(t)
	seen := map[string]bool{}
	objects, merges := 0, 0
	used := map[string]int{}
	for _, file := range kinds.Samples(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		full, err := node.Parse(text, node.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		object := full.Map()
		r := b.of(t, object)
		if r == nil {
			continue
		}
		objects++
		for n, s := range stations(r.schema.Root, object, nil, "", seen, nil) {
			if s.isKey || n%8 != 0 && !*every {
				continue // an element without its key is another story
			}
			without := edit(object, s.path, func(m map[string]any, k string) { delete(m, k) }).(map[string]any)
			cases := map[string]triple{
				"set":    {without, without, object},
				"remove": {object, object, without},
			}
			if v := other(s.value); v != nil {
				changed := edit(object, s.path, func(m map[string]any, k string) { m[k] = v }).(map[string]any)
				cases["change"] = triple{object, object, changed}
				cases["drift"] = triple{object, changed, object}
			}
			for name, x := range cases {
				merges++
				j := newJudge()
				r.under(func() {
					x.against(j)
					x.mustHold(t, *every)
				})
				for k, n := range j.used {
					used[k] += n
				}
				if len(j.open) > 0 {
					t.Errorf("%s: %s %v: %v", filepath.Base(file), name, s.path, j.open)
				}
			}
		}
	}
	t.Logf("%d kinds, %d fields, %d merges; explained by the catalogue: %v", objects, len(seen), merges, used)
	if objects < 90 || merges < 900 {
		t.Errorf("only %d kinds and %d merges", objects, merges)
	}
}

// mustHold fails unless our patch, applied by their applier, gives our merge and,
// if asked, all laws hold.
func (x triple) mustHold(t *testing.T, laws bool) {
	t.Helper()
	if laws {
		if what := x.holds(walk.Rules{Schema: kind, Policy: &walk.Apply}, nil, theirs); what != "" {
			t.Errorf("%s\n%.2000s", what, x)
		}
		return
	}
	sc, merged, ok := x.merge(newJudge(), policies[0].table)
	if !ok {
		return
	}
	patch, err := dialect.EncodeStrategic(nil, &sc, 0)
	if err != nil {
		t.Errorf("%v\n%.2000s", err, x)
		return
	}
	out, err := theirs(tree(x.live).JSON(), patch)
	if got, _ := parseMap(out); err != nil || !Equal(got, merged) {
		t.Errorf("their applier makes of our patch %s\n%s %v\n%.2000s", patch, out, err, x)
	}
}

// The manifests of real projects, each with random changes by us and by somebody
// else.
func TestUpstreamCorpus(t *testing.T) {
	b := newBuiltinRules(t)
	objects := 0
	used := map[string]int{}
	for _, folder := range []string{"", "live", "pairs"} {
		for name, doc := range documents(t, kinds.Corpus(t, folder)) {
			object := doc.Map()
			r := b.of(t, object)
			if r == nil {
				continue
			}
			objects++
			random := NewRandom(uint64(objects))
			for range 2 {
				x := triple{object, random.Vary(r.schema, object), random.Vary(r.schema, object)}
				j := newJudge()
				r.under(func() { x.against(j) })
				j.count()
				for k, n := range j.used {
					used[k] += n
				}
				if len(j.open) > 0 {
					t.Errorf("%s: %v", name, j.open)
				}
			}
		}
	}
	t.Logf("%d objects; explained by the catalogue: %v", objects, used)
	if objects < 500 {
		t.Errorf("only %d objects", objects)
	}
}
