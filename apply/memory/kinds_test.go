package memory

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	gvk "k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/braid/internal/schema"
)

// The table has the kinds that a server serves by name, with their scope and whether they have
// a status, as its OpenAPI documents say.
func TestBuiltinKinds(t *testing.T) {
	served := map[gvk.GroupKind]traits{}
	for _, file := range documents(t) {
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

// documents returns the OpenAPI documents of the Kubernetes that the table is of.
func documents(t *testing.T) []string {
	t.Helper()
	cmd := exec.Command("go", "mod", "download", "-json", "k8s.io/kubernetes@"+schema.BuiltinVersion())
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	if os.Getenv("BRAID_REQUIRE") == "" {
		cmd.Env = append(cmd.Env, "GOPROXY=off") // what is not at hand is not fetched by a test
	}
	text, err := cmd.Output()
	var module struct{ Dir string }
	_ = json.Unmarshal(text, &module)
	files, _ := filepath.Glob(filepath.Join(module.Dir, "api", "openapi-spec", "v3", "api*__*_openapi.json"))
	if module.Dir == "" || len(files) == 0 {
		if os.Getenv("BRAID_REQUIRE") != "" {
			t.Fatalf("not found: the OpenAPI documents of Kubernetes: %v", err)
		}
		t.Skipf("SKIPPED, NOT FOUND: the OpenAPI documents of Kubernetes: %v", err)
	}
	return files
}
