package main

import (
	"fmt"
	"slices"
)

// bar is what the project demands of itself, of a work on a case. One of the demands is set.
type bar struct {
	work, name string
	peer       string
	faster     float64 // the peer takes at least so many times as long as braid
	within     float64 // braid takes at most so many times as long as the peer, a floor
	growth     string  // an element takes at most twice as long as on this case, of a hundredth of the size
	counted    bool    // braid allocates at most allocs times
	allocs     int
}

var bars = slices.Concat(
	[]bar{
		{work: "StrategicThreeWay", name: "deployment-3x10", peer: "strategicpatch", faster: 25},
		{work: "StrategicThreeWay", name: "deployment-20x50", peer: "strategicpatch", faster: 60},
	},
	deployments(bar{work: "ThreeWayFloor", peer: "jsontext", within: 2}),
	deployments(bar{work: "StrategicThreeWay", counted: true, allocs: 12}),
	deployments(bar{work: "MergeThreeWay", peer: "jsonmergepatch", faster: 80}),
	deployments(bar{work: "JSONPatchTwoWay", peer: "gomodules", faster: 8}),
	deployments(bar{work: "JSONPatchTwoWay", peer: "wI2L", faster: 8}),
	deployments(bar{work: "StrategicApply", peer: "strategicpatch", faster: 10}),
	deployments(bar{work: "TypedTwoWay", peer: "strategicpatch", faster: 15}),
	deployments(bar{work: "StructuredTrees", peer: "smd.Compare", faster: 20}),
	deployments(bar{work: "StructuredTrees", peer: "smd.Merge", faster: 20}),
	deployments(bar{work: "StrategicPrepared", peer: "parse", within: 1.3}),
	deployments(bar{work: "MergePrepared", peer: "parse", within: 1.3}),
	deployments(bar{work: "JSONPatchPrepared", peer: "parse", within: 1.3}),
	deployments(bar{work: "StructuredPrepared", peer: "parse", within: 1.3}),
	deployments(bar{work: "NoOp", counted: true}),
	[]bar{
		{work: "StrategicThreeWay", name: "list-100k", growth: "list-1k"},
		{work: "StrategicThreeWay", name: "map-100k-shuffled", growth: "map-1k-shuffled"},
	},
)

// reasons say of works whose bars are missed where the time goes, by a profile, and what
// might be done.
var reasons = map[string]string{
	"StrategicThreeWay":  "On deployment-3x10 reading takes 57 % (last whole; of live a third is the text of its annotation), the walk 31 %, the patch 9 %, none of it in one place: the whole takes as long as jsontext's check of the same bytes, and the bar asks for two thirds of that, for strategicpatch takes half of what it did when the bar was set. Next: a compact array of key prefixes for the schema's fields, and no look at last where its elements stand in desired's order. map-100k-shuffled stands near its bar, on both sides of it from run to run: what is left is that three trees of 100,000 values do not fit in the cache, and the least run has few passes in memory that is new.",
	"MergeThreeWay":      "Reading takes 51 %, the walk 37 %, the patch 8 %: what StrategicThreeWay says holds here too. The peer, which this is measured by, loses what a server has added to lists (†), so it does less.",
	"TypedTwoWay":        "Two objects are made into trees in pooled memory, 75 %: by reflection, a field of a Go struct after the other, most of them empty. Next: fields over unsafe pointers, which gave 1.2× when tried and is not worth it alone; or a walk over both objects at once that makes nodes only of what differs.",
	"StrategicPrepared":  "The walk takes 52 % beside 37 % for reading live: on a small object they cost the same. Next: as for StrategicThreeWay.",
	"MergePrepared":      "As StrategicPrepared.",
	"JSONPatchPrepared":  "Near the bar, on both sides of it from run to run; as StrategicPrepared.",
	"StructuredPrepared": "Near the bar, on both sides of it from run to run; as StrategicPrepared.",
	"StrategicApply":     "Near the bar, on both sides of it from run to run.",
}

// deployments are a bar on the two cases that look like what clusters hold.
func deployments(b bar) []bar {
	small, large := b, b
	small.name, large.name = "deployment-3x10", "deployment-20x50"
	return []bar{small, large}
}

// outcome says whether a bar holds, in words for a table. The measured is empty if there
// are no results.
type outcome struct {
	wanted, measured string
	held             bool
}

func (b *bar) outcome(r *results) outcome {
	ours, ok := r.best[key{b.work, b.name, braid}]
	switch {
	case b.counted:
		o := outcome{wanted: fmt.Sprintf("≤ %d allocations", b.allocs)}
		if ok {
			o.measured, o.held = fmt.Sprint(ours.allocs), ours.allocs <= b.allocs
		}
		return o
	case b.growth != "":
		o := outcome{wanted: fmt.Sprintf("≤ 2× the time an element of %s", b.growth)}
		if small, also := r.best[key{b.work, b.growth, braid}]; ok && also {
			x := ours.ns / 100 / small.ns
			o.measured, o.held = fmt.Sprintf("%.2f×", x), x <= 2
		}
		return o
	}
	x, ok := r.ratio(b.work, b.name, b.peer)
	if b.within > 0 {
		o := outcome{wanted: fmt.Sprintf("≤ %g× the time of %s", b.within, b.peer)}
		if ok {
			o.measured, o.held = fmt.Sprintf("%.2f×", 1/x), 1/x <= b.within
		}
		return o
	}
	o := outcome{wanted: fmt.Sprintf("≥ %g× as fast as %s", b.faster, b.peer)}
	if ok {
		o.measured, o.held = fmt.Sprintf("%.1f×", x), x >= b.faster
	}
	return o
}

// word is what the tables say.
func (o outcome) word() string {
	switch {
	case o.measured == "":
		return "not measured"
	case o.held:
		return "held"
	}
	return "**missed**"
}
