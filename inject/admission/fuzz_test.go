package admission_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"example.com/braid/inject/admission"
	"example.com/braid/merge"
)

// Whatever comes, the answer is a well-formed review or a 4xx with a sentence, and a patch
// applies to the object that came.
func FuzzBody(f *testing.F) {
	for _, body := range []string{
		"", "null", "{}", creation(pod), creation("null"), creation("{}"), creation(`"a"`),
		review(`"operation":"DELETE","object":null,"oldObject":` + pod),
		review(`"operation":"UPDATE","object":` + pod + `,"oldObject":` + pod),
		creation(strings.Replace(pod, `"containers":[`, `"hostNetwork":true,"containers":[`, 1)),
		creation(strings.Replace(pod, `"metadata":{`, `"metadata":{"labels":{"braid.example.com/inject":"false"},`, 1)),
		strings.Replace(creation(pod), "/v1", "/v1beta1", 1),
		`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"\ud83d\ude00"}}`,
	} {
		f.Add([]byte(body))
	}
	for _, body := range reviews(f) {
		f.Add([]byte(body))
	}
	h := handler(f, admission.Options{})
	f.Fuzz(func(t *testing.T, body []byte) {
		w := post(h, string(body))
		if w.Code == http.StatusBadRequest || w.Code == http.StatusRequestEntityTooLarge {
			if text := w.Body.String(); !strings.HasSuffix(text, ".\n") {
				t.Errorf("no sentence: %q", text)
			}
			return
		}
		var asked, request map[string]json.RawMessage // encoding/json takes fields of structs in any case
		var version, uid string
		read := func(text json.RawMessage, into any) {
			if err := json.Unmarshal(text, into); err != nil {
				t.Fatalf("answered what is no review: %v", err)
			}
		}
		read(body, &asked)
		read(asked["apiVersion"], &version)
		read(asked["request"], &request)
		read(request["uid"], &uid)
		resp := answered(t, w.Code, w.Body.Bytes(), version, uid)
		if !resp.Allowed {
			t.Errorf("denied under FailOpen: %+v", resp)
		}
		if len(resp.Patch) == 0 {
			return
		}
		if _, err := merge.ApplyPatch(merge.JSONPatch, request["object"], resp.Patch, merge.Options{Schema: merge.Schemaless()}); err != nil {
			t.Errorf("patch %s: %v", resp.Patch, err)
		}
	})
}
