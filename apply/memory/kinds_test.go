package memory

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	gvk "k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/braid/internal/kinds"
	"example.com/braid/internal/schema"
)

// The table has the kinds that a server serves by name, with their scope and whether they have
// a status, as its OpenAPI documents say.
func TestBuiltinKinds(t *testing.T) {
	served := map[gvk.GroupKind]traits{}
	for _, file := range kinds.OpenAPI(t, schema.BuiltinVersion()) {
		for path, verbs := range paths(t, file) {
			whole := strings.HasSuffix(path, "/{name}")
			if status := strings.HasSuffix(path, "/{name}/status"); (whole || status) && verbs.Get.Kind != (gvk.GroupVersionKind{}) {
				kind := verbs.Get.Kind.GroupKind()
				now := served[kind]
				now.status = now.status || status
				now.cluster = now.cluster || whole && !strings.Contains(path, "{namespace}")
				served[kind] = now
			}
		}
	}
	for kind, want := range served {
		switch got, ok := builtins()[kind]; {
		case !ok:
			t.Errorf("%v is not in the table", kind)
		case got.cluster != want.cluster || got.status != want.status:
			t.Errorf("%v: cluster-scoped %v, want %v; status %v, want %v", kind, got.cluster, want.cluster, got.status, want.status)
		}
	}
	if len(builtins()) != len(served) || len(served) < 70 {
		t.Errorf("%d kinds in the table, %d served", len(builtins()), len(served))
	}
}

type operations struct {
	Get struct {
		Kind gvk.GroupVersionKind `json:"x-kubernetes-group-version-kind"`
	}
}

// paths returns the paths of an OpenAPI document, but for those of the old watch API.
func paths(t *testing.T, file string) map[string]operations {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var document struct{ Paths map[string]operations }
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	for path := range document.Paths {
		if strings.Contains(path, "/watch/") {
			delete(document.Paths, path)
		}
	}
	return document.Paths
}
