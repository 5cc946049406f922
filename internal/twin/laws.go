package twin

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"example.com/braid/internal/node"
	"example.com/braid/internal/owner"
	"example.com/braid/internal/schema"
	"example.com/braid/internal/walk"
)

// Story is one merge to hold against the laws. Last and Live may be nil.
type Story struct {
	Last, Live, Desired *node.Tree
	walk.Rules
	ByHand []string // managers of live
	Theirs Theirs
}

// Theirs apply a patch to live as somebody else's appliers do; nil where there is none
// at hand.
type Theirs struct {
	Strategic, JSONMerge, JSONPatch func(live, patch []byte) ([]byte, error)
}

// Broken says which law of DESIGN.md §4 a merge breaks. Law 0 is that the naive
// twin agrees, law 12 that the options are kept to.
type Broken struct {
	Law  int
	Text string
}

func (b Broken) String() string { return fmt.Sprintf("law %d: %s", b.Law, b.Text) }

// Laws returns the laws that a story breaks. An error is the engine's refusal of
// desired, which breaks no law.
func Laws(s Story) ([]Broken, error) {
	c := lawyer{Story: s, merger: merger{Rules: s.Rules, lists: map[string]string{}}}
	sc, err := c.walk(s.Last, s.Live, s.Desired)
	if err != nil {
		var e *node.Error
		if !errors.As(err, &e) || e.Doc != "desired" && e.Path != nil {
			c.broken(11, "only desired may be refused: %v", err)
		}
		return c.found, err
	}
	c.a, c.l, c.d = content(s.Last), content(s.Live), content(s.Desired)
	c.live = orEmpty(s.Live)
	c.made = c.madeByHand()
	before := c.inputs()
	c.merged = sc.AppendMerged(nil)
	tree, err := node.Parse(c.merged, node.Limits{})
	if err != nil {
		c.broken(1, "merged is no JSON: %v", err)
		return c.found, nil
	}
	c.m = tree.Map()
	c.twin(sc)
	c.counted(sc)
	c.exact(sc)
	c.configuration(sc, tree)
	c.empty(sc, tree)
	root := s.Schema.Root
	c.kept(root, c.rule(root), nil, c.a, c.l, c.d, c.m)
	if *s.Policy == walk.Apply {
		c.declared(root, c.rule(root), nil, c.a, c.l, c.d, c.m)
	}
	c.options(sc)
	if len(s.Ignore)+len(s.HandOver)+len(c.made) == 0 {
		c.agree()
		if *s.Policy == walk.Branch && !s.Infer {
			c.symmetric(sc)
		}
	}
	c.pure()
	if after := c.inputs(); after != before {
		c.broken(9, "the inputs were %s and are %s", before, after)
	}
	return c.found, nil
}

// lawyer is the state of one call of Laws: the story as trees and as content.
type lawyer struct {
	Story
	merger     merger // for its equality
	a, l, d, m map[string]any
	live       *node.Tree
	merged     []byte
	made       map[string]bool // the places in live that were made by hand
	found      []Broken
}

func (c *lawyer) broken(law int, format string, args ...any) {
	c.found = append(c.found, Broken{law, fmt.Sprintf(format, args...)})
}

func (c *lawyer) walk(last, live, desired *node.Tree) (walk.Script, error) {
	return walkWith(last, live, desired, c.ByHand, c.Rules)
}

// walkWith merges as package merge does where people are named who edit by hand.
func walkWith(last, live, desired *node.Tree, byHand []string, r walk.Rules) (walk.Script, error) {
	in := walk.Input{Last: last, Live: live, Desired: desired, Rules: r}
	if live != nil && len(byHand) > 0 {
		in.HandMade, _ = owner.FindHandMade(live, r.Schema.Root, byHand) // of what cannot be read nothing counts
	}
	return walk.Walk(in)
}

// rule is how the values at a position merge.
func (c *lawyer) rule(t *schema.Type) schema.Rule {
	r := *t.Rule(c.Model)
	r.RetainKeys = r.RetainKeys || t.Union
	return r
}

func (c *lawyer) same(t *schema.Type, x, y any) bool { return c.merger.same(t, x, y) }
func (c *lawyer) strip(t *schema.Type, v any) any    { return c.merger.strip(t, v) }

// declares is desired without the nulls that declare absence.
func (c *lawyer) declares() map[string]any {
	d, _ := c.strip(c.Schema.Root, c.d).(map[string]any)
	return d
}

func orEmpty(t *node.Tree) *node.Tree {
	if t == nil {
		return tree(map[string]any{})
	}
	return t
}

func content(t *node.Tree) map[string]any { return orEmpty(t).Map() }

func (c *lawyer) inputs() string {
	return fmt.Sprintf("%s %s %s", orEmpty(c.Last).JSON(), c.live.JSON(), orEmpty(c.Desired).JSON())
}

// tree builds a document of content that came from one.
func tree(m map[string]any) *node.Tree {
	t, err := node.FromMap(m, node.Limits{})
	if err != nil {
		panic(err)
	}
	return t
}

