package admission_test

import (
	"flag"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/braid/inject"
	"example.com/braid/inject/admission"
)

var (
	soak      = flag.Int("soak", 2000, "requests of TestSoak")
	latencies = flag.Bool("latencies", false, "print how long requests of TestSoak took")
)

// Requests, new templates and new certificates at the same time: each answer is by one whole
// Config. One of two adds proxy by default, the other one chooses by label and adds other.
func TestReloadWhileServing(t *testing.T) {
	var counters admission.Counters
	h := handler(t, admission.Options{Observe: counters.Observe})
	s := start(t, admission.ServerOptions{Handler: h, Metrics: &counters, Drain: time.Millisecond, ErrorLog: quiet})
	chain, key := pair(t, 1)
	if err := s.certificate.Reload(chain, key); err != nil {
		t.Fatal(err)
	}
	chosen, err := inject.NewDecider(inject.DecisionPolicy{Always: []metav1.LabelSelector{{MatchLabels: map[string]string{"app": "web"}}}})
	if err != nil {
		t.Fatal(err)
	}
	configs := []admission.Config{{Decider: chosen, Mutate: add("other")}, {Decider: always(t), Mutate: add("proxy")}}
	object := strings.Replace(pod, `"metadata":{`, `"metadata":{"labels":{"app":"web"},`, 1)
	done := make(chan struct{})
	var reloads, workers sync.WaitGroup
	reloads.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
			}
			if err := h.Reload(configs[i%2]); err != nil {
				t.Error(err)
			}
			if err := s.certificate.Reload(chain, key); err != nil {
				t.Error(err)
			}
		}
	})
	const each = 50
	for w := range 4 {
		workers.Go(func() {
			c := client(t, chain)
			for i := range each {
				uid := fmt.Sprintf("u-%d-%d", w, i)
				status, body, err := ask(c, s.url, strings.Replace(creation(object), "u-1", uid, 1))
				if err != nil {
					t.Error(err)
					return
				}
				resp := answered(t, status, body, "admission.k8s.io/v1", uid)
				if by := resp.AuditAnnotations["reason"]; strings.Contains(string(resp.Patch), "other") != (by == "AlwaysSelected") {
					t.Errorf("%s by %s", resp.Patch, by)
				}
			}
		})
	}
	workers.Wait()
	close(done)
	reloads.Wait()
	if got := counters.Count(admission.Patched); got != 4*each {
		t.Errorf("%d patched, want %d", got, 4*each)
	}
}

// Under load on loopback neither goroutines nor memory grow: as much is alive at the end as
// was after the first tenth.
func TestSoak(t *testing.T) {
	h := handler(t, admission.Options{})
	s := start(t, admission.ServerOptions{Handler: h, Drain: time.Millisecond, ErrorLog: quiet})
	chain, key := pair(t, 1)
	if err := s.certificate.Reload(chain, key); err != nil {
		t.Fatal(err)
	}
	c := client(t, chain)
	bodies := []string{creation(pod), creation("null"), "no review", creation(strings.Replace(pod, "app:1", strings.Repeat("x", 64<<10), 1))}
	var took []time.Duration
	run := func(n int) {
		took = make([]time.Duration, n)
		var workers sync.WaitGroup
		for w := range 4 {
			workers.Go(func() {
				for i := w; i < n; i += 4 {
					begin := time.Now()
					if _, _, err := ask(c, s.url, bodies[i%len(bodies)]); err != nil {
						t.Error(err)
					}
					took[i] = time.Since(begin)
				}
			})
		}
		workers.Wait()
	}
	alive := func() (goroutines int, heap uint64) {
		c.CloseIdleConnections()
		var m runtime.MemStats
		for range 3 { // what pools hold goes at the second
			runtime.GC()
		}
		runtime.ReadMemStats(&m)
		return runtime.NumGoroutine(), m.HeapAlloc
	}
	run(*soak / 10)
	goroutines, heap := alive()
	run(*soak)
	if *latencies {
		slices.Sort(took)
		fmt.Printf("%d requests: p50 %v, p99 %v, max %v\n", *soak, took[*soak/2], took[*soak*99/100], took[*soak-1])
	}
	after, heapAfter := alive()
	if after > goroutines+8 {
		t.Errorf("%d goroutines, %d at first", after, goroutines)
	}
	if heapAfter > heap+(1<<20) {
		t.Errorf("%d bytes alive, %d at first", heapAfter, heap)
	}
}
