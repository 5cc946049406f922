package admission_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	admissionv1 "k8s.io/api/admission/v1"

	"example.com/braid/inject"
	"example.com/braid/inject/admission"
	"example.com/braid/merge"
)

const proxy = `[{"op":"add","path":"/spec/containers/-","value":{"image":"proxy:1","name":"proxy"}}]`

func TestAnswers(t *testing.T) {
	with := func(namespace, labels string) string {
		return fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"generateName":"web-","namespace":%s,"labels":%s},"spec":{"containers":[{"name":"app"}]}}`, namespace, labels)
	}
	tests := []struct {
		reason  string
		request string
		patch   string
		want    string // outcome and reason
		warning string
	}{
		{"a pod is injected into", creation(pod), proxy, "Patched DefaultOn", ""},
		{"a dry run has the same answer", strings.Replace(creation(pod), `"dryRun":false`, `"dryRun":true`, 1), proxy, "Patched DefaultOn", ""},
		{"I12: a generated pod has no name, and its namespace is the request's",
			review(`"operation":"CREATE","namespace":"kube-system","name":"","object":` + with(`""`, `{}`)), "", "Skipped IgnoredNamespace", ""},
		{"I12: no name and no namespace anywhere", review(`"operation":"CREATE","object":` + with("null", "null")), proxy, "Patched DefaultOn", ""},
		{"I10: the spec of a pod that is updated may not change", review(`"operation":"UPDATE","object":` + pod + `,"oldObject":` + pod), "", "Skipped Immutable", ""},
		{"I10: a finalizer is removed from a pod that is being deleted",
			review(`"operation":"UPDATE","object":{"apiVersion":"v1","kind":"Pod","metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"},"spec":{"containers":[{}]}},"oldObject":` + pod), "", "Skipped Immutable", ""},
		{"I17: DELETE has no object", review(`"operation":"DELETE","object":null,"oldObject":` + pod), "", "Skipped NoObject", ""},
		{"I17: CONNECT has options for an object", review(`"operation":"CONNECT","subResource":"exec","object":{"kind":"PodExecOptions","apiVersion":"v1"}`), "", "Skipped Subresource", ""},
		{"I17: no object", review(`"operation":"CREATE"`), "", "Skipped NoObject", ""},
		{"I17: an object that is none", creation(`[1]`), "", "Skipped NoObject", ""},
		{"I17: an object without a kind", creation(`{}`), "", "Skipped NoObject", ""},
		{"I17: a pod without anything", creation(`{"apiVersion":"v1","kind":"Pod"}`), "", "Failed DefaultOn", "not injected: no containers"},
		{"I17: nothing but a uid", `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u-1"}}`, "", "Skipped NoObject", ""},
		{"a subresource is not the pod", review(`"operation":"UPDATE","subResource":"ephemeralcontainers","object":` + pod), "", "Skipped Subresource", ""},
		{"a status is not the pod", review(`"operation":"UPDATE","subResource":"status","object":` + pod), "", "Skipped Subresource", ""},
		{"a kind without a pod template", creation(`{"apiVersion":"v1","kind":"Service"}`), "", "Skipped UnknownKind", ""},
		{"fields of the wrong type", review(`"operation":3,"namespace":{},"name":[],"subResource":null,"dryRun":"yes","object":` + pod), proxy, "Patched DefaultOn", ""},
		{"it says no", creation(with(`"shop"`, `{"braid.example.com/inject":"false"}`)), "", "Skipped LabelOff", ""},
		{"it says what nobody can read", creation(with(`"shop"`, `{"braid.example.com/inject":"ture"}`)), "", "Skipped LabelUnclear",
			`not injected: the label braid.example.com/inject says neither "true" or "enabled" nor "false" or "disabled"`},
		{"an annotation that nobody can read", creation(strings.Replace(pod, `"metadata":{`, `"metadata":{"annotations":{"braid.example.com/inject":"no"},`, 1)), "", "Skipped AnnotationUnclear",
			`not injected: the annotation braid.example.com/inject says neither "true" or "enabled" nor "false" or "disabled"`},
		{"escapes, and members in an odd order", `{"request":{"object":{"spec":{"containers":[{"name":"\u0061\/\n"}]},"kind":"Pod","apiVersion":"v1"},"uid":"u\u002d1","operation":"CRE\u0041TE"},"kind":"AdmissionReview","apiVersion":"admission.k8s.io\/v1"}`,
			proxy, "Patched DefaultOn", ""},
	}
	for _, version := range []string{"admission.k8s.io/v1", "admission.k8s.io/v1beta1"} {
		for _, tc := range tests {
			t.Run(version+"/"+tc.reason, func(t *testing.T) {
				var seen []admission.Observation
				h := handler(t, admission.Options{Observe: func(o admission.Observation) { seen = append(seen, o) }})
				body := strings.Replace(strings.Replace(tc.request, "admission.k8s.io/v1", version, 1), `admission.k8s.io\/v1`, version, 1)
				w := post(h, body)
				resp := answered(t, w.Code, w.Body.Bytes(), version, "u-1")
				if len(seen) != 1 {
					t.Fatalf("observed %v", seen)
				}
				if !resp.Allowed || string(resp.Patch) != tc.patch {
					t.Errorf("got allowed %t, patch %s\nwant allowed, patch %s", resp.Allowed, resp.Patch, tc.patch)
				}
				if got := seen[0].Outcome.String() + " " + seen[0].Reason.String(); got != tc.want {
					t.Errorf("got %s, want %s", got, tc.want)
				}
				if got := resp.AuditAnnotations["outcome"] + " " + resp.AuditAnnotations["reason"]; got != tc.want {
					t.Errorf("audit says %s, want %s", got, tc.want)
				}
				if got := strings.Join(resp.Warnings, "|"); got != tc.warning {
					t.Errorf("got warning %q, want %q", got, tc.warning)
				}
				if dry := strings.Contains(body, `"dryRun":true`); seen[0].DryRun != dry {
					t.Errorf("dry run %t, want %t", seen[0].DryRun, dry)
				}
			})
		}
	}
}

