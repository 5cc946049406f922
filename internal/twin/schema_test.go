package twin

import (
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"example.com/braid/internal/node"
	"example.com/braid/internal/schema"
)

// kind is the schema of Kind, and meta what upstream reads from the same tags.
// Ports have structured keys too, as container ports do.
var (
	kind    = withFinePorts(fromTags(reflect.TypeFor[Kind](), "", ""))
	meta, _ = strategicpatch.NewPatchMetaFromStruct(&Kind{})
)

// theirs applies a patch as apimachinery does.
func theirs(live, patch []byte) ([]byte, error) {
	return strategicpatch.StrategicMergePatchUsingLookupPatchMeta(live, patch, meta)
}

func withFinePorts(root *schema.Type) *schema.Schema {
	out := *root
	out.Fields = slices.Clone(root.Fields)
	for i, f := range out.Fields {
		if f.Name == "ports" {
			ports := *f.Type
			ports.Structured = schema.Rule{Merge: schema.Keyed, Keys: []schema.Key{{Name: "port"}, {Name: "protocol", Default: `"a"`}}}
			out.Fields[i].Type = &ports
		}
	}
	return &schema.Schema{Name: "Kind", Root: &out}
}

func fromTags(t reflect.Type, strategy, key string) *schema.Type {
	out := &schema.Type{}
	switch t.Kind() {
	case reflect.Pointer:
		return fromTags(t.Elem(), strategy, key)
	case reflect.Struct:
		out.Kind = schema.Map
		for i := range t.NumField() {
			f := t.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			out.Fields = append(out.Fields, schema.Field{Name: name, Type: fromTags(f.Type, f.Tag.Get("patchStrategy"), f.Tag.Get("patchMergeKey"))})
		}
		slices.SortFunc(out.Fields, func(x, y schema.Field) int { return strings.Compare(x.Name, y.Name) })
		if strategy == "replace" {
			out.Strategic.Merge = schema.Atomic
		}
	case reflect.Map:
		out.Kind, out.Elem = schema.Map, fromTags(t.Elem(), "", "")
	case reflect.Slice:
		out.Kind, out.Elem = schema.List, fromTags(t.Elem(), "", "")
		out.Strategic.Merge = schema.Atomic
		if strings.Contains(strategy, "merge") {
			out.Strategic.Merge = schema.Set
			if key != "" {
				out.Strategic.Merge, out.Strategic.Keys = schema.Keyed, []schema.Key{{Name: key}}
			}
		}
	case reflect.String:
		out.Kind = schema.String
	case reflect.Int64:
		out.Kind = schema.Integer
	}
	out.Strategic.RetainKeys = strings.Contains(strategy, "retainKeys")
	return out
}

func parse(text string) *node.Tree {
	t, err := node.Parse([]byte(text), node.Limits{})
	if err != nil {
		panic(err)
	}
	return t
}
