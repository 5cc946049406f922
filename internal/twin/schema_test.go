package twin

import (
	"fmt"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"example.com/braid/internal/node"
	"example.com/braid/internal/schema"
)

// kind is the schema of Kind, and meta what upstream reads from the same tags.
// Ports have structured keys too, as container ports do.
var (
	kind    = withFacts(schema.FromType(reflect.TypeFor[Kind]()))
	meta, _ = strategicpatch.NewPatchMetaFromStruct(&Kind{})
)

// theirs applies a patch as apimachinery does, which can panic.
func theirs(live, patch []byte) (result []byte, err error) {
	defer contain(&err)
	return strategicpatch.StrategicMergePatchUsingLookupPatchMeta(live, patch, meta)
}

func contain(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("panic: %v", r)
	}
}

// withFacts adds what no tag can say.
func withFacts(s *schema.Schema, err error) *schema.Schema {
	if err != nil {
		panic(err)
	}
	out := *s.Root
	out.Fields = slices.Clone(out.Fields)
	for i, f := range out.Fields {
		switch f.Name {
		case "ports":
			ports := *f.Type
			ports.Structured = schema.Rule{Merge: schema.Keyed, Keys: []schema.Key{{Name: "port"}, {Name: "protocol", Default: `"a"`}}}
			out.Fields[i].Type = &ports
		case "name":
			out.Fields[i].Alias = "alias"
		case "alias":
			out.Fields[i].Alias = "name"
		case "either":
			f.Type.Union = true // eithers have the same elements
		case "scalars":
			f.Type.Field("auto").Zero = schema.ZeroIsAuto
		}
	}
	return &schema.Schema{Name: s.Name, Root: &out}
}

func parse(text string) *node.Tree {
	t, err := node.Parse([]byte(text), node.Limits{})
	if err != nil {
		panic(err)
	}
	return t
}
