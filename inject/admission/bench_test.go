package admission_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

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

// BenchmarkHandler is a review from its body to its answer, without a network.
func BenchmarkHandler(b *testing.B) {
	h := handler(b, admission.Options{})
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
