// Report writes what the benchmarks measured: bench/RESULTS.md, bench/time.svg and the
// section of README. Run it in the root of the project:
//
//	go run ./bench/report         from the stored results
//	go run ./bench/report -run    measures first, and stores: about ten minutes
//
// The layout: results.go reads what go test printed, bars.go has what the project demands
// of itself, tables.go and plot.go write. What is written depends on the stored results
// only, and a test holds it to them.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
)

//go:generate go run .

func main() {
	run := flag.Bool("run", false, "run the benchmarks of both modules first, and store what they print")
	benchtime := flag.String("benchtime", "50ms", "of one measurement, with -run")
	count := flag.Int("count", 3, "how often all is measured, with -run")
	flag.Parse()
	if err := report(*run, *benchtime, *count); err != nil {
		fmt.Fprintln(os.Stderr, "report:", err)
		os.Exit(1)
	}
}

func report(run bool, benchtime string, count int) error {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return err
	}
	root := strings.TrimSpace(string(dir))
	if run {
		if err := measure(root, benchtime, count); err != nil {
			return err
		}
	}
	r, err := stored(root)
	if err != nil {
		return err
	}
	files, err := written(root, r)
	if err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(root, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// modules are the directories of the benchmarks, each with its results.
var modules = []string{"bench", "bench/peers"}

const file = "results.txt"

// measure stores nothing unless every run has gone well. All is run several times over,
// rather than each measurement several times in a row, so that noise that lasts for a
// while meets every peer.
func measure(root, benchtime string, count int) error {
	printed := make([]bytes.Buffer, len(modules))
	for i := range printed {
		fmt.Fprintf(&printed[i], "go: %s\nflags: -benchtime %s, %d runs\n", runtime.Version(), benchtime, count)
	}
	for range count {
		for i, m := range modules {
			c := exec.Command("go", "test", "-run", "^$", "-bench", ".", "-benchtime", benchtime, "-timeout", "1h", ".")
			c.Dir = filepath.Join(root, m)
			c.Stdout = io.MultiWriter(&printed[i], os.Stderr)
			c.Stderr = os.Stderr
			if err := c.Run(); err != nil {
				return fmt.Errorf("%s: %w", m, err)
			}
		}
	}
	for i, m := range modules {
		if err := os.WriteFile(filepath.Join(root, m, file), printed[i].Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func stored(root string) (*results, error) {
	var texts [][]byte
	for _, m := range modules {
		text, err := os.ReadFile(filepath.Join(root, m, file))
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return parse(texts...), nil
}

var readmeSection = regexp.MustCompile(`(?s)<!-- benchmarks -->\n.*<!-- /benchmarks -->`)

// written returns the files that the results give.
func written(root string, r *results) (map[string][]byte, error) {
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		return nil, err
	}
	if !readmeSection.Match(readme) {
		return nil, fmt.Errorf("README.md has no section benchmarks")
	}
	part := "<!-- benchmarks -->\n" + section(r) + "<!-- /benchmarks -->"
	return map[string][]byte{
		"bench/RESULTS.md": []byte(document(r)),
		"bench/time.svg":   plot(r),
		"README.md":        readmeSection.ReplaceAllLiteral(readme, []byte(part)),
	}, nil
}
