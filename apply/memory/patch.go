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

// patcher returns the function that applies a patch. The error is UnsupportedMediaType, or
// BadRequest for a patch that is no JSON.
func (c *Cluster) patcher(id apply.ID, t types.PatchType, patch []byte) (func(live *unstructured.Unstructured) (*unstructured.Unstructured, error), error) {
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
	if format != merge.JSONPatch && !bytes.HasPrefix(bytes.TrimLeft(patch, " \t\r\n"), []byte("{")) {
		return nil, apierrors.NewBadRequest("error decoding patch: want a map")
	}
	return func(live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		before, err := merge.FromMap(live.Object)
		if err != nil {
			return nil, apierrors.NewInternalError(err)
		}
		after, err := m.Patch(format, before, words)
		if err != nil {
			return nil, unpatchable(t, err)
		}
		if got := after.GVK(); got != id.GVK && format != merge.StrategicPatch { // there a server overlooks it
			return nil, invalid(id, field.Invalid(field.NewPath("patch"), got.String(), "the patch changes apiVersion or kind"))
		}
		u, err := read(&unstructured.Unstructured{Object: after.Map()})
		if err != nil {
			return nil, invalid(id, field.Invalid(field.NewPath("patch"), "", err.Error()))
		}
		return u, nil
	}, nil
}
