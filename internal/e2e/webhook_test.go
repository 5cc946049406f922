package e2e

import (
	"context"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/cert"

	"example.com/braid/apply"
	"example.com/braid/inject"
	"example.com/braid/inject/admission"
	"example.com/braid/merge"
)

// hook is a webhook of package admission, served over TLS until the test ends.
type hook struct {
	*admission.Handler
	url    string
	bundle []byte // what to trust it by
	stop   func()

	mu   sync.Mutex
	seen []admission.Observation
}

// newHook serves what o describes. A Decider and Mutate are the test's own, if it says none.
func newHook(t *testing.T, o admission.Options) *hook {
	t.Helper()
	h := &hook{}
	if o.Config.Decider == nil {
		o.Config.Decider = optOut(t)
	}
	if o.Config.Mutate == nil {
		o.Config.Mutate = admission.Inject(injector(t, "1"), given)
	}
	o.Observe = func(seen admission.Observation) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.seen = append(h.seen, seen)
	}
	var err error
	if h.Handler, err = admission.New(o); err != nil {
		t.Fatal(err)
	}
	pair := loopback()
	if pair.err != nil {
		t.Fatal(pair.err)
	}
	var certificate admission.Certificate
	if err := certificate.Reload(pair.chain, pair.key); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := admission.NewServer(admission.ServerOptions{Handler: h, Certificate: &certificate, Drain: time.Millisecond})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, listener) }()
	h.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(h.stop)
	h.url, h.bundle = "https://"+listener.Addr().String()+admission.Path, pair.chain
	return h
}

// loopback is a certificate for the loopback, as PEM. It takes a second to make.
var loopback = sync.OnceValue(func() (pair struct {
	chain, key []byte
	err        error
}) {
	pair.chain, pair.key, pair.err = cert.GenerateSelfSignedCertKey("127.0.0.1", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	return pair
})

// register has the server call the webhook for one namespace, by the configuration that
// package admission writes, and waits until it does.
func (h *hook) register(t *testing.T, ns string, o admission.ManifestOptions, edits ...func(webhook map[string]any)) {
	t.Helper()
	h.registerUntil(t, ns, o, func(*unstructured.Unstructured) bool { return len(h.told()) > 0 }, edits...)
}

// registerUntil waits until a pod that is created by way of trial shows that the server calls.
func (h *hook) registerUntil(t *testing.T, ns string, o admission.ManifestOptions, called func(*unstructured.Unstructured) bool, edits ...func(webhook map[string]any)) {
	t.Helper()
	o.Namespace, o.Image, o.CABundle = "injector", "injector:1", h.bundle
	if o.Name == "" {
		o.Name = "braid"
	}
	o.Name += "-" + ns
	text, err := admission.Manifests(o)
	if err != nil {
		t.Fatal(err)
	}
	all := split(t, "admission.Manifests", text)
	u := &unstructured.Unstructured{Object: all[len(all)-1].doc.Map()}
	webhook := u.Object["webhooks"].([]any)[0].(map[string]any)
	address := webhook["clientConfig"].(map[string]any)
	delete(address, "service")
	address["url"] = h.url
	selector := webhook["namespaceSelector"].(map[string]any)
	selector["matchExpressions"] = append(selector["matchExpressions"].([]any),
		map[string]any{"key": "kubernetes.io/metadata.name", "operator": "In", "values": []any{ns}})
	for _, edit := range edits {
		edit(webhook)
	}
	if _, err := client.Create(t.Context(), u, apply.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Delete(context.Background(), apply.IDOf(u), apply.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		made, err := client.Create(t.Context(), pod(t, ns, "in-force", ""), apply.WriteOptions{DryRun: true})
		if err != nil {
			made = &unstructured.Unstructured{Object: map[string]any{}}
		}
		if called(made) {
			return
		}
	}
	t.Fatal("the server does not call the webhook")
}

// told returns what the webhook has answered since it was last asked.
func (h *hook) told() []admission.Observation {
	h.mu.Lock()
	defer h.mu.Unlock()
	seen := h.seen
	h.seen = nil
	return seen
}

// outcomes is told, as text: outcome/reason. What repeats is told once, for a server that
// patches begins again, and asks again, if what it has read is no longer there.
func (h *hook) outcomes() string {
	var out []string
	for _, o := range h.told() {
		out = append(out, o.Outcome.String()+"/"+o.Reason.String())
	}
	return strings.Join(slices.Compact(out), " ")
}

// given are the values that templates use.
var given = map[string]string{"cluster": "east"}

// injector is of the template in testdata of a version.
func injector(t *testing.T, version string) *inject.Injector {
	t.Helper()
	text, err := os.ReadFile("testdata/sidecar-" + version + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	return injectorOf(t, string(text))
}

func injectorOf(t *testing.T, text string) *inject.Injector {
	t.Helper()
	template, err := inject.ParseTemplate([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	in, err := inject.New(inject.Options{}, template)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func optOut(t *testing.T) *inject.Decider {
	t.Helper()
	d, err := inject.NewDecider(inject.DecisionPolicy{Mode: inject.OptOut})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// pod is one with the container app, and with more of its spec.
func pod(t *testing.T, ns, name, spec string) *unstructured.Unstructured {
	t.Helper()
	return object(t, "{apiVersion: v1, kind: Pod, metadata: {name: "+name+"}, spec: {"+spec+" containers: [{name: app, image: app:1}]}}", ns)
}

// object reads one of a namespace.
func object(t *testing.T, text, ns string) *unstructured.Unstructured {
	t.Helper()
	doc, err := merge.ParseYAML([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{Object: doc.Map()}
	u.SetNamespace(ns)
	return u
}

// docOf makes a document of what a server answers.
func docOf(t *testing.T, u *unstructured.Unstructured) *merge.Doc {
	t.Helper()
	doc, err := merge.FromMap(u.Object)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// podOf is the pod template of an object, or the object if it is a pod.
func podOf(u *unstructured.Unstructured) map[string]any {
	for _, at := range [][]string{{"template"}, {"spec", "template"}, {"spec", "jobTemplate", "spec", "template"}} {
		if template, ok, _ := unstructured.NestedFieldNoCopy(u.Object, at...); ok {
			return template.(map[string]any)
		}
	}
	return u.Object
}

// images are those of a list of containers of a pod or pod template.
func images(u *unstructured.Unstructured, list string) string {
	all, _, _ := unstructured.NestedSlice(podOf(u), "spec", list)
	var out []string
	for _, c := range all {
		out = append(out, fmt.Sprint(c.(map[string]any)["image"]))
	}
	return strings.Join(out, " ")
}
