package main

import (
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const root = "../.."

// RESULTS.md, the plot and README's section are what the stored results give.
func TestGenerated(t *testing.T) {
	r, err := stored(root)
	if err != nil {
		t.Fatal(err)
	}
	files, err := written(root, r)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s is stale; run go generate ./bench/report (-want +file):\n%s", name, diff)
		}
	}
}

// Every bar, every work that README shows and every one of the plot is measured: a name
// that no benchmark has would go unnoticed.
func TestStoredResultsAreWhole(t *testing.T) {
	r, err := stored(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range bars {
		if b.outcome(r).measured == "" {
			t.Errorf("the bar %+v is not measured", b)
		}
		if !b.outcome(r).held && reasons[b.work] == "" {
			t.Errorf("nothing says why the bar %+v is missed", b)
		}
	}
	names := map[string]bool{}
	for _, w := range r.works {
		names[w.name] = true
		if w.says == "" {
			t.Errorf("nothing says what is done in %s", w.name)
		}
	}
	for _, w := range append(shownWorks, plotted...) {
		if !names[w] {
			t.Errorf("%s is not measured", w)
		}
	}
	for k, m := range r.best {
		if m.ns <= 0 || m.bytes <= 0 {
			t.Errorf("%v has no time or no size: %+v", k, m)
		}
	}
}

const printed = `go: go1.26
goos: linux
work: NoOp: nothing changes
BenchmarkNoOp/case=a/peer=braid-2   	 100	 2000 ns/op	 50.00 MB/s	 0 B/op	 1 allocs/op
BenchmarkNoOp/case=a/peer=braid-2   	 100	 1000 ns/op	 100.00 MB/s	 0 B/op	 3 allocs/op
BenchmarkNoOp/case=a/peer=x.Compare-2   	 100	 500.5 ns/op	 200.00 MB/s	 16 B/op	 7 allocs/op
differs: BenchmarkNoOp/case=a/peer=x.Compare: forgets
differs: BenchmarkNoOp/case=a/peer=x.Compare: forgets
unsupported: BenchmarkNoOp/case=b/peer=x.Compare: too slow
BenchmarkNoOp/case=b/peer=braid 	 1	 4000 ns/op	 50.00 MB/s	 0 B/op	 0 allocs/op
BenchmarkNoOp/case=a/peer=parse-2   	 100	 100 ns/op	 1000.00 MB/s	 0 B/op	 0 allocs/op
origin: a: made up
PASS
`

func TestTables(t *testing.T) {
	r := parse([]byte(printed))
	want := `| case | peer | time | ratio | allocations | |
|---|---|---|---|---|---|
| a | braid | 1.0 µs |  | 1 |  |
| a | x.Compare | 500 ns | **0.50×, lost**† | 7 | differs: forgets |
| a | parse | 100 ns | 0.10× (floor) | 0 |  |
| b | braid | 4.0 µs |  | 0 |  |
| b | x.Compare | | | | unsupported: too slow |
| b | parse | | | |  |
`
	if diff := cmp.Diff(want, workTable(r, r.works[0])); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
	want = `1 of the 1 times that a peer was measured beside braid, the worst first.

| work | case | peer | ratio |
|---|---|---|---|
| NoOp | a | x.Compare | **0.50×, lost**† |
`
	if diff := cmp.Diff(want, lossList(r)); diff != "" {
		t.Errorf("losses (-want +got):\n%s", diff)
	}
	text := document(r)
	for _, part := range []string{"## NoOp\n\nNothing changes.\n", "    go: go1.26\n    goos: linux\n    a: made up\n"} {
		if !strings.Contains(text, part) {
			t.Errorf("the document lacks %q:\n%s", part, text)
		}
	}
}

func TestBars(t *testing.T) {
	r := parse([]byte(printed))
	for _, test := range []struct {
		name string
		bar  bar
		want outcome
		word string
	}{
		{"faster", bar{work: "NoOp", name: "a", peer: "x.Compare", faster: 0.4}, outcome{"≥ 0.4× as fast as x.Compare", "0.5×", true}, "held"},
		{"not faster", bar{work: "NoOp", name: "a", peer: "x.Compare", faster: 2}, outcome{"≥ 2× as fast as x.Compare", "0.5×", false}, "**missed**"},
		{"within", bar{work: "NoOp", name: "a", peer: "parse", within: 10}, outcome{"≤ 10× the time of parse", "10.00×", true}, "held"},
		{"not within", bar{work: "NoOp", name: "a", peer: "parse", within: 1.3}, outcome{"≤ 1.3× the time of parse", "10.00×", false}, "**missed**"},
		{"allocations", bar{work: "NoOp", name: "b", counted: true}, outcome{"≤ 0 allocations", "0", true}, "held"},
		{"more allocations", bar{work: "NoOp", name: "a", counted: true}, outcome{"≤ 0 allocations", "1", false}, "**missed**"},
		{"growth", bar{work: "NoOp", name: "b", growth: "a"}, outcome{"≤ 2× the time an element of a", "0.04×", true}, "held"},
		{"no such case", bar{work: "NoOp", name: "c", counted: true}, outcome{"≤ 0 allocations", "", false}, "not measured"},
		{"peer not measured", bar{work: "NoOp", name: "b", peer: "x.Compare", faster: 2}, outcome{"≥ 2× as fast as x.Compare", "", false}, "not measured"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := test.bar.outcome(r)
			if got != test.want || got.word() != test.word {
				t.Errorf("got %+v %s, want %+v %s", got, got.word(), test.want, test.word)
			}
		})
	}
}

// The plot is XML, and has a panel for each work and a circle for each measurement.
func TestPlot(t *testing.T) {
	r, err := stored(root)
	if err != nil {
		t.Fatal(err)
	}
	svg := string(plot(r))
	want := 0
	for _, name := range plotted {
		for k := range r.best {
			if k.work == name {
				want++
			}
		}
		if !strings.Contains(svg, ">"+name+"<") {
			t.Errorf("no panel for %s", name)
		}
	}
	got := 0
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "circle" {
			got++
		}
	}
	if got != want {
		t.Errorf("got %d circles, want %d", got, want)
	}
}
