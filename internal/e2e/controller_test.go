package e2e

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	metrics "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"example.com/braid/apply"
	"example.com/braid/examples/controller/sidecar"
	"example.com/braid/examples/controller/site"
	"example.com/braid/inject/admission"
)

// The manager of examples/controller keeps a Deployment, on which others write too: of them is
// its own webhook.
func TestController(t *testing.T) {
	ctrl.SetLogger(quiet)
	certs, port := t.TempDir(), freePort(t)
	pair := loopback()
	if err := errors.Join(pair.err, os.WriteFile(filepath.Join(certs, "tls.crt"), pair.chain, 0o600), os.WriteFile(filepath.Join(certs, "tls.key"), pair.key, 0o600)); err != nil {
		t.Fatal(err)
	}
	manager, err := ctrl.NewManager(real.Config, ctrl.Options{
		Metrics:       metrics.Options{BindAddress: "0"},
		WebhookServer: webhook.NewServer(webhook.Options{Host: "127.0.0.1", Port: port, CertDir: certs}),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := site.Add(manager); err != nil {
		t.Fatal(err)
	}
	if err := sidecar.Add(manager); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- manager.Start(ctx) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()

	ns := namespace(t)
	injects := &hook{url: fmt.Sprintf("https://127.0.0.1:%d%s", port, admission.Path), bundle: pair.chain}
	injects.registerUntil(t, ns, admission.ManifestOptions{Workloads: true}, func(web *unstructured.Unstructured) bool {
		return images(web, "containers") == "app:1 log-agent:1"
	})
	source := &unstructured.Unstructured{Object: map[string]any{"data": map[string]any{"index.html": "hello", "image": "example.com/web:1"}}}
	source.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"})
	source.SetNamespace(ns)
	source.SetName("web")
	source.SetLabels(map[string]string{site.Label: "true"})
	if _, err := client.Create(t.Context(), source, apply.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	id := apply.ID{GVK: schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, Namespace: ns, Name: "web"}
	until := func(what, image string, replicas int64) *unstructured.Unstructured {
		t.Helper()
		var last error
		for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			var u *unstructured.Unstructured
			if u, last = client.Get(t.Context(), id); last != nil {
				continue
			}
			containers, _, _ := unstructured.NestedSlice(u.Object, "spec", "template", "spec", "containers")
			n, _, _ := unstructured.NestedInt64(u.Object, "spec", "replicas")
			if len(containers) > 0 && containers[0].(map[string]any)["image"] == image && n == replicas {
				return u
			}
		}
		t.Fatalf("%s: never came: %v", what, last)
		return nil
	}
	until("created", "example.com/web:1", 1)
	byHand := func(id apply.ID, patch string) {
		t.Helper()
		if _, err := client.Patch(t.Context(), id, types.StrategicMergePatchType, []byte(patch), apply.WriteOptions{FieldManager: "kubectl-edit"}); err != nil {
			t.Fatal(err)
		}
	}
	byHand(id, `{"spec":{"replicas":3,"template":{"spec":{"containers":[{"name":"web","image":"hacked"}]}}}}`)
	until("the image is ours, the replicas are not", "example.com/web:1", 3)
	byHand(apply.IDOf(source), `{"data":{"image":"example.com/web:2"}}`)
	settled := until("another image", "example.com/web:2", 3)
	byHand(apply.IDOf(source), `{"data":{"index.html":"hello again"}}`) // reconciled, and nothing to write
	time.Sleep(200 * time.Millisecond)
	if got := images(settled, "containers"); got != "example.com/web:2 log-agent:1" {
		t.Errorf("containers %s, want the site's and the sidecar", got)
	}
	now, err := client.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if now.GetResourceVersion() != settled.GetResourceVersion() {
		t.Error("something was written though nothing was to do")
	}
}

// freePort is one of the loopback that nobody listens on: a manager wants its number.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
