package admission_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"

	"example.com/braid/inject"
	"example.com/braid/inject/admission"
	"example.com/braid/merge"
)

// A pod from its creation through re-invocation to another template, by real templates.
func TestInject(t *testing.T) {
	h := handler(t, admission.Options{Config: admission.Config{Mutate: injects(t, sidecar)}})
	review := func(object string, want string) string {
		t.Helper()
		resp := h.Review(t.Context(), &admissionv1.AdmissionRequest{Operation: admissionv1.Create, Namespace: "shop", Object: raw(object)})
		if got := resp.AuditAnnotations["outcome"] + " " + resp.AuditAnnotations["reason"]; got != want {
			t.Fatalf("got %s %q, want %s", got, resp.Warnings, want)
		}
		if len(resp.Patch) == 0 {
			return object
		}
		if !strings.HasPrefix(resp.AuditAnnotations["templates"], "proxy=") {
			t.Errorf("audit %q names no template", resp.AuditAnnotations)
		}
		made, err := merge.ApplyPatch(merge.JSONPatch, []byte(object), resp.Patch, merge.Options{Schema: merge.Schemaless()})
		if err != nil {
			t.Fatal(err)
		}
		return string(made)
	}
	var asked struct {
		Request struct{ Object json.RawMessage }
	}
	if err := json.Unmarshal([]byte(reviews(t)["create"]), &asked); err != nil {
		t.Fatal(err)
	}
	once := review(string(asked.Request.Object), "Patched DefaultOn")
	for _, has := range []string{`"--cluster=east"`, `"--namespace=shop"`, `"proxy.example.com/of":"web"`, `"name":"web"`, `"name":"proxy"`} {
		if !strings.Contains(once, has) {
			t.Errorf("%s is not in\n%s", has, once)
		}
	}
	if again := review(once, "Unchanged AlreadyInjected"); again != once {
		t.Errorf("re-invoked, got\n%s\nwant\n%s", again, once)
	}

	if err := h.Reload(admission.Config{Decider: always(t), Mutate: injects(t, strings.ReplaceAll(sidecar, "proxy:1", "proxy:2"))}); err != nil {
		t.Fatal(err)
	}
	newer := review(once, "Patched AlreadyInjected")
	if first := review(string(asked.Request.Object), "Patched DefaultOn"); !equal(t, newer, first) {
		t.Errorf("another template after the first gives\n%s\nwant what it gives alone\n%s", newer, first)
	}
}

func equal(t *testing.T, a, b string) bool {
	t.Helper()
	x, err := merge.Parse([]byte(a))
	if err != nil {
		t.Fatal(err)
	}
	y, err := merge.Parse([]byte(b))
	if err != nil {
		t.Fatal(err)
	}
	return x.Equal(y)
}

// Of a clash nothing is injected and the person who makes the pod is told, in words without
// values; what a policy tolerates is a warning.
func TestInjectClash(t *testing.T) {
	clash := strings.Replace(pod, `"containers":[`, `"volumes":[{"name":"proxy-config","hostPath":{"path":"/secret"}}],"containers":[`, 1)
	template, err := inject.ParseTemplate([]byte(sidecar))
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		on       inject.OnConflict
		failure  admission.FailurePolicy
		want     string
		patched  bool
		warnings int
	}{
		{inject.Fail, admission.FailOpen, "Failed", false, 1},
		{inject.Fail, admission.FailClosed, "Denied", false, 0},
		{inject.KeepLive, admission.FailClosed, "Patched", true, 1},
		{inject.UseTemplate, admission.FailClosed, "Patched", true, 1},
		{inject.Skip, admission.FailClosed, "Unchanged", false, 1},
	} {
		in, err := inject.New(inject.Options{OnConflict: tc.on}, template)
		if err != nil {
			t.Fatal(err)
		}
		h := handler(t, admission.Options{
			Config: admission.Config{Mutate: admission.Inject(in, map[string]string{"cluster": "east"})}, OnFailure: tc.failure,
		})
		w := post(h, creation(clash))
		resp := answered(t, w.Code, w.Body.Bytes(), "admission.k8s.io/v1", "u-1")
		said := slices.Clone(resp.Warnings)
		if !resp.Allowed {
			said = append(said, resp.Result.Message)
			if resp.Result.Code != 422 {
				t.Errorf("%d: code %d, want 422", tc.on, resp.Result.Code)
			}
		}
		if got := resp.AuditAnnotations["outcome"]; got != tc.want || len(resp.Patch) > 0 != tc.patched || len(resp.Warnings) != tc.warnings {
			t.Errorf("%d: %s, patch %s, warnings %q; want %s, patched %t, %d warnings", tc.on, got, resp.Patch, resp.Warnings, tc.want, tc.patched, tc.warnings)
		}
		if text := strings.Join(said, "\n"); !strings.Contains(text, "spec.volumes[") || strings.Contains(text, "/secret") {
			t.Errorf("%d: want the path and no value, got %q", tc.on, text)
		}
	}
}
