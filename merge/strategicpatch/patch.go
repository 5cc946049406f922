package strategicpatch

import (
	"bytes"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/mergepatch"
	upstream "k8s.io/apimachinery/pkg/util/strategicpatch"

	"example.com/braid/internal/dialect"
	"example.com/braid/internal/node"
	"example.com/braid/internal/walk"
)

// The types of apimachinery.
type (
	JSONMap                = upstream.JSONMap
	LookupPatchMeta        = upstream.LookupPatchMeta
	PatchMeta              = upstream.PatchMeta
	PatchMetaFromStruct    = upstream.PatchMetaFromStruct
	PatchMetaFromOpenAPI   = upstream.PatchMetaFromOpenAPI
	PatchMetaFromOpenAPIV3 = upstream.PatchMetaFromOpenAPIV3
	LookupPatchMetaError   = upstream.LookupPatchMetaError
	FieldNotFoundError     = upstream.FieldNotFoundError
	InvalidTypeError       = upstream.InvalidTypeError
)

// What is neither a merge nor a patch is apimachinery's own.
var (
	NewPatchMetaFromStruct   = upstream.NewPatchMetaFromStruct
	NewPatchMetaFromOpenAPI  = upstream.NewPatchMetaFromOpenAPI
	GetTagStructTypeOrDie    = upstream.GetTagStructTypeOrDie
	CreateDeleteDirective    = upstream.CreateDeleteDirective
	MergingMapsHaveConflicts = upstream.MergingMapsHaveConflicts

	// MergeStrategicMergeMapPatchUsingLookupPatchMeta merges patches into one patch.
	MergeStrategicMergeMapPatchUsingLookupPatchMeta = upstream.MergeStrategicMergeMapPatchUsingLookupPatchMeta
)

// CreateTwoWayMergePatch returns the patch that turns original into modified, by the
// struct tags of dataStruct's type.
func CreateTwoWayMergePatch(original, modified []byte, dataStruct any, fns ...mergepatch.PreconditionFunc) ([]byte, error) {
	meta, err := NewPatchMetaFromStruct(dataStruct)
	if err != nil {
		return nil, err
	}
	return CreateTwoWayMergePatchUsingLookupPatchMeta(original, modified, meta, fns...)
}

// CreateTwoWayMergePatchUsingLookupPatchMeta is CreateTwoWayMergePatch with the rules
// of meta.
func CreateTwoWayMergePatchUsingLookupPatchMeta(original, modified []byte, meta LookupPatchMeta, fns ...mergepatch.PreconditionFunc) ([]byte, error) {
	return CreateThreeWayMergePatch(original, modified, original, meta, true, fns...)
}

// CreateTwoWayMergeMapPatch is CreateTwoWayMergePatch on unstructured content.
func CreateTwoWayMergeMapPatch(original, modified JSONMap, dataStruct any, fns ...mergepatch.PreconditionFunc) (JSONMap, error) {
	meta, err := NewPatchMetaFromStruct(dataStruct)
	if err != nil {
		return nil, err
	}
	return CreateTwoWayMergeMapPatchUsingLookupPatchMeta(original, modified, meta, fns...)
}

// CreateTwoWayMergeMapPatchUsingLookupPatchMeta is CreateTwoWayMergeMapPatch with the
// rules of meta.
func CreateTwoWayMergeMapPatchUsingLookupPatchMeta(original, modified JSONMap, meta LookupPatchMeta, fns ...mergepatch.PreconditionFunc) (JSONMap, error) {
	from, to, err := trees(original, modified)
	if err != nil {
		return nil, err
	}
	patch, err := create(from, to, from, meta, true, fns)
	if err != nil {
		return nil, err
	}
	return content(patch)
}

// CreateThreeWayMergePatch returns the patch that makes of current what modified
// declares and takes away what original declared and modified does not. Unless overwrite
// is set, it is a mergepatch.ErrConflict if somebody else changed what it changes.
func CreateThreeWayMergePatch(original, modified, current []byte, meta LookupPatchMeta, overwrite bool, fns ...mergepatch.PreconditionFunc) ([]byte, error) {
	last, err := parse(original)
	if err != nil {
		return nil, err
	}
	desired, err := parse(modified)
	if err != nil {
		return nil, err
	}
	live, err := parse(current)
	if err != nil {
		return nil, err
	}
	return create(last, desired, live, meta, overwrite, fns)
}

func create(last, desired, live *node.Tree, meta LookupPatchMeta, overwrite bool, fns []mergepatch.PreconditionFunc) ([]byte, error) {
	s, err := schemaOf(meta, last, desired, live)
	if err != nil {
		return nil, err
	}
	in := walk.Input{Last: last, Live: live, Desired: desired, Rules: walk.Rules{Schema: s, Policy: &walk.Apply, Equality: walk.Exact}}
	script, err := walk.Walk(in)
	if err != nil {
		return nil, known(err)
	}
	patch, err := dialect.EncodeStrategic(nil, &script, 0)
	if err != nil {
		return nil, err
	}
	if err := require(patch, fns); err != nil {
		return nil, err
	}
	if overwrite {
		return patch, nil
	}
	in.Policy = &walk.Strict
	if script, err = walk.Walk(in); err == nil && script.Conflicts > 0 {
		err = conflict(patch, &script)
	}
	if err != nil {
		return nil, known(err)
	}
	return patch, nil
}

