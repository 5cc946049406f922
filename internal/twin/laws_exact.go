package twin

import (
	"bytes"
	"errors"

	"example.com/braid/internal/dialect"
	"example.com/braid/internal/node"
	"example.com/braid/internal/schema"
	"example.com/braid/internal/walk"
)

// format is a patch format with its empty patch, and who writes and applies it.
type format struct {
	name, empty string
	encode      func([]byte, *walk.Script, dialect.Guard) ([]byte, error)
	apply       func(live, patch *node.Tree) ([]byte, error)
	theirs      func(live, patch []byte) ([]byte, error)
}

func (c *lawyer) formats() []format {
	out := []format{
		{"JSON merge patch", "{}", dialect.EncodeJSONMerge, func(live, patch *node.Tree) ([]byte, error) {
			return dialect.ApplyJSONMerge(nil, live, patch), nil
		}, c.Theirs.JSONMerge},
		{"JSON Patch", "[]", dialect.EncodeJSONPatch, func(live, patch *node.Tree) ([]byte, error) {
			return dialect.ApplyJSONPatch(nil, live, patch, node.Limits{})
		}, c.Theirs.JSONPatch},
	}
	if c.Model == schema.Strategic {
		out = append(out, format{"strategic patch", "{}", dialect.EncodeStrategic, func(live, patch *node.Tree) ([]byte, error) {
			return dialect.ApplyStrategic(nil, live, patch, c.Schema)
		}, c.Theirs.Strategic})
	}
	return out
}

// exact holds law 1: a patch turns live into merged, in every format and by every
// applier, guarded or not.
func (c *lawyer) exact(sc walk.Script) {
	for _, f := range c.formats() {
		for _, g := range []dialect.Guard{0, dialect.GuardVersion | dialect.GuardValues} {
			c.exactIn(f, sc, g)
		}
	}
}

func (c *lawyer) exactIn(f format, sc walk.Script, g dialect.Guard) {
	patch, err := f.encode(nil, &sc, g)
	if err != nil {
		if !errors.Is(err, dialect.ErrInexpressible) {
			c.broken(1, "%s: the encoder fails: %v", f.name, err)
		}
		return
	}
	if empty := string(patch) == f.empty; empty != (sc.Changes == 0) {
		c.broken(2, "%s: %d changes, but the patch is %s", f.name, sc.Changes, patch)
	}
	p, err := node.Parse(patch, node.Limits{})
	if err != nil {
		c.broken(1, "%s: the patch is no JSON: %v: %s", f.name, err, patch)
		return
	}
	got, err := f.apply(c.live, p)
	if err != nil || !c.isMerged(got) {
		c.broken(1, "%s: our applier makes %s (%v) of the patch %s, merged is %s", f.name, got, err, patch, c.merged)
	}
	if f.theirs == nil {
		return
	}
	got, err = f.theirs(c.live.JSON(), patch)
	if err != nil || !c.isMerged(got) {
		c.broken(1, "%s: their applier makes %s (%v) of the patch %s, merged is %s", f.name, got, err, patch, c.merged)
	}
}

// isMerged reports whether an applier has made the merged object.
func (c *lawyer) isMerged(got []byte) bool {
	if bytes.Equal(got, c.merged) { // which is quicker to see
		return true
	}
	m, ok := parseMap(got)
	return ok && Equal(m, c.m)
}

// configuration holds law 1 and 4 for the apply configuration: merged has all that it
// declares, and it declares all of desired that merged has.
func (c *lawyer) configuration(sc walk.Script, merged *node.Tree) {
	if sc.Conflicts > 0 || c.Policy[walk.TheySet] == walk.Keep || c.unsteady() {
		return
	}
	text, err := dialect.EncodeApplyConfiguration(nil, &sc)
	if errors.Is(err, dialect.ErrInexpressible) && c.Unowned == walk.UnownedGoes && len(warnedOf(sc)) > 0 {
		return
	}
	if errors.Is(err, dialect.ErrInexpressible) && repeats(c.Schema.Root, c.d) {
		return // a server refuses that
	}
	if err != nil {
		c.broken(1, "apply configuration: %v", err)
		return
	}
	config, err := node.Parse(text, node.Limits{})
	if err != nil {
		c.broken(1, "apply configuration: %v: %s", err, text)
		return
	}
	declared := c.declares()
	if m, ok := declared["metadata"].(map[string]any); ok { // of the copy
		delete(m, "managedFields") // which a server refuses in a configuration
	}
	if c.Model != schema.Strategic { // by which no server applies
		server := c.Rules // and it knows of no options
		server.Ignore, server.HandOver, server.Infer = nil, nil, false
		again, err := walkWith(config, merged, config, nil, server)
		if err != nil {
			c.broken(4, "a server refuses the apply configuration %s: %v", text, err)
		} else if got, _ := parseMap(again.AppendMerged(nil)); again.Changes > 0 && !c.sameFolded(got, c.m) { // but for key fields that stand at their defaults
			c.broken(4, "of the apply configuration %s a server makes %s of merged %s", text, again.AppendMerged(nil), c.merged)
		}
	}
	for _, last := range []*node.Tree{config, tree(declared)} {
		again, err := c.walk(last, merged, config)
		if err != nil {
			c.broken(4, "the apply configuration %s is refused: %v", text, err)
		} else if again.Changes > 0 {
			c.broken(4, "the apply configuration %s makes %s (%v) of merged %s", text, again.AppendMerged(nil), err, c.merged)
		}
	}
}