// What is no review gets a 4xx with a sentence.
func TestRefusals(t *testing.T) {
	request := func(method, media, body string) *http.Request {
		r := httptest.NewRequest(method, admission.Path, strings.NewReader(body))
		r.Header.Set("Content-Type", media)
		return r
	}
	const json = "application/json"
	for _, tc := range []struct {
		reason string
		r      *http.Request
		status int
		says   string
	}{
		{"a browser", request("GET", "", ""), 405, "by POST"},
		{"another method", request("PUT", json, creation(pod)), 405, "by POST"},
		{"no type", request("POST", "", creation(pod)), 415, "application/json"},
		{"another type", request("POST", "application/yaml", creation(pod)), 415, "application/json"},
		{"no type at all", request("POST", "/;;", creation(pod)), 415, "application/json"},
		{"I17: an empty body", request("POST", json, ""), 400, "no AdmissionReview"},
		{"I17: a null", request("POST", json, "null"), 400, "no AdmissionReview"},
		{"not JSON", request("POST", json, "{"), 400, "byte 1"},
		{"two documents", request("POST", json, creation(pod)+creation(pod)), 400, "no AdmissionReview"},
		{"a key twice", request("POST", json, `{"kind":"AdmissionReview","kind":"AdmissionReview"}`), 400, "key repeated"},
		{"too deep", request("POST", json, strings.Repeat("[", 100_000)), 400, "limit"},
		{"another kind", request("POST", json, pod), 400, "no AdmissionReview"},
		{"a version to come", request("POST", json, `{"apiVersion":"admission.k8s.io/v2","kind":"AdmissionReview","request":{"uid":"a"}}`), 400, "v1 or v1beta1"},
		{"I17: no request", request("POST", json, `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}`), 400, "no request"},
		{"I17: request null", request("POST", json, `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":null}`), 400, "no request"},
		{"no uid", request("POST", json, `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{}}`), 400, "no uid"},
		{"I16: larger than 7 MiB", request("POST", json, creation(`"`+strings.Repeat("x", 7<<20)+`"`)), 413, "7340032 bytes"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			var seen []admission.Observation
			h := handler(t, admission.Options{Observe: func(o admission.Observation) { seen = append(seen, o) }})
			w := httptest.NewRecorder()
			h.ServeHTTP(w, tc.r)
			text := w.Body.String()
			if w.Code != tc.status || !strings.Contains(text, tc.says) || !strings.HasSuffix(text, ".\n") {
				t.Errorf("got %d %q\nwant %d, a sentence that says %q", w.Code, text, tc.status, tc.says)
			}
			if (w.Header().Get("Allow") == "POST") != (tc.status == 405) {
				t.Errorf("Allow: %q", w.Header().Get("Allow"))
			}
			if len(seen) != 1 || seen[0].Outcome != admission.Malformed || seen[0].Status != tc.status || !errors.Is(seen[0].Err, admission.ErrRequest) {
				t.Errorf("observed %+v", seen)
			}
		})
	}
}

