package admission_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.com/braid/inject"
	"example.com/braid/inject/admission"
)

// manyEnv puts n more variables into a review of which a container has env.
func manyEnv(body string, n int) string {
	var env strings.Builder
	for i := range n {
		fmt.Fprintf(&env, `{"name":"VARIABLE_%d","value":"some value or other"},`, i)
	}
	return strings.Replace(body, `"env":[`, `"env":[`+env.String(), 1)
}

// discard is a client that reads nothing.
type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) WriteHeader(int)             {}
func (d discard) Write(p []byte) (int, error) { return len(p), nil }

// sidecar is a template like those in use, with something of each kind.
const sidecar = `
metadata:
  annotations: {inject.braid.example.com/name: proxy, proxy.example.com/of: '@{pod.labels["app"]:-none}'}
spec:
  initContainers:
  - {name: proxy-init, image: "proxy-init:1", securityContext: {capabilities: {add: [NET_ADMIN]}}}
  containers:
  - name: proxy
    image: proxy:1
    args: ['--cluster=@{values.cluster}', '--namespace=@{pod.namespace}']
    ports: [{name: proxy, containerPort: 15001}]
    env: [{name: POD_IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}]
    resources: {requests: {cpu: 10m, memory: 40Mi}}
    readinessProbe: {httpGet: {path: /ready, port: 15021}}
    volumeMounts: [{name: proxy-config, mountPath: /etc/proxy}]
  volumes:
  - {name: proxy-config, configMap: {name: proxy}}
`

// injects returns a Mutator that injects a template.
func injects(tb testing.TB, template string) admission.Mutator {
	tb.Helper()
	t, err := inject.ParseTemplate([]byte(template))
	if err != nil {
		tb.Fatal(err)
	}
	in, err := inject.New(inject.Options{}, t)
	if err != nil {
		tb.Fatal(err)
	}
	return admission.Inject(in, map[string]string{"cluster": "east"})
}

// BenchmarkHandler is a review from its body to its answer, without a network.
func BenchmarkHandler(b *testing.B) {
	h := handler(b, admission.Options{Config: admission.Config{Mutate: injects(b, sidecar)}})
	for name, body := range map[string]string{
		"pod": reviews(b)["create"], "1500env": manyEnv(reviews(b)["create"], 1500), "skipped": reviews(b)["delete"],
	} {
		b.Run(name, func(b *testing.B) {
			r := httptest.NewRequest(http.MethodPost, admission.Path, nil)
			r.Header.Set("Content-Type", "application/json")
			text := strings.NewReader(body)
			r.Body = io.NopCloser(text)
			w := discard{http.Header{}}
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				text.Reset(body)
				h.ServeHTTP(w, r)
			}
		})
	}
}
