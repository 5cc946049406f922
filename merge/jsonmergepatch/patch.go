package jsonmergepatch

import (
	"bytes"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/util/mergepatch"

	"example.com/braid/internal/dialect"
	"example.com/braid/internal/node"
	"example.com/braid/internal/schema"
	"example.com/braid/internal/walk"
)

// CreateThreeWayJSONMergePatch returns the JSON merge patch (RFC 7396) that makes of
// current what modified declares, and takes away what original declared and modified
// does not. Maps are merged by field, and lists replaced. An empty document stands for
// {}. The error is a mergepatch.ErrPreconditionFailed if a precondition does not hold.
func CreateThreeWayJSONMergePatch(original, modified, current []byte, fns ...mergepatch.PreconditionFunc) ([]byte, error) {
	var docs [3]*node.Tree
	for i, d := range []struct {
		name string
		json []byte
	}{{"original", original}, {"modified", modified}, {"current", current}} {
		if len(bytes.TrimSpace(d.json)) == 0 {
			d.json = []byte("{}")
		}
		t, err := node.Parse(d.json, node.Limits{})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.name, err)
		}
		docs[i] = t
	}
	script, err := walk.Walk(walk.Input{
		Last: docs[0], Desired: docs[1], Live: docs[2],
		Rules: walk.Rules{Schema: schema.None, Model: schema.Plain, Policy: &walk.Apply, Equality: walk.Exact},
	})
	if err != nil {
		return nil, err
	}
	patch, err := dialect.EncodeJSONMerge(nil, &script, 0)
	if err != nil {
		return nil, err
	}
	if err := require(patch, fns); err != nil {
		return nil, err
	}
	return patch, nil
}

// require checks the preconditions of a patch.
func require(patch []byte, fns []mergepatch.PreconditionFunc) error {
	if len(fns) == 0 {
		return nil
	}
	t, err := node.Parse(patch, node.Limits{})
	if err != nil {
		return errors.Join(errors.New("the patch is no JSON"), err)
	}
	for _, fn := range fns {
		if m := t.Map(); !fn(m) {
			return mergepatch.NewErrPreconditionFailed(m)
		}
	}
	return nil
}
