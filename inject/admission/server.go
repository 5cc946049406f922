package admission

import (
	"context"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// Where a Server answers. Manifests names the same places.
const (
	Path        = "/inject"
	HealthPath  = "/healthz"
	ReadyPath   = "/readyz"
	MetricsPath = "/metrics"
)

// ServerOptions configure a Server. Handler and Certificate are required.
type ServerOptions struct {
	Handler     http.Handler // at Path
	Certificate *Certificate
	Metrics     io.WriterTo // at MetricsPath, such as *Counters; may be nil
	ErrorLog    *log.Logger // of the HTTP server; nil is package log's

	// When its context ends, a Server says that it is not ready and serves on for Drain, until
	// no more requests come to it; then it waits at most Grace for those in flight. The sum
	// should be less than the pod's terminationGracePeriodSeconds.
	Drain time.Duration // 5 s if 0
	Grace time.Duration // 10 s if 0
}

// Server serves a webhook over TLS. It serves once.
type Server struct {
	o     ServerOptions
	http  http.Server
	ready atomic.Bool
}

// NewServer makes a Server. A request must come within 10 s, be answered within 30 s (the
// most that an API server waits) and have headers of at most 64 KiB; TLS is 1.2 or later.
func NewServer(o ServerOptions) *Server {
	if o.Drain == 0 {
		o.Drain = 5 * time.Second
	}
	if o.Grace == 0 {
		o.Grace = 10 * time.Second
	}
	s := &Server{o: o}
	mux := http.NewServeMux()
	mux.Handle(Path, o.Handler)
	mux.HandleFunc("GET "+HealthPath, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") })
	mux.HandleFunc("GET "+ReadyPath, s.isReady)
	if o.Metrics != nil {
		mux.HandleFunc("GET "+MetricsPath, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
			_, _ = o.Metrics.WriteTo(w)
		})
	}
	s.http = http.Server{
		Handler: mux, ErrorLog: o.ErrorLog,
		TLSConfig:         &tls.Config{GetCertificate: o.Certificate.Get, MinVersion: tls.VersionTLS12},
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
	}
	return s
}

func (s *Server) isReady(w http.ResponseWriter, _ *http.Request) {
	if !s.ready.Load() {
		http.Error(w, "ending", http.StatusServiceUnavailable)
		return
	}
	_, _ = io.WriteString(w, "ok\n")
}

// Serve serves on l until ctx ends, and then ends gracefully: the error is nil if all
// requests were answered. l is closed.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	ended := make(chan error, 1)
	s.ready.Store(true)
	go func() { ended <- s.http.ServeTLS(l, "", "") }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	s.ready.Store(false)
	select {
	case err := <-ended:
		return err
	case <-time.After(s.o.Drain):
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.o.Grace)
	defer cancel()
	err := s.http.Shutdown(grace)
	if err != nil {
		_ = s.http.Close() // what is late is cut off
	}
	<-ended
	return err
}
