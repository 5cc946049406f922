package e2e

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	runtimeclient "sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/braid/apply"
	"example.com/braid/examples/controller/clients"
	"example.com/braid/internal/conformance"
)

var (
	real   *server
	client clients.Dynamic
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) (code int) {
	var err error
	if real, err = start(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() {
		if err := real.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}()
	real.Config.WarningHandler = rest.NoWarnings{}
	if client, err = newClient(real.Config); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

func newClient(c *rest.Config) (clients.Dynamic, error) {
	d, err := dynamic.NewForConfig(c)
	if err != nil {
		return clients.Dynamic{}, err
	}
	kinds, err := discovery.NewDiscoveryClientForConfig(c)
	if err != nil {
		return clients.Dynamic{}, err
	}
	return clients.Dynamic{Client: d, Mapper: restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(kinds))}, nil
}

// namespace makes one for a test. Nobody would remove what is in it, so it stays.
func namespace(t *testing.T) string {
	t.Helper()
	u := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"generateName": "e2e-"}}}
	u.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "Namespace"})
	made, err := client.Create(t.Context(), u, apply.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return made.GetName()
}

// The cluster in memory is held to these cases too: see apply/memory.
func TestConformance(t *testing.T) {
	runtime, err := runtimeclient.NewWithWatch(real.Config, runtimeclient.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Run("dynamic client", func(t *testing.T) { conformance.Run(t, client) })
	t.Run("controller-runtime", func(t *testing.T) { conformance.Run(t, clients.Runtime{Client: runtime}) })
}

// quiet is a log of nothing.
var quiet = logr.Discard()
