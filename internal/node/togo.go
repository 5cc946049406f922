package node

import (
	"encoding/json"
	"strconv"
)

// Map returns the document as unstructured content that shares nothing with the
// tree. Integers that fit are int64 and other numbers float64 where that is the
// same decimal; a number that neither can hold is a json.Number with all digits.
// It is nil if the root is not a map.
func (t *Tree) Map() map[string]any {
	m, _ := t.Value(0).(map[string]any)
	return m
}

// Value returns a subtree as Map does.
func (t *Tree) Value(i ID) any {
	switch t.Kind(i) {
	case Map:
		kids := t.Kids(i)
		m := make(map[string]any, len(kids))
		for _, kid := range kids {
			m[t.Key(kid)] = t.Value(kid)
		}
		return m
	case List:
		kids := t.Kids(i)
		list := make([]any, len(kids))
		for k, kid := range kids {
			list[k] = t.Value(kid)
		}
		return list
	case String:
		return t.Text(i)
	case Bool:
		return t.Text(i) == "true"
	case Number:
		return goNumber(t.Text(i))
	}
	return nil
}

func goNumber(s string) any {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n
	}
	if f, err := strconv.ParseFloat(s, 64); err == nil {
		if NumberEqual(s, strconv.FormatFloat(f, 'e', -1, 64)) {
			return f
		}
	}
	return json.Number(s)
}

// Decode stores the document in the value that obj points to, as encoding/json
// does.
func (t *Tree) Decode(obj any) error {
	return json.Unmarshal(t.JSON(), obj)
}
