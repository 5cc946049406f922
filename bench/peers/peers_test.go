package peers

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"regexp"
	"sort"
	"strings"
	"testing"

	evanphx "github.com/evanphx/json-patch/v5"

	"example.com/braid/internal/dialect"
	"example.com/braid/internal/node"
)

var (
	patches = flag.Int("patches", 4000, "how many random patches each test makes")
	seed    = flag.Uint64("seed", 1, "of the random documents and patches")
)

var errPanic = errors.New("panic")

func TestJSONPatch(t *testing.T) {
	r := newSource(*seed)
	c := newCounts()
	for n := range *patches {
		r.slashes = n%8 == 0
		doc := r.document()
		ops := r.operations(doc)
		if r.oneIn(200) {
			c.shape(t, doc, r.value(1))
		}
		if overflows(join(ops)) {
			c.rows["not asked: it might overflow their stack"]++
			continue
		}
		ours, theirs := patchBoth(doc, ops)
		if c.saw(ours); ours.equal(theirs) {
			continue
		}
		d := firstDispute(doc, ops)
		if name := explain(d); name != "" {
			c.rows[name]++
			continue
		}
		t.Errorf("patch %d: %s\non %s\noperation %s\non %s\nours   %s\ntheirs %s", n, join(ops), doc, d.op, d.before.JSON(), d.ours, d.theirs)
		if c.fail(); c.failed == 10 {
			break
		}
	}
	c.log(t)
	for _, row := range patchDifferences {
		if c.rows[row.name] == 0 && *patches >= 100_000 {
			t.Errorf("no patch shows the difference %q", row.name)
		}
	}
}

func TestJSONMerge(t *testing.T) {
	r := newSource(*seed)
	c := newCounts()
next:
	for n := range *patches {
		doc, patch := r.document(), r.mergePatch()
		d := mergeDispute{doc: parse(doc), patch: parse(patch)}
		d.ours.doc = parse(string(dialect.ApplyJSONMerge(nil, d.doc, d.patch)))
		d.theirs = guarded(func() ([]byte, error) { return evanphx.MergePatch([]byte(doc), []byte(patch)) })
		if c.saw(d.ours); d.ours.equal(d.theirs) {
			continue
		}
		for _, row := range mergeDifferences {
			if row.is(&d) {
				c.rows[row.name]++
				continue next
			}
		}
		t.Errorf("patch %d: %s\non %s\nours   %s\ntheirs %s", n, patch, doc, d.ours, d.theirs)
		if c.fail(); c.failed == 10 {
			break
		}
	}
	c.log(t)
}

// shape holds the two against each other on a patch that may be no list of operations.
// They take null for an empty patch; RFC 6902, section 3 wants a list.
func (c *counts) shape(t *testing.T, doc, patch string) {
	ours, theirs := ourPatch(doc, patch), theirPatch(doc, patch)
	if !ours.equal(theirs) && patch != "null" && !(patch == "[]" && doc[0] != '{' && doc[0] != '[') {
		t.Errorf("%s on %s\nours   %s\ntheirs %s", patch, doc, ours, theirs)
	}
}

// emptyTokens matches the ends of empty tokens in the text of a patch.
var emptyTokens = regexp.MustCompile(`/(/|")`)

// overflows reports whether a patch might make their document hold itself, which ends
// the process: no recover helps. Reading "" as the map itself, a move can put the map
// into itself; it takes two pointers with empty tokens, and a later copy. The smallest:
// move "/" to "//", then copy "" to "/a", on {"":1}.
func overflows(patch string) bool {
	return strings.Contains(patch, `"move"`) && len(emptyTokens.FindAllString(patch, 2)) == 2
}

// firstDispute returns the first operation that the two disagree about. Where both
// refuse the beginning of a patch that they accept whole, they could not write what they
// had then, so the disagreement is about the operation that we refuse.
func firstDispute(doc string, ops []string) *dispute {
	before := parse(doc)
	for n := 1; ; n++ {
		ours, theirs := patchBoth(doc, ops[:n])
		if ours.err != nil {
			theirs = theirPatch(doc, join(ops))
		}
		if n == len(ops) || ours.err != nil || !ours.equal(theirs) {
			return &dispute{json.RawMessage(ops[n-1]), before, ours, theirs}
		}
		before = ours.doc
	}
}

func patchBoth(doc string, ops []string) (ours, theirs outcome) {
	return ourPatch(doc, join(ops)), theirPatch(doc, join(ops))
}

func ourPatch(doc, patch string) outcome {
	out, err := dialect.ApplyJSONPatch(nil, parse(doc), parse(patch), node.Limits{})
	if err != nil {
		return outcome{err: err}
	}
	return outcome{doc: parse(string(out))}
}

func theirPatch(doc, patch string) outcome {
	return guarded(func() ([]byte, error) {
		p, err := evanphx.DecodePatch([]byte(patch))
		if err != nil {
			return nil, err
		}
		o := evanphx.NewApplyOptions()
		o.SupportNegativeIndices = false // no RFC has them
		return p.ApplyWithOptions([]byte(doc), o)
	})
}

func guarded(apply func() ([]byte, error)) (o outcome) {
	defer func() {
		if r := recover(); r != nil {
			o = outcome{err: fmt.Errorf("%w: %v", errPanic, r)}
		}
	}()
	out, err := apply()
	if err != nil {
		return outcome{err: err}
	}
	return outcome{doc: parse(string(out))}
}

func join(ops []string) string { return "[" + strings.Join(ops, ",") + "]" }

func (o outcome) String() string {
	if o.err != nil {
		return o.err.Error()
	}
	return string(o.doc.JSON())
}

// counts is what a test has seen.
type counts struct {
	accepted, refused, failed int
	rows                      map[string]int
}

func newCounts() *counts { return &counts{rows: map[string]int{}} }

func (c *counts) fail() { c.failed++ }

func (c *counts) saw(o outcome) {
	if o.err != nil {
		c.refused++
	} else {
		c.accepted++
	}
}

func (c *counts) log(t *testing.T) {
	t.Logf("%d accepted, %d refused", c.accepted, c.refused)
	var names []string
	for name := range c.rows {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		t.Logf("%6d %s", c.rows[name], name)
	}
}
