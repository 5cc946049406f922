package strategicpatch_test

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/mergepatch"
	upstream "k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"example.com/braid/internal/kinds"
	"example.com/braid/merge/strategicpatch"
)

// differences are the rows of apimachinery's tables that come out otherwise, and why. The
// names in brackets are of the divergence catalogue.
var differences = map[string]string{
	"nested patch merge with empty list":                                  "modified holds $patch as data, which no strategic patch can say: ErrInexpressible",
	"behavior of set element order for a merging int list with duplicate": "a set has each value once [repeated-value]",
	"retainKeys map should clear defaulted field":                         "clearing what others set is a conflict too [strict-union]",
	"retainKeys map adds a field and clear a field":                       "[strict-union]",
	"retainKeys map deletes a field and clears a field":                   "[strict-union]",
	"retainKeys map clears a field":                                       "we change nothing in the union, so it is left alone [union-untouched]",
	"retainKeys list of maps clears a field":                              "[union-untouched]",
	"retainKeys list of maps changes a field and clear a field":           "[strict-union]",
	"retainKeys list of maps adds a field and clear a field":              "[strict-union]",
	"retainKeys list of maps deletes a field and clear a field":           "[strict-union]",
}

// item is the type that the tables are about.
func item(t *testing.T) strategicpatch.LookupPatchMeta {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(kinds.Apimachinery(t), "pkg/util/strategicpatch/testdata/swagger-merge-item-v3.json"))
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Components struct{ Schemas map[string]*spec.Schema }
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	return strategicpatch.PatchMetaFromOpenAPIV3{SchemaList: doc.Components.Schemas, Schema: doc.Components.Schemas["mergeItem"]}
}

func text(t *testing.T, m map[string]any) []byte {
	t.Helper()
	if m == nil {
		return nil
	}
	out, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// unordered sorts all lists, as apimachinery's own tests do with lists that merge.
func unordered(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			out[k] = unordered(e)
		}
		return out
	case []any:
		out := []any{}
		for _, e := range v {
			out = append(out, unordered(e))
		}
		slices.SortFunc(out, func(a, b any) int {
			x, _ := json.Marshal(a)
			y, _ := json.Marshal(b)
			return cmp.Compare(string(x), string(y))
		})
		return out
	}
	return v
}

func same(t *testing.T, got []byte, want map[string]any) bool {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(got, &m); err != nil {
		t.Fatalf("%s: %v", got, err)
	}
	x, _ := json.Marshal(unordered(m))
	y, _ := json.Marshal(unordered(map[string]any(want)))
	return string(x) == string(y) || len(want) == 0 && string(x) == "{}"
}

// apply applies a patch by both appliers, which must agree.
func apply(t *testing.T, object, patch []byte, meta strategicpatch.LookupPatchMeta) []byte {
	t.Helper()
	ours, err := strategicpatch.StrategicMergePatchUsingLookupPatchMeta(object, patch, meta)
	theirs, err2 := upstream.StrategicMergePatchUsingLookupPatchMeta(object, patch, meta)
	if err != nil || err2 != nil {
		t.Errorf("patch %s of %s: %v, theirs %v", patch, object, err, err2)
		return []byte("{}")
	}
	var m map[string]any
	if err := json.Unmarshal(theirs, &m); err != nil || !same(t, ours, m) {
		t.Errorf("patch %s of %s: ours makes %s, theirs %s", patch, object, ours, theirs)
	}
	return ours
}

// The rows of apimachinery's own tests: our patches, applied by both appliers, give the
// results that they want, and conflicts are found where they want them.
func TestUpstreamTables(t *testing.T) {
	meta := item(t)
	rows, apart := 0, map[string]bool{}
	for _, table := range []string{"createStrategicMergePatchTestCaseData", "strategicMergePatchRawTestCases"} {
		for _, c := range kinds.PatchCases(t, "strategicpatch", table) {
			rows++
			t.Run(c.Description, func(t *testing.T) {
				if why, ok := differences[c.Description]; ok {
					apart[c.Description] = true
					t.Log(why)
					return
				}
				twoWay(t, c, meta)
				threeWay(t, c, meta)
			})
		}
	}
	t.Logf("%d rows, %d differ", rows, len(apart))
	if rows != 116 || len(apart) != 10 || len(apart) != len(differences) { // README says so
		t.Errorf("%d rows; %d differences used of %d", rows, len(apart), len(differences))
	}
}

func twoWay(t *testing.T, c kinds.PatchCase, meta strategicpatch.LookupPatchMeta) {
	want := c.TwoWayResult
	if want == nil {
		want = c.Modified
	}
	original := text(t, c.Original)
	patch, err := strategicpatch.CreateTwoWayMergePatchUsingLookupPatchMeta(original, text(t, c.Modified), meta)
	if err != nil {
		t.Errorf("two-way: %v", err)
		return
	}
	if got := apply(t, original, patch, meta); c.ExpectedError == "" && !same(t, got, want) {
		t.Errorf("two-way: %s gives %s, want %s", patch, got, text(t, want))
	}
}

func threeWay(t *testing.T, c kinds.PatchCase, meta strategicpatch.LookupPatchMeta) {
	original, modified, current := text(t, c.Original), text(t, c.Modified), text(t, c.Current)
	patch, err := strategicpatch.CreateThreeWayMergePatch(original, modified, current, meta, false)
	if conflict := strings.Contains(c.Description, "conflict") || len(c.Result) == 0; conflict != mergepatch.IsConflict(err) {
		t.Errorf("three-way: conflict %v, want %v", err, conflict)
	}
	if mergepatch.IsConflict(err) && len(c.Result) > 0 {
		patch, err = strategicpatch.CreateThreeWayMergePatch(original, modified, current, meta, true)
	}
	switch {
	case mergepatch.IsConflict(err):
	case err != nil:
		t.Errorf("three-way: %v", err)
	default:
		if got := apply(t, current, patch, meta); c.ExpectedError == "" && !same(t, got, c.Result) {
			t.Errorf("three-way: %s gives %s, want %s", patch, got, text(t, c.Result))
		}
	}
}

// Patches that no generator writes.
func TestUpstreamPatches(t *testing.T) {
	meta := item(t)
	for _, table := range []string{"customStrategicMergePatchTestCaseData", "customStrategicMergePatchRawTestCases"} {
		for _, c := range kinds.PatchCases(t, "strategicpatch", table) {
			t.Run(c.Description, func(t *testing.T) {
				want := c.TwoWayResult
				if want == nil {
					want = c.Modified
				}
				got, err := strategicpatch.StrategicMergePatchUsingLookupPatchMeta(text(t, c.Original), text(t, c.TwoWay), meta)
				switch {
				case c.ExpectedError != "":
					if err == nil || !strings.Contains(err.Error(), c.ExpectedError) {
						t.Errorf("got %s, %v, want the error %q", got, err, c.ExpectedError)
					}
				case err != nil || !same(t, got, want):
					t.Errorf("got %s, %v, want %s", got, err, text(t, want))
				}
			})
		}
	}
}
