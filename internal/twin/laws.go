package twin

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"

	"example.com/braid/internal/dialect"
	"example.com/braid/internal/node"
	"example.com/braid/internal/schema"
	"example.com/braid/internal/walk"
)

// Story is one merge to hold against the laws. Last and Live may be nil.
type Story struct {
	Last, Live, Desired *node.Tree
	Schema              *schema.Schema
	Policy              walk.Policy

	// Theirs applies a strategic patch to live as somebody else's applier does;
	// nil if there is none at hand.
	Theirs func(live, patch []byte) ([]byte, error)
}

// Broken says which law of DESIGN.md §4 a merge breaks. Law 0 is that the naive
// twin agrees.
type Broken struct {
	Law  int
	Text string
}

func (b Broken) String() string { return fmt.Sprintf("law %d: %s", b.Law, b.Text) }

// Laws returns the laws that a story breaks under the strategic model. An error
// is the engine's refusal of desired, which breaks no law.
func Laws(s Story) ([]Broken, error) {
	c := lawyer{Story: s}
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
	before := c.inputs()
	c.merged = sc.AppendMerged(nil)
	tree, err := node.Parse(c.merged, node.Limits{})
	if err != nil {
		c.broken(1, "merged is no JSON: %v", err)
		return c.found, nil
	}
	c.m = tree.Map()
	c.twin(sc)
	c.conflicts(sc)
	c.exact(sc)
	c.empty(sc, tree)
	c.kept(s.Schema.Root, s.Schema.Root.Strategic, "", c.a, c.l, c.d, c.m)
	if s.Policy == walk.Apply {
		c.declared(s.Schema.Root, s.Schema.Root.Strategic, "", c.a, c.l, c.d, c.m)
	}
	c.agree()
	if s.Policy == walk.Branch {
		c.symmetric(sc)
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
	a, l, d, m map[string]any
	live       *node.Tree
	merged     []byte
	found      []Broken
}

func (c *lawyer) broken(law int, format string, args ...any) {
	c.found = append(c.found, Broken{law, fmt.Sprintf(format, args...)})
}

func (c *lawyer) walk(last, live, desired *node.Tree) (walk.Script, error) {
	return walk.Walk(walk.Input{Last: last, Live: live, Desired: desired, Schema: c.Schema, Policy: &c.Policy})
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
	m, conflicts := Merge(c.a, c.l, c.d, c.Schema, c.Policy)
	if !Equal(m, c.m) {
		c.broken(0, "the twin merges to %s, the engine to %s", tree(m).JSON(), c.merged)
	}
	if conflicts != sc.Conflicts {
		c.broken(0, "the twin has %d conflicts, the engine %d", conflicts, sc.Conflicts)
	}
}

// conflicts holds law 6, and 7: what is counted as a conflict is one by the policy,
// has a place, and leaves live.
func (c *lawyer) conflicts(sc walk.Script) {
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

// exact holds law 1: the patch turns live into merged, by every applier.
func (c *lawyer) exact(sc walk.Script) {
	patch, err := dialect.EncodeStrategic(nil, &sc)
	if err != nil {
		if !errors.Is(err, dialect.ErrInexpressible) {
			c.broken(1, "the encoder fails: %v", err)
		}
		return
	}
	if empty := string(patch) == "{}"; empty != (sc.Changes == 0) {
		c.broken(2, "%d changes, but the patch is %s", sc.Changes, patch)
	}
	p, err := node.Parse(patch, node.Limits{})
	if err != nil {
		c.broken(1, "the patch is no JSON: %v: %s", err, patch)
		return
	}
	got, err := dialect.ApplyStrategic(nil, c.live, p, c.Schema)
	if err != nil || !bytes.Equal(got, c.merged) {
		c.broken(1, "our applier makes %s (%v) of the patch %s, merged is %s", got, err, patch, c.merged)
	}
	if c.Theirs == nil {
		return
	}
	got, err = c.Theirs(c.live.JSON(), patch)
	if m, ok := parseMap(got); err != nil || !ok || !Equal(m, c.m) {
		c.broken(1, "their applier makes %s (%v) of the patch %s, merged is %s", got, err, patch, c.merged)
	}
}

// empty holds law 2: nothing changes exactly if merged is live, and a second
// merge changes nothing.
func (c *lawyer) empty(sc walk.Script, merged *node.Tree) {
	if (sc.Changes == 0) != bytes.Equal(c.merged, c.live.JSON()) {
		c.broken(2, "%d changes, but merged is %s", sc.Changes, c.merged)
	}
	if sc.Conflicts > 0 {
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
	d, _ := strip(c.d).(map[string]any)
	want := tree(d)
	lenient := c.Policy != walk.Apply // desired is not looked at where it clashes
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
	return Equal(fold(root, strip(got), false), fold(root, want, false))
}

// fold drops the repeats of sets, lets elements of one key stand together, as a
// server does, and if asked sorts sets and keyed lists.
func fold(t *schema.Type, v any, sorted bool) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			out[k] = fold(child(t, k), e, sorted)
		}
		return out
	case []any:
		out := []any{}
		in := names(v, t.Strategic.Keys)
		for i, e := range v {
			if t.Strategic.Merge != schema.Set || in[i].nth >= 0 {
				out = append(out, fold(elemType(t), e, sorted))
			}
		}
		if t.Strategic.Merge == schema.Keyed {
			grouped := []any{}
			for _, i := range together(out, t.Strategic.Keys) {
				grouped = append(grouped, out[i])
			}
			out = grouped
		}
		if sorted && (t.Strategic.Merge == schema.Set || t.Strategic.Merge == schema.Keyed) {
			text := func(v any) []byte { return tree(map[string]any{keyOf(v, t.Strategic.Keys): v}).JSON() }
			slices.SortStableFunc(out, func(x, y any) int { return bytes.Compare(text(x), text(y)) })
		}
		return out
	}
	return v
}

func child(t *schema.Type, key string) *schema.Type {
	if c, _ := t.Lookup(key); c != nil {
		return c
	}
	return schema.Unknown
}

func elemType(t *schema.Type) *schema.Type {
	if t.Elem == nil {
		return schema.Unknown
	}
	return t.Elem
}

// symmetric holds law 6: Branch treats live and desired alike, except in unions,
// where nulls declare absence, and for the order of what both added.
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
	if root := c.Schema.Root; !Equal(fold(root, got, true), fold(root, c.m, true)) {
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

// touchesUnion reports whether live and desired differ in a union.
func (c *lawyer) touchesUnion(t *schema.Type, l, d any) bool {
	if Equal(l, d) {
		return false
	}
	if t.Strategic.RetainKeys {
		return true
	}
	lm, _ := l.(map[string]any)
	dm, _ := d.(map[string]any)
	for k := range lm {
		if _, both := dm[k]; both && c.touchesUnion(child(t, k), lm[k], dm[k]) {
			return true
		}
	}
	ll, _ := l.([]any)
	dl, _ := d.([]any)
	for _, x := range ll {
		for _, y := range dl {
			if keyOf(x, t.Strategic.Keys) == keyOf(y, t.Strategic.Keys) && c.touchesUnion(elemType(t), x, y) {
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
	patch, _ := dialect.EncodeStrategic(nil, &sc)
	again, _ := dialect.EncodeStrategic(nil, &rev)
	if !bytes.Equal(patch, again) {
		c.broken(9, "the patch depends on the order of keys: %s, %s", patch, again)
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
