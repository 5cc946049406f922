package node

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// The inputs of this file are so large that work that grows with their square would
// not end before the test's timeout: many is 100,000, or less under the race detector.
// Correctness is checked on the way.

// shuffled returns the numbers below many in an order that is always the same.
func shuffled() []int { return rand.New(rand.NewPCG(1, 1)).Perm(many) }

func TestManyKeys(t *testing.T) {
	t.Parallel()
	for _, format := range []string{`"k%06d":%d`, `"a-long-shared-prefix-%06d":%d`, `"\u0061-long-shared-prefix-%06d":%d`, `"line\nline\nline%06d":%d`} {
		var shuffle, sorted strings.Builder
		for i, k := range shuffled() {
			fmt.Fprintf(&shuffle, ","+format, k, k)
			fmt.Fprintf(&sorted, ","+format, i, i)
		}
		a, b := parsed(t, "{"+shuffle.String()[1:]+"}"), parsed(t, "{"+sorted.String()[1:]+"}")
		if !Equal(a, 0, b, 0) || string(a.JSON()) != string(b.JSON()) {
			t.Errorf("%s: order of keys matters", format)
		}
	}
}

func TestLongLists(t *testing.T) {
	t.Parallel()
	var scalars, maps strings.Builder
	for i := range many {
		fmt.Fprintf(&scalars, ",%d", i)
		fmt.Fprintf(&maps, `,{"name":"e%d","b":[],"a":{}}`, i)
	}
	check(t, parsed(t, "["+scalars.String()[1:]+"]"))
	tr := parsed(t, "["+maps.String()[1:]+"]")
	if last := tr.Kids(0)[many-1]; tr.Path(last).String() != fmt.Sprintf("[%d]", many-1) || !Covers(tr, 0, tr, 0) {
		t.Error("the last element", tr.Path(last))
	}
	m, err := FromMap(map[string]any{"l": tr.Value(0)}, Limits{})
	if err != nil || !Equal(m, m.Lookup("l"), tr, 0) {
		t.Error("FromMap", err)
	}
}

func TestLongStrings(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{`x`, `é`, `\n`, `\u00e9x`, `\ud83d\ude00`, `x\\`, "x\u2028é"} {
		text := `"` + strings.Repeat(unit, many) + `"`
		tr := parsed(t, text)
		check(t, parsed(t, `{`+text+`:`+text+`}`))
		if !Equal(tr, 0, tr, 0) {
			t.Error(unit)
		}
	}
	// Half-good strings in a row must not be read again and again.
	if _, err := Parse([]byte(strings.Repeat(`"\n`, many)), Limits{}); err == nil {
		t.Error("no document")
	}
}

func TestLongNumbers(t *testing.T) {
	t.Parallel()
	zeros, nines := strings.Repeat("0", 20*many), strings.Repeat("9", 20*many)
	for _, c := range []struct {
		a, b  string
		equal bool
	}{
		{"1" + zeros, fmt.Sprintf("1e%d", 20*many), true},
		{"0." + zeros + "1", fmt.Sprintf("1e-%d", 20*many+1), true},
		{nines, nines + ".0", true},
		{nines, nines[1:] + "8", false},
		{"1e" + nines, "1.0e" + nines, true},
		{"1e" + nines, "1e-" + nines, false},
	} {
		a, b := parsed(t, "["+c.a+"]"), parsed(t, "["+c.b+"]")
		if Equal(a, 0, b, 0) != c.equal {
			t.Errorf("%.20s, %.20s: equal %v", c.a, c.b, !c.equal)
		}
	}
	if got := parsed(t, `{"a":1e`+nines+`}`).Map()["a"]; fmt.Sprint(got) != "1e"+nines {
		t.Error("Map must keep what no float64 holds")
	}
}

func TestLargeYAML(t *testing.T) {
	t.Parallel()
	var list, keys, aliases, merges strings.Builder
	aliases.WriteString("a: &a {x: 1}\nl:\n")
	merges.WriteString("a: &a {x: 1}\nl:\n")
	for _, k := range shuffled() {
		fmt.Fprintf(&list, "- name: e%d # comment\n  value: |\n    a\n    b\n# comment\n", k)
		fmt.Fprintf(&keys, "? key%06d\n: %d\n", k, k)
		aliases.WriteString("- *a\n")
		merges.WriteString("- {<<: *a, y: 2}\n")
	}
	for name, c := range map[string]struct {
		text string
		len  int
	}{
		"list":          {list.String(), 3*many + 1},
		"keys":          {keys.String(), many + 1},
		"flow keys":     {"{a: b, " + flowKeys() + "}", many + 2},
		"aliases":       {aliases.String(), 2*many + 4},
		"merges":        {merges.String(), 3*many + 4},
		"comments":      {"a: 1\n" + strings.Repeat("# c\n", many) + "b: 2\n" + strings.Repeat("  # d\n\n", many), 3},
		"block scalar":  {"a: |\n" + strings.Repeat("  line\n", many), 2},
		"folded scalar": {"a: >\n" + strings.Repeat("  line\n\n", many), 2},
		"plain scalar":  {"a:\n" + strings.Repeat("  line\n", many), 2},
		"quoted scalar": {`a: "` + strings.Repeat(`\n\u00e9 `, many) + `"`, 2},
		"documents":     {strings.Repeat("---\n# none\n", many) + "a: 1", 2},
		"deep":          {strings.Repeat("- ", 500) + strings.Repeat("[", 400) + strings.Repeat("]", 400), 900},
	} {
		t.Run(name, func(t *testing.T) {
			tr, err := ParseYAML([]byte(c.text), Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if tr.Len() != c.len {
				t.Errorf("%d values, want %d", tr.Len(), c.len)
			}
		})
	}
}

func flowKeys() string {
	var b strings.Builder
	for _, k := range shuffled() {
		fmt.Fprintf(&b, "key%06d: [], ", k)
	}
	return b.String()
}
