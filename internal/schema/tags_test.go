package schema_test

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"example.com/braid/internal/kinds"
	"example.com/braid/internal/schema"
)

// upstream walks a Go type beside its schema and asks apimachinery, which is what an
// API server does, for the patch tags of every field.
type upstream struct {
	t      *testing.T
	seen   map[reflect.Type]bool
	fields int
	tagged map[string]int
}

func (u *upstream) same(typ reflect.Type, s *schema.Type) {
	for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice || typ.Kind() == reflect.Map {
		if typ.Kind() != reflect.Pointer {
			if s = s.Elem; s == nil { // bytes, or a type that writes its own JSON
				return
			}
		}
		typ = typ.Elem()
	}
	if typ.Kind() != reflect.Struct || s.Kind != schema.Map || u.seen[typ] {
		return
	}
	u.seen[typ] = true
	for _, f := range s.Fields {
		u.fields++
		inner, meta, err := strategicpatch.PatchMetaFromStruct{T: typ}.LookupPatchMetadataForStruct(f.Name)
		if err != nil {
			u.t.Errorf("%s.%s: %v", typ, f.Name, err)
			continue
		}
		words := meta.GetPatchStrategies()
		got, has := f.Type.Strategic, func(word string) bool { return slices.Contains(words, word) }
		want := schema.Rule{RetainKeys: has("retainKeys")}
		switch list := f.Type.Kind == schema.List; {
		case has("merge") && list && meta.GetPatchMergeKey() != "":
			want.Merge, want.Keys = schema.Keyed, []schema.Key{{Name: meta.GetPatchMergeKey()}}
		case has("merge") && list:
			want.Merge = schema.Set
		case has("replace"), list:
			want.Merge = schema.Atomic
		}
		if !reflect.DeepEqual(got, want) {
			u.t.Errorf("%s.%s: %+v, want %+v", typ, f.Name, got, want)
		}
		if tag := strings.Join(words, ","); tag != "" {
			u.tagged[tag]++
		}
		u.same(inner.(strategicpatch.PatchMetaFromStruct).T, f.Type)
	}
}

// FromType reads every struct of k8s.io/api as apimachinery does, those of versions
// that are not served any more too.
func TestTagsAgreeWithUpstream(t *testing.T) {
	scheme, err := kinds.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	u := &upstream{t: t, seen: map[reflect.Type]bool{}, tagged: map[string]int{}}
	all := scheme.AllKnownTypes()
	for _, k := range slices.SortedFunc(maps.Keys(all), byName) {
		s, err := schema.FromType(all[k])
		if err != nil {
			t.Errorf("%s: %v", k, err)
			continue
		}
		u.same(all[k], s.Root)
	}
	t.Logf("%d structs with %d fields; tags: %v", len(u.seen), u.fields, u.tagged)
	if len(u.seen) < 900 {
		t.Errorf("only %d structs compared", len(u.seen))
	}
}
