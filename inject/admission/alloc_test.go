//go:build !race && !poison

package admission_test

import (
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"example.com/braid/inject/admission"
)

// A review costs no more than its size: of a pod with more variables not many more
// allocations, and twice the variables at most 2.2 times the memory.
func TestAllocations(t *testing.T) {
	h := handler(t, admission.Options{Config: admission.Config{Mutate: injects(t, sidecar)}})
	cost := func(body string) (allocations, bytes float64) {
		r := httptest.NewRequest(http.MethodPost, admission.Path, nil)
		r.Header.Set("Content-Type", "application/json")
		answer := func() {
			r.Body = io.NopCloser(strings.NewReader(body))
			h.ServeHTTP(discard{http.Header{}}, r)
		}
		allocations, bytes = testing.AllocsPerRun(50, answer), math.Inf(1)
		for range 50 { // the collector empties pools at any time: the least is without
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			answer()
			runtime.ReadMemStats(&after)
			bytes = min(bytes, float64(after.TotalAlloc-before.TotalAlloc))
		}
		return allocations, bytes
	}
	pod := reviews(t)["create"]
	few, _ := cost(pod)
	many, bytes := cost(manyEnv(pod, 1500))
	most, twice := cost(manyEnv(pod, 3000))
	t.Logf("%.0f allocations for a pod, %.0f with 1,500 variables, %.0f with 3,000; %.0f and %.0f bytes", few, many, most, bytes, twice)
	if few > 280 || most > few*1.5 {
		t.Errorf("%.0f allocations for a pod, want at most 280; %.0f with 3,000 variables, want at most half more", few, most)
	}
	if twice > 2.2*bytes {
		t.Errorf("%.0f bytes for 3,000 variables, %.0f for 1,500", twice, bytes)
	}
}