// Parameters of a type, and bodies of unknown length, are taken.
func TestTypeWithParameters(t *testing.T) {
	r := httptest.NewRequest(http.MethodPost, admission.Path+"?timeout=5s", io.MultiReader(strings.NewReader(creation(pod))))
	r.Header.Set("Content-Type", "Application/JSON; charset=utf-8")
	w := httptest.NewRecorder()
	handler(t, admission.Options{}).ServeHTTP(w, r)
	answered(t, w.Code, w.Body.Bytes(), "admission.k8s.io/v1", "u-1")
	if got := w.Header().Get("Content-Type"); got != "application/json" {
		t.Errorf("Content-Type %q", got)
	}
}

// I16: what an API server may send, it must be able to send.
func TestLargeBody(t *testing.T) {
	big := strings.Repeat("x", 3<<20)
	object := strings.Replace(pod, `"metadata":{`, `"metadata":{"annotations":{"a":"`+big+`"},`, 1)
	w := post(handler(t, admission.Options{}), creation(object))
	if resp := answered(t, w.Code, w.Body.Bytes(), "admission.k8s.io/v1", "u-1"); string(resp.Patch) != proxy {
		t.Errorf("patch %.200s", resp.Patch)
	}
}

// When injection fails, the object is admitted as it is or the request denied: never a
// patch that an API server could not apply.
func TestFailures(t *testing.T) {
	const added = `{"apiVersion":"v1","kind":"Pod","metadata":{"labels":{"a":"b"}}}`
	labels := func(context.Context, string) (map[string]string, error) { return nil, errors.New("cache is cold") }
	for _, tc := range []struct {
		reason string
		inject admission.Mutator
		labels func(context.Context, string) (map[string]string, error)
		want   error
		says   string
		code   int32
	}{
		{reason: "an error", inject: answers("", "", errors.New("no such template")), says: "no such template", code: 500},
		{reason: "a conflict is the object's", inject: answers("", "", fmt.Errorf("volume data: %w", merge.ErrConflict)), want: merge.ErrConflict, says: "volume data", code: 422},
		{reason: "a panic with a value", inject: func(*merge.Doc, inject.Values) (admission.Mutation, error) { panic("password") }, want: admission.ErrPanic, says: "panic of type string", code: 500},
		{reason: "a panic of the runtime", inject: func(*merge.Doc, inject.Values) (admission.Mutation, error) {
			var none []byte
			return admission.Mutation{Patch: none[len(none)+1:]}, nil
		}, want: admission.ErrPanic, says: "out of range", code: 500},
		{reason: "a patch that is no JSON", inject: answers(`[{`, pod, nil), want: admission.ErrPatch, says: "JSON", code: 500},
		{reason: "a patch that is no patch", inject: answers(`{"spec":null}`, pod, nil), want: admission.ErrPatch, says: "a JSON Patch is a list", code: 500},
		{reason: "a patch to a place that is not there (P3)", inject: answers(`[{"op":"add","path":"/metadata/annotations/a","value":"b"}]`, pod, nil), want: merge.ErrPointer, says: "nothing stands at", code: 500},
		{reason: "a patch whose test fails", inject: answers(`[{"op":"test","path":"/kind","value":"Node"}]`, pod, nil), want: admission.ErrPatch, says: "another value stands", code: 500},
		{reason: "a patch that gives another than predicted", inject: answers(`[{"op":"remove","path":"/spec"}]`, pod, nil), want: admission.ErrPatch, says: "another than predicted", code: 500},
		{reason: "a patch without a prediction", inject: answers(`[{"op":"remove","path":"/spec"}]`, "", nil), want: admission.ErrPatch, says: "another than predicted", code: 500},
		{reason: "no patch, and a prediction that something changes", inject: answers(`[]`, added, nil), want: admission.ErrPatch, says: "predicted", code: 500},
		{reason: "a patch of another object", inject: answers(`[{"op":"add","path":"/metadata/labels","value":{"a":"b"}}]`, added, nil), want: admission.ErrPatch, says: "predicted", code: 500},
		{reason: "the namespace is not known", labels: labels, want: admission.ErrNamespace, says: "cache is cold", code: 500},
		{reason: "the lookup panics", labels: func(context.Context, string) (map[string]string, error) { panic(1) }, want: admission.ErrPanic, says: "type int", code: 500},
	} {
		for _, policy := range []admission.FailurePolicy{admission.FailOpen, admission.FailClosed} {
			t.Run(fmt.Sprint(tc.reason, policy), func(t *testing.T) {
				var seen admission.Observation
				var log bytes.Buffer
				h := handler(t, admission.Options{
					Config: admission.Config{Mutate: tc.inject}, OnFailure: policy, NamespaceLabels: tc.labels,
					Observe: func(o admission.Observation) { seen = o },
					Logger:  slog.New(slog.NewTextHandler(&log, nil)),
				})
				w := post(h, creation(pod))
				resp := answered(t, w.Code, w.Body.Bytes(), "admission.k8s.io/v1", "u-1")
				if len(resp.Patch) > 0 {
					t.Errorf("patch %s", resp.Patch)
				}
				if tc.want != nil && !errors.Is(seen.Err, tc.want) {
					t.Errorf("got error %v, want %v", seen.Err, tc.want)
				}
				wants := admission.Failed
				text := strings.Join(resp.Warnings, "")
				if policy == admission.FailClosed {
					wants, text = admission.Denied, resp.Result.Message
					if resp.Result.Code != tc.code {
						t.Errorf("code %d, want %d", resp.Result.Code, tc.code)
					}
				}
				if seen.Outcome != wants || resp.Allowed != (policy == admission.FailOpen) || !strings.Contains(text, tc.says) {
					t.Errorf("%s, allowed %t: %q\nwant %s: %q", seen.Outcome, resp.Allowed, text, wants, tc.says)
				}
				if strings.Contains(log.String()+text, "password") {
					t.Errorf("a secret is told: %s\n%s", text, log.String())
				}
				if errors.Is(seen.Err, admission.ErrPanic) != strings.Contains(log.String(), "goroutine ") {
					t.Errorf("a stack is logged with a panic, and only then: %s", log.String())
				}
			})
		}
	}
}

