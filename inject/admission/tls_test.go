package admission_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/braid/inject"
	"example.com/braid/inject/admission"
	"example.com/braid/merge"
)

// pair makes a self-signed certificate for 127.0.0.1 and its key, as PEM.
func pair(tb testing.TB, serial int64) (chain, key []byte) {
	tb.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		tb.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		tb.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})
}

// running is a Server on loopback.
type running struct {
	url         string
	certificate *admission.Certificate
	end         context.CancelFunc
	ended       chan error
}

func start(tb testing.TB, o admission.ServerOptions) *running {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	r := &running{url: "https://" + l.Addr().String(), certificate: new(admission.Certificate), ended: make(chan error, 1)}
	o.Certificate = r.certificate
	ctx, cancel := context.WithCancel(context.Background())
	r.end = cancel
	go func() { r.ended <- admission.NewServer(o).Serve(ctx, l) }()
	tb.Cleanup(cancel)
	return r
}

// client trusts one certificate.
func client(tb testing.TB, chain []byte) *http.Client {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(chain) {
		tb.Fatal("no certificate")
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 16}
	tb.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func get(tb testing.TB, c *http.Client, url string) (int, string) {
	tb.Helper()
	r, err := c.Get(url)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		tb.Fatal(err)
	}
	return r.StatusCode, string(body)
}

// ask posts a review as an API server does.
func ask(c *http.Client, url, body string) (int, []byte, error) {
	r, err := c.Post(url+admission.Path+"?timeout=10s", "application/json", strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = r.Body.Close() }()
	answer, err := io.ReadAll(r.Body)
	return r.StatusCode, answer, err
}

// A webhook on TLS from its start, through a new certificate and a new template, to its end.
func TestServer(t *testing.T) {
	var counters admission.Counters
	var hold chan struct{}
	entered := make(chan struct{})
	waits := func(object *merge.Doc, namespace inject.Values) (admission.Mutation, error) {
		if hold != nil {
			close(entered)
			<-hold
		}
		return add("proxy")(object, namespace)
	}
	h := handler(t, admission.Options{Observe: counters.Observe, Config: admission.Config{Mutate: waits}})
	s := start(t, admission.ServerOptions{Handler: h, Metrics: &counters, Drain: time.Millisecond, ErrorLog: quiet})
	chain, key := pair(t, 1)
	old := client(t, chain)
	if _, err := old.Get(s.url + admission.ReadyPath); err == nil {
		t.Fatal("served without a certificate")
	}
	if err := s.certificate.Reload(chain, key); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		admission.HealthPath: "200 ok\n", admission.ReadyPath: "200 ok\n", "/": "404 404 page not found\n", admission.Path: "405 An AdmissionReview is sent by POST.\n",
	} {
		if status, body := get(t, old, s.url+path); fmt.Sprint(status, " ", body) != want {
			t.Errorf("%s: %d %q, want %q", path, status, body, want)
		}
	}
	patch := func(c *http.Client) string {
		status, body, err := ask(c, s.url, creation(pod))
		if err != nil {
			t.Fatal(err)
		}
		return string(answered(t, status, body, "admission.k8s.io/v1", "u-1").Patch)
	}
	if got := patch(old); got != proxy {
		t.Errorf("patch %s", got)
	}

	next, nextKey := pair(t, 2)
	if err := s.certificate.Reload(next, key); err == nil {
		t.Error("a certificate was taken with the key of another")
	}
	if got := patch(old); got != proxy {
		t.Errorf("after a bad certificate: patch %s", got)
	}
	if err := s.certificate.Reload(next, nextKey); err != nil {
		t.Fatal(err)
	}
	if err := h.Reload(admission.Config{}); err == nil {
		t.Error("an empty Config was taken")
	}
	if err := h.Reload(admission.Config{Decider: always(t), Mutate: add("newer")}); err != nil {
		t.Fatal(err)
	}
	if got := patch(client(t, next)); !strings.Contains(got, "newer") {
		t.Errorf("after a reload: patch %s", got)
	}
	if got := patch(old); !strings.Contains(got, "newer") {
		t.Errorf("on a connection from before: patch %s", got)
	}
	if _, body := get(t, old, s.url+admission.MetricsPath); !strings.Contains(body, `{outcome="Patched",reason="DefaultOn"} 4`) {
		t.Errorf("metrics\n%s", body)
	}

	hold = make(chan struct{})
	if err := h.Reload(admission.Config{Decider: always(t), Mutate: waits}); err != nil {
		t.Fatal(err)
	}
	late := make(chan string, 1)
	go func() {
		_, body, err := ask(old, s.url, creation(pod))
		late <- fmt.Sprint(string(body), err)
	}()
	<-entered
	s.end()
	close(hold)
	if got := <-late; !strings.Contains(got, `"patch":`) {
		t.Errorf("what was in flight got %s", got)
	}
	if err := <-s.ended; err != nil {
		t.Errorf("the end: %v", err)
	}
	if _, err := old.Get(s.url + admission.HealthPath); err == nil {
		t.Error("it serves after its end")
	}
}

// pipes is a network without a machine under it, for tests of time.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.done) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

