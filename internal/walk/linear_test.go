package walk

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"example.com/braid/internal/node"
)

// shapes are pairs of big documents, live and desired, of n elements.
var shapes = []struct {
	name string
	docs func(n int) (live, desired string)
}{
	{"keyed, shuffled", func(n int) (string, string) {
		elem := func(i int) string { return fmt.Sprintf(`{"name":"n%d","value":"v"}`, i) }
		return list("named", n, elem), list("named", n, shuffled(n, elem))
	}},
	{"keyed, all new", func(n int) (string, string) {
		return list("named", n, func(i int) string { return fmt.Sprintf(`{"name":"a%d"}`, i) }),
			list("named", n, func(i int) string { return fmt.Sprintf(`{"name":"b%d"}`, i) })
	}},
	{"set, shuffled", func(n int) (string, string) {
		elem := func(i int) string { return fmt.Sprintf(`"v%d"`, i) }
		return list("set", n, elem), list("set", n, shuffled(n, elem))
	}},
	{"one key, repeated", func(n int) (string, string) {
		return list("named", n, func(int) string { return `{"name":"a"}` }),
			list("named", n, func(i int) string { return fmt.Sprintf(`{"name":"a","value":"%d"}`, i) })
	}},
	{"one finer key, repeated", func(n int) (string, string) {
		return list("ports", n, func(int) string { return `{"port":1}` }),
			list("ports", n, func(i int) string { return fmt.Sprintf(`{"port":1,"text":"%d"}`, i) })
	}},
	{"one value, repeated", func(n int) (string, string) {
		return list("set", n, func(int) string { return `"a"` }), list("set", n, func(i int) string { return `"b"` })
	}},
	{"without keys", func(n int) (string, string) {
		return list("named", n, func(int) string { return `{"value":"x"}` }), `{"named":[{"name":"a"}]}`
	}},
	{"keys of one prefix, shuffled", func(n int) (string, string) {
		elem := func(i int) string {
			return fmt.Sprintf(`{"name":"a-prefix-that-is-as-long-as-keys-may-well-be-%d"}`, i)
		}
		return list("named", n, elem), list("named", n, shuffled(n, elem))
	}},
	{"turned round", func(n int) (string, string) {
		return list("named", n, func(i int) string { return fmt.Sprintf(`{"name":"n%d"}`, i) }),
			list("named", n, func(i int) string { return fmt.Sprintf(`{"name":"n%d"}`, n-1-i) })
	}},
	{"every other one", func(n int) (string, string) {
		return list("named", n, func(i int) string { return fmt.Sprintf(`{"name":"n%d"}`, i) }),
			list("named", n/2, func(i int) string { return fmt.Sprintf(`{"name":"n%d"}`, 2*i) })
	}},
	{"atomic, changed at the end", func(n int) (string, string) {
		elem := func(i int) string { return fmt.Sprintf(`"v%d"`, i) }
		return list("list", n, elem), list("list", n+1, elem)
	}},
	{"nested maps", func(n int) (string, string) {
		deep := func(leaf string) string {
			levels := min(n/20, 900) // a document may nest 1,000 levels
			return strings.Repeat(`{"any":`, levels) + leaf + strings.Repeat("}", levels)
		}
		return deep(`{"a":1}`), deep(`{"a":2}`)
	}},
	{"many fields", func(n int) (string, string) {
		field := func(i int) string { return fmt.Sprintf(`"k%d":"v"`, i) }
		return strings.NewReplacer("[", "{", "]", "}").Replace(list("labels", n, field)),
			strings.NewReplacer("[", "{", "]", "}").Replace(list("labels", n/2, shuffled(n/2, field)))
	}},
}

func list(field string, n int, elem func(i int) string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{%q:[`, field)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(elem(i))
	}
	b.WriteString("]}")
	return b.String()
}

func shuffled(n int, elem func(i int) string) func(i int) string {
	order := rand.New(rand.NewPCG(1, 2)).Perm(n)
	return func(i int) string { return elem(order[i]) }
}

// A quadratic step would take 10,000,000,000 turns for each shape, and not come to
// an end before the tests are stopped.
func TestBig(t *testing.T) {
	if testing.Short() {
		t.Skip("big documents")
	}
	const n = 100_000
	for _, s := range shapes {
		t.Run(s.name, func(t *testing.T) {
			a, b := s.docs(n)
			live, desired := parse(a), parse(b)
			for _, last := range []*node.Tree{nil, live} {
				s, err := Walk(Input{Last: last, Live: live, Desired: desired, Rules: Rules{Schema: things, Policy: &Apply}})
				if err != nil {
					t.Fatal(err)
				}
				merged := parse(string(s.AppendMerged(nil)))
				again, err := Walk(Input{Last: desired, Live: merged, Desired: desired, Rules: Rules{Schema: things, Policy: &Apply}})
				if err != nil || again.Changes > 0 {
					t.Fatal("the second merge changes something", err)
				}
			}
		})
	}
}

// Twice the elements are at most 2.2 times the work.
func TestWorkLinear(t *testing.T) {
	for _, s := range shapes {
		work := func(n int, withLast bool) int {
			a, b := s.docs(n)
			in := Input{Live: parse(a), Desired: parse(b), Rules: Rules{Schema: things, Policy: &Apply}}
			if withLast {
				in.Last = in.Live
			}
			script, err := Walk(in)
			if err != nil {
				t.Fatal(err)
			}
			return script.Work
		}
		for _, withLast := range []bool{false, true} {
			for n := 500; n <= 8000; n *= 2 {
				once, twice := work(n, withLast), work(2*n, withLast)
				if once == 0 || float64(twice) > 2.2*float64(once) {
					t.Errorf("%s, last %v: %d steps for %d elements, %d for twice as many", s.name, withLast, once, n, twice)
				}
			}
		}
	}
}

// Twice the elements cost at most 2.2 times the allocations and memory.
func TestMemoryLinear(t *testing.T) {
	for _, s := range shapes {
		cost := func(n int) (allocs, bytes float64) {
			a, b := s.docs(n)
			in := Input{Last: parse(a), Live: parse(a), Desired: parse(b), Rules: Rules{Schema: things, Policy: &Apply}}
			allocs, bytes = math.Inf(1), math.Inf(1)
			for range 10 { // the least, for the pool of walkers may be empty
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				if _, err := Walk(in); err != nil {
					t.Fatal(err)
				}
				runtime.ReadMemStats(&after)
				allocs = min(allocs, float64(after.Mallocs-before.Mallocs))
				bytes = min(bytes, float64(after.TotalAlloc-before.TotalAlloc))
			}
			return allocs, bytes
		}
		n, size := cost(2_000)
		n2, size2 := cost(4_000)
		if n2 > 2.2*n+50 || size2 > 2.2*size+20_000 {
			t.Errorf("%s: %.0f allocations of %.0f bytes, for twice the elements %.0f of %.0f", s.name, n, size, n2, size2)
		}
	}
}