// The labels of a namespace are asked for where nothing else decides, and count.
func TestNamespaceLabels(t *testing.T) {
	optIn, err := inject.NewDecider(inject.DecisionPolicy{})
	if err != nil {
		t.Fatal(err)
	}
	var asked []string
	h := handler(t, admission.Options{
		Config: admission.Config{Decider: optIn, Mutate: add("proxy")},
		NamespaceLabels: func(_ context.Context, name string) (map[string]string, error) {
			asked = append(asked, name)
			return map[string]map[string]string{"shop": {inject.DefaultKey: "enabled"}, "odd": {inject.DefaultKey: "ja"}}[name], nil
		},
	})
	pod := func(namespace, labels string) string {
		return `{"apiVersion":"v1","kind":"Pod","metadata":{"labels":{` + labels + `},"namespace":"` + namespace + `"},"spec":{"containers":[{"name":"app"}]}}`
	}
	for _, tc := range []struct {
		object string
		want   string
		asks   []string
	}{
		{pod("shop", ""), "Patched NamespaceOn", []string{"shop"}},
		{pod("", ""), "Patched NamespaceOn", []string{"shop"}},
		{pod("other", ""), "Skipped DefaultOff", []string{"other"}},
		{pod("odd", ""), "Skipped NamespaceUnclear", []string{"odd"}},
		{pod("shop", `"braid.example.com/inject":"false"`), "Skipped LabelOff", nil},
		{pod("kube-system", ""), "Skipped IgnoredNamespace", nil},
	} {
		asked = nil
		w := post(h, creation(tc.object))
		resp := answered(t, w.Code, w.Body.Bytes(), "admission.k8s.io/v1", "u-1")
		if got := resp.AuditAnnotations["outcome"] + " " + resp.AuditAnnotations["reason"]; got != tc.want || !slices.Equal(asked, tc.asks) {
			t.Errorf("%s: got %s, asked for %q; want %s, %q", tc.object, got, asked, tc.want, tc.asks)
		}
	}
}

