// Package secret knows what is particular to the kind Secret: what tells its objects, and
// that stringData is another way to write data.
package secret

import (
	"encoding/base64"

	"example.com/braid/internal/node"
	"example.com/braid/internal/walk"
)

// Is reports whether a document, which may be nil, is a Secret.
func Is(t *node.Tree) bool {
	is := func(field, want string) bool {
		i := t.Lookup(field)
		return i != node.None && t.Text(i) == want
	}
	return t != nil && is("kind", "Secret") && is("apiVersion", "v1")
}

// Fold returns a Secret as a server stores it: what stringData holds stands
// in data, as base64. It returns t itself where there is nothing to fold, or where what
// stands there is not of the right type and the walk will say so.
func Fold(t *node.Tree) *node.Tree {
	if t == nil || t.Kind(0) != node.Map {
		return t
	}
	text, data := t.Field(0, "stringData"), t.Field(0, "data")
	if text == node.None || t.Kind(text) != node.Map || data != node.None && t.Kind(data) != node.Map && t.Kind(data) != node.Null {
		return t
	}
	var fields []node.ID
	if data != node.None {
		fields = t.Kids(data)
	}
	out := appendFolded([]byte(`{"data":`), t, fields, t.Kids(text))
	if out == nil {
		return t
	}
	for _, f := range t.Kids(0) {
		if f != text && f != data {
			out = append(out, ',')
			out = t.Append(t.AppendKey(out, f), f)
		}
	}
	folded, err := node.Parse(append(out, '}'), node.Limits{})
	if err != nil {
		return t // over a limit
	}
	return folded
}

// appendFolded appends the map data with the texts of stringData, which win. It is nil
// if one is no string.
func appendFolded(dst []byte, t *node.Tree, data, texts []node.ID) []byte {
	dst = append(dst, '{')
	start := len(dst)
	for len(data) > 0 || len(texts) > 0 {
		l, d := walk.NextField(t, &data, t, &texts)
		if len(dst) > start {
			dst = append(dst, ',')
		}
		if d == node.None {
			dst = t.Append(t.AppendKey(dst, l), l)
			continue
		}
		dst = t.AppendKey(dst, d)
		switch t.Kind(d) {
		case node.Null:
			dst = append(dst, "null"...)
		case node.String:
			dst = append(dst, '"')
			dst = base64.StdEncoding.AppendEncode(dst, []byte(t.Text(d)))
			dst = append(dst, '"')
		default:
			return nil
		}
	}
	return append(dst, '}')
}
