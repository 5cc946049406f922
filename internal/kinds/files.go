package kinds

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Samples returns the files of k8s.io/api that hold an object of each kind with
// every field filled. It skips the test if the module is not at hand.
func Samples(tb testing.TB) []string {
	tb.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/api").Output()
	dir := strings.TrimSpace(string(out))
	files, _ := filepath.Glob(filepath.Join(dir, "testdata", "HEAD", "*.json"))
	if err != nil || dir == "" || len(files) == 0 {
		missing(tb, fmt.Sprintf("the objects of k8s.io/api: %v", err))
	}
	return files
}

// Corpus returns the YAML files of real projects that stand beside the project in
// shared/corpus, under the given folder of it. It skips the test where there are
// none.
func Corpus(tb testing.TB, folder string) []string {
	tb.Helper()
	files := FindCorpus(folder)
	if len(files) == 0 {
		missing(tb, "the corpus of real manifests, shared/corpus beside the project")
	}
	return files
}

// FindCorpus is Corpus for tests that do without.
func FindCorpus(folder string) []string {
	dir, err := os.Getwd()
	for err == nil {
		files, _ := filepath.Glob(filepath.Join(dir, "shared", "corpus", folder, "*.yaml"))
		parent := filepath.Dir(dir)
		if len(files) > 0 || parent == dir {
			return files
		}
		dir = parent
	}
	return nil
}

// OpenAPI returns the OpenAPI v3 documents of a version of Kubernetes. It skips the test if
// the module is not at hand, which is fetched only where CI says that nothing may be missing.
func OpenAPI(tb testing.TB, version string) []string {
	tb.Helper()
	cmd := exec.Command("go", "mod", "download", "-json", "k8s.io/kubernetes@"+version)
	cmd.Dir = tb.TempDir()
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	if os.Getenv("BRAID_REQUIRE") == "" {
		cmd.Env = append(cmd.Env, "GOPROXY=off")
	}
	text, err := cmd.Output()
	var module struct{ Dir string }
	_ = json.Unmarshal(text, &module)
	files, _ := filepath.Glob(filepath.Join(module.Dir, "api", "openapi-spec", "v3", "api*__*_openapi.json"))
	if module.Dir == "" || len(files) == 0 {
		missing(tb, fmt.Sprintf("the OpenAPI documents of Kubernetes: %v", err))
	}
	return files
}

// missing skips a test, or fails it where CI says that nothing may be missing.
func missing(tb testing.TB, what string) {
	tb.Helper()
	if os.Getenv("BRAID_REQUIRE") != "" {
		tb.Fatalf("not found: %s", what)
	}
	tb.Skipf("SKIPPED, NOT FOUND: %s", what)
}
