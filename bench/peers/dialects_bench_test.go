package peers

import (
	"encoding/json"

	evanphx "github.com/evanphx/json-patch/v5"
	"github.com/wI2L/jsondiff"
	gomodules "gomodules.xyz/jsonpatch/v2"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"

	"example.com/braid/bench"
)

// mergedBy applies a JSON merge patch, by evanphx.
func mergedBy(to []byte) func(patch []byte) ([]byte, error) {
	return func(patch []byte) ([]byte, error) { return evanphx.MergePatch(to, patch) }
}

// patchedBy applies a JSON Patch, by evanphx.
func patchedBy(to []byte) func(patch []byte) ([]byte, error) {
	return func(patch []byte) ([]byte, error) {
		ops, err := evanphx.DecodePatch(patch)
		if err != nil {
			return nil, err
		}
		return ops.Apply(to)
	}
}

func jsonMergeThreeWay(c *bench.Case) (bench.Task, error) {
	last, live, desired := c.Last(), c.Live(), c.Desired()
	return bench.Answer(func() ([]byte, error) {
		return jsonmergepatch.CreateThreeWayJSONMergePatch(last, desired, live)
	}, mergedBy(live)), nil
}

func jsonMergeTwoWay(c *bench.Case) (bench.Task, error) {
	last, desired := c.Last(), c.Desired()
	return bench.Answer(func() ([]byte, error) {
		return jsonmergepatch.CreateThreeWayJSONMergePatch(last, desired, last)
	}, mergedBy(last)), nil
}

func evanphxTwoWay(c *bench.Case) (bench.Task, error) {
	last, desired := c.Last(), c.Desired()
	return bench.Answer(func() ([]byte, error) { return evanphx.CreateMergePatch(last, desired) }, mergedBy(last)), nil
}

func evanphxMergeApply(c *bench.Case) (bench.Task, error) {
	patch, err := bench.MergePatch.Patch(c)
	live := c.Live()
	return bench.Answer(func() ([]byte, error) { return evanphx.MergePatch(live, patch) }, bench.Itself), err
}

func evanphxApply(c *bench.Case) (bench.Task, error) {
	patch, err := bench.JSONPatch.Patch(c)
	apply := patchedBy(c.Live())
	return bench.Answer(func() ([]byte, error) { return apply(patch) }, bench.Itself), err
}

func gomodulesTwoWay(c *bench.Case) (bench.Task, error) {
	last, desired := c.Last(), c.Desired()
	return bench.Answer(func() ([]byte, error) {
		ops, err := gomodules.CreatePatch(last, desired)
		if err != nil {
			return nil, err
		}
		return json.Marshal(ops)
	}, patchedBy(last)), nil
}

func wi2lTwoWay(c *bench.Case) (bench.Task, error) {
	last, desired := c.Last(), c.Desired()
	return bench.Answer(func() ([]byte, error) {
		ops, err := jsondiff.CompareJSON(last, desired)
		if err != nil {
			return nil, err
		}
		return json.Marshal(ops)
	}, patchedBy(last)), nil
}
