package admission_test

import (
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"

	"example.com/braid/inject"
	"example.com/braid/inject/admission"
	"example.com/braid/merge"
)

// An object that says no after it was injected into has that taken out, by its label or its
// annotation, and whether it is a workload that is changed or made again. Without a record
// there is nothing to take out; what somebody has changed of it stays, and they are told.
func TestOptedOut(t *testing.T) {
	h := handler(t, admission.Options{Config: admission.Config{Mutate: injects(t, sidecar)}})
	review := func(operation admissionv1.Operation, object, want string) (string, []string) {
		t.Helper()
		resp := h.Review(t.Context(), &admissionv1.AdmissionRequest{Operation: operation, Namespace: "shop", Object: raw(object)})
		if got := resp.AuditAnnotations["outcome"] + " " + resp.AuditAnnotations["reason"]; got != want || !resp.Allowed {
			t.Fatalf("got %s %q, want %s", got, resp.Warnings, want)
		}
		if len(resp.Patch) == 0 {
			return object, resp.Warnings
		}
		made, err := merge.ApplyPatch(merge.JSONPatch, []byte(object), resp.Patch, merge.Options{Schema: merge.Schemaless()})
		if err != nil {
			t.Fatal(err)
		}
		return string(made), resp.Warnings
	}
	deployment := func(metadata string) string {
		return `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"template":{"metadata":{` + metadata +
			`},"spec":{"containers":[{"image":"app:1","name":"app"}]}}}}`
	}
	const label = `"labels":{"braid.example.com/inject":"false"}`
	once, _ := review(admissionv1.Create, deployment(`"labels":{"braid.example.com/inject":"true"}`), "Patched LabelOn")
	for _, operation := range []admissionv1.Operation{admissionv1.Update, admissionv1.Create} {
		no := strings.Replace(once, `"braid.example.com/inject":"true"`, `"braid.example.com/inject":"false"`, 1)
		out, warnings := review(operation, no, "Patched OptedOut")
		if want := deployment(label); !equal(t, out, want) || len(warnings) > 0 {
			t.Errorf("%s: taken out, got\n%s %q\nwant\n%s", operation, out, warnings, want)
		}
		review(operation, out, "Skipped LabelOff")
	}

	once, _ = review(admissionv1.Create, deployment(""), "Patched DefaultOn")
	no := strings.Replace(once, `"annotations":{`, `"annotations":{"braid.example.com/inject":"disabled",`, 1)
	out, _ := review(admissionv1.Update, no, "Patched OptedOut")
	if want := deployment(`"annotations":{"braid.example.com/inject":"disabled"}`); !equal(t, out, want) {
		t.Errorf("by annotation, got\n%s\nwant\n%s", out, want)
	}
	kept, warnings := review(admissionv1.Update, strings.Replace(no, `"image":"proxy:1"`, `"image":"proxy:mine"`, 1), "Patched OptedOut")
	both := strings.Join(warnings, "\n")
	if len(warnings) != 2 || !strings.Contains(both, ".containers[name=proxy]: ") || !strings.Contains(both, ".volumes[name=proxy-config]: ") || !strings.Contains(kept, "proxy:mine") {
		t.Errorf("changed since, got warnings %q and\n%s\nwant the container, and the volume that it mounts", warnings, kept)
	}
	broken := deployment(`"annotations":{"braid.example.com/inject":"disabled","` + inject.RecordAnnotation + `":"?"}`)
	if _, warnings = review(admissionv1.Update, broken, "Failed OptedOut"); len(warnings) != 1 || !strings.HasPrefix(warnings[0], "not taken out: ") {
		t.Errorf("a broken record, got warnings %q", warnings)
	}
}

// Undo is asked in the place of Mutate, so that custom kinds are known to both.
func TestUndo(t *testing.T) {
	h := handler(t, admission.Options{Config: admission.Config{
		Mutate: answers("", pod, nil), Undo: answers(`[{"op":"remove","path":"/spec"}]`, `{"kind":"Pod","metadata":{"annotations":{"braid.example.com/inject":"disabled","`+inject.RecordAnnotation+`":""}}}`, nil),
	}})
	object := `{"kind":"Pod","metadata":{"annotations":{"braid.example.com/inject":"disabled","` + inject.RecordAnnotation + `":""}},"spec":{}}`
	resp := h.Review(t.Context(), &admissionv1.AdmissionRequest{Operation: admissionv1.Create, Object: raw(object)})
	if got := resp.AuditAnnotations["outcome"]; got != "Patched" || !strings.Contains(string(resp.Patch), "remove") {
		t.Errorf("got %s %s, want the patch of Undo", got, resp.Patch)
	}
}
