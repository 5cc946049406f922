package schema

import "example.com/braid/internal/node"

// Shape says what may be left out of objects of this kind that are merged, where all have the
// same: what no rule of a merge looks at unless it differs somewhere.
func (s *Schema) Shape() node.Shape { return objectShape{s.Root} }

// objectShape is that of the root: an object's identity stays.
type objectShape struct{ t *Type }

func (o objectShape) Below(key string) (node.Shape, bool) {
	switch key {
	case "apiVersion", "kind":
		return nil, false
	case "metadata":
		return metadataShape{o.t.childOf(key)}, false
	}
	return mapShape(o).Below(key)
}

// metadataShape leaves out what there can be much of.
type metadataShape struct{ t *Type }

func (m metadataShape) Below(key string) (node.Shape, bool) {
	switch key {
	case "labels", "annotations", "managedFields":
		return mapShape(m).Below(key)
	}
	return nil, false
}

type mapShape struct{ t *Type }

func (m mapShape) Below(key string) (node.Shape, bool) {
	if m.t.StringData {
		return nil, false // one of its maps folds into another
	}
	f := m.t.Field(key)
	choice := m.t.Union || m.t.Strategic.RetainKeys || f != nil && f.Alias != "" // its fields look at each other
	child := m.t.childOf(key)
	if child.Strategic.Merge == Atomic || child.Structured.Merge == Atomic {
		return nil, !choice
	}
	return mapShape{child}, !choice
}

// childOf returns the type of the value under a key.
func (t *Type) childOf(key string) *Type {
	if child, _ := t.Lookup(key); child != nil {
		return child
	}
	return Unknown
}
