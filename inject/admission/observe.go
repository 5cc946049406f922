package admission

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"example.com/braid/inject"
)

// Outcome is what became of a request.
type Outcome uint8

const (
	Patched   Outcome = iota // the object is injected into
	Unchanged                // it has all that would be injected
	Skipped                  // the decision was no
	Failed                   // injection failed, and the object is admitted as it is
	Denied                   // injection failed, and the request is denied
	Malformed                // the request was no review: a 4xx
)

var outcomes = [...]string{"Patched", "Unchanged", "Skipped", "Failed", "Denied", "Malformed"}

// String returns the name of the outcome: a stable code for metrics and logs.
func (o Outcome) String() string {
	if int(o) < len(outcomes) {
		return outcomes[o]
	}
	return fmt.Sprintf("Outcome(%d)", o)
}

// Observation is what a Handler tells of one request.
type Observation struct {
	Outcome  Outcome
	Reason   inject.Reason // of the decision; NoObject if none was made
	DryRun   bool
	Status   int           // of the HTTP answer, if Malformed
	Err      error         // if Failed, Denied or Malformed; it may quote the object
	Duration time.Duration // by Options.Clock
}

// Counters count requests by outcome and reason. The zero Counters are ready; Observe is for
// Options.Observe. Safe for concurrent use.
type Counters struct {
	mu     sync.Mutex
	counts map[counter]uint64
}

type counter struct {
	outcome Outcome
	reason  inject.Reason
}

// Observe counts one request.
func (c *Counters) Observe(o Observation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts == nil {
		c.counts = map[counter]uint64{}
	}
	c.counts[counter{o.Outcome, o.Reason}]++
}

// Count returns how many requests had an outcome.
func (c *Counters) Count(o Outcome) (n uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for k, count := range c.counts {
		if k.outcome == o {
			n += count
		}
	}
	return n
}

// WriteTo writes the counts as Prometheus reads them, in a fixed order.
func (c *Counters) WriteTo(w io.Writer) (int64, error) {
	var b strings.Builder
	b.WriteString("# HELP braid_admission_requests_total Admission requests by what became of them and why.\n" +
		"# TYPE braid_admission_requests_total counter\n")
	c.mu.Lock()
	for _, k := range slices.SortedFunc(maps.Keys(c.counts), func(x, y counter) int {
		return (int(x.outcome)<<8 | int(x.reason)) - (int(y.outcome)<<8 | int(y.reason))
	}) {
		fmt.Fprintf(&b, "braid_admission_requests_total{outcome=%q,reason=%q} %d\n", k.outcome, k.reason, c.counts[k])
	}
	c.mu.Unlock()
	n, err := io.WriteString(w, b.String())
	return int64(n), err
}
