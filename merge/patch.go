package merge

import (
	"fmt"

	"example.com/braid/internal/dialect"
	"example.com/braid/internal/node"
	"example.com/braid/internal/walk"
)

// PatchType is a patch format.
type PatchType uint8

// The patch formats.
const (
	// StrategicPatch is Kubernetes' strategic merge patch. It needs the model Strategic;
	// API servers take it for built-in kinds only.
	StrategicPatch PatchType = iota
	// JSONMergePatch is RFC 7396. A list that changes is sent whole.
	JSONMergePatch
	// JSONPatch is RFC 6902. Elements of lists are edited by their index.
	JSONPatch
	// ApplyConfiguration is what kubectl apply --server-side sends (KEP-555): all that
	// desired declares. What it no longer declares the server removes.
	ApplyConfiguration
	patchTypes
)

// MediaType returns the Content-Type under which an API server takes the format.
func (t PatchType) MediaType() string {
	return [...]string{
		"application/strategic-merge-patch+json", "application/merge-patch+json",
		"application/json-patch+json", "application/apply-patch+yaml",
	}[t]
}

// Patch returns the patch that turns live into the merged object: {}, or [] in a JSON
// Patch, exactly if not Changed; but an ApplyConfiguration always says all. O(size of
// what changes).
//
// The error is a [*ConflictError] if there are conflicts, or an [*Error] with
// ErrInexpressible if the format has no words for a change.
func (r *Result) Patch(t PatchType) ([]byte, error) {
	if err := r.conflict(); err != nil {
		return nil, err
	}
	switch s := &r.s; t {
	case StrategicPatch:
		switch {
		case s.Model != Strategic:
			return nil, fmt.Errorf("%w: a strategic patch needs the model Strategic", ErrOption)
		case s.Schema.Custom:
			return nil, &Error{Offset: -1, Rule: ErrInexpressible, Detail: "an API server takes no strategic merge patch for the custom kind " + s.Schema.Name}
		}
		return dialect.EncodeStrategic(nil, s, r.guard)
	case JSONMergePatch:
		return dialect.EncodeJSONMerge(nil, s, r.guard)
	case JSONPatch:
		return dialect.EncodeJSONPatch(nil, s, r.guard)
	case ApplyConfiguration:
		return dialect.EncodeApplyConfiguration(nil, s)
	}
	return nil, fmt.Errorf("%w: PatchType %d", ErrOption, t)
}

// Patch applies a patch to a document as the API server would, and returns the
// object that it would store before defaulting. The error is an [*Error] about the
// patch, or about a list of doc that no API server could merge.
//
// An ApplyConfiguration cannot be applied without knowing who owns what.
func (m *Merger) Patch(t PatchType, doc, patch *Doc) (*Doc, error) {
	if doc == nil || patch == nil {
		return nil, &Error{Doc: "patch", Offset: -1, Rule: ErrType, Detail: "no document"}
	}
	out, err := applied(nil, t, doc.tree, patch.tree, &m.in)
	if err != nil {
		return nil, err
	}
	return Parse(out)
}

func applied(dst []byte, t PatchType, live, patch *node.Tree, in *walk.Input) ([]byte, error) {
	switch t {
	case StrategicPatch:
		return dialect.ApplyStrategic(dst, live, patch, in.Schema)
	case JSONMergePatch:
		return dialect.ApplyJSONMerge(dst, live, patch), nil
	case JSONPatch:
		return dialect.ApplyJSONPatch(dst, live, patch, Limits{})
	}
	return nil, fmt.Errorf("%w: PatchType %d cannot be applied", ErrOption, t)
}
