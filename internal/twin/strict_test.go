package twin

import (
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/util/mergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"example.com/braid/internal/node"
	"example.com/braid/internal/schema"
	"example.com/braid/internal/walk"
)

// strictly holds Strict against their generator with overwrite=false: do both
// find a conflict, and if neither does, do both arrive at the same object?
func (x triple) strictly(j *judge) {
	sc, ours, ok := x.merge(j, walk.Strict)
	if !ok {
		return
	}
	patch, err := generate(x, false)
	conflict := err != nil && mergepatch.IsConflict(err)
	switch {
	case err != nil && !conflict:
		x.explain(j, "strict ", err)
	case conflict && sc.Conflicts == 0:
		x.falseAlarm(j)
	case !conflict && sc.Conflicts > 0:
		for i := range sc.Edits {
			if sc.Edits[i].Op == walk.OpClash {
				j.missed(&sc, int32(i))
			}
		}
	case err == nil:
		if they, ok := x.applied(j, patch); ok {
			j.strict = true
			j.value(kind.Root, kind.Root.Strategic, place{"", x.last, x.live, x.desired, they, ours})
		}
	}
}

// missed explains a conflict of ours that they do not see.
func (j *judge) missed(sc *walk.Script, i int32) {
	e := &sc.Edits[i]
	parent := &sc.Edits[e.Parent]
	rule, t := e.Type.Strategic, e.Type
	get := func(tree *node.Tree, id node.ID) any {
		if id == node.None {
			return none{}
		}
		return tree.Value(id)
	}
	last, live := get(sc.Last, e.Last), get(sc.Live, e.Live)
	for up := e.Parent; up >= 0; up = sc.Edits[up].Parent {
		list := sc.Edits[up]
		at := place{last: get(sc.Last, list.Last), live: get(sc.Live, list.Live), desired: get(sc.Desired, list.Desired)}
		if list.Op == walk.OpElements && list.Type.Strategic.Merge == schema.Keyed && (spot{t: list.Type, place: at}).repeats() {
			j.use("repeated-key")
			return
		}
		if list.Op == walk.OpElements && list.Type.Strategic.Merge == schema.Keyed && at.respelled(list.Type) {
			j.use("number-key")
			return
		}
	}
	switch {
	case parent.Op == walk.OpElements && parent.Type.Strategic.Merge == schema.Set:
		j.use("strict-set")
	case rule.Merge == schema.Atomic && t.Kind == schema.List && e.Case != walk.WeRemoveTheySet && e.Case != walk.TheyRemove:
		j.use("strict-atomic-list")
	case rule.Merge == schema.Atomic && t.Kind == schema.Map && present(live) && e.Desired != node.None:
		j.use("strict-replaced-map")
	case e.Case == walk.TheyAdd && !parent.Type.Strategic.RetainKeys && parent.Type.Union:
		j.use("union-unknown")
	case e.Case == walk.TheyAdd: // only in a union
		j.use("strict-union")
	case e.Desired == node.None && e.Last != node.None && sc.Last.Key(e.Last) != sc.Live.Key(e.Live), e.Desired != node.None && e.Live != node.None && sc.Desired.Key(e.Desired) != sc.Live.Key(e.Live) && e.Parent == 0:
		j.use("alias-alone")
	case live == nil && e.Case == walk.WeRemoveTheySet:
		j.use("strict-null")
	case e.Case == walk.WeRemoveTheySet && Equal(exact.fold(t, last, true), exact.fold(t, live, true)):
		j.use("strict-order")
	case e.Case == walk.WeRemoveTheySet && rule.Merge == schema.Set && subset(live, last):
		j.use("strict-set")
	default:
		j.unexplained("missed", "%v %v", sc.Path(i), e.Case)
	}
}

// respelled: a key of a list is 1 here and 1.0 there.
func (p place) respelled(t *schema.Type) bool {
	return slices.ContainsFunc(keysOfList(p.live, t.Strategic.Keys), func(key string) bool { return p.sibling(t, key) == "number-key" })
}

// subset: all values of a set are in another.
func subset(x, y any) bool {
	in := keysOfList(y, nil)
	return !slices.ContainsFunc(keysOfList(x, nil), func(k string) bool { return !slices.Contains(in, k) })
}

// falseAlarm explains a conflict of theirs that we do not see. It repeats their
// check of the patch against what live has changed, and looks at each place at
// which it strikes.
func (x triple) falseAlarm(j *judge) {
	text, _ := generate(x, true)
	patch, _ := parseMap(text)
	text, err := strategicpatch.CreateTwoWayMergePatchUsingLookupPatchMeta(tree(x.last).JSON(), tree(x.live).JSON(), meta)
	if err != nil {
		j.unexplained("false alarm", "%v", err)
		return
	}
	changed, _ := parseMap(text)
	strikes := 0
	strike(kind.Root, place{"", x.last, x.live, x.desired, patch, changed}, func(t *schema.Type, p place) {
		strikes++
		switch {
		case served(t.Strategic, p) || same(p.live, p.last):
			j.use(servedDefaults(t))
		case x.anywhere(func(at spot) bool { return at.keyed() && at.repeats() }):
			j.use("repeated-key")
		default:
			j.unexplained("false alarm", "%v", p)
		}
	})
	respelled := func(at spot) bool {
		number := at.t.Kind == schema.Integer || at.t.Kind == schema.IntOrString || at.t.Kind == schema.Quantity
		return number && same(at.live, at.desired) && fmt.Sprint(at.live) != fmt.Sprint(at.desired)
	}
	switch {
	case strikes > 0:
	case x.anywhere(respelled):
		j.use("number-spelling") // JSON writes both alike, but they compare what they decoded
	case x.anywhere(func(at spot) bool { return at.keyed() && at.repeats() }):
		j.use("repeated-key")
	default:
		j.unexplained("no strike", "patch %v changed %v", patch, changed)
	}
}

// strike calls found with the places at which their check of a patch against a
// change finds a conflict. The patch stands in place.theirs, the change in ours.
func strike(t *schema.Type, p place, found func(*schema.Type, place)) {
	switch patch := p.theirs.(type) {
	case map[string]any:
		changed, ok := p.ours.(map[string]any)
		if !ok || carriesPatch(patch) != carriesPatch(changed) || patch["$patch"] != changed["$patch"] {
			found(t, p)
			return
		}
		for key := range patch {
			if f := p.field(key); !directive(key) && present(f.ours) && !(t.Strategic.Merge == schema.Atomic && t.Kind == schema.Map) {
				strike(fieldOf(t, key).Type, f, found)
			}
		}
	case []any:
		changed, ok := p.ours.([]any)
		switch {
		case !ok:
			found(t, p)
		case t.Strategic.Merge == schema.Keyed:
			for _, key := range keysOfList(patch, t.Strategic.Keys) {
				if e := p.elem(key, 0, t.Strategic.Keys); present(e.ours) {
					strike(elemOf(t), e, found)
				}
			}
		case t.Strategic.Merge == schema.Set:
		case !Equal(patch, changed):
			found(t, p)
		}
	default:
		if !Equal(p.theirs, p.ours) {
			found(t, p)
		}
	}
}

func TestStrict(t *testing.T) {
	differential(t, *triples, triple.strictly, func(seed uint64) triple {
		x := random(seed)
		x.drop("byName") // their generator refuses most of these
		return x
	})
}

// exact folds by the rules of strategic merges and compares JSON values.
var exact = &lawyer{merger: *exactly}