func (c *lawyer) twin(sc walk.Script) {
	o := Merge(c.a, c.l, c.d, c.made, c.Rules)
	if !Equal(o.Merged, c.m) {
		c.broken(0, "the twin merges to %s, the engine to %s", tree(o.Merged).JSON(), c.merged)
	}
	if o.Conflicts != sc.Conflicts {
		c.broken(0, "the twin has %d conflicts, the engine %d", o.Conflicts, sc.Conflicts)
	}
	if warned := warnedOf(sc); !slices.Equal(o.ByHand, warned) {
		c.broken(0, "the twin finds made by hand and undeclared %v, the engine %v", o.ByHand, warned)
	}
	c.told(sc, o.Lists)
}

// counted holds law 6, and 7: what is counted as a conflict is one by the policy,
// has a place, and leaves live.
func (c *lawyer) counted(sc walk.Script) {
	n := 0
	for i, e := range sc.Edits {
		if e.Op != walk.OpClash {
			continue
		}
		n++
		union := e.Case == walk.TheyAdd && c.Policy[walk.BothAddOther] == walk.Clash
		if c.Policy[e.Case] != walk.Clash && !union || len(sc.Path(int32(i))) == 0 {
			c.broken(7, "a conflict at %s in case %s", sc.Path(int32(i)), e.Case)
		}
	}
	if n != sc.Conflicts {
		c.broken(6, "%d conflicts, counted as %d", n, sc.Conflicts)
	}
}

// empty holds law 2: nothing changes exactly if merged is live, and a second
// merge changes nothing.
func (c *lawyer) empty(sc walk.Script, merged *node.Tree) {
	if (sc.Changes == 0) != bytes.Equal(c.merged, c.live.JSON()) {
		c.broken(2, "%d changes, but merged is %s", sc.Changes, c.merged)
	}
	if sc.Conflicts > 0 || c.unsteady() {
		return
	}
	again, err := c.walk(c.Desired, merged, c.Desired)
	if err != nil || again.Changes > 0 || again.Conflicts > 0 {
		c.broken(2, "a second merge of %s gives %s (%v)", c.merged, again.AppendMerged(nil), err)
	}
}

// agree holds law 5: a two-way merge gives desired, and so does a merge where
// live agrees with desired.
func (c *lawyer) agree() {
	d := c.declares()
	want := tree(d)
	lenient := *c.Policy != walk.Apply // desired is not looked at where it clashes
	if two, err := c.walk(c.Live, c.Live, c.Desired); err != nil {
		if !lenient {
			c.broken(5, "two-way: %v", err)
		}
	} else if got, ok := parseMap(two.AppendMerged(nil)); !ok || !c.sameFolded(got, d) || two.Conflicts > 0 {
		c.broken(5, "two-way from live gives %s with %d conflicts", two.AppendMerged(nil), two.Conflicts)
	}
	if done, err := c.walk(c.Last, want, c.Desired); err != nil {
		if !lenient {
			c.broken(5, "agreement: %v", err)
		}
	} else if done.Conflicts > 0 || done.Changes > 0 {
		c.broken(5, "live agrees with desired, but merged is %s with %d conflicts", done.AppendMerged(nil), done.Conflicts)
	}
}

func parseMap(text []byte) (map[string]any, bool) {
	t, err := node.Parse(text, node.Limits{})
	if err != nil {
		return nil, false
	}
	return t.Map(), true
}

// sameFolded compares a two-way merge with desired, where null fields declare
// absence.
func (c *lawyer) sameFolded(got, want map[string]any) bool {
	root := c.Schema.Root
	return c.same(root, c.fold(root, c.strip(root, got), false), c.fold(root, want, false))
}

// fold drops the repeats of sets, lets elements of one key stand together, as a
// server does, and if asked sorts sets and keyed lists.
func (c *lawyer) fold(t *schema.Type, v any, sorted bool) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			out[k] = c.fold(fieldOf(t, k).Type, e, sorted)
		}
		return out
	case []any:
		out := []any{}
		rule := c.rule(t)
		in := names(v, rule.Keys)
		for i, e := range v {
			if rule.Merge != schema.Set || in[i].nth >= 0 {
				out = append(out, c.withKeys(elemOf(t), c.fold(elemOf(t), e, sorted), t.Structured.Keys))
			}
		}
		if rule.Merge == schema.Keyed {
			grouped := []any{}
			for _, i := range together(out, rule.Keys) {
				grouped = append(grouped, out[i])
			}
			out = grouped
		}
		if sorted && (rule.Merge == schema.Set || rule.Merge == schema.Keyed) {
			slices.SortStableFunc(out, func(x, y any) int {
				return cmp.Or(cmp.Compare(keyOf(x, rule.Keys), keyOf(y, rule.Keys)), cmp.Compare(c.text(elemOf(t), x), c.text(elemOf(t), y)))
			})
		}
		return out
	}
	return v
}

