package braid_test

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/braid/internal/diverge"
	"example.com/braid/merge"
)

//go:generate go test -run TestGenerated . -update

var update = flag.Bool("update", false, "write the generated parts of README.md")

// The tables of README and of doc.go are those of the code.
func TestGenerated(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	got := string(text)
	for name, table := range map[string]string{
		"cases": cases(), "divergences": divergences(), "benchmarks": benchmarks(t),
	} {
		section := regexp.MustCompile(`(?s)<!-- ` + name + ` -->\n.*<!-- /` + name + ` -->`)
		if !section.MatchString(got) {
			t.Fatalf("README.md has no section %s", name)
		}
		got = section.ReplaceAllLiteralString(got, "<!-- "+name+" -->\n"+table+"<!-- /"+name+" -->")
	}
	if *update {
		if err := os.WriteFile("README.md", []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(string(text), got); diff != "" {
		t.Errorf("README.md is stale; run go generate (-file +code):\n%s", diff)
	}
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	for c, line := range rows("%-16s   %s    %s    %s      %-4s   %-5s   %-5s   %s") {
		if !strings.Contains(string(doc), line) {
			t.Errorf("doc.go lacks the line of case %d:\n%q", c, line)
		}
	}
}

// rows formats the name, the pattern and the four actions of each case.
func rows(format string) (out []string) {
	for c := range merge.Case(15) {
		p := strings.Fields(c.Pattern())
		out = append(out, fmt.Sprintf(format, c, p[0], p[1], p[2], merge.Apply[c], merge.Strict[c], merge.Update[c], merge.Branch[c]))
	}
	return out
}

func cases() string {
	return "| case | last | live | desired | Apply (kubectl apply) | Strict (overwrite=false) | Update (kustomize, kpt) | Branch (git) |\n" +
		"|---|---|---|---|---|---|---|---|\n" + strings.Join(rows("| %s | %s | %s | %s | %s | %s | %s | %s |"), "\n") + "\n"
}

func divergences() string {
	var b strings.Builder
	b.WriteString("| | they | we | why |\n|---|---|---|---|\n")
	for _, d := range diverge.Catalogue {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", d.Name, d.Theirs, d.Ours, d.Why)
	}
	return b.String()
}

// benchmarks makes the table of ratios from what a run of the benchmarks printed.
func benchmarks(t *testing.T) string {
	file, err := os.Open("bench/results.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	type result struct {
		ns     float64
		allocs int
	}
	best := map[string]result{}
	var order []string
	line := regexp.MustCompile(`^Benchmark(\w+)/case=([^/]+)/peer=(\w+?)(?:-\d+)?\s+\d+\s+([\d.]+) ns/op.*?(\d+) allocs/op`)
	for scan := bufio.NewScanner(file); scan.Scan(); {
		m := line.FindStringSubmatch(scan.Text())
		if m == nil {
			continue
		}
		var r result
		fmt.Sscan(m[4], &r.ns)
		fmt.Sscan(m[5], &r.allocs)
		key := m[1] + "/" + m[2]
		if _, ok := best[key+"/"+m[3]]; !ok && m[3] == "braid" {
			order = append(order, key)
		}
		if old, ok := best[key+"/"+m[3]]; !ok || r.ns < old.ns {
			best[key+"/"+m[3]] = r
		}
	}
	var b strings.Builder
	b.WriteString("| work | case | braid | allocations | strategicpatch | allocations | ratio |\n|---|---|---|---|---|---|---|\n")
	for _, key := range order {
		ours, ok := best[key+"/braid"], false
		theirs, ok := best[key+"/strategicpatch"]
		work, name, _ := strings.Cut(key, "/")
		if !ok {
			fmt.Fprintf(&b, "| %s | %s | %.1f µs | %d | | | |\n", work, name, ours.ns/1e3, ours.allocs)
			continue
		}
		fmt.Fprintf(&b, "| %s | %s | %.1f µs | %d | %.1f µs | %d | %.1f× |\n", work, name,
			ours.ns/1e3, ours.allocs, theirs.ns/1e3, theirs.allocs, theirs.ns/ours.ns)
	}
	return b.String()
}
