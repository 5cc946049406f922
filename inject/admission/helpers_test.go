package admission_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/braid/inject"
	"example.com/braid/inject/admission"
	"example.com/braid/merge"
)

// add returns a Mutator that puts a container at the end of a pod's.
func add(name string) admission.Mutator {
	return func(object *merge.Doc, _ inject.Values) (admission.Mutation, error) {
		container := map[string]any{"name": name, "image": "proxy:1"}
		m := object.Map()
		spec, _ := m["spec"].(map[string]any)
		containers, ok := spec["containers"].([]any)
		if !ok {
			return admission.Mutation{}, fmt.Errorf("no containers")
		}
		spec["containers"] = append(containers, container)
		made, err := merge.FromMap(m)
		patch := fmt.Sprintf(`[{"op":"add","path":"/spec/containers/-","value":{"image":"proxy:1","name":%q}}]`, name)
		return admission.Mutation{Patch: []byte(patch), Object: made}, err
	}
}

// answers returns a Mutator that always gives the same.
func answers(patch string, object string, err error) admission.Mutator {
	return func(*merge.Doc, inject.Values) (admission.Mutation, error) {
		made, _ := merge.Parse([]byte(object))
		return admission.Mutation{Patch: []byte(patch), Object: made}, err
	}
}

// always returns a decider for objects that say nothing.
func always(tb testing.TB) *inject.Decider {
	tb.Helper()
	d, err := inject.NewDecider(inject.DecisionPolicy{Mode: inject.OptOut})
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

// handler makes a Handler that injects by o, or adds a container named proxy.
func handler(tb testing.TB, o admission.Options) *admission.Handler {
	tb.Helper()
	if o.Config.Decider == nil {
		o.Config.Decider = always(tb)
	}
	if o.Config.Mutate == nil {
		o.Config.Mutate = add("proxy")
	}
	h, err := admission.New(o)
	if err != nil {
		tb.Fatal(err)
	}
	return h
}

const pod = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","namespace":"shop"},"spec":{"containers":[{"name":"app","image":"app:1"}]}}`

// review wraps fields of a request, which are JSON, as an API server sends them.
func review(fields string) string {
	return `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u-1","kind":{"group":"","version":"v1","kind":"Pod"},` +
		`"resource":{"group":"","version":"v1","resource":"pods"},"userInfo":{"username":"jane"},` + fields + `}}`
}

func creation(object string) string {
	return review(`"operation":"CREATE","namespace":"shop","object":` + object + `,"oldObject":null,"dryRun":false,"options":{"kind":"CreateOptions","apiVersion":"meta.k8s.io/v1"}`)
}

// post sends a body to a handler, without a network.
func post(h http.Handler, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, admission.Path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// answered reads an answer as strictly as it can be read, and holds it to what API servers
// demand (apiserver, admission/plugin/webhook/request.VerifyAdmissionResponse).
func answered(tb testing.TB, status int, body []byte, version, uid string) *admissionv1.AdmissionResponse {
	tb.Helper()
	if status != http.StatusOK {
		tb.Fatalf("status %d: %s", status, body)
	}
	var got admissionv1.AdmissionReview
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&got); err != nil {
		tb.Fatalf("%v in %s", err, body)
	}
	switch resp := got.Response; {
	case got.Kind != "AdmissionReview" || got.APIVersion != version || got.Request != nil || resp == nil:
		tb.Fatalf("not a response of %s: %s", version, body)
	case string(resp.UID) != uid:
		tb.Fatalf("uid %q, want %q", resp.UID, uid)
	case (len(resp.Patch) > 0) != (resp.PatchType != nil) || resp.PatchType != nil && *resp.PatchType != admissionv1.PatchTypeJSONPatch:
		tb.Fatalf("patch and patchType go together: %s", body)
	case !resp.Allowed && (len(resp.Patch) > 0 || resp.Result == nil || resp.Result.Code < 400 || resp.Result.Message == ""):
		tb.Fatalf("a denial has a reason and no patch: %s", body)
	}
	return got.Response
}

// raw makes the object of a request for Review.
func raw(object string) runtime.RawExtension { return runtime.RawExtension{Raw: []byte(object)} }

// quiet is the log of servers whose clients are meant to fail.
var quiet = log.New(io.Discard, "", 0)
