package main

import (
	"fmt"
	"slices"
	"strings"
)

// document is RESULTS.md.
func document(r *results) string {
	var b strings.Builder
	b.WriteString(`# Results of the benchmarks

Written by ` + "`go run ./bench/report`" + ` from the results of the last run, which are in ` + "`bench/results.txt`" + ` and
` + "`bench/peers/results.txt`" + `; do not edit. The best of all runs counts, for noise only adds. Times are the machine's;
what counts is the ratio: how many times as long as braid the peer takes, side by side. Below 1× **braid loses**.
A floor does only a part of the work, so that braid cannot be faster by much; its ratio is the same quotient.
Every answer has been turned into the object that it stands for and compared, before it was timed. Where a peer's
is another, its ratio has a †, and the last column says what is different.

`)
	for _, line := range slices.Concat(r.header, r.origin) {
		fmt.Fprintf(&b, "    %s\n", line)
	}
	b.WriteString("\n![time against the size of the input](time.svg)\n\n## Bars\n\nWhat the project demands of itself.\n\n")
	b.WriteString(barTable(r))
	b.WriteString("\n## Losses\n\n")
	b.WriteString(lossList(r))
	for _, w := range r.works {
		fmt.Fprintf(&b, "\n## %s\n\n%s.\n\n", w.name, upper(w.says))
		b.WriteString(workTable(r, w))
	}
	return b.String()
}

func upper(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func barTable(r *results) string {
	var b strings.Builder
	var missed []string
	b.WriteString("| bar | case | wanted | measured | |\n|---|---|---|---|---|\n")
	for _, bar := range bars {
		o := bar.outcome(r)
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", bar.work, bar.name, o.wanted, o.measured+mark(r, key{bar.work, bar.name, bar.peer}), o.word())
		if o.measured != "" && !o.held && !slices.Contains(missed, bar.work) {
			missed = append(missed, bar.work)
		}
	}
	for _, work := range missed {
		fmt.Fprintf(&b, "\n%s: %s\n", work, reasons[work])
	}
	return b.String()
}

func lossList(r *results) string {
	lost, pairs := r.losses()
	if len(lost) == 0 {
		return fmt.Sprintf("None, of %d times that a peer was measured beside braid.\n", pairs)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d of the %d times that a peer was measured beside braid, the worst first.\n\n", len(lost), pairs)
	b.WriteString("| work | case | peer | ratio |\n|---|---|---|---|\n")
	for _, l := range lost {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", l.work, l.name, l.peer, quotient(r, l.key))
	}
	return b.String()
}

func workTable(r *results, w work) string {
	var b strings.Builder
	b.WriteString("| case | peer | time | ratio | allocations | |\n|---|---|---|---|---|---|\n")
	for _, c := range w.cases {
		for _, p := range w.peers {
			k := key{w.name, c, p}
			why := strings.Join(r.why[k], "; ")
			m, ok := r.best[k]
			if !ok {
				fmt.Fprintf(&b, "| %s | %s | | | | %s |\n", c, p, why)
				continue
			}
			by := ""
			if p != braid {
				by = quotient(r, k)
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %d | %s |\n", c, p, duration(m.ns), by, m.allocs, why)
		}
	}
	return b.String()
}

// quotient is the ratio of a pair, marked where the peer's answer is another.
func quotient(r *results, k key) string {
	x, ok := r.ratio(k.work, k.name, k.peer)
	if !ok {
		return "–"
	}
	return ratio(x, k.peer) + mark(r, k)
}

func mark(r *results, k key) string {
	if slices.ContainsFunc(r.why[k], func(why string) bool { return strings.HasPrefix(why, "differs") }) {
		return "†"
	}
	return ""
}

// ratio marks a loss.
func ratio(x float64, peer string) string {
	digits := 1
	switch {
	case x < 0.1:
		digits = 4
	case x < 10:
		digits = 2
	}
	s := fmt.Sprintf("%.*f×", digits, x)
	switch {
	case isFloor(peer):
		return s + " (floor)"
	case x < 1 && !isOurs(peer):
		return "**" + s + ", lost**"
	}
	return s
}

func duration(ns float64) string {
	switch {
	case ns < 1e3:
		return fmt.Sprintf("%.0f ns", ns)
	case ns < 1e6:
		return fmt.Sprintf("%.1f µs", ns/1e3)
	}
	return fmt.Sprintf("%.2f ms", ns/1e6)
}

// Of what README shows.
var (
	shownWorks = []string{
		"StrategicThreeWay", "StrategicApply", "TypedTwoWay", "MapTwoWay", "MergeThreeWay", "JSONPatchTwoWay",
		"StructuredTrees", "UpdateThreeWay", "StrategicPrepared", "ThreeWayFloor",
	}
	shownCases = []string{"pod-small", "deployment-3x10", "deployment-20x50", "configmap-1MB", "list-1k", "map-1k-shuffled"}
)

// section is that of README.
func section(r *results) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| work | peer | %s |\n|---|---|%s\n", strings.Join(shownCases, " | "), strings.Repeat("---|", len(shownCases)))
	for _, name := range shownWorks {
		i := slices.IndexFunc(r.works, func(w work) bool { return w.name == name })
		if i < 0 {
			continue
		}
		var times []string
		for _, c := range shownCases {
			times = append(times, oursIn(r, name, c))
		}
		fmt.Fprintf(&b, "| %s | braid | %s |\n", name, strings.Join(times, " | "))
		for _, p := range r.works[i].peers {
			if p == braid {
				continue
			}
			var ratios []string
			for _, c := range shownCases {
				ratios = append(ratios, quotient(r, key{name, c, p}))
			}
			fmt.Fprintf(&b, "| | %s | %s |\n", p, strings.Join(ratios, " | "))
		}
	}
	held := 0
	for _, bar := range bars {
		if bar.outcome(r).held {
			held++
		}
	}
	lost, pairs := r.losses()
	fmt.Fprintf(&b, "\nOf %d bars that the project sets itself %d hold. In %d of the %d pairs of all works and cases braid is slower.\n",
		len(bars), held, len(lost), pairs)
	return b.String()
}

func oursIn(r *results, work, name string) string {
	m, ok := r.best[key{work, name, braid}]
	if !ok {
		return "–"
	}
	return fmt.Sprintf("%s, %d", duration(m.ns), m.allocs)
}