// Warnings are such that an API server passes them on whole.
func TestWarnings(t *testing.T) {
	long := strings.Repeat("ä", 300)
	many := slices.Repeat([]string{long}, 20)
	for _, tc := range []struct {
		reason string
		in     []string
		want   []string
	}{
		{"as they are", []string{"one", "two"}, []string{"one", "two"}},
		{"no header holds control characters", []string{"a\nb\x00c\r\td\x7f"}, []string{"a b c  d "}},
		{"nor what is not UTF-8", []string{"a\xffb"}, []string{"a\uFFFDb"}},
		{"256 characters", []string{long[:2*256]}, []string{long[:2*256]}},
		{"more than 256 characters", []string{long[:2*257]}, []string{long[:2*255] + "…"}},
		{"4096 characters together", many, slices.Repeat([]string{long[:2*255] + "…"}, 16)},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			h := handler(t, admission.Options{Config: admission.Config{Mutate: func(o *merge.Doc, ns inject.Values) (admission.Mutation, error) {
				i, err := add("proxy")(o, ns)
				i.Warnings = tc.in
				return i, err
			}}})
			resp := h.Review(t.Context(), &admissionv1.AdmissionRequest{Operation: "CREATE", Object: raw(pod)})
			if !slices.Equal(resp.Warnings, tc.want) {
				t.Errorf("got  %q\nwant %q", resp.Warnings, tc.want)
			}
			for _, w := range resp.Warnings {
				if utf8.RuneCountInString(w) > 256 {
					t.Errorf("%d characters: %q", utf8.RuneCountInString(w), w)
				}
			}
		})
	}
}

