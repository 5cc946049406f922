package walk

import (
	"fmt"

	"example.com/braid/internal/node"
	"example.com/braid/internal/schema"
)

// check reports whether desired's value at i can be taken: each value has a type
// that its schema allows, and the elements of keyed lists have their keys.
func (w *walker) check(t *schema.Type, i node.ID) bool {
	if !w.fits(t, i) {
		return false
	}
	switch w.Desired.Kind(i) {
	case node.Map:
		for _, kid := range w.Desired.Kids(i) {
			child, _ := t.Lookup(w.Desired.Key(kid))
			if child == nil {
				child = schema.Unknown
			}
			if !w.check(child, kid) {
				return false
			}
		}
	case node.List:
		if t.Kind != schema.List {
			return true
		}
		rule := t.Rule(w.Model)
		for _, kid := range w.Desired.Kids(i) {
			if rule.Merge == schema.Keyed && !w.keyed(rule.Keys, kid) || !w.check(t.Elem, kid) {
				return false
			}
		}
	}
	return true
}

// keyed reports whether an element of desired has the key fields that it needs.
func (w *walker) keyed(keys []schema.Key, elem node.ID) bool {
	if k := w.Desired.Kind(elem); k != node.Map {
		return w.fail(elem, node.ErrType, "want a map with field %q, got a %s", keys[0].Name, k)
	}
	if nameOf(w.Desired, elem, keys) != node.None {
		return true
	}
	return w.fail(elem, ErrKey, "want field %q with a scalar", keys[0].Name)
}

// fits reports whether desired's value at i has a JSON type that t allows.
func (w *walker) fits(t *schema.Type, i node.ID) bool {
	got := w.Desired.Kind(i)
	ok := true
	switch t.Kind {
	case schema.Map:
		ok = got == node.Map
	case schema.List:
		ok = got == node.List
	case schema.String, schema.Duration, schema.Time, schema.Bytes:
		ok = got == node.String
	case schema.Bool:
		ok = got == node.Bool
	case schema.Integer, schema.Number:
		ok = got == node.Number
	case schema.Quantity, schema.IntOrString:
		ok = got == node.Number || got == node.String
	}
	if ok || got == node.Null {
		return true
	}
	return w.fail(i, node.ErrType, "the schema wants %s, this is a %s", want(t.Kind), got)
}

func want(k schema.Kind) string {
	return map[schema.Kind]string{
		schema.Map: "a map", schema.List: "a list", schema.String: "a string", schema.Bool: "a boolean",
		schema.Integer: "an integer", schema.Number: "a number", schema.Quantity: "a quantity",
		schema.IntOrString: "an integer or a string", schema.Duration: "a duration", schema.Time: "a time",
		schema.Bytes: "a base64 string",
	}[k]
}

// fail records the first error of desired.
func (w *walker) fail(i node.ID, rule error, format string, args ...any) bool {
	if w.err == nil {
		w.err = &node.Error{Doc: "desired", Path: w.Desired.Path(i), Offset: -1, Rule: rule, Detail: fmt.Sprintf(format, args...)}
	}
	return false
}
