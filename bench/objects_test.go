package bench

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"example.com/braid/merge"
)

// typed are the documents of a case as Go objects of its kind.
func typed(c *Case) (last, live, desired any, err error) {
	last, live, desired = c.New(), c.New(), c.New()
	for o, text := range map[any][]byte{last: c.Last(), live: c.Live(), desired: c.Desired()} {
		if err = json.Unmarshal(text, o); err != nil {
			return
		}
	}
	return
}

// unstructured are the documents of a case as maps.
func unstructured(c *Case) (last, live, desired map[string]any, err error) {
	for o, text := range map[*map[string]any][]byte{&last: c.Last(), &live: c.Live(), &desired: c.Desired()} {
		var doc *merge.Doc
		if doc, err = merge.Parse(text); err != nil {
			return
		}
		*o = doc.Map()
	}
	return
}

// merged is a merge of objects, whose patch goes to what to returns.
func merged(c *Case, last, live, desired any, to func() []byte) (Task, error) {
	o, err := c.Options(merge.Strategic)
	if err != nil {
		return Task{}, err
	}
	m, err := merge.New(o)
	return Answer(func() ([]byte, error) {
		return m.PatchObjects(merge.StrategicPatch, last, live, desired)
	}, Strategic.applied(c, to, o)), err
}

func typedTwoWay(c *Case) (Task, error) {
	last, _, desired, err := typed(c)
	if err != nil {
		return Task{}, err
	}
	return merged(c, last, last, desired, c.Last)
}

func typedThreeWay(c *Case) (Task, error) {
	last, live, desired, err := typed(c)
	if err != nil {
		return Task{}, err
	}
	return merged(c, last, live, desired, c.Live)
}

func mapTwoWay(c *Case) (Task, error) {
	last, _, desired, err := unstructured(c)
	if err != nil {
		return Task{}, err
	}
	return merged(c, last, last, desired, c.Last)
}

func mapThreeWay(c *Case) (Task, error) {
	last, live, desired, err := unstructured(c)
	if err != nil {
		return Task{}, err
	}
	return merged(c, last, live, desired, c.Live)
}

// marshalled does what callers of strategicpatch do with objects.
func marshalled(objects ...any) (texts [3][]byte, err error) {
	for i, o := range objects {
		if texts[i], err = json.Marshal(o); err != nil {
			return
		}
	}
	return
}

func upstreamObjectsTwoWay(c *Case, last, desired any) (Task, error) {
	meta, err := strategicpatch.NewPatchMetaFromStruct(c.New())
	return Answer(func() ([]byte, error) {
		texts, err := marshalled(last, desired)
		if err != nil {
			return nil, err
		}
		return strategicpatch.CreateTwoWayMergePatchUsingLookupPatchMeta(texts[0], texts[1], meta)
	}, upstream(c, c.Last)), err
}

func upstreamObjectsThreeWay(c *Case, last, live, desired any) (Task, error) {
	meta, err := strategicpatch.NewPatchMetaFromStruct(c.New())
	return Answer(func() ([]byte, error) {
		texts, err := marshalled(last, live, desired)
		if err != nil {
			return nil, err
		}
		return strategicpatch.CreateThreeWayMergePatch(texts[0], texts[2], texts[1], meta, true)
	}, upstream(c, c.Live)), err
}

func upstreamTypedTwoWay(c *Case) (Task, error) {
	last, _, desired, err := typed(c)
	if err != nil {
		return Task{}, err
	}
	return upstreamObjectsTwoWay(c, last, desired)
}

func upstreamTypedThreeWay(c *Case) (Task, error) {
	last, live, desired, err := typed(c)
	if err != nil {
		return Task{}, err
	}
	return upstreamObjectsThreeWay(c, last, live, desired)
}

// upstreamMapTwoWay needs no JSON: there is a function for it.
func upstreamMapTwoWay(c *Case) (Task, error) {
	last, _, desired, err := unstructured(c)
	if err != nil {
		return Task{}, err
	}
	meta, err := strategicpatch.NewPatchMetaFromStruct(c.New())
	return Answer(func() (strategicpatch.JSONMap, error) {
		return strategicpatch.CreateTwoWayMergeMapPatchUsingLookupPatchMeta(last, desired, meta)
	}, func(patch strategicpatch.JSONMap) ([]byte, error) {
		text, err := json.Marshal(patch)
		if err != nil {
			return nil, err
		}
		return upstream(c, c.Last)(text)
	}), err
}

func upstreamMapThreeWay(c *Case) (Task, error) {
	last, live, desired, err := unstructured(c)
	if err != nil {
		return Task{}, err
	}
	return upstreamObjectsThreeWay(c, last, live, desired)
}
