package bench

import (
	"maps"

	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// untyped are the cases of which k8s.io/api has no type.
var untyped = map[string]string{"crd-large": "k8s.io/api has no type CustomResourceDefinition"}

func with(reasons ...map[string]string) map[string]string {
	out := map[string]string{}
	for _, r := range reasons {
		maps.Copy(out, r)
	}
	return out
}

func upstreamThreeWay(c *Case) (Task, error) {
	meta, err := strategicpatch.NewPatchMetaFromStruct(c.New())
	last, live, desired := c.Last(), c.Live(), c.Desired()
	return Answer(func() ([]byte, error) {
		return strategicpatch.CreateThreeWayMergePatch(last, desired, live, meta, true)
	}, upstream(c, c.Live)), err
}

func upstreamTwoWay(c *Case) (Task, error) {
	meta, err := strategicpatch.NewPatchMetaFromStruct(c.New())
	last, desired := c.Last(), c.Desired()
	return Answer(func() ([]byte, error) {
		return strategicpatch.CreateTwoWayMergePatchUsingLookupPatchMeta(last, desired, meta)
	}, upstream(c, c.Last)), err
}

// upstreamNoOp has no other way than from bytes.
func upstreamNoOp(c *Case) (Task, error) {
	meta, err := strategicpatch.NewPatchMetaFromStruct(c.New())
	last, live := c.Last(), c.Live()
	return Answer(func() ([]byte, error) {
		return strategicpatch.CreateThreeWayMergePatch(last, last, live, meta, true)
	}, upstream(c, c.Live)), err
}

func upstreamApply(c *Case) (Task, error) {
	meta, err := strategicpatch.NewPatchMetaFromStruct(c.New())
	if err != nil {
		return Task{}, err
	}
	live := c.Live()
	patch, err := Strategic.Patch(c)
	return Answer(func() ([]byte, error) {
		return strategicpatch.StrategicMergePatchUsingLookupPatchMeta(live, patch, meta)
	}, Itself), err
}