func (p *pipes) dial(context.Context, string, string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case p.conns <- there:
		return here, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

// While it drains, a server says that it is not ready and answers all the same; who is late
// after that is cut off, with an error.
func TestServerDrains(t *testing.T) {
	chain, key := pair(t, 1)
	made := time.Now() // in a bubble it is the year 2000
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(chain)
	synctest.Test(t, func(t *testing.T) {
		stuck := make(chan struct{})
		hangs := false
		h := handler(t, admission.Options{Config: admission.Config{Mutate: func(o *merge.Doc, ns inject.Values) (admission.Mutation, error) {
			if hangs {
				<-stuck
			}
			return add("proxy")(o, ns)
		}}})
		l := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
		var certificate admission.Certificate
		if err := certificate.Reload(chain, key); err != nil {
			t.Fatal(err)
		}
		transport := &http.Transport{DialContext: l.dial, TLSClientConfig: &tls.Config{RootCAs: pool, ServerName: "127.0.0.1", Time: func() time.Time { return made }}}
		c := &http.Client{Transport: transport}
		ctx, end := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		s := admission.NewServer(admission.ServerOptions{Handler: h, Certificate: &certificate, Grace: time.Minute, ErrorLog: quiet})
		go func() { ended <- s.Serve(ctx, l) }()
		ready := func() string {
			status, body := get(t, c, "https://pipe"+admission.ReadyPath)
			return fmt.Sprint(status, " ", strings.TrimSpace(body))
		}
		if got := ready(); got != "200 ok" {
			t.Errorf("at first: %s", got)
		}
		end()
		synctest.Wait()
		time.Sleep(4 * time.Second)
		if got := ready(); got != "503 ending" {
			t.Errorf("while it drains: %s", got)
		}
		if status, body, err := ask(c, "https://pipe", creation(pod)); err != nil || status != 200 {
			t.Errorf("while it drains: %d %s %v", status, body, err)
		}
		hangs = true
		cut := make(chan error, 1)
		go func() {
			_, _, err := ask(c, "https://pipe", creation(pod))
			cut <- err
		}()
		time.Sleep(30 * time.Second)
		select {
		case err := <-ended:
			t.Fatalf("it did not wait for what was in flight: %v", err)
		default:
		}
		if err := <-ended; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the end: %v, want that grace was over", err)
		}
		if err := <-cut; err == nil {
			t.Error("a request that hangs was answered")
		}
		close(stuck)
		transport.CloseIdleConnections()
	})
}

func TestServerCannotServe(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	s := admission.NewServer(admission.ServerOptions{Handler: handler(t, admission.Options{}), Certificate: new(admission.Certificate)})
	if err := s.Serve(t.Context(), l); !errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v, want that the listener is closed", err)
	}
}

// Files are loaded when their contents change, and not before they are whole.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	chain, key := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	put := func(file string, text []byte) {
		t.Helper()
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var certificate admission.Certificate
	loads := 0
	f := admission.Files{Paths: []string{chain, key}, Load: func(contents [][]byte) error {
		loads++
		return certificate.Reload(contents[0], contents[1])
	}}
	serial := func() int64 {
		c, err := certificate.Get(nil)
		if err != nil {
			return 0
		}
		return c.Leaf.SerialNumber.Int64()
	}
	chain1, key1 := pair(t, 1)
	chain2, key2 := pair(t, 2)
	steps := []struct {
		does    string
		do      func()
		fails   bool
		loads   int
		serving int64
	}{
		{"nothing is there", func() {}, true, 0, 0},
		{"half is there", func() { put(chain, chain1) }, true, 0, 0},
		{"all is there", func() { put(key, key1) }, false, 1, 1},
		{"nothing changes", func() {}, false, 1, 1},
		{"it is touched", func() { put(key, key1) }, false, 1, 1},
		{"half is new", func() { put(chain, chain2) }, true, 2, 1},
		{"half is new still", func() {}, true, 3, 1},
		{"all is new", func() { put(key, key2) }, false, 4, 2},
		{"a file goes", func() { _ = os.Remove(key) }, true, 4, 2},
		{"it is back as it was", func() { put(key, key2) }, false, 4, 2},
	}
	for _, s := range steps {
		s.do()
		if err := f.Check(); (err != nil) != s.fails || loads != s.loads || serial() != s.serving {
			t.Fatalf("%s: error %v, %d loads, serving %d; want an error %t, %d, %d", s.does, err, loads, serial(), s.fails, s.loads, s.serving)
		}
	}
}

func TestFilesWatch(t *testing.T) {
	file := filepath.Join(t.TempDir(), "template.yaml")
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var loaded, failed []string
		f := admission.Files{Paths: []string{file}, Load: func(contents [][]byte) error {
			loaded = append(loaded, string(contents[0]))
			return nil
		}}
		done := make(chan struct{})
		go func() {
			defer close(done)
			f.Watch(ctx, time.Minute, func(err error) { failed = append(failed, err.Error()) })
		}()
		time.Sleep(90 * time.Second) // one look
		synctest.Wait()
		if len(failed) != 1 || len(loaded) != 0 {
			t.Errorf("without a file: failed %q, loaded %q", failed, loaded)
		}
		for _, text := range []string{"one", "one", "two"} {
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
			synctest.Wait()
		}
		if strings.Join(loaded, " ") != "one two" || len(failed) != 1 {
			t.Errorf("loaded %q, failed %q", loaded, failed)
		}
		cancel()
		<-done
	})
}
