package jsonmergepatch_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"example.com/braid/internal/kinds"
	"example.com/braid/merge"
	"example.com/braid/merge/jsonmergepatch"
)

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

// The rows of apimachinery's own tests: the same patch, and applied to current the same
// object.
func TestUpstreamTable(t *testing.T) {
	rows := kinds.PatchCases(t, "jsonmergepatch", "createJSONMergePatchTestCaseData")
	for _, c := range rows {
		current := text(t, c.Current)
		patch, err := jsonmergepatch.CreateThreeWayJSONMergePatch(text(t, c.Original), text(t, c.Modified), current)
		if err != nil {
			t.Errorf("%s: %v", c.Description, err)
			continue
		}
		var got map[string]any
		if err := json.Unmarshal(patch, &got); err != nil || !reflect.DeepEqual(got, c.ThreeWay) {
			t.Errorf("%s: patch %s, want %s", c.Description, patch, text(t, c.ThreeWay))
		}
		if current == nil {
			current = []byte("{}")
		}
		result, err := merge.ApplyPatch(merge.JSONMergePatch, current, patch, merge.Options{Schema: merge.Schemaless()})
		got = nil
		if err == nil {
			err = json.Unmarshal(result, &got)
		}
		if err != nil || !reflect.DeepEqual(got, c.Result) {
			t.Errorf("%s: result %s, %v, want %s", c.Description, result, err, text(t, c.Result))
		}
	}
	if len(rows) < 20 {
		t.Errorf("only %d rows", len(rows))
	}
}
