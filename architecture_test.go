package braid_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "example.com/braid"

// Imports point down. Each package may import, of this module, only those listed.
var mayImport = map[string][]string{
	"internal/poison":    {},
	"internal/jsonfield": {},
	"internal/node":      {"internal/jsonfield", "internal/poison"},
	"internal/schema":    {"internal/jsonfield", "internal/node"},
	"internal/docs":      {"internal/node"},
	"internal/scalar":    {},
	"internal/compact":   {},
	"internal/owner":     {"internal/node", "internal/schema"},
	"internal/walk":      {"internal/node", "internal/owner", "internal/poison", "internal/scalar", "internal/schema"},
	"internal/dialect":   {"internal/node", "internal/schema", "internal/walk"},
	"internal/secret":    {"internal/node", "internal/walk"},
	"merge":              {"internal/docs", "internal/node", "internal/owner", "internal/schema", "internal/secret", "internal/walk", "internal/dialect"},
	// apimachinery's own functions on our engine.
	"merge/strategicpatch": {"internal/node", "internal/schema", "internal/walk", "internal/dialect"},
	"merge/jsonmergepatch": {"internal/node", "internal/schema", "internal/walk", "internal/dialect"},
	// Clusters.
	"apply":        {"internal/compact", "internal/node", "internal/secret", "merge"},
	"apply/memory": {"apply", "merge"},
	// Injection.
	"inject":             {"internal/compact", "internal/dialect", "internal/docs", "internal/node", "internal/scalar", "internal/schema", "merge"},
	"inject/admission":   {"inject", "internal/dialect", "internal/docs", "internal/node", "merge"},
	"inject/initializer": {"apply", "inject", "internal/node", "merge"},
	// Only tests import these.
	"internal/twin":        {"internal/node", "internal/schema", "internal/walk", "internal/dialect", "internal/owner"},
	"internal/diverge":     {},
	"internal/kinds":       {},
	"internal/pods":        {"inject", "internal/kinds", "internal/node", "merge"},
	"internal/conformance": {"apply"},
	"internal/oracle":      {},
	"internal/e2e":         {"apply", "examples/controller/clients", "examples/controller/sidecar", "examples/controller/site", "inject", "inject/admission", "internal/conformance", "internal/kinds", "internal/schema", "merge"},
	"bench":                {"merge"},
	"bench/peers":          {"internal/dialect", "internal/node"},
	// Programs.
	"bench/report":                {},
	"internal/schema/gen":         {"internal/kinds", "internal/schema"},
	"examples/controller":         {"examples/controller/sidecar", "examples/controller/site"},
	"examples/controller/sidecar": {"inject", "inject/admission"},
	"examples/controller/site":    {"apply", "examples/controller/clients", "merge"},
	"examples/controller/clients": {"apply"},
	"examples/reconcile":          {"apply", "apply/memory", "merge"},
	"examples/braid":              {"apply", "inject", "merge"},
	"examples/apply":              {"apply", "apply/memory", "merge"},
	"examples/writers":            {"apply", "apply/memory", "merge"},
	"examples/webhook":            {"inject", "inject/admission", "merge"},
	"examples/initializer":        {"apply", "apply/memory", "inject", "inject/initializer"},
	"examples/inject":             {"inject", "merge"},
	".":                           {},
}

// Only these may be imported from elsewhere by code that users build.
var elsewhere = []string{
	"k8s.io/apimachinery/pkg/runtime/schema",
	"go.yaml.in/yaml/v3", // the module behind sigs.k8s.io/yaml, for its tree of a document: see node.ParseYAML
	"sigs.k8s.io/yaml",
	// Their types stand in the signatures of the drop-ins, which nothing else imports.
	"k8s.io/apimachinery/pkg/util/strategicpatch",
	"k8s.io/apimachinery/pkg/util/mergepatch",
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured",
	// What every client of a cluster speaks, and so package apply: types of patches, selectors,
	// events, errors with a status and those of the network.
	"k8s.io/apimachinery/pkg/types",
	"k8s.io/apimachinery/pkg/labels",
	"k8s.io/apimachinery/pkg/watch",
	"k8s.io/apimachinery/pkg/api/errors",
	"k8s.io/apimachinery/pkg/util/net",
	"k8s.io/apimachinery/pkg/util/validation",
	// What an API server asks a webhook and gets for an answer: the types of these reviews, and
	// nothing else of k8s.io/api.
	"k8s.io/api/admission/v1",
	// The cluster in memory holds metadata to the server's own rules, which are these functions.
	"k8s.io/apimachinery/pkg/api/meta",
	"k8s.io/apimachinery/pkg/api/validation",
	"k8s.io/apimachinery/pkg/api/validate/content",
	"k8s.io/apimachinery/pkg/apis/meta/v1",
	"k8s.io/apimachinery/pkg/runtime",
	"k8s.io/apimachinery/pkg/util/validation/field",
}

func TestImportsPointDown(t *testing.T) {
	seen := map[string]bool{}
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return err
		}
		dir := path.Dir(filepath.ToSlash(file))
		allowed, known := mayImport[dir]
		if !known {
			t.Errorf("package %s is not in the table", dir)
		}
		seen[dir] = true
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range parsed.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			switch own, ok := strings.CutPrefix(name, module+"/"); {
			case ok && !slices.Contains(allowed, own):
				t.Errorf("%s imports %s", file, own)
			case !ok && strings.Contains(strings.Split(name, "/")[0], ".") && !slices.ContainsFunc(elsewhere, func(e string) bool { return name == e || strings.HasPrefix(name, e+"/") }):
				if !strings.HasPrefix(dir, "bench") && !strings.HasPrefix(dir, "examples") && dir != "internal/kinds" && dir != "internal/twin" && dir != "internal/e2e" {
					t.Errorf("%s imports %s", file, name)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for dir := range mayImport {
		if !seen[dir] {
			t.Errorf("package %s of the table does not exist", dir)
		}
	}
}
