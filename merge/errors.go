package merge

import (
	"errors"
	"fmt"
	"strings"

	"example.com/braid/internal/dialect"
	"example.com/braid/internal/node"
	"example.com/braid/internal/walk"
)

// Error says which document broke which rule, and where. It never quotes a value.
type Error = node.Error

// Path is the way to a position. Its String is spec.containers[name=app].image.
type Path = node.Path

// Step is one move of a Path.
type Step = node.Step

// The rules an input can break, for errors.Is.
var (
	ErrSyntax        = node.ErrSyntax           // not JSON
	ErrYAML          = node.ErrYAML             // not YAML, or several documents
	ErrDuplicateKey  = node.ErrDuplicateKey     // a map has a key twice
	ErrLimit         = node.ErrLimit            // too large or too deep
	ErrType          = node.ErrType             // a value of a type the schema does not allow
	ErrValue         = node.ErrValue            // a Go value without a JSON form
	ErrKey           = walk.ErrKey              // an element of desired without its merge key
	ErrInexpressible = dialect.ErrInexpressible // the patch format cannot say this
	ErrDirective     = dialect.ErrDirective     // a directive that an API server refuses
	ErrNoKey         = dialect.ErrNoKey         // a patch needs a merge key that an element lacks
	ErrUnknownField  = dialect.ErrUnknown       // a patch merges a field that the schema lacks
	ErrOrder         = dialect.ErrOrder         // a patch list contradicts its $setElementOrder
	ErrNull          = walk.ErrNull             // a null in desired, where nulls are refused
	ErrPointer       = dialect.ErrPointer       // a JSON Pointer that leads nowhere
	ErrTest          = dialect.ErrTest          // a test operation of a JSON Patch failed
	ErrOperation     = dialect.ErrOperation     // a malformed operation of a JSON Patch
	ErrOption        = errors.New("invalid option")
	ErrNoSchema      = errors.New("no schema for this kind")
	ErrConflict      = errors.New("conflict")
)

// ConflictError is returned where a Result with conflicts is asked for a patch or
// a merged object.
type ConflictError struct{ Conflicts []Conflict }

// Error lists the conflicts, with values but those of Secrets.
func (e *ConflictError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d conflicts", len(e.Conflicts))
	if len(e.Conflicts) == 1 {
		b.Reset()
		b.WriteString("1 conflict")
	}
	for _, c := range e.Conflicts {
		b.WriteString("\n  ")
		b.WriteString(c.String())
	}
	return b.String()
}

// Is makes errors.Is(err, ErrConflict) true.
func (e *ConflictError) Is(target error) bool { return target == ErrConflict }

// detach copies the values out of trees that are about to be reused.
func (e *ConflictError) detach() {
	for i := range e.Conflicts {
		c := &e.Conflicts[i]
		for _, v := range []*Value{&c.Last, &c.Live, &c.Desired} {
			if v.tree != nil {
				v.tree, v.id = v.tree.Subtree(v.id), 0
			}
		}
	}
}
