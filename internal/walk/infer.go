package walk

import (
	"example.com/braid/internal/node"
	"example.com/braid/internal/schema"
)

// inferred are the lists that are guessed where the schema knows nothing, by the fields
// that are known to name elements, the likeliest first.
var inferred = func() (out []*schema.Type) {
	for _, key := range []string{"name", "key", "id", "type"} {
		rule := schema.Rule{Merge: schema.Keyed, Keys: []schema.Key{{Name: key}}}
		out = append(out, &schema.Type{
			Kind: schema.List, Elem: schema.Unknown,
			Strategic: rule, Structured: rule, Served: &schema.Rule{Merge: schema.Atomic},
		})
	}
	return out
}()

// infer returns the type of a list that no schema knows, where live has it, and desired, or
// last alone if desired says nothing: one that tells apart by a key all elements in each
// document that has the list. It is nil if none does.
func (w *walker) infer(e *Edit) *schema.Type {
	isList := func(t *node.Tree, i node.ID) bool { return i != node.None && t.Kind(i) == node.List }
	last := isList(w.Last, e.Last)
	desired := isList(w.Desired, e.Desired)
	if !isList(w.Live, e.Live) || !desired && (e.Desired != node.None || !last) {
		return nil
	}
	for _, t := range inferred {
		key := t.Strategic.Keys[0].Name
		if apart(w.Live, e.Live, key) && (!desired || apart(w.Desired, e.Desired, key)) && (!last || apart(w.Last, e.Last, key)) {
			return t
		}
	}
	return nil
}

// apart reports whether all elements of a list have a scalar under key, no two the same.
func apart(t *node.Tree, list node.ID, key string) bool {
	seen := make(map[string]bool, len(t.Kids(list)))
	for _, elem := range t.Kids(list) {
		f := t.Field(elem, key)
		if f == node.None || t.Kind(f) == node.Null || t.Kind(f) >= node.List {
			return false
		}
		name := []byte{byte(t.Kind(f))}
		if t.Kind(f) == node.Number {
			name = node.AppendNumberKey(name, t.Text(f))
		} else {
			name = append(name, t.Text(f)...)
		}
		if seen[string(name)] {
			return false
		}
		seen[string(name)] = true
	}
	return true
}
