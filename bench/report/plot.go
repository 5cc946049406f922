package main

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
)

// The plot has a panel for each of these works.
var plotted = []string{"StrategicThreeWay", "StrategicApply", "TypedTwoWay", "MergeThreeWay", "JSONPatchTwoWay", "StructuredTwoWay"}

// Sizes, in pixels: of a panel, of its frame within, and the panels in a row.
const (
	panelWidth, panelHeight = 320, 300
	frameLeft, frameTop     = 52, 44
	frameWidth, frameHeight = 240, 210
	columns                 = 3
	style                   = `text{font:11px sans-serif;fill:#6e7781}.title{font-weight:bold;font-size:12px}.grid{stroke:#8b949e;stroke-opacity:.3}polyline{fill:none;stroke-width:1.5;stroke-opacity:.6}@media(prefers-color-scheme:dark){text{fill:#b1bac4}}`
)

// colors are of braid and then of each peer, readable on white and on black.
var colors = []string{"#2da44e", "#bf6a1f", "#4d8fe0", "#a56ee0"}

// point is one case: the documents' bytes and the nanoseconds.
type point struct{ x, y float64 }

// scale has the decades of both axes, which all panels share.
type scale struct{ x0, x1, y0, y1 float64 }

// plot draws time against the size of the input, both by their logarithms: a line of
// slope one is linear work.
func plot(r *results) []byte {
	var panels []work
	for _, name := range plotted {
		if i := slices.IndexFunc(r.works, func(w work) bool { return w.name == name }); i >= 0 {
			panels = append(panels, r.works[i])
		}
	}
	rows := (len(panels) + columns - 1) / columns
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img">`+"\n", columns*panelWidth, rows*panelHeight)
	fmt.Fprintf(&b, "<title>Time against the size of the input</title>\n<style>%s</style>\n", style)
	s := scaleOf(r, panels)
	for i, w := range panels {
		fmt.Fprintf(&b, `<g transform="translate(%d,%d)">`+"\n", i%columns*panelWidth, i/columns*panelHeight)
		s.axes(&b, w.name)
		for j, p := range w.peers {
			s.line(&b, p, colors[j%len(colors)], j, points(r, w, p))
		}
		b.WriteString("</g>\n")
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// points are sorted by size.
func points(r *results, w work, peer string) (list []point) {
	for _, c := range w.cases {
		if m, ok := r.best[key{w.name, c, peer}]; ok && m.bytes > 0 {
			list = append(list, point{m.bytes, m.ns})
		}
	}
	slices.SortFunc(list, func(a, b point) int { return cmp.Compare(a.x, b.x) })
	return list
}

func scaleOf(r *results, panels []work) scale {
	s := scale{math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)}
	for _, w := range panels {
		for _, p := range w.peers {
			for _, at := range points(r, w, p) {
				s.x0, s.x1 = min(s.x0, math.Floor(math.Log10(at.x))), max(s.x1, math.Ceil(math.Log10(at.x)))
				s.y0, s.y1 = min(s.y0, math.Floor(math.Log10(at.y))), max(s.y1, math.Ceil(math.Log10(at.y)))
			}
		}
	}
	return s
}

func (s scale) at(p point) (x, y float64) {
	return frameLeft + (math.Log10(p.x)-s.x0)/(s.x1-s.x0)*frameWidth,
		frameTop + (s.y1-math.Log10(p.y))/(s.y1-s.y0)*frameHeight
}

func (s scale) axes(b *bytes.Buffer, title string) {
	fmt.Fprintf(b, `<text class="title" x="%d" y="16">%s</text>`+"\n", frameLeft, title)
	for d := s.x0; d <= s.x1; d++ {
		x, _ := s.at(point{math.Pow(10, d), 1})
		fmt.Fprintf(b, `<path class="grid" d="M%.1f %dv%d"/>`+"\n", x, frameTop, frameHeight)
		if int(d-s.x0)%2 == 0 { // there is no room for more
			fmt.Fprintf(b, `<text x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n", x, frameTop+frameHeight+15, unit(d, "B", "kB", "MB"))
		}
	}
	for d := s.y0; d <= s.y1; d++ {
		_, y := s.at(point{1, math.Pow(10, d)})
		fmt.Fprintf(b, `<path class="grid" d="M%d %.1fh%d"/><text x="%d" y="%.1f" text-anchor="end">%s</text>`+"\n",
			frameLeft, y, frameWidth, frameLeft-5, y+4, unit(d, "ns", "µs", "ms", "s"))
	}
}

// unit writes a power of ten.
func unit(decade float64, units ...string) string {
	i := min(int(decade)/3, len(units)-1)
	return fmt.Sprintf("%g %s", math.Pow(10, decade-float64(3*i)), units[i])
}

// line draws one peer and its name, which stands in a row above the frame.
func (s scale) line(b *bytes.Buffer, name, color string, i int, list []point) {
	fmt.Fprintf(b, `<text x="%d" y="34" style="fill:%s;font-weight:bold">%s</text>`+"\n", frameLeft+i*88, color, name)
	fmt.Fprintf(b, `<polyline stroke="%s" points="`, color)
	for _, p := range list {
		x, y := s.at(p)
		fmt.Fprintf(b, "%.1f,%.1f ", x, y)
	}
	b.WriteString("\"/>\n")
	for _, p := range list {
		x, y := s.at(p)
		fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="2.5" fill="%s"/>`, x, y, color)
	}
	b.WriteString("\n")
}
