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
	{Name: "MergeThreeWay", Says: "last, live and desired from bytes to a JSON merge patch", Bytes: bench.AllThree, Want: (*bench.Case).Replaced, Peers: []bench.Peer{
		{Name: "braid", Make: bench.MergePatch.ThreeWay},
		{Name: "jsonmergepatch", Make: jsonMergeThreeWay, Differs: overwritten},
	}},
	{Name: "MergeTwoWay", Says: "last and desired from bytes to a JSON merge patch", Bytes: bench.FromTo, Want: (*bench.Case).Desired, Peers: []bench.Peer{
		{Name: "braid", Make: bench.MergePatch.TwoWay},
		{Name: "evanphx", Make: evanphxTwoWay},
		{Name: "jsonmergepatch", Make: jsonMergeTwoWay},
	}},
	{Name: "MergeApply", Says: "a JSON merge patch applied to live, from bytes to bytes", Bytes: bench.LiveOnly, Want: (*bench.Case).Replaced, Peers: []bench.Peer{
		{Name: "braid", Make: bench.MergePatch.Apply},
		{Name: "evanphx", Make: evanphxMergeApply},
	}},
	{Name: "JSONPatchThreeWay", Says: "last, live and desired from bytes to a JSON Patch", Bytes: bench.AllThree, Want: (*bench.Case).Merged, Peers: []bench.Peer{
		{Name: "braid", Make: bench.JSONPatch.ThreeWay}, // nobody else writes one from three
	}},
	{Name: "JSONPatchTwoWay", Says: "last and desired from bytes to a JSON Patch", Bytes: bench.FromTo, Want: (*bench.Case).Desired, Peers: []bench.Peer{
		{Name: "braid", Make: bench.JSONPatch.TwoWay},
		{Name: "gomodules", Make: gomodulesTwoWay},
		{Name: "wI2L", Make: wi2lTwoWay},
	}},
	{Name: "JSONPatchApply", Says: "a JSON Patch applied to live, from bytes to bytes", Bytes: bench.LiveOnly, Want: (*bench.Case).Merged, Peers: []bench.Peer{
		{Name: "braid", Make: bench.JSONPatch.Apply},
		{Name: "evanphx", Make: evanphxApply},
	}},
	{Name: "StructuredThreeWay", Says: "last, live and desired from bytes to a JSON Patch, under the structured model", Bytes: bench.AllThree, Want: (*bench.Case).Merged, Peers: []bench.Peer{
		{Name: "braid", Make: bench.Structured.ThreeWay}, // structured-merge-diff knows managers in the place of last
	}},
	{Name: "StructuredTwoWay", Says: "last and desired from bytes: braid to a JSON Patch, structured-merge-diff to sets of fields (Compare) or to a tree (Merge)", Bytes: bench.FromTo, Want: (*bench.Case).Desired, Peers: []bench.Peer{
		{Name: "braid", Make: bench.Structured.TwoWay},
		{Name: "smd.Compare", Make: smdCompareBytes},
		{Name: "smd.Merge", Make: smdMergeBytes, Differs: additive},
	}},
	{Name: "StructuredTrees", Says: "the same from trees: parsed by braid, made typed values for structured-merge-diff", Bytes: bench.FromTo, Want: (*bench.Case).Desired, Peers: []bench.Peer{
		{Name: "braid", Make: bench.Structured.Trees},
		{Name: "smd.Compare", Make: smdCompareTrees},
		{Name: "smd.Merge", Make: smdMergeTrees, Differs: additive},
	}},
	{Name: "UpdateThreeWay", Says: "last, live and desired from bytes to the merged object, under the policy of kustomize", Bytes: bench.AllThree, Want: (*bench.Case).Merged, Peers: []bench.Peer{
		{Name: "braid", Make: braidUpdate},
		{Name: "kyaml", Make: kyamlUpdate, Differs: nulls, Unsupported: quadratic},
	}},
	// The floors read the same bytes and do no more.
	{Name: "ThreeWayFloor", Says: "last, live and desired from bytes to a strategic merge patch; the floors only check that the three are JSON", Bytes: bench.AllThree, Want: (*bench.Case).Merged, Peers: []bench.Peer{
		{Name: "braid", Make: bench.Strategic.ThreeWay},
		{Name: "jsontext", Make: jsontextThree},
		{Name: "encodingjson", Make: encodingJSONThree},
	}},
	{Name: "Parse", Says: "live becomes a tree; the floors only check that it is JSON", Bytes: bench.LiveOnly, Want: (*bench.Case).Live, Peers: []bench.Peer{
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
