package twin

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"example.com/braid/internal/node"
	"example.com/braid/internal/owner"
	"example.com/braid/internal/schema"
	"example.com/braid/internal/walk"
)

// madeByHand returns the places in live that were made by hand.
func (c *lawyer) madeByHand() map[string]bool {
	made := map[string]bool{}
	if len(c.ByHand) == 0 {
		return made
	}
	if found, err := owner.FindHandMade(c.live, c.Schema.Root, c.ByHand); err == nil && found != nil {
		for _, i := range found.Set {
			made[indexed(c.live.Path(i)).String()] = true
		}
	}
	return made
}

func indexed(p node.Path) path {
	var out path
	for _, s := range p {
		out = append(out, step{field: s.Field, isElem: s.Elem, index: s.Index})
	}
	return out
}

// madeWithin reports whether something at a place in live or in it was made by hand and may
// have gone.
func (c *lawyer) madeWithin(at path) bool {
	for made := range c.made {
		if c.Unowned == walk.UnownedGoes && strings.HasPrefix(made, at.String()) {
			return true
		}
	}
	return false
}

// warnedOf returns where in live the engine warns of what was made by hand.
func warnedOf(sc walk.Script) (out []string) {
	for _, w := range sc.Warnings {
		if strings.HasPrefix(w.Text, "made by hand") {
			out = append(out, indexed(sc.Live.Path(w.Node)).String())
		}
	}
	slices.Sort(out)
	return out
}

// guessed is how lists merge that the schema does not know.
func (c *lawyer) guessed(t *schema.Type, rule schema.Rule, at path, a, l, d any) (*schema.Type, schema.Rule) {
	if guess := c.merger.guess(at, t, a, l, d); guess != nil {
		return guess, guess.Strategic
	}
	return t, rule
}

// byIndex reports whether a position is named by the index of an element, which a merge may move.
func (c *lawyer) byIndex() bool {
	return slices.ContainsFunc(slices.Concat(c.Ignore, c.HandOver), func(p node.Pattern) bool {
		return slices.ContainsFunc(p, func(s node.PatternStep) bool { return s.Elem && !s.Any && s.Keys == nil })
	})
}

// unsteady reports whether a second merge may find other positions than the first: by index, or
// since what was made by hand is known by other names. Elements that share one count for nobody
// until one is left; to a server a list of guessed keys is one value, by hand or not.
func (c *lawyer) unsteady() bool {
	return c.byIndex() || len(c.made) > 0 && c.Unowned == walk.UnownedGoes && (c.Infer || repeats(c.Schema.Root, c.l))
}

// repeats reports whether two elements of a list in v have one name to a server.
func repeats(t *schema.Type, v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			if repeats(fieldOf(t, k).Type, e) {
				return true
			}
		}
	case []any:
		return len(distinct(v, t.Structured.Keys)) < len(v) || slices.ContainsFunc(v, func(e any) bool { return repeats(elemOf(t), e) })
	}
	return false
}

// blurred reports whether options count, and keys do not tell elements apart: which of those
// that share a key is meant is not for the laws to say.
func (c *lawyer) blurred(keys []schema.Key, lists ...[]any) bool {
	return len(c.Ignore)+len(c.HandOver)+len(c.made) > 0 && slices.ContainsFunc(lists, func(list []any) bool {
		return len(distinct(list, keys)) < len(list)
	})
}

// options holds what merge.Options promise of Ignore, HandOver and Unowned.
func (c *lawyer) options(sc walk.Script) {
	c.left(c.Schema.Root, c.rule(c.Schema.Root), nil, c.a, c.l, c.d, c.m)
	other := c.Rules
	if other.Unowned = walk.UnownedStays; c.Unowned == walk.UnownedStays {
		other.Unowned = walk.UnownedGoes
	}
	if len(c.made) == 0 {
		return
	}
	if alt, err := walkWith(c.Last, c.Live, c.Desired, c.ByHand, other); err != nil || !slices.Equal(warnedOf(sc), warnedOf(alt)) {
		c.broken(12, "warned of %v if what was made by hand stays, of %v if it goes (%v)", warnedOf(sc), warnedOf(alt), err)
	}
	if blind, err := walkWith(c.Last, c.Live, c.Desired, nil, c.Rules); c.Unowned == walk.UnownedStays && (err != nil || !bytes.Equal(blind.AppendMerged(nil), c.merged)) {
		c.broken(12, "who has looked for what was made by hand merges to %s, who has not to %s (%v)", c.merged, blind.AppendMerged(nil), err)
	}
	if again, err := c.walk(c.Desired, tree(c.m), c.Desired); c.Unowned == walk.UnownedGoes && sc.Conflicts == 0 && !c.unsteady() && (err != nil || len(warnedOf(again)) > 0) {
		c.broken(12, "what was made by hand goes, but then there is left %v (%v)", warnedOf(again), err)
	}
}

