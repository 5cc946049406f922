package main

import (
	"bufio"
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// results are what runs of the benchmarks printed: of each measurement the best of all
// runs, for noise only adds.
type results struct {
	works  []work
	header []string // what go test says of the machine
	origin []string // where documents come from
	best   map[key]measurement
	why    map[key][]string // why a peer is not measured, or differs
}

// work is one benchmark. Its cases and peers stand in the order of the run.
type work struct {
	name, says   string
	cases, peers []string
}

type key struct{ work, name, peer string }

type measurement struct {
	ns     float64
	allocs int
	bytes  float64 // of the documents
}

const braid = "braid"

// isOurs is of braid and its other ways.
func isOurs(peer string) bool { return strings.HasPrefix(peer, braid) }

// A floor does only a part of the work, and so its ratio says nothing of winning or losing.
var floors = []string{"parse", "jsontext", "encodingjson"}

func isFloor(peer string) bool { return slices.Contains(floors, peer) }

var (
	measured = regexp.MustCompile(`^Benchmark(\w+)/case=([^/]+)/peer=(\S+?)(?:-\d+)?\s+\d+\s+([\d.]+) ns/op(?:\s+([\d.]+) MB/s)?.*?\s(\d+) allocs/op`)
	remarked = regexp.MustCompile(`^(unsupported|differs): Benchmark(\w+)/case=([^/]+)/peer=(\S+): (.*)`)
	named    = regexp.MustCompile(`^work: (\w+): (.*)`)
	machine  = regexp.MustCompile(`^(go|goos|goarch|cpu|flags): `)
)

// parse reads what was printed, by several runs and modules.
func parse(texts ...[]byte) *results {
	r := &results{best: map[key]measurement{}, why: map[key][]string{}}
	says := map[string]string{}
	for _, text := range texts {
		scan := bufio.NewScanner(bytes.NewReader(text))
		for scan.Scan() {
			line := scan.Text()
			if m := measured.FindStringSubmatch(line); m != nil {
				r.add(key{m[1], m[2], m[3]}, m[4], m[5], m[6])
			} else if m := remarked.FindStringSubmatch(line); m != nil {
				k := key{m[2], m[3], m[4]}
				r.place(k)
				r.why[k] = once(r.why[k], m[1]+": "+m[5])
			} else if m := named.FindStringSubmatch(line); m != nil {
				says[m[1]] = m[2]
			} else if machine.MatchString(line) {
				r.header = once(r.header, line)
			} else if of, ok := strings.CutPrefix(line, "origin: "); ok {
				r.origin = once(r.origin, of)
			}
		}
	}
	for i := range r.works {
		r.works[i].says = says[r.works[i].name]
	}
	return r
}

func (r *results) add(k key, ns, rate, allocs string) {
	r.place(k)
	var m measurement
	m.ns, _ = strconv.ParseFloat(ns, 64)
	m.allocs, _ = strconv.Atoi(allocs)
	perSecond, _ := strconv.ParseFloat(rate, 64)
	m.bytes = perSecond * m.ns / 1e3
	if old, ok := r.best[k]; ok {
		m.ns, m.allocs, m.bytes = min(m.ns, old.ns), min(m.allocs, old.allocs), old.bytes
	}
	r.best[k] = m
}

// place notes that there is such a work, case and peer.
func (r *results) place(k key) {
	i := slices.IndexFunc(r.works, func(w work) bool { return w.name == k.work })
	if i < 0 {
		i = len(r.works)
		r.works = append(r.works, work{name: k.work})
	}
	r.works[i].cases = once(r.works[i].cases, k.name)
	r.works[i].peers = once(r.works[i].peers, k.peer)
}

func once[T comparable](list []T, v T) []T {
	if slices.Contains(list, v) {
		return list
	}
	return append(list, v)
}

// ratio is how many times as long as braid a peer takes.
func (r *results) ratio(work, name, peer string) (float64, bool) {
	ours, ok := r.best[key{work, name, braid}]
	theirs, also := r.best[key{work, name, peer}]
	if !ok || !also || ours.ns == 0 {
		return 0, false
	}
	return theirs.ns / ours.ns, true
}

// loss is a peer that is faster than braid.
type loss struct {
	key
	ratio float64
}

// losses are sorted, the worst first, and pairs is of how many.
func (r *results) losses() (lost []loss, pairs int) {
	for _, w := range r.works {
		for _, c := range w.cases {
			for _, p := range w.peers {
				x, ok := r.ratio(w.name, c, p)
				if !ok || isOurs(p) || isFloor(p) {
					continue
				}
				pairs++
				if x < 1 {
					lost = append(lost, loss{key{w.name, c, p}, x})
				}
			}
		}
	}
	slices.SortStableFunc(lost, func(a, b loss) int { return cmp.Compare(a.ratio, b.ratio) })
	return lost, pairs
}
