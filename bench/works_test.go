package bench

import "testing"

// works is what is measured here, and of whom.
var works = Works{
	{"StrategicThreeWay", AllThree, (*Case).Merged, []Peer{
		{Name: "braid", Make: Strategic.ThreeWay},
		{Name: "strategicpatch", Make: upstreamThreeWay, Unsupported: quadratic},
	}},
	{"StrategicTwoWay", FromTo, (*Case).Desired, []Peer{
		{Name: "braid", Make: Strategic.TwoWay},
		{Name: "strategicpatch", Make: upstreamTwoWay, Unsupported: quadratic},
	}},
	{"StrategicApply", LiveOnly, (*Case).Merged, []Peer{
		{Name: "braid", Make: Strategic.Apply},
		{Name: "strategicpatch", Make: upstreamApply, Unsupported: quadratic},
	}},
	{"StrategicPrepared", LiveOnly, (*Case).Merged, []Peer{
		{Name: "braid", Make: Strategic.Prepared},
		{Name: "parse", Make: ParseLive},
	}},
	{"MergePrepared", LiveOnly, (*Case).Replaced, []Peer{
		{Name: "braid", Make: MergePatch.Prepared},
		{Name: "parse", Make: ParseLive},
	}},
	{"JSONPatchPrepared", LiveOnly, (*Case).Merged, []Peer{
		{Name: "braid", Make: JSONPatch.Prepared},
		{Name: "parse", Make: ParseLive},
	}},
	{"StructuredPrepared", LiveOnly, (*Case).Merged, []Peer{
		{Name: "braid", Make: Structured.Prepared},
		{Name: "parse", Make: ParseLive},
	}},
	{"NoOp", LiveOnly, (*Case).Live, []Peer{
		{Name: "braid", Make: Strategic.NoOp},
		{Name: "strategicpatch", Make: upstreamNoOp, Unsupported: quadratic},
	}},
	{"TypedTwoWay", FromTo, (*Case).Desired, []Peer{
		{Name: "braid", Make: typedTwoWay, Unsupported: untyped},
		{Name: "strategicpatch", Make: upstreamTypedTwoWay, Unsupported: with(quadratic, untyped)},
	}},
	{"TypedThreeWay", AllThree, (*Case).Merged, []Peer{
		{Name: "braid", Make: typedThreeWay, Unsupported: untyped},
		{Name: "strategicpatch", Make: upstreamTypedThreeWay, Unsupported: with(quadratic, untyped)},
	}},
	{"MapTwoWay", FromTo, (*Case).Desired, []Peer{
		{Name: "braid", Make: mapTwoWay},
		{Name: "strategicpatch", Make: upstreamMapTwoWay, Unsupported: quadratic},
	}},
	{"MapThreeWay", AllThree, (*Case).Merged, []Peer{
		{Name: "braid", Make: mapThreeWay},
		{Name: "strategicpatch", Make: upstreamMapThreeWay, Unsupported: quadratic},
	}},
}

func BenchmarkStrategicThreeWay(b *testing.B)  { works.Run(b) }
func BenchmarkStrategicTwoWay(b *testing.B)    { works.Run(b) }
func BenchmarkStrategicApply(b *testing.B)     { works.Run(b) }
func BenchmarkStrategicPrepared(b *testing.B)  { works.Run(b) }
func BenchmarkMergePrepared(b *testing.B)      { works.Run(b) }
func BenchmarkJSONPatchPrepared(b *testing.B)  { works.Run(b) }
func BenchmarkStructuredPrepared(b *testing.B) { works.Run(b) }
func BenchmarkNoOp(b *testing.B)               { works.Run(b) }
func BenchmarkTypedTwoWay(b *testing.B)        { works.Run(b) }
func BenchmarkTypedThreeWay(b *testing.B)      { works.Run(b) }
func BenchmarkMapTwoWay(b *testing.B)          { works.Run(b) }
func BenchmarkMapThreeWay(b *testing.B)        { works.Run(b) }

func TestAnswers(t *testing.T) { works.Test(t) }
