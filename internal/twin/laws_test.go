package twin

import (
	"flag"
	"fmt"
	"testing"

	"example.com/braid/internal/node"
	"example.com/braid/internal/schema"
	"example.com/braid/internal/walk"
)

var (
	triples = flag.Int("triples", 4000, "how many random triples each test makes")
	seed    = flag.Uint64("seed", 0, "of the first random triple")
)

var policies = []struct {
	name  string
	table walk.Policy
}{{"Apply", walk.Apply}, {"Strict", walk.Strict}, {"Update", walk.Update}, {"Branch", walk.Branch}}

// triple is one merge as content, so that it can be shrunk.
type triple struct{ last, live, desired map[string]any }

func (x triple) String() string {
	return fmt.Sprintf("last    %s\nlive    %s\ndesired %s", tree(x.last).JSON(), tree(x.live).JSON(), tree(x.desired).JSON())
}

// random returns the triple of a seed. The low bits of the seed say what it may
// hold, so that every run sees all kinds.
func random(seed uint64) triple {
	r := NewRandom(seed)
	r.Odd, r.Nulls, r.Repeats = seed&1 != 0, seed&2 != 0, seed&12 == 12
	var x triple
	x.last, x.live, x.desired = r.Triple(kind)
	return x
}

// holds returns what is wrong with a triple under some rules, or "".
func (x triple) holds(r walk.Rules, byHand []string, apply func(live, patch []byte) ([]byte, error)) string {
	found, _ := Laws(Story{Last: tree(x.last), Live: tree(x.live), Desired: tree(x.desired), Rules: r, ByHand: byHand, Theirs: Theirs{Strategic: apply}})
	out := ""
	for _, b := range found {
		out += b.String() + "\n"
	}
	return out
}

// keep holds random triples against the laws, under the rules and the policy that
// each one's seed says, and with random options. The first ten that break one are made
// small and shown. Each option must matter often enough.
func keep(t *testing.T, random func(seed uint64) triple, rules func(seed uint64) walk.Rules, apply func(live, patch []byte) ([]byte, error)) {
	broken, matter := 0, map[string]int{}
	for s := *seed; s < *seed+uint64(*triples) && broken < 10; s++ {
		x, r, p := random(s), rules(s), policies[s/128%4]
		r.Policy = &p.table
		byHand := NewRandom(s).options(&x, &r)
		x.matter(r, byHand, matter)
		bad := func(x triple) bool { return x.holds(r, byHand, apply) != "" }
		if !bad(x) {
			continue
		}
		broken++
		small := shrink(x, bad)
		t.Errorf("seed %d, %s, model %d, equality %d, nulls %d, ignore %v, hand-over %v, infer %v, unowned %d by %v\n%v\n%s", s, p.name, r.Model, r.Equality, r.Nulls,
			r.Ignore, r.HandOver, r.Infer, r.Unowned, byHand, small, small.holds(r, byHand, apply))
	}
	t.Logf("of %d triples options matter in %v", *triples, matter)
	for _, option := range []string{"Ignore", "HandOver", "Unowned", "InferKeys"} {
		known := option == "InferKeys" && rules(0).Schema != schema.None // with few lists that it does not know
		if matter[option] < *triples/50 && broken == 0 && !known {
			t.Errorf("%s matters in %d of %d triples, want one in 50", option, matter[option], *triples)
		}
	}
}

func TestLaws(t *testing.T) {
	keep(t, random, func(s uint64) walk.Rules {
		return walk.Rules{Schema: kind, Equality: walk.Equality(s / 16 % 2), Nulls: walk.Nulls(s / 32 % 2)}
	}, theirs)
}

func TestLawsStructured(t *testing.T) {
	keep(t, random, func(s uint64) walk.Rules {
		return walk.Rules{Schema: kind, Model: schema.Structured, Equality: walk.Equality(s / 16 % 2), Nulls: walk.Nulls(s / 32 % 2)}
	}, nil)
}

// The kind of the test against structured-merge-diff has other structured rules than
// strategic ones all over.
func TestLawsThing(t *testing.T) {
	k := newThing(t)
	keep(t, func(s uint64) triple { return randomThing(k, s, s&1 != 0) }, func(s uint64) walk.Rules {
		return walk.Rules{Schema: k.schema, Model: schema.Structured, Equality: walk.Equality(s / 16 % 2), Nulls: walk.Nulls(s / 32 % 2)}
	}, nil)
}

// Without a schema there are no lists to merge and no strategies.
func TestLawsSchemaless(t *testing.T) {
	keep(t, random, func(s uint64) walk.Rules {
		return walk.Rules{Schema: schema.None, Model: schema.Model(s / 16 % 3), Nulls: walk.Nulls(s / 64 % 2)}
	}, nil)
}

// FuzzMerge holds random triples against the laws, and three documents of the
// fuzzer's own, which no generator would think of.
func FuzzMerge(f *testing.F) {
	f.Add(uint64(1), byte(0), "", "", "")
	f.Add(uint64(0), byte(1), `{"text":"a"}`, `{"text":"b","named":[{"name":"a"},{}]}`, `{"named":[{"name":"a"}]}`)
	f.Add(uint64(0), byte(2), `{"ports":[{"port":1}]}`, `{"ports":[{"port":1.0},{"port":1}]}`, `{"ports":[{"port":1},{"port":1,"protocol":"b"}]}`)
	f.Add(uint64(0), byte(3), `{"union":{"a":{}}}`, `{"union":{"a":{},"b":null}}`, `{"union":{"b":{"$patch":"delete"}}}`)
	f.Fuzz(func(t *testing.T, seed uint64, policy byte, last, live, desired string) {
		p := policies[int(policy)%len(policies)]
		if what := random(seed).holds(walk.Rules{Schema: kind, Policy: &p.table}, nil, theirs); what != "" {
			t.Errorf("seed %d, %s\n%v\n%s", seed, p.name, random(seed), what)
		}
		var docs [3]*node.Tree
		for i, text := range []string{last, live, desired} {
			d, err := node.Parse([]byte(text), node.Limits{Depth: 50})
			if err != nil {
				return
			}
			docs[i] = d
		}
		for _, s := range []*schema.Schema{kind, schema.None} {
			found, _ := Laws(Story{Last: docs[0], Live: docs[1], Desired: docs[2], Rules: walk.Rules{Schema: s, Policy: &p.table}})
			for _, b := range found {
				t.Error(b)
			}
		}
	})
}