// Review serves frameworks that read requests themselves.
func TestReview(t *testing.T) {
	h := handler(t, admission.Options{})
	if resp := h.Review(t.Context(), nil); !resp.Allowed || resp.AuditAnnotations["reason"] != "NoObject" {
		t.Errorf("of nil: %+v", resp)
	}
	resp := h.Review(t.Context(), &admissionv1.AdmissionRequest{UID: "a", Operation: admissionv1.Create, Object: raw("{")})
	if !resp.Allowed || resp.UID != "a" || resp.AuditAnnotations["outcome"] != "Failed" {
		t.Errorf("of what is no JSON: %+v", resp)
	}
	resp = h.Review(t.Context(), &admissionv1.AdmissionRequest{UID: "a", Operation: admissionv1.Create, Object: raw(pod)})
	if string(resp.Patch) != proxy {
		t.Errorf("patch %s", resp.Patch)
	}
}

// Durations are by the caller's clock, and logs tell no more of an object than its name.
func TestObservations(t *testing.T) {
	var seen []admission.Observation
	var log bytes.Buffer
	now := time.Unix(0, 0)
	var counters admission.Counters
	h := handler(t, admission.Options{
		Clock: func() time.Time { now = now.Add(time.Second); return now },
		Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}})),
		Observe: func(o admission.Observation) { seen = append(seen, o); counters.Observe(o) },
	})
	post(h, creation(strings.Replace(pod, "app:1", "secret:1", 1)))
	post(h, creation(strings.Replace(pod, `"name":"web"`, `"generateName":"web-"`, 1)))
	post(h, review(`"operation":"DELETE","name":"web","oldObject":`+pod))
	post(h, "secret")
	for i, o := range seen {
		if o.Duration != time.Second {
			t.Errorf("request %d took %s, want 1s", i, o.Duration)
		}
	}
	const want = `level=INFO msg=review outcome=Patched reason=DefaultOn uid=u-1 kind=Pod namespace=shop name=web dryRun=false
level=INFO msg=review outcome=Patched reason=DefaultOn uid=u-1 kind=Pod namespace=shop name=web- dryRun=false
level=DEBUG msg=review outcome=Skipped reason=NoObject uid=u-1 kind=Pod namespace="" name=web dryRun=false
level=WARN msg="request refused" status=400 error="The body is no AdmissionReview: not valid JSON: want a value (byte 0)."
`
	if log.String() != want {
		t.Errorf("log\n%s\nwant\n%s", log.String(), want)
	}
	const counts = `# HELP braid_admission_requests_total Admission requests by what became of them and why.
# TYPE braid_admission_requests_total counter
braid_admission_requests_total{outcome="Patched",reason="DefaultOn"} 2
braid_admission_requests_total{outcome="Skipped",reason="NoObject"} 1
braid_admission_requests_total{outcome="Malformed",reason="NoObject"} 1
`
	var text strings.Builder
	if n, err := counters.WriteTo(&text); err != nil || int(n) != len(counts) || text.String() != counts {
		t.Errorf("%d bytes, %v\n%s\nwant\n%s", n, err, text.String(), counts)
	}
	if counters.Count(admission.Patched) != 2 {
		t.Errorf("%d patched, want 2", counters.Count(admission.Patched))
	}
}

// The names of outcomes are in dashboards: they do not change.
func TestOutcomeNames(t *testing.T) {
	var got []string
	for o := admission.Patched; o <= admission.Malformed+1; o++ {
		got = append(got, o.String())
	}
	if g, want := strings.Join(got, " "), "Patched Unchanged Skipped Failed Denied Malformed Outcome(6)"; g != want {
		t.Errorf("got %s, want %s", g, want)
	}
}

func TestOptions(t *testing.T) {
	d := always(t)
	for want, o := range map[string]admission.Options{
		"invalid option: OnFailure 9":                            {OnFailure: 9, Config: admission.Config{Decider: d, Mutate: add("a")}},
		"invalid option: Config without a Decider or a Mutator":  {Config: admission.Config{Mutate: add("a")}},
		"invalid option: Config without a Decider or a Mutator ": {Config: admission.Config{Decider: d}},
	} {
		if _, err := admission.New(o); !errors.Is(err, merge.ErrOption) || err.Error() != strings.TrimSpace(want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
