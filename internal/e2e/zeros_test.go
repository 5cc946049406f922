package e2e

import (
	"reflect"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"example.com/braid/internal/schema"
)

// What the table of built-in kinds says of a field's zero value is what the Go type says that
// a server decodes it to. internal/schema/gen has two kinds by hand, as it does not require
// the modules of their types.
func TestZerosOfOtherModules(t *testing.T) {
	for object, gvk := range map[reflect.Type]schema.GVK{
		reflect.TypeFor[apiextensionsv1.CustomResourceDefinition](): {Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"},
		reflect.TypeFor[apiregistrationv1.APIService]():             {Group: "apiregistration.k8s.io", Version: "v1", Kind: "APIService"},
	} {
		t.Run(gvk.Kind, func(t *testing.T) {
			got, ok := schema.Builtin(gvk.Group, gvk.Version, gvk.Kind)
			if !ok {
				t.Fatal("not in the table")
			}
			want, err := schema.FromType(object)
			if err != nil {
				t.Fatal(err)
			}
			z := zeros{t: t, seen: map[[2]*schema.Type]bool{}}
			z.compare(gvk.Kind, got.Root, want.Root)
			if z.fields < 30 {
				t.Errorf("only %d fields were compared", z.fields)
			}
			t.Logf("%d fields", z.fields)
		})
	}
}

// zeros compares two types of one kind, each pair of them once.
type zeros struct {
	t      *testing.T
	seen   map[[2]*schema.Type]bool
	fields int
}

func (z *zeros) compare(at string, got, want *schema.Type) {
	pair := [2]*schema.Type{got, want}
	if got == nil || want == nil || z.seen[pair] {
		return
	}
	z.seen[pair] = true
	for _, w := range want.Fields {
		name := at + "." + w.Name
		g := got.Field(w.Name)
		if g == nil {
			z.t.Errorf("%s: not in the table", name)
			continue
		}
		z.fields++
		if (g.Zero == schema.ZeroTells) != (w.Zero == schema.ZeroTells) { // of those that a server fills in itself, types say nothing
			z.t.Errorf("%s: zero %d in the table, want %d as the Go type says", name, g.Zero, w.Zero)
		}
		z.compare(name, g.Type, w.Type)
	}
	z.compare(at+"[]", got.Elem, want.Elem)
}