// left holds that what is ignored is as live has it, and what is handed over unless desired
// declares it, wherever the map or list around it is still there.
func (c *lawyer) left(t *schema.Type, rule schema.Rule, at path, a, l, d, m any) {
	t, rule = c.guessed(t, rule, at, a, l, d)
	lm, ok1 := l.(map[string]any)
	mm, ok2 := m.(map[string]any)
	ll, ok3 := l.([]any)
	ml, ok4 := m.([]any)
	switch {
	case rule.Merge == schema.Atomic:
	case ok1 && ok2:
		am, _ := a.(map[string]any)
		dm, _ := d.(map[string]any)
		all := maps.Clone(lm)
		maps.Copy(all, mm)
		for k := range all {
			f := fieldOf(t, k)
			if f.Alias != "" && present(field(dm, f.Alias)) {
				continue // desired declares it in other words
			}
			c.leftAt(f.Type, c.rule(f.Type), at.field(k), field(am, k), field(lm, k), field(dm, k), field(mm, k))
		}
	case ok3 && ok4 && (rule.Merge == schema.Keyed || rule.Merge == schema.Set):
		al, _ := a.([]any)
		dl, _ := d.([]any)
		keys, must := listKeys(t, rule, al, ll, dl)
		if c.blurred(keys, al, ll, dl) {
			return
		}
		find := func(list []any, e elem) any {
			if i := slices.Index(names(list, keys, must...), e); i >= 0 {
				return list[i]
			}
			return none{}
		}
		for _, e := range slices.Concat(names(ll, keys, must...), names(ml, keys, must...)) {
			c.leftAt(elemOf(t), c.merger.elemRule(t, rule), at.elem(e, keys, must, ll, dl, ml), find(al, e), find(ll, e), find(dl, e), find(ml, e))
		}
	}
}

func (c *lawyer) leftAt(t *schema.Type, rule schema.Rule, at path, a, l, d, m any) {
	_, silent := d.(none)
	switch {
	case at.in(c.Ignore):
		if present(l) != present(m) || present(l) && !Equal(l, m) {
			c.broken(12, "%s is ignored, but was %v and is %v", at, l, m)
		}
	case at.in(c.HandOver) && silent && present(a) && present(l):
		if !present(m) || !Equal(l, m) {
			c.broken(12, "%s is handed over, but was %v and is %v", at, l, m)
		}
	default:
		c.left(t, rule, at, a, l, d, m)
	}
}

func field(m map[string]any, key string) any {
	if v, ok := m[key]; ok {
		return v
	}
	return none{}
}

// told holds that guessed keys count as if the schema had told them. It says nothing of lists
// in lists whose keys differ from element to element.
func (c *lawyer) told(sc walk.Script, lists map[string]string) {
	r, some := c.Rules, false
	r.Infer = false
	for _, at := range slices.Sorted(maps.Keys(lists)) {
		switch key := lists[at]; key {
		case "":
		case "?":
			return
		default:
			s, err := r.Schema.Override(at, "map="+key)
			if err != nil {
				return // the schema has no such field
			}
			r.Schema, some = s, true
		}
	}
	if !some || c.Nulls == walk.NullStays && hasNull(c.d) { // where nothing is known, null is a value
		return
	}
	knows, err := walkWith(c.Last, c.Live, c.Desired, c.ByHand, r)
	if err != nil {
		return // an element that is added lacks its key
	}
	if got := knows.AppendMerged(nil); !bytes.Equal(got, c.merged) || knows.Conflicts != sc.Conflicts {
		c.broken(12, "with guessed keys %v merged is %s with %d conflicts, with the same of the schema %s with %d", lists, c.merged, sc.Conflicts, got, knows.Conflicts)
	}
}
