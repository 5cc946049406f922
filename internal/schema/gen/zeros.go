package main

import (
	"example.com/braid/internal/kinds"
	"example.com/braid/internal/schema"
)

// zeros sets what fields make of their zero values. OpenAPI does not say it; the Go types
// of the kinds do, for a server decodes objects into them. Fields that the Go types lack
// tell them from absence.
func zeros(api *schema.OpenAPI) error {
	scheme, err := kinds.Scheme()
	if err != nil {
		return err
	}
	seen := map[[2]*schema.Type]bool{}
	for k, t := range scheme.AllKnownTypes() {
		component, ok := api.Kinds[schema.GVK{Group: k.Group, Version: k.Version, Kind: k.Kind}]
		if !ok {
			continue
		}
		s, err := schema.FromType(t)
		if err != nil {
			return err
		}
		takeZeros(api.Types[component], s.Root, seen)
	}
	return nil
}

// takeZeros walks a type beside that of the Go type. Types of one shape share their
// fields, which are those of one struct, so what is set for one holds for all.
func takeZeros(t, from *schema.Type, seen map[[2]*schema.Type]bool) {
	pair := [2]*schema.Type{t, from}
	if t == nil || from == nil || seen[pair] {
		return
	}
	seen[pair] = true
	for i := range t.Fields {
		if f := from.Field(t.Fields[i].Name); f != nil {
			t.Fields[i].Zero = f.Zero
			takeZeros(t.Fields[i].Type, f.Type, seen)
		}
	}
	takeZeros(t.Elem, from.Elem, seen)
}
