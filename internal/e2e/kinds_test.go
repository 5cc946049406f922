package e2e

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
)

// Every kind that the server creates and patches has a manifest.
func TestEveryKind(t *testing.T) {
	kinds, err := discovery.NewDiscoveryClientForConfig(real.Config)
	if err != nil {
		t.Fatal(err)
	}
	has := map[schema.GroupVersionKind]bool{}
	for _, m := range manifests(t) {
		has[m.kind()] = true
	}
	lists, err := kinds.ServerPreferredResources()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, list := range lists {
		for _, r := range list.APIResources {
			gv, err := schema.ParseGroupVersion(list.GroupVersion)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(r.Name, "/") || !slices.Contains(r.Verbs, "patch") || !slices.Contains(r.Verbs, "create") {
				continue
			}
			n++
			if kind := gv.WithKind(r.Kind); !has[kind] {
				t.Errorf("no manifest of %s", kind)
			}
		}
	}
	t.Logf("%d kinds", n)
}
