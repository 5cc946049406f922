package merge

import (
	"fmt"

	"example.com/braid/internal/node"
	"example.com/braid/internal/secret"
)

// Edit is one position at which merged differs from live, and why.
type Edit struct {
	Path   Path
	Case   Case
	Action Action // Take or Clash
	Order  bool   // only the order of the list's elements changes

	Last, Live, Desired Value
}

// Conflict is a position at which the policy says Clash.
type Conflict Edit

// String says what is in conflict, with values but those of Secrets.
func (c Conflict) String() string {
	return fmt.Sprintf("%s: %s: last %s, live %s, desired %s", c.Path, c.Case, c.Last, c.Live, c.Desired)
}

// Value is what one document has at a position.
type Value struct {
	tree   *node.Tree
	id     node.ID
	secret bool
}

// Present reports whether the document has a value there.
func (v Value) Present() bool { return v.tree != nil }

// JSON returns the value, of Secrets too; nil if there is none. Do not log it.
func (v Value) JSON() []byte {
	if v.tree == nil {
		return nil
	}
	return v.tree.Append(nil, v.id)
}

// String returns the value for people: "–" for absence, and "(secret)" for what a
// Secret holds.
func (v Value) String() string {
	switch {
	case v.tree == nil:
		return "–"
	case v.secret:
		return "(secret)"
	}
	return string(v.JSON())
}

// secret reports whether the values of edit i are not for people: those of a
// Secret that are not its type, its name or the like.
func (r *Result) secret(i int32) bool {
	if !secret.Is(r.s.Live) && !secret.Is(r.s.Desired) && !secret.Is(r.s.Last) {
		return false
	}
	p := r.s.Path(i)
	if len(p) == 0 {
		return true
	}
	switch p[0].Field {
	case "data", "stringData":
		return true
	case "metadata":
		return len(p) < 2 || p[1].Field == "annotations" || p[1].Field == "managedFields"
	}
	return false
}
