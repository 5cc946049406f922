package admission_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"example.com/braid/inject/admission"
)

// reviews are what an API server sent, by name.
func reviews(tb testing.TB) map[string]string {
	tb.Helper()
	archive, err := txtar.ParseFile("testdata/reviews.txtar")
	if err != nil {
		tb.Fatal(err)
	}
	out := map[string]string{}
	for _, f := range archive.Files {
		out[f.Name] = strings.TrimSpace(string(f.Data))
	}
	return out
}

func TestRealReviews(t *testing.T) {
	want := map[string]string{
		"create": "Patched DefaultOn", "status": "Skipped Subresource", "ephemeralcontainers": "Skipped Subresource",
		"delete": "Skipped NoObject", "finalizer": "Skipped Immutable", "dry-run-v1beta1": "Patched DefaultOn",
	}
	for name, body := range reviews(t) {
		var seen admission.Observation
		w := post(handler(t, admission.Options{Observe: func(o admission.Observation) { seen = o }}), body)
		version, uid := "admission.k8s.io/v1", strings.Split(strings.SplitAfter(body, `"uid":"`)[1], `"`)[0]
		if strings.Contains(name, "v1beta1") {
			version = "admission.k8s.io/v1beta1"
		}
		answered(t, w.Code, w.Body.Bytes(), version, uid)
		var indented bytes.Buffer
		if err := json.Indent(&indented, []byte(body), "", "\t"); err != nil {
			t.Fatal(err)
		}
		if other := post(handler(t, admission.Options{}), indented.String()); other.Body.String() != w.Body.String() {
			t.Errorf("%s, indented: answers\n%s\nwant\n%s", name, other.Body, w.Body)
		}
		if got := seen.Outcome.String() + " " + seen.Reason.String(); got != want[name] {
			t.Errorf("%s: got %s, want %s", name, got, want[name])
		}
		if seen.DryRun != strings.HasPrefix(name, "dry-run") {
			t.Errorf("%s: dry run %t", name, seen.DryRun)
		}
		delete(want, name)
	}
	if len(want) > 0 {
		t.Errorf("not there: %v", want)
	}
}
