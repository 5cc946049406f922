package owner

import (
	"slices"

	"example.com/braid/internal/node"
	"example.com/braid/internal/schema"
)

// HandMade are positions of live that only people made who edit objects by hand.
type HandMade struct {
	Set
	by []string // the manager of each
}

// By returns the manager that made a position of the set.
func (h *HandMade) By(i node.ID) string {
	at, _ := slices.BinarySearch(h.Set, i)
	return h.by[at]
}

// FindHandMade returns what was made by hand of live, of which root is the type: by the named
// managers, of whom the entries count that are updates of the object itself in its own version.
//
//   - A position counts that one of them owns, if no other manager owns it or anything in it.
//     What nobody owns does not count: defaults, and what admission or a controller's own
//     storage put there.
//   - A map or list counts as a whole if all that is in it counts, an element of a list
//     whatever nobody owns in it.
//   - A field of a struct that was itself made by hand counts only with it, for the server's
//     defaults came with the struct.
//   - A server keeps one owner for what is one value to it, such as a nodeSelector: the last who
//     wrote to it. All its entries count as his.
//   - The key fields of an element count only with it.
//   - Of metadata only labels and annotations count, and nothing of status. Elements of a list
//     that share a key never do.
//
// It is nil if live has no managedFields. The error is an *Error. O(live), but for logarithms;
// O(managers) if nobody is named.
func FindHandMade(live *node.Tree, root *schema.Type, names []string) (*HandMade, error) {
	o, err := Read(live, root)
	if err != nil || len(o.Managers) == 0 {
		return nil, err
	}
	version := ""
	if i := live.Lookup("apiVersion"); i != node.None {
		version = live.Text(i)
	}
	hand := func(m Manager) bool {
		return m.Operation == "Update" && m.Subresource == "" && m.APIVersion == version && slices.Contains(names, m.Name)
	}
	out := &HandMade{}
	if !slices.ContainsFunc(o.Managers, hand) {
		return out, nil
	}
	f := finder{o: o, by: make([]int32, live.Len()), others: make([]bool, live.Len()), counts: make([]int32, live.Len())}
	for n, m := range o.Managers {
		s, err := o.Set(n)
		if err != nil {
			return nil, err
		}
		f.own(s, int32(n)+1, hand(m))
	}
	f.object(root)
	for i, by := range f.counts {
		if by > 0 {
			out.Set, out.by = append(out.Set, node.ID(i)), append(out.by, o.Managers[by-1].Name)
		}
	}
	return out, nil
}

// finder holds, for each node of live, a manager by its number from 1 on, or 0.
type finder struct {
	o      *Owners
	by     []int32 // who made it by hand
	others []bool  // somebody else owns it or something in it
	counts []int32 // who made it, if it counts
}

// own notes what a manager owns.
func (f *finder) own(s Set, manager int32, hand bool) {
	for _, i := range s {
		if hand {
			f.by[i] = manager
			continue
		}
		for ; i != node.None && !f.others[i]; i = f.o.live.Parent(i) {
			f.others[i] = true
		}
	}
}

// around says what is known of the map around a position.
type around struct {
	by    int32 // who made it, if all in it counts as one value to the server
	fixed bool  // a struct made by hand
}

// object looks at the fields that can count.
func (f *finder) object(root *schema.Type) {
	live := f.o.live
	for _, kid := range live.Kids(0) {
		switch key := live.Key(kid); key {
		case "apiVersion", "kind", "status":
		case "metadata":
			for _, name := range [...]string{"annotations", "labels"} {
				if i := live.Field(kid, name); i != node.None {
					f.value(i, entries, around{})
				}
			}
		default:
			f.value(kid, fieldType(root, key), around{})
		}
	}
}

// entries is the type of labels and annotations, whatever the kind.
var entries = &schema.Type{Kind: schema.Map, Elem: schema.Unknown}

// value looks at i and all in it, and reports whether it was made by hand as a whole.
func (f *finder) value(i node.ID, t *schema.Type, in around) bool {
	if f.by[i] == 0 {
		f.by[i] = in.by
	}
	by, all := f.by[i], true
	below := around{}
	if by > 0 && (in.by > 0 || t.Structured.Merge == schema.Atomic) {
		below.by = by
	}
	switch f.o.live.Kind(i) {
	case node.Map:
		below.fixed = by > 0 && (t.Kind != schema.Map || len(t.Fields) > 0)
		for _, kid := range f.o.live.Kids(i) {
			all = f.value(kid, fieldType(t, f.o.live.Key(kid)), below) && all
		}
	case node.List:
		all = f.elements(i, t, below)
	}
	whole := by > 0 && all && !f.others[i]
	if whole && !in.fixed {
		f.counts[i] = by
	}
	return whole
}

// elements looks at the elements of a list, and reports whether all were made by hand.
func (f *finder) elements(i node.ID, t *schema.Type, in around) bool {
	if merge := t.Structured.Merge; in.by > 0 || merge != schema.Keyed && merge != schema.Set {
		return true // they count with the list, as one value
	}
	all := true
	for _, elem := range f.o.live.Kids(i) {
		f.value(elem, t.Elem, in)
		for _, k := range t.Structured.Keys {
			if i := f.o.live.Field(elem, k.Name); i != node.None {
				f.counts[i] = 0
			}
		}
		if _, shared := f.o.repeats[elem]; shared || f.others[elem] {
			f.counts[elem] = 0
		} else {
			f.counts[elem] = f.by[elem]
		}
		all = all && f.counts[elem] > 0
	}
	return all
}
