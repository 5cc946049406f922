package twin

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gvk "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"example.com/braid/internal/dialect"
	"example.com/braid/internal/kinds"
	"example.com/braid/internal/node"
	"example.com/braid/internal/schema"
	"example.com/braid/internal/walk"
)

// Manifests of real projects, stored as a server stores them (decoded to the Go type,
// which drops zeros, rewrites quantities and forgets unknown fields) and applied again:
// nothing is to be done, but where the manifest has a field that the type lacks.
func TestNoFalseDrift(t *testing.T) {
	scheme, err := kinds.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	objects, ours, theirs := 0, 0, 0
	for name, doc := range documents(t, kinds.Corpus(t, "")) {
		var meta metav1.TypeMeta
		if doc.Decode(&meta) != nil {
			continue
		}
		k := gvk.FromAPIVersionAndKind(meta.APIVersion, meta.Kind)
		s, ok := schema.Builtin(k.Group, k.Version, k.Kind)
		typed, err := scheme.New(k)
		if !ok || err != nil || json.Unmarshal(doc.JSON(), typed) != nil {
			continue
		}
		objects++
		if secret, ok := typed.(*corev1.Secret); ok { // as the server folds it
			for key, value := range secret.StringData {
				if secret.Data == nil {
					secret.Data = map[string][]byte{}
				}
				secret.Data[key] = []byte(value)
			}
			secret.StringData = nil
		}
		live, err := json.Marshal(typed)
		if err != nil {
			t.Fatal(err)
		}
		patch, err := strategicpatch.CreateThreeWayMergePatch(doc.JSON(), doc.JSON(), live, lookup(t, typed), true)
		if err != nil || string(patch) != "{}" {
			theirs++
		}
		if s.Root.StringData && doc.Lookup("stringData") != node.None {
			continue // package merge folds it; a story shows that
		}
		sc, err := walk.Walk(walk.Input{Last: doc, Live: parse(string(live)), Desired: doc, Rules: walk.Rules{Schema: s, Policy: &walk.Apply}})
		if err != nil {
			continue // a manifest that the schema refuses
		}
		if sc.Changes == 0 {
			continue
		}
		ours++
		if !onlyUnknown(&sc) {
			patch, _ := dialect.EncodeStrategic(nil, &sc, 0)
			t.Errorf("%s: %s", name, patch)
		}
	}
	t.Logf("of %d objects we would patch %d, they %d", objects, ours, theirs)
	if objects < 800 {
		t.Errorf("only %d objects", objects)
	}
}

func lookup(t *testing.T, typed any) strategicpatch.LookupPatchMeta {
	t.Helper()
	meta, err := strategicpatch.NewPatchMetaFromStruct(typed)
	if err != nil {
		t.Fatal(err)
	}
	return meta
}

// onlyUnknown reports whether all that a merge changes are fields that the schema lacks.
func onlyUnknown(sc *walk.Script) bool {
	for i := range sc.Edits {
		e := &sc.Edits[i]
		if (e.Op == walk.OpTake || e.Op == walk.OpRemove) && !inUnknown(sc, int32(i)) {
			return false
		}
	}
	return true
}

func inUnknown(sc *walk.Script, i int32) bool {
	for ; i >= 0; i = sc.Edits[i].Parent {
		if sc.Edits[i].Type == schema.Unknown {
			return true
		}
	}
	return false
}
