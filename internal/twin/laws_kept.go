package twin

import (
	"slices"

	"example.com/braid/internal/schema"
	"example.com/braid/internal/walk"
)

// aliased reports whether last or desired has the field that says the same as k.
func (c *lawyer) aliased(t *schema.Type, k string, a, d map[string]any) bool {
	alias := fieldOf(t, k).Alias
	_, inLast := a[alias]
	_, inDesired := d[alias]
	return inLast || inDesired
}

// kept holds law 3: what neither last nor desired has survives as live has it,
// elements in live's order. What we removed or replaced as a whole may go, and in
// a union what desired does not declare.
func (c *lawyer) kept(t *schema.Type, rule schema.Rule, path path, a, l, d, m any) {
	switch lv := l.(type) {
	case map[string]any:
		dv, ok := d.(map[string]any)
		mv, kept := m.(map[string]any)
		if !ok || !kept || rule.Merge == schema.Atomic {
			return
		}
		av, _ := a.(map[string]any)
		for k, v := range lv {
			_, inLast := av[k]
			want, inDesired := dv[k]
			got, ok := mv[k]
			switch at := path.field(k); {
			case inDesired && ok:
				c.kept(fieldOf(t, k).Type, c.rule(fieldOf(t, k).Type), at, av[k], v, want, got)
			case !inDesired && !inLast && !rule.RetainKeys && (!ok || !Equal(v, got)) && !c.aliased(t, k, av, dv) && !c.madeWithin(at):
				c.broken(3, "%s is lost", at)
			}
		}
	case []any:
		dv, ok := d.([]any)
		mv, kept := m.([]any)
		t, rule = c.guessed(t, rule, path, a, l, d)
		if ok && kept && (rule.Merge == schema.Keyed || rule.Merge == schema.Set) {
			av, _ := a.([]any)
			c.keptElements(t, rule, path, av, lv, dv, mv)
		}
	}
}

func (c *lawyer) keptElements(t *schema.Type, rule schema.Rule, path path, a, l, d, m []any) {
	keys, must := listKeys(t, rule, a, l, d)
	an, ln, dn, mn := names(a, keys, must...), names(l, keys, must...), names(d, keys, must...), names(m, keys, must...)
	// A merge lets the elements of one strategic key stand together.
	moves := len(distinct(m, rule.Keys)) < len(m) || len(distinct(l, rule.Keys)) < len(l)
	before := -1
	for i, e := range ln {
		at := path.elem(e, keys, must, l, d, a)
		switch j := slices.Index(dn, e); {
		case e.nth < 0: // folded away
		case j >= 0:
			if here := slices.Index(mn, e); here >= 0 {
				c.kept(elemOf(t), c.merger.elemRule(t, rule), at, at0(a, slices.Index(an, e)), l[i], d[j], m[here])
			}
		case !slices.Contains(an, e) && !c.madeWithin(at):
			// Of several occurrences another may be the one that we removed.
			equal := func(v any) bool { return Equal(v, l[i]) }
			here := before + 1 + slices.IndexFunc(m[before+1:], equal)
			if here == before && !slices.ContainsFunc(m, equal) {
				c.broken(3, "%s is lost", at)
			} else if here == before && !moves {
				c.broken(3, "%s has moved", at)
			}
			before = here
		}
	}
}

// elemRule is how the elements of a keyed list merge.
func (m *merger) elemRule(t *schema.Type, list schema.Rule) schema.Rule {
	rule := schema.Rule{RetainKeys: list.RetainKeys || elemOf(t).Union}
	if m.Model == schema.Structured {
		rule.Merge = elemOf(t).Structured.Merge
	}
	return rule
}

func at0(list []any, i int) any {
	if i < 0 {
		return nil
	}
	return list[i]
}

// declared holds law 4: every leaf of desired is in merged, and what last has and
// desired has not is gone.
func (c *lawyer) declared(t *schema.Type, rule schema.Rule, path path, a, l, d, m any) {
	lm, ok1 := l.(map[string]any)
	dm, ok2 := d.(map[string]any)
	mm, ok3 := m.(map[string]any)
	ll, ok4 := l.([]any)
	dl, ok5 := d.([]any)
	ml, ok6 := m.([]any)
	t, rule = c.guessed(t, rule, path, a, l, d)
	switch {
	case path.in(c.Ignore): // law 12
	case ok1 && ok2 && ok3 && rule.Merge != schema.Atomic:
		am, _ := a.(map[string]any)
		c.declaredFields(t, path, am, lm, dm, mm)
	case ok4 && ok5 && ok6 && (rule.Merge == schema.Keyed || rule.Merge == schema.Set):
		al, _ := a.([]any)
		c.declaredElements(t, rule, path, al, ll, dl, ml)
	case c.same(t, c.strip(t, m), c.strip(t, d)): // live's nulls may stay where desired has them too
	case Equal(m, l) && c.same(t, a, d) && c.merger.covers(t, l, d): // a server's defaults
	default:
		c.broken(4, "%s is declared %v, but is %v", path, d, m)
	}
}

