package memory

import (
	"bytes"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/braid/apply"
	"example.com/braid/merge"
)

var formats = map[types.PatchType]merge.PatchType{
	types.StrategicMergePatchType: merge.StrategicPatch,
	types.MergePatchType:          merge.JSONMergePatch,
	types.JSONPatchType:           merge.JSONPatch,
}

// patcher returns the edit that applies a patch. The error is UnsupportedMediaType, or
// BadRequest for a patch that is no JSON.
func patcher(id apply.ID, t types.PatchType, patch []byte) (edit, error) {
	format, known := formats[t]
	rules, err := merge.SchemaFor(id.GVK)
	if builtin := err == nil; !known || format == merge.StrategicPatch && !builtin {
		return nil, unsupported(builtin)
	}
	if format != merge.StrategicPatch {
		rules = merge.Schemaless()
	}
	m, err := merge.New(merge.Options{Schema: rules})
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	words, err := merge.Parse(patch)
	if err != nil {
		return nil, apierrors.NewBadRequest("error decoding patch: " + err.Error())
	}
	root := "{"
	if format == merge.JSONPatch {
		root = "["
	}
	if !bytes.HasPrefix(bytes.TrimLeft(patch, " \t\r\n"), []byte(root)) {
		return nil, apierrors.NewBadRequest("error decoding patch: want " + root)
	}
	return func(live *stored) (*unstructured.Unstructured, error) {
		before := live.doc
		if before.GVK() != id.GVK {
			if before, err = merge.FromMap(live.as(id.GVK).Object); err != nil {
				return nil, apierrors.NewInternalError(err)
			}
		}
		after, err := m.Patch(format, before, words)
		if err != nil {
			return nil, unpatchable(t, err)
		}
		if got := after.GVK(); got != id.GVK && format != merge.StrategicPatch { // there a server overlooks it
			return nil, invalid(id, field.Invalid(field.NewPath("patch"), got.String(), "the patch changes apiVersion or kind"))
		}
		u, err := form(after)
		if err != nil {
			return nil, invalid(id, field.Invalid(field.NewPath("patch"), "", err.Error()))
		}
		return u, nil
	}, nil
}
