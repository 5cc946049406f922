package schema

import "strings"

// rules is what a source says at one place about how the value there merges: the
// struct tags patchStrategy and patchMergeKey, or the x-kubernetes extensions.
type rules struct {
	patch    strategies // patchStrategy, x-kubernetes-patch-strategy
	patchKey string     // patchMergeKey, x-kubernetes-patch-merge-key
	listType string     // x-kubernetes-list-type
	listKeys []string   // x-kubernetes-list-map-keys
	mapType  string     // x-kubernetes-map-type
}

func (r *rules) silent() bool {
	return r.patch == strategies{} && r.listType == "" && r.mapType == ""
}

// apply sets the rules of t, over those that it has, as far as they bear on its kind:
// API servers ignore the others.
//
// Strategic rules are those of apimachinery's strategicpatch. Structured rules are
// those of kube-openapi's schemaconv: the list type wins, and a patch strategy stands
// in for it; without either a list is one value.
func (r *rules) apply(t *Type, at *place) error {
	switch t.Kind {
	case List:
		return r.applyList(t, at)
	case Map, Any:
		if r.patch.replace {
			t.Strategic.Merge = Atomic
		}
		t.Strategic.RetainKeys = t.Strategic.RetainKeys || r.patch.retainKeys
		switch r.mapType {
		case "atomic":
			t.Structured.Merge = Atomic
		case "granular":
			t.Structured.Merge = Granular
		case "":
		default:
			return at.fault("map-type %q is neither granular nor atomic", r.mapType)
		}
	}
	return nil
}

func (r *rules) applyList(t *Type, at *place) error {
	if r.patch != (strategies{}) {
		t.Strategic = Rule{Merge: Atomic}
		switch {
		case r.patch.merge && r.patchKey != "":
			t.Strategic = Rule{Merge: Keyed, RetainKeys: r.patch.retainKeys, Keys: []Key{{Name: r.patchKey}}}
		case r.patch.merge:
			t.Strategic = Rule{Merge: Set}
		}
		t.Structured = Rule{Merge: t.Strategic.Merge, Keys: t.Strategic.Keys}
	}
	switch r.listType {
	case "map":
		if len(r.listKeys) == 0 {
			return at.fault("list-type map needs list-map-keys")
		}
		t.Structured = Rule{Merge: Keyed}
		for _, k := range r.listKeys {
			t.Structured.Keys = append(t.Structured.Keys, Key{Name: k})
		}
	case "set":
		t.Structured = Rule{Merge: Set}
	case "atomic":
		t.Structured = Rule{Merge: Atomic}
	case "":
	default:
		return at.fault("list-type %q is none of map, set and atomic", r.listType)
	}
	return nil
}

// strategies is a patch strategy, taken apart.
type strategies struct{ merge, replace, retainKeys bool }

// strategiesOf takes apart a comma list of merge, replace and retainKeys. At most one
// of the first two may stand in it, as in strategicpatch.
func strategiesOf(tag string, at *place) (s strategies, err error) {
	if tag == "" {
		return s, nil
	}
	for word := range strings.SplitSeq(tag, ",") {
		switch word {
		case "merge":
			s.merge = true
		case "replace":
			s.replace = true
		case "retainKeys":
			s.retainKeys = true
		default:
			return s, at.fault("patch strategy %q is none of merge, replace and retainKeys", word)
		}
	}
	if s.merge && s.replace {
		return s, at.fault("patch strategy %q is two", tag)
	}
	return s, nil
}