// require checks the preconditions of a patch.
func require(patch []byte, fns []mergepatch.PreconditionFunc) error {
	if len(fns) == 0 {
		return nil
	}
	m, err := content(patch)
	if err != nil {
		return err
	}
	for _, fn := range fns {
		if !fn(map[string]any(m)) {
			return mergepatch.NewErrPreconditionFailed(m)
		}
	}
	return nil
}

// conflict names the positions that others changed.
func conflict(patch []byte, s *walk.Script) error {
	var paths []string
	for i := range s.Edits {
		if s.Edits[i].Op == walk.OpClash {
			paths = append(paths, s.Path(int32(i)).String())
		}
	}
	m, err := content(patch)
	if err != nil {
		return err
	}
	return mergepatch.NewErrConflict(mergepatch.ToYAMLOrError(m), mergepatch.ToYAMLOrError(paths))
}

// StrategicMergePatch returns what an API server makes of original and patch, by the
// struct tags of dataStruct's type.
func StrategicMergePatch(original, patch []byte, dataStruct any) ([]byte, error) {
	meta, err := NewPatchMetaFromStruct(dataStruct)
	if err != nil {
		return nil, err
	}
	return StrategicMergePatchUsingLookupPatchMeta(original, patch, meta)
}

// StrategicMergePatchUsingLookupPatchMeta is StrategicMergePatch with the rules of meta.
func StrategicMergePatchUsingLookupPatchMeta(original, patch []byte, meta LookupPatchMeta) ([]byte, error) {
	live, err := parse(original)
	if err != nil {
		return nil, err
	}
	change, err := parse(patch)
	if err != nil {
		return nil, err
	}
	return apply(live, change, meta)
}

func apply(live, patch *node.Tree, meta LookupPatchMeta) ([]byte, error) {
	s, err := schemaOf(meta, live, patch)
	if err != nil {
		return nil, err
	}
	out, err := dialect.ApplyStrategic(nil, live, patch, s)
	return out, known(err)
}

// StrategicMergeMapPatch is StrategicMergePatch on unstructured content.
func StrategicMergeMapPatch(original, patch JSONMap, dataStruct any) (JSONMap, error) {
	if _, ok := dataStruct.(*unstructured.Unstructured); ok {
		return nil, mergepatch.ErrUnsupportedStrategicMergePatchFormat
	}
	meta, err := NewPatchMetaFromStruct(dataStruct)
	if err != nil {
		return nil, err
	}
	return StrategicMergeMapPatchUsingLookupPatchMeta(original, patch, meta)
}

// StrategicMergeMapPatchUsingLookupPatchMeta is StrategicMergeMapPatch with the rules of
// meta.
func StrategicMergeMapPatchUsingLookupPatchMeta(original, patch JSONMap, meta LookupPatchMeta) (JSONMap, error) {
	live, change, err := trees(original, patch)
	if err != nil {
		return nil, err
	}
	out, err := apply(live, change, meta)
	if err != nil {
		return nil, err
	}
	return content(out)
}

// parse reads a document. Nothing and null stand for {}.
func parse(json []byte) (*node.Tree, error) {
	if text := bytes.TrimSpace(json); len(text) == 0 || string(text) == "null" {
		json = []byte("{}")
	}
	t, err := node.Parse(json, node.Limits{})
	if errors.Is(err, node.ErrSyntax) || err == nil && t.Kind(0) != node.Map {
		return nil, mergepatch.ErrBadJSONDoc
	}
	return t, err
}

func trees(a, b JSONMap) (x, y *node.Tree, err error) {
	if x, err = node.FromMap(orEmpty(a), node.Limits{}); err == nil {
		y, err = node.FromMap(orEmpty(b), node.Limits{})
	}
	return x, y, err
}

func orEmpty(m JSONMap) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

func content(json []byte) (JSONMap, error) {
	t, err := node.Parse(json, node.Limits{})
	if err != nil {
		return nil, err
	}
	return t.Map(), nil
}

// known gives an error of ours the sentence that callers of apimachinery look for.
func known(err error) error {
	for rule, sentence := range map[error]string{
		dialect.ErrOrder: "order in patch list doesn't match $setElementOrder",
		dialect.ErrNoKey: "an element does not contain declared merge key",
		walk.ErrKey:      "an element does not contain declared merge key",
	} {
		if errors.Is(err, rule) {
			return fmt.Errorf("%s: %w", sentence, err)
		}
	}
	return err
}
