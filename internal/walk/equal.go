package walk

import (
	"example.com/braid/internal/node"
	"example.com/braid/internal/scalar"
	"example.com/braid/internal/schema"
)

// Equality says when two values are equal.
type Equality uint8

const (
	// Semantic compares by schema: quantities, durations, times and bytes by what
	// they mean, and a field that cannot tell its zero value from absence by neither.
	Semantic Equality = iota
	// Exact compares JSON values: numbers as decimals, strings as they are.
	Exact
)

// relation says what more than equality counts as equal.
type relation uint8

const (
	nullIsAbsent relation = 1 << iota // a null field on the right may be absent on the left
	mayAdd                            // the left may have fields of its own
	exactly      relation = 0
)

func (w *walker) equal(t *schema.Type, x *node.Tree, i node.ID, y *node.Tree, j node.ID) bool {
	return node.Equal(x, i, y, j) || w.Equality == Semantic && w.alike(t, x, i, y, j, exactly)
}

// equalDeclared reports whether live holds what desired declares.
func (w *walker) equalDeclared(t *schema.Type, l, d node.ID) bool {
	if w.Nulls == NullStays {
		return node.SameText(w.Live, l, w.Desired, d) || w.alike(t, w.Live, l, w.Desired, d, nullIsAbsent)
	}
	return node.EqualDeclared(w.Live, l, w.Desired, d) || w.Equality == Semantic && w.alike(t, w.Live, l, w.Desired, d, nullIsAbsent)
}

// covers reports whether live is desired with nothing changed and only fields added.
func (w *walker) covers(t *schema.Type, l, d node.ID) bool {
	if w.Nulls == NullStays {
		return w.alike(t, w.Live, l, w.Desired, d, nullIsAbsent|mayAdd)
	}
	return node.Covers(w.Live, l, w.Desired, d) || w.Equality == Semantic && w.alike(t, w.Live, l, w.Desired, d, nullIsAbsent|mayAdd)
}

// alike compares two values by their type. O(size).
func (w *walker) alike(t *schema.Type, x *node.Tree, i node.ID, y *node.Tree, j node.ID, rel relation) bool {
	w.Work++
	a, b := x.Kind(i), y.Kind(j)
	switch {
	case a == node.Map && b == node.Map:
		return w.alikeMaps(t, x, x.Kids(i), y, y.Kids(j), rel)
	case a == node.List && b == node.List:
		as, bs := x.Kids(i), y.Kids(j)
		if len(as) != len(bs) {
			return false
		}
		for k := range as {
			if !w.alike(elemOf(t), x, as[k], y, bs[k], rel) {
				return false
			}
		}
		return true
	case a >= node.List || b >= node.List:
		return false
	}
	return node.EqualScalars(x, i, y, j) || w.Equality == Semantic && alikeScalars(t, x, i, y, j)
}

func elemOf(t *schema.Type) *schema.Type {
	if t == nil || t.Elem == nil {
		return schema.Unknown
	}
	return t.Elem
}

func alikeScalars(t *schema.Type, x *node.Tree, i node.ID, y *node.Tree, j node.ID) bool {
	a, b := x.Kind(i), y.Kind(j)
	if t.Kind == schema.Quantity && (a == node.String || a == node.Number) && (b == node.String || b == node.Number) {
		return scalar.EqualQuantity(x.Text(i), y.Text(j))
	}
	if a != node.String || b != node.String {
		return false
	}
	switch t.Kind {
	case schema.Duration:
		return scalar.EqualDuration(x.Text(i), y.Text(j))
	case schema.Time:
		return scalar.EqualTime(x.Text(i), y.Text(j))
	case schema.Bytes:
		return scalar.EqualBytes(x.Text(i), y.Text(j))
	}
	return false
}

func (w *walker) alikeMaps(t *schema.Type, x *node.Tree, as []node.ID, y *node.Tree, bs []node.ID, rel relation) bool {
	for len(as) > 0 || len(bs) > 0 {
		i, j := NextField(x, &as, y, &bs)
		tree, id := x, i
		if i == node.None {
			tree, id = y, j
		}
		f := fieldOf(t, tree.Key(id))
		switch {
		case i != node.None && j != node.None && w.alike(f.Type, x, i, y, j, rel):
		case j == node.None && rel&mayAdd != 0:
		case i == node.None && rel&nullIsAbsent != 0 && y.Kind(j) == node.Null && !w.keepsNull(f.Type):
		case w.Equality == Exact:
			return false
		case f.Zero != schema.ZeroTells && (i == node.None || w.isZero(f.Type, x, i)) && (j == node.None || w.isZeroOr(f.Type, y, j, rel)):
		case f.Zero == schema.ZeroIsAuto && rel&mayAdd != 0 && w.isZeroOr(f.Type, y, j, rel): // the server chose
		default:
			return false
		}
	}
	return true
}

// fieldOf returns what a map type knows of a key.
func fieldOf(t *schema.Type, key string) schema.Field {
	if f := t.Field(key); f != nil {
		return *f
	}
	return schema.Field{Type: elemOf(t)}
}

// isZero reports whether a value is the zero value of a field's type.
func (w *walker) isZero(t *schema.Type, x *node.Tree, i node.ID) bool {
	return w.isZeroOr(t, x, i, exactly)
}

// isZeroOr is isZero, but that null fields count for nothing if rel says so.
func (w *walker) isZeroOr(t *schema.Type, x *node.Tree, i node.ID, rel relation) bool {
	switch x.Kind(i) {
	case node.Null:
		return true
	case node.Bool:
		return x.Text(i) == "false"
	case node.Number:
		return node.NumberEqual(x.Text(i), "0")
	case node.String:
		switch text := x.Text(i); t.Kind {
		case schema.Quantity:
			return scalar.EqualQuantity(text, "0")
		case schema.Duration:
			return scalar.EqualDuration(text, "0s")
		case schema.IntOrString, schema.Time:
			return false // "" is another value, or none
		default:
			return text == ""
		}
	case node.List:
		return len(x.Kids(i)) == 0
	}
	for _, kid := range x.Kids(i) {
		f := fieldOf(t, x.Key(kid))
		if rel&nullIsAbsent != 0 && x.Kind(kid) == node.Null && !w.keepsNull(f.Type) {
			continue
		}
		if f.Zero == schema.ZeroTells || !w.isZeroOr(f.Type, x, kid, rel) {
			return false
		}
	}
	return true
}
