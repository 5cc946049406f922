package node

// Equal reports whether two subtrees are the same JSON value: numbers as
// decimals, maps without regard to the order of their keys. O(size) of the
// smaller; it allocates only for strings that were written with escapes.
func Equal(t *Tree, i ID, u *Tree, j ID) bool {
	return SameText(t, i, u, j) || compare(t, i, u, j, exactly)
}

// SameScalar reports whether two nodes are one scalar, written the same way. Other
// pairs may be equal too.
func SameScalar(t *Tree, i ID, u *Tree, j ID) bool {
	a, b := &t.nodes[i], &u.nodes[j]
	return a.kind < List && a.kind == b.kind && (a.flags^b.flags)&(escText|rawText) == 0 && a.val.n == b.val.n && t.text(a.val) == u.text(b.val)
}

// SameFlat reports whether two maps are the same and hold only scalars but null, each
// written the same way. Other pairs may be equal too.
func SameFlat(t *Tree, i ID, u *Tree, j ID) bool {
	a, b := t.Kids(i), u.Kids(j)
	return len(a) == len(b) && SameFields(t, a, u, b) == len(a)
}

// SameFields counts the fields with which two maps, whose fields a and b are, begin
// alike: scalars but null, each written the same way.
func SameFields(t *Tree, a []ID, u *Tree, b []ID) int {
	n := min(len(a), len(b))
	for k := range n {
		x, y := &t.nodes[a[k]], &u.nodes[b[k]]
		if x.prefix != y.prefix || compareRest(t, a[k], u, b[k]) != 0 || x.kind == Null || !SameScalar(t, a[k], u, b[k]) {
			return k
		}
	}
	return n
}

// SameText reports whether two lists or maps were parsed from the same bytes. Other
// pairs may be equal too. It costs no more than to compare that text.
func SameText(t *Tree, i ID, u *Tree, j ID) bool {
	a, b := &t.nodes[i], &u.nodes[j]
	if a.kind != b.kind || a.kind < List || a.val.n != b.val.n || t.src == "" || u.src == "" {
		return false
	}
	from, to, at := int(a.start), t.textEnd(i), int(b.start)
	return to > from && at+to-from <= len(u.src) && t.src[from:to] == u.src[at:at+to-from]
}

// source returns from where to where a list or map stands in the text of its document, or
// nothing if that is not known. O(depth).
func (t *Tree) source(i ID) (from, to int) {
	if n := &t.nodes[i]; n.kind >= List && t.src != "" {
		if end := t.textEnd(i); end > 0 {
			return int(n.start), end
		}
	}
	return 0, 0
}

// textEnd returns where the text of a list or map ends, or 0 if there is white space
// before one of the brackets there. O(depth).
func (t *Tree) textEnd(i ID) int {
	at := t.nodes[i].end - 1 // the last in the text
	n := &t.nodes[at]
	end := int(n.val.off + n.val.n)
	switch {
	case n.kind >= List:
		end = int(n.start) + 1
	case n.kind == String:
		end++ // the quote
		fallthrough
	default:
		at = n.parent
	}
	for ; end < len(t.src) && (t.src[end] == ']' || t.src[end] == '}'); at = t.nodes[at].parent {
		if end++; at == i {
			return end
		}
	}
	return 0
}

// EqualScalars is Equal for two nodes of which one is a scalar.
func EqualScalars(t *Tree, i ID, u *Tree, j ID) bool {
	a, b := &t.nodes[i], &u.nodes[j]
	switch {
	case a.kind != b.kind || a.kind >= List:
		return false
	case (a.flags|b.flags)&rawText != 0:
		return t.Text(i) == u.Text(j)
	}
	x, y := t.text(a.val), u.text(b.val)
	return x == y || a.kind == Number && NumberEqual(x, y)
}

// EqualDeclared reports whether live holds the value that desired declares. A
// null field of desired declares absence, which an absent field of live meets.
func EqualDeclared(live *Tree, i ID, desired *Tree, j ID) bool {
	return SameText(live, i, desired, j) || compare(live, i, desired, j, nullIsAbsent)
}

// Covers reports whether live is desired with nothing changed and only fields
// added, at any depth. Lists must have the same length. It tells a server's
// defaults inside an atomic value from somebody's change of it.
func Covers(live *Tree, i ID, desired *Tree, j ID) bool {
	return compare(live, i, desired, j, nullIsAbsent|mayAdd)
}

type relation uint8

const (
	nullIsAbsent relation = 1 << iota // a null field on the right may be absent on the left
	mayAdd                            // the left may have fields of its own
	exactly      relation = 0
)

func compare(t *Tree, i ID, u *Tree, j ID, rel relation) bool {
	a, b := &t.nodes[i], &u.nodes[j]
	if a.kind != b.kind {
		return false
	}
	switch a.kind {
	case Number:
		return NumberEqual(t.text(a.val), u.text(b.val))
	case List:
		return compareLists(t, t.Kids(i), u, u.Kids(j), rel)
	case Map:
		return compareMaps(t, t.Kids(i), u, u.Kids(j), rel)
	}
	if (a.flags|b.flags)&rawText != 0 {
		return t.Text(i) == u.Text(j)
	}
	return t.text(a.val) == u.text(b.val)
}

func compareLists(t *Tree, left []ID, u *Tree, right []ID, rel relation) bool {
	if len(left) != len(right) {
		return false
	}
	for k := range left {
		if !compare(t, left[k], u, right[k], rel) {
			return false
		}
	}
	return true
}

func compareMaps(t *Tree, left []ID, u *Tree, right []ID, rel relation) bool {
	if rel == exactly && len(left) != len(right) {
		return false
	}
	for _, j := range right {
		order := -1
		for len(left) > 0 {
			if order = CompareKeys(t, left[0], u, j); order >= 0 {
				break
			}
			if rel&mayAdd == 0 {
				return false
			}
			left = left[1:]
		}
		switch {
		case len(left) > 0 && order == 0:
			if !compare(t, left[0], u, j, rel) {
				return false
			}
			left = left[1:]
		case rel&nullIsAbsent == 0 || u.nodes[j].kind != Null:
			return false
		}
	}
	return len(left) == 0 || rel&mayAdd != 0
}
