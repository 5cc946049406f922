package admission

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"example.com/braid/inject"
	"example.com/braid/merge"
)

// FailurePolicy says what becomes of a request when injection fails.
type FailurePolicy uint8

const (
	FailOpen   FailurePolicy = iota // the object is admitted as it is, with a warning
	FailClosed                      // the request is denied
)

// Config is what a Handler answers by. It is swapped as a whole.
type Config struct {
	Decider *inject.Decider
	Mutate  Mutator // of objects to inject into
	// Undo is the Mutator of objects that say no after they were injected into. nil is that of
	// [inject.Uninject], which knows the built-in kinds.
	Undo Mutator
}

// Options configure a Handler.
type Options struct {
	Config    Config
	OnFailure FailurePolicy
	// NamespaceLabels returns the labels of a namespace, best from a cache. It is asked where
	// nothing else decides; ctx ends when the API server gives up. nil is no labels.
	NamespaceLabels func(ctx context.Context, name string) (map[string]string, error)

	Observe func(Observation) // called once for each request, when its answer is known; may be nil
	Clock   func() time.Time  // for Observation.Duration; nil is none
	Logger  *slog.Logger      // nil is none
}

// The rules of errors that a Handler reports, beside those of the Mutator.
var (
	ErrPanic     = errors.New("panic")
	ErrPatch     = errors.New("patch does not apply to the object or gives another than predicted")
	ErrNamespace = errors.New("labels of the namespace are not known")
	ErrRequest   = errors.New("not an AdmissionReview to answer")
)

// Handler answers AdmissionReviews. Safe for concurrent use.
type Handler struct {
	o      Options
	config atomic.Pointer[Config]
}

// New checks the options. The error is merge.ErrOption.
func New(o Options) (*Handler, error) {
	if o.OnFailure > FailClosed {
		return nil, fmt.Errorf("%w: OnFailure %d", merge.ErrOption, o.OnFailure)
	}
	if o.Clock == nil {
		o.Clock = func() time.Time { return time.Time{} }
	}
	if o.Observe == nil {
		o.Observe = func(Observation) {}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	h := &Handler{o: o}
	return h, h.Reload(o.Config)
}

// Reload makes c what reviews are answered by from now on; those in flight end by what they
// began with. The error is merge.ErrOption, and changes nothing. O(1).
func (h *Handler) Reload(c Config) error {
	if c.Decider == nil || c.Mutate == nil {
		return fmt.Errorf("%w: Config without a Decider or a Mutator", merge.ErrOption)
	}
	if c.Undo == nil {
		c.Undo = Uninject(&inject.Injector{})
	}
	h.config.Store(&c)
	return nil
}

// ServeHTTP answers one review: 200 with an AdmissionReview of the version that was asked in,
// or 4xx with a sentence. O(size of the body), which is at most 7 MiB.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := h.o.Clock()
	req, object, version, problem := read(w, r)
	if problem != nil {
		h.o.Observe(Observation{Outcome: Malformed, Status: problem.status, Err: problem, Duration: h.o.Clock().Sub(start)})
		h.o.Logger.LogAttrs(r.Context(), slog.LevelWarn, "request refused",
			slog.Int("status", problem.status), slog.String("error", problem.Error()))
		problem.write(w)
		return
	}
	write(w, version, h.review(r.Context(), req, object, start))
}