func (c *lawyer) declaredFields(t *schema.Type, path path, a, l, d, m map[string]any) {
	for k, want := range d {
		got, ok := m[k]
		lv, inLive := l[k]
		at := path.field(k)
		f := fieldOf(t, k)
		if c.merger.ignores(at, f) {
			continue
		}
		if c.Equality == walk.Semantic && f.Zero != schema.ZeroTells && c.merger.zero(f.Type, want) {
			if !ok || f.Zero == schema.ZeroIsAuto || c.merger.zero(f.Type, got) {
				continue
			}
		}
		switch {
		case want == nil && c.merger.keepsNull(f.Type) && !(ok && got == nil):
			c.broken(4, "%s is declared null, but is %v", at, got)
		case want == nil && c.merger.keepsNull(f.Type):
		case want == nil && ok && !(inLive && lv == nil) && !at.in(c.HandOver):
			c.broken(4, "%s is declared absent, but is %v", at, got)
		case want != nil && !ok:
			c.broken(4, "%s is declared %v, but absent", at, want)
		case want != nil && !inLive:
			if !Equal(got, c.strip(f.Type, want)) {
				c.broken(4, "%s is declared %v, but is %v", at, want, got)
			}
		case want != nil:
			c.declared(f.Type, c.rule(f.Type), at, a[k], lv, want, got)
		}
	}
	for k := range a {
		at := path.field(k)
		if _, inDesired := d[k]; !inDesired && !c.merger.ignores(at, fieldOf(t, k)) && !at.in(c.HandOver) {
			f := fieldOf(t, k)
			got, ok := m[k]
			switch zero := c.Equality == walk.Semantic && f.Zero != schema.ZeroTells; {
			case !ok, zero && (c.merger.zero(f.Type, got) || c.merger.zero(f.Type, a[k])):
			case !c.takenBack(f.Type, at, a[k], l[k], got):
				c.broken(4, "%s was declared last and is not now, but is %v", at, got)
			}
		}
	}
}

// takenBack holds law 4 for a map or list to which others add entries of their own: what
// last had of it is gone. It is false if there is no such map or list.
func (c *lawyer) takenBack(t *schema.Type, path path, a, l, m any) bool {
	t, rule := c.guessed(t, c.rule(t), path, a, l, none{})
	switch mv := m.(type) {
	case map[string]any:
		lm, ok := l.(map[string]any)
		am, ok2 := a.(map[string]any)
		if ok && ok2 && t.Kind == schema.Map && len(t.Fields) == 0 && rule.Merge != schema.Atomic {
			c.declaredFields(t, path, am, lm, map[string]any{}, mv)
			return len(mv) > 0
		}
	case []any:
		ll, ok := l.([]any)
		al, ok2 := a.([]any)
		if ok && ok2 && (rule.Merge == schema.Keyed || rule.Merge == schema.Set) {
			c.declaredElements(t, rule, path, al, ll, []any{}, mv)
			return len(mv) > 0
		}
	}
	return false
}

func (c *lawyer) declaredElements(t *schema.Type, rule schema.Rule, path path, a, l, d, m []any) {
	keys, must := listKeys(t, rule, a, l, d)
	if c.blurred(keys, a, l, d) {
		return
	}
	an, ln, dn, mn := names(a, keys, must...), names(l, keys, must...), names(d, keys, must...), names(m, keys, must...)
	for i, e := range dn {
		at := path.elem(e, keys, must, l, d, a)
		here, j := slices.Index(mn, e), slices.Index(ln, e)
		switch {
		case e.nth < 0, at.in(c.Ignore): // folded away, or law 12
		case here < 0:
			c.broken(4, "%s is declared, but absent", at)
		case j < 0:
			if !Equal(m[here], c.strip(elemOf(t), d[i])) {
				c.broken(4, "%s is declared %v, but is %v", at, d[i], m[here])
			}
		default:
			want, had, rule := d[i], at0(a, slices.Index(an, e)), c.merger.elemRule(t, rule)
			if dm, ok := want.(map[string]any); ok && rule.Merge != schema.Atomic {
				lm, _ := l[j].(map[string]any)
				am, isMap := had.(map[string]any)
				if am, want = c.merger.keyedAs(am, dm, lm, keys); isMap {
					had = am
				}
			}
			c.declared(elemOf(t), rule, at, had, l[j], want, m[here])
		}
	}
	// Besides desired's, only those may be there that live alone has.
	for _, e := range an {
		if at := path.elem(e, keys, must, l, d, a); at.in(c.Ignore) || at.in(c.HandOver) {
			continue
		}
		count := func(list []elem, alone bool) (n int) {
			for _, o := range list {
				if o.nth >= 0 && o.key == e.key && !(alone && (slices.Contains(an, o) || slices.Contains(dn, o))) {
					n++
				}
			}
			return n
		}
		if count(mn, false) > count(dn, false)+count(ln, true) {
			c.broken(4, "%s[%s] was declared last and is not now, but is still there", path, e.key)
		}
	}
}
