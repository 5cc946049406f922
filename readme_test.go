package braid_test

import (
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

// The tables of README and of doc.go are those of the code; bench/report writes that of
// the benchmarks.
func TestGenerated(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	got := string(text)
	for name, table := range map[string]string{
		"cases": cases(), "divergences": divergences(diverge.Catalogue), "serverside": divergences(diverge.ServerSide), "server": server(t),
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

// server is what internal/e2e found, but for its details by kind.
func server(t *testing.T) string {
	text, err := os.ReadFile("internal/e2e/RESULTS.md")
	if err != nil {
		t.Fatal(err)
	}
	_, tables, _ := strings.Cut(string(text), "\n| patch |")
	tables, _, ok := strings.Cut(tables, "\n| kind |")
	if !ok {
		t.Fatal("internal/e2e/RESULTS.md has no tables")
	}
	return "| patch |" + tables
}

func divergences(list []diverge.Divergence) string {
	var b strings.Builder
	b.WriteString("| | they | we | why |\n|---|---|---|---|\n")
	for _, d := range list {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", d.Name, d.Theirs, d.Ours, d.Why)
	}
	return b.String()
}
