package walk

import (
	"errors"

	"example.com/braid/internal/node"
	"example.com/braid/internal/schema"
)

// ErrNull is the rule that desired has no nulls, where nulls are refused.
var ErrNull = errors.New("null in a field")

// keepsNull reports whether null is a value at a position of type t.
func (r *Rules) keepsNull(t *schema.Type) bool {
	return r.Nulls == NullStays && (t.Nullable || t.Kind == schema.Any)
}

// noNulls fails the walk if a field of desired is null. O(size).
func (w *walker) noNulls() bool {
	for i := range node.ID(w.Desired.Len()) {
		if w.Desired.Kind(i) == node.Null && i > 0 && w.Desired.Kind(w.Desired.Parent(i)) == node.Map {
			return w.fail(i, ErrNull, "")
		}
	}
	return true
}

// KeepsNull reports whether a value of desired has a null that is to be stored as the
// field of a map; inLists says whether those inside lists count.
func (s *Script) KeepsNull(t *schema.Type, i node.ID, inLists bool) bool {
	if s.Nulls != NullStays {
		return false
	}
	switch s.Desired.Kind(i) {
	case node.Null:
		return s.Desired.Kind(s.Desired.Parent(i)) == node.Map && s.keepsNull(t)
	case node.List:
		for _, kid := range s.Desired.Kids(i) {
			if inLists && s.KeepsNull(elemOf(t), kid, true) {
				return true
			}
		}
	case node.Map:
		for _, kid := range s.Desired.Kids(i) {
			if s.KeepsNull(fieldOf(t, s.Desired.Key(kid)).Type, kid, inLists) {
				return true
			}
		}
	}
	return false
}

// AppendDesired appends a value of desired without the null fields that declare
// absence.
func (s *Script) AppendDesired(dst []byte, t *schema.Type, i node.ID) []byte {
	if s.Nulls != NullStays {
		return s.Desired.AppendDeclared(dst, i)
	}
	open, shut := byte('{'), byte('}')
	switch s.Desired.Kind(i) {
	case node.List:
		open, shut = '[', ']'
	case node.Map:
	default:
		return s.Desired.Append(dst, i)
	}
	dst = append(dst, open)
	start := len(dst)
	for _, kid := range s.Desired.Kids(i) {
		child := elemOf(t)
		if open == '{' {
			if child = fieldOf(t, s.Desired.Key(kid)).Type; s.Desired.Kind(kid) == node.Null && !s.keepsNull(child) {
				continue
			}
		}
		if len(dst) > start {
			dst = append(dst, ',')
		}
		if open == '{' {
			dst = s.Desired.AppendKey(dst, kid)
		}
		dst = s.AppendDesired(dst, child, kid)
	}
	return append(dst, shut)
}
