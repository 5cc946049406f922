package bench

import "testing"

// works is what is measured here, and of whom.
var works = Works{
	{Name: "StrategicThreeWay", Says: "last, live and desired from bytes to a strategic merge patch", Bytes: AllThree, Want: (*Case).Merged, Peers: []Peer{
		{Name: "braid", Make: Strategic.ThreeWay},
		{Name: "strategicpatch", Make: upstreamThreeWay, Unsupported: quadratic},
	}},
	{Name: "StrategicTwoWay", Says: "last and desired from bytes to a strategic merge patch", Bytes: FromTo, Want: (*Case).Desired, Peers: []Peer{
		{Name: "braid", Make: Strategic.TwoWay},
		{Name: "strategicpatch", Make: upstreamTwoWay, Unsupported: quadratic},
	}},
	{Name: "StrategicApply", Says: "a strategic merge patch applied to live, from bytes to bytes", Bytes: LiveOnly, Want: (*Case).Merged, Peers: []Peer{
		{Name: "braid", Make: Strategic.Apply},
		{Name: "strategicpatch", Make: upstreamApply, Unsupported: quadratic},
	}},
	{Name: "StrategicPrepared", Says: "last and desired are parsed; live, from bytes, to a strategic merge patch: by PatchLive, or with a Doc of live; parsing live alone is the floor", Bytes: LiveOnly, Want: (*Case).Merged, Peers: []Peer{
		{Name: "braid", Make: Strategic.Prepared},
		{Name: "braid.Doc", Make: Strategic.PreparedDocs},
		{Name: "parse", Make: ParseLive},
	}},
	{Name: "MergePrepared", Says: "the same to a JSON merge patch", Bytes: LiveOnly, Want: (*Case).Replaced, Peers: []Peer{
		{Name: "braid", Make: MergePatch.Prepared},
		{Name: "braid.Doc", Make: MergePatch.PreparedDocs},
		{Name: "parse", Make: ParseLive},
	}},
	{Name: "JSONPatchPrepared", Says: "the same to a JSON Patch", Bytes: LiveOnly, Want: (*Case).Merged, Peers: []Peer{
		{Name: "braid", Make: JSONPatch.Prepared},
		{Name: "braid.Doc", Make: JSONPatch.PreparedDocs},
		{Name: "parse", Make: ParseLive},
	}},
	{Name: "StructuredPrepared", Says: "the same to a JSON Patch, under the structured model", Bytes: LiveOnly, Want: (*Case).Merged, Peers: []Peer{
		{Name: "braid", Make: Structured.Prepared},
		{Name: "braid.Doc", Make: Structured.PreparedDocs},
		{Name: "parse", Make: ParseLive},
	}},
	{Name: "NoOp", Says: "nothing changes: braid has all three parsed, strategicpatch starts from bytes, having no other way", Bytes: LiveOnly, Want: (*Case).Live, Peers: []Peer{
		{Name: "braid", Make: Strategic.NoOp},
		{Name: "strategicpatch", Make: upstreamNoOp, Unsupported: quadratic},
	}},
	{Name: "TypedTwoWay", Says: "last and desired as Go objects to a strategic merge patch; for strategicpatch they are marshalled", Bytes: FromTo, Want: (*Case).Desired, Peers: []Peer{
		{Name: "braid", Make: typedTwoWay, Unsupported: untyped},
		{Name: "strategicpatch", Make: upstreamTypedTwoWay, Unsupported: with(quadratic, untyped)},
	}},
	{Name: "TypedThreeWay", Says: "last, live and desired as Go objects to a strategic merge patch; for strategicpatch they are marshalled", Bytes: AllThree, Want: (*Case).Merged, Peers: []Peer{
		{Name: "braid", Make: typedThreeWay, Unsupported: untyped},
		{Name: "strategicpatch", Make: upstreamTypedThreeWay, Unsupported: with(quadratic, untyped)},
	}},
	{Name: "MapTwoWay", Says: "last and desired as unstructured maps to a strategic merge patch; strategicpatch compares the maps as they are and returns a map", Bytes: FromTo, Want: (*Case).Desired, Peers: []Peer{
		{Name: "braid", Make: mapTwoWay},
		{Name: "strategicpatch", Make: upstreamMapTwoWay, Unsupported: quadratic},
	}},
	{Name: "MapThreeWay", Says: "last, live and desired as unstructured maps to a strategic merge patch; for strategicpatch they are marshalled", Bytes: AllThree, Want: (*Case).Merged, Peers: []Peer{
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