// text is the same for values that are the same.
func (c *lawyer) text(t *schema.Type, v any) string {
	if c.Equality == walk.Semantic {
		v = c.merger.meaning(t, v)
	}
	return fmt.Sprint(canon(v))
}

// withKeys adds the key fields that an element leaves to their defaults.
func (c *lawyer) withKeys(t *schema.Type, elem any, keys []schema.Key) any {
	m, ok := elem.(map[string]any)
	for _, k := range keys {
		v, has := m[k.Name]
		if f := fieldOf(t, k.Name); c.Equality == walk.Semantic && f.Zero != schema.ZeroTells && c.merger.zero(f.Type, v) {
			has = false
		}
		if ok && (!has || v == nil) && k.Default != "" {
			v, _ := parseMap([]byte(`{"v":` + k.Default + `}`))
			m[k.Name] = v["v"]
		}
	}
	return elem
}

// symmetric holds law 6: Branch treats live and desired alike, except in unions and
// aliases, where nulls declare absence, and for the order of what both added.
func (c *lawyer) symmetric(sc walk.Script) {
	if hasNull(c.l) || hasNull(c.d) || c.touchesUnion(c.Schema.Root, c.l, c.d) {
		return
	}
	other, err := c.walk(c.Last, tree(c.d), tree(c.l))
	if err != nil {
		return // live is no fit desired
	}
	if other.Conflicts != sc.Conflicts {
		c.broken(6, "%d conflicts, the other way round %d", sc.Conflicts, other.Conflicts)
		return
	}
	if sc.Conflicts > 0 {
		return
	}
	got, _ := parseMap(other.AppendMerged(nil))
	if root := c.Schema.Root; !c.same(root, c.fold(root, got, true), c.fold(root, c.m, true)) {
		c.broken(6, "merged is %s, the other way round %s", c.merged, tree(got).JSON())
	}
}

func hasNull(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		return slices.ContainsFunc(slices.Collect(maps.Values(v)), hasNull)
	case []any:
		return slices.ContainsFunc(v, hasNull)
	}
	return false
}

// touchesUnion reports whether live and desired differ in a union, or in a map that
// has aliases.
func (c *lawyer) touchesUnion(t *schema.Type, l, d any) bool {
	if Equal(l, d) {
		return false
	}
	rule := c.rule(t)
	if rule.RetainKeys {
		return true
	}
	lm, _ := l.(map[string]any)
	dm, _ := d.(map[string]any)
	for k := range dm {
		if fieldOf(t, k).Alias != "" {
			return true
		}
	}
	for k := range lm {
		if fieldOf(t, k).Alias != "" {
			return true // an alias follows desired
		}
		if _, both := dm[k]; both && c.touchesUnion(fieldOf(t, k).Type, lm[k], dm[k]) {
			return true
		}
	}
	ll, _ := l.([]any)
	dl, _ := d.([]any)
	for _, x := range ll {
		for _, y := range dl {
			if keyOf(x, rule.Keys) == keyOf(y, rule.Keys) && c.touchesUnion(elemOf(t), x, y) {
				return true
			}
		}
	}
	return false
}

// pure holds law 9: the order of the keys does not matter, and the inputs stay
// what they were.
func (c *lawyer) pure() {
	backward := func(t *node.Tree) *node.Tree {
		if t == nil {
			return nil
		}
		out, err := node.Parse(appendBackward(nil, t, 0), node.Limits{})
		if err != nil {
			panic(err)
		}
		return out
	}
	sc, err := c.walk(c.Last, c.Live, c.Desired)
	rev, err2 := c.walk(backward(c.Last), backward(c.Live), backward(c.Desired))
	if err != nil || err2 != nil {
		c.broken(9, "backward: %v, %v", err, err2)
		return
	}
	if !bytes.Equal(rev.AppendMerged(nil), c.merged) || !bytes.Equal(sc.AppendMerged(nil), c.merged) {
		c.broken(9, "merged depends on the order of keys: %s, %s", c.merged, rev.AppendMerged(nil))
	}
	for _, f := range c.formats() {
		patch, _ := f.encode(nil, &sc, 0)
		again, _ := f.encode(nil, &rev, 0)
		if !bytes.Equal(patch, again) {
			c.broken(9, "the %s depends on the order of keys: %s, %s", f.name, patch, again)
		}
	}
}

// appendBackward writes a document with the keys of its maps in descending order.
func appendBackward(dst []byte, t *node.Tree, i node.ID) []byte {
	kids := t.Kids(i)
	switch t.Kind(i) {
	case node.Map:
		dst = append(dst, '{')
		for k := range kids {
			if k > 0 {
				dst = append(dst, ',')
			}
			kid := kids[len(kids)-1-k]
			dst = appendBackward(t.AppendKey(dst, kid), t, kid)
		}
		return append(dst, '}')
	case node.List:
		dst = append(dst, '[')
		for k, kid := range kids {
			if k > 0 {
				dst = append(dst, ',')
			}
			dst = appendBackward(dst, t, kid)
		}
		return append(dst, ']')
	}
	return t.Append(dst, i)
}
