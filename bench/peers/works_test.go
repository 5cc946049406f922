package peers

import (
	"testing"

	"example.com/braid/bench"
)

// Known reasons for other answers, by case.
var (
	overwritten = reasons("sends a list again that desired does not change, and so loses what the server added to it",
		"deployment-3x10", "deployment-20x50")
	additive = reasons("removes nothing", "list-1k", "list-100k", "map-1k-shuffled", "map-100k-shuffled")
	nulls    = reasons("drops fields of live that are null",
		"pod-small", "deployment-3x10", "deployment-20x50", "list-1k")
	quadratic = reasons("quadratic in the list or map: it would take hours", "list-100k", "map-100k-shuffled")
)

func reasons(why string, cases ...string) map[string]string {
	out := map[string]string{}
	for _, c := range cases {
		out[c] = why
	}
	return out
}

// works is what is measured here, and of whom.
var works = bench.Works{
	{Name: "MergeThreeWay", Bytes: bench.AllThree, Want: (*bench.Case).Replaced, Peers: []bench.Peer{
		{Name: "braid", Make: bench.MergePatch.ThreeWay},
		{Name: "jsonmergepatch", Make: jsonMergeThreeWay, Differs: overwritten},
	}},
	{Name: "MergeTwoWay", Bytes: bench.FromTo, Want: (*bench.Case).Desired, Peers: []bench.Peer{
		{Name: "braid", Make: bench.MergePatch.TwoWay},
		{Name: "evanphx", Make: evanphxTwoWay},
		{Name: "jsonmergepatch", Make: jsonMergeTwoWay},
	}},
	{Name: "MergeApply", Bytes: bench.LiveOnly, Want: (*bench.Case).Replaced, Peers: []bench.Peer{
		{Name: "braid", Make: bench.MergePatch.Apply},
		{Name: "evanphx", Make: evanphxMergeApply},
	}},
	{Name: "JSONPatchThreeWay", Bytes: bench.AllThree, Want: (*bench.Case).Merged, Peers: []bench.Peer{
		{Name: "braid", Make: bench.JSONPatch.ThreeWay}, // nobody else writes one from three
	}},
	{Name: "JSONPatchTwoWay", Bytes: bench.FromTo, Want: (*bench.Case).Desired, Peers: []bench.Peer{
		{Name: "braid", Make: bench.JSONPatch.TwoWay},
		{Name: "gomodules", Make: gomodulesTwoWay},
		{Name: "wI2L", Make: wi2lTwoWay},
	}},
	{Name: "JSONPatchApply", Bytes: bench.LiveOnly, Want: (*bench.Case).Merged, Peers: []bench.Peer{
		{Name: "braid", Make: bench.JSONPatch.Apply},
		{Name: "evanphx", Make: evanphxApply},
	}},
	{Name: "StructuredThreeWay", Bytes: bench.AllThree, Want: (*bench.Case).Merged, Peers: []bench.Peer{
		{Name: "braid", Make: bench.Structured.ThreeWay}, // structured-merge-diff knows managers in the place of last
	}},
	{Name: "StructuredTwoWay", Bytes: bench.FromTo, Want: (*bench.Case).Desired, Peers: []bench.Peer{
		{Name: "braid", Make: bench.Structured.TwoWay},
		{Name: "smd.Compare", Make: smdCompareBytes},
		{Name: "smd.Merge", Make: smdMergeBytes, Differs: additive},
	}},
	{Name: "StructuredTrees", Bytes: bench.FromTo, Want: (*bench.Case).Desired, Peers: []bench.Peer{
		{Name: "braid", Make: bench.Structured.Trees},
		{Name: "smd.Compare", Make: smdCompareTrees},
		{Name: "smd.Merge", Make: smdMergeTrees, Differs: additive},
	}},
	{Name: "UpdateThreeWay", Bytes: bench.AllThree, Want: (*bench.Case).Merged, Peers: []bench.Peer{
		{Name: "braid", Make: braidUpdate},
		{Name: "kyaml", Make: kyamlUpdate, Differs: nulls, Unsupported: quadratic},
	}},
	// The floors read the same bytes and do no more.
	{Name: "ThreeWayFloor", Bytes: bench.AllThree, Want: (*bench.Case).Merged, Peers: []bench.Peer{
		{Name: "braid", Make: bench.Strategic.ThreeWay},
		{Name: "jsontext", Make: jsontextThree},
		{Name: "encodingjson", Make: encodingJSONThree},
	}},
	{Name: "Parse", Bytes: bench.LiveOnly, Want: (*bench.Case).Live, Peers: []bench.Peer{
		{Name: "braid", Make: bench.ParseLive},
		{Name: "jsontext", Make: jsontextLive},
		{Name: "encodingjson", Make: encodingJSONLive},
	}},
}

func BenchmarkMergeThreeWay(b *testing.B)      { works.Run(b) }
func BenchmarkMergeTwoWay(b *testing.B)        { works.Run(b) }
func BenchmarkMergeApply(b *testing.B)         { works.Run(b) }
func BenchmarkJSONPatchThreeWay(b *testing.B)  { works.Run(b) }
func BenchmarkJSONPatchTwoWay(b *testing.B)    { works.Run(b) }
func BenchmarkJSONPatchApply(b *testing.B)     { works.Run(b) }
func BenchmarkStructuredThreeWay(b *testing.B) { works.Run(b) }
func BenchmarkStructuredTwoWay(b *testing.B)   { works.Run(b) }
func BenchmarkStructuredTrees(b *testing.B)    { works.Run(b) }
func BenchmarkUpdateThreeWay(b *testing.B)     { works.Run(b) }
func BenchmarkThreeWayFloor(b *testing.B)      { works.Run(b) }
func BenchmarkParse(b *testing.B)              { works.Run(b) }

func TestAnswers(t *testing.T) { works.Test(t) }
