package schema

import (
	"errors"
	"fmt"

	"example.com/braid/internal/node"
)

// ErrSchema is the rule that a source breaks which no schema can be made of. Test for
// it with errors.Is; errors.As gives a *node.Error with the path in the schema.
var ErrSchema = errors.New("malformed schema")

// place is the way to a part of a source. It is a chain, not a path, so that sources
// without faults do not pay for paths.
type place struct {
	up   *place // nil at the root
	name string // of the root: what it is, such as "component io.example.Foo"
	elem bool   // the elements of a list
}

func root(name string) *place              { return &place{name: name} }
func (p *place) field(name string) *place  { return &place{up: p, name: name} }
func (p *place) elements(list bool) *place { return &place{up: p, name: "*", elem: list} }

// top is the name of the root.
func (p *place) top() string {
	for p.up != nil {
		p = p.up
	}
	return p.name
}

// fault returns the error of the place: "schema: spec.ports: malformed schema: in
// component io.example.Foo: list-type …".
func (p *place) fault(format string, args ...any) error {
	var path node.Path
	for ; p.up != nil; p = p.up {
		step := node.Step{Field: p.name}
		if p.elem {
			step = node.Step{Elem: true}
		}
		path = append(node.Path{step}, path...)
	}
	return &node.Error{Doc: "schema", Path: path, Offset: -1, Rule: ErrSchema, Detail: "in " + p.name + ": " + fmt.Sprintf(format, args...)}
}
