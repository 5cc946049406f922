package kinds

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// PatchCase is one row of apimachinery's own tests of its patch packages.
type PatchCase struct {
	Description                            string
	Original, Modified, Current            map[string]any
	TwoWay, ThreeWay, Result, TwoWayResult map[string]any
	ExpectedError                          string
}

// PatchCases reads a table of apimachinery's tests, from the source in the module cache:
// the variable name of pkg/util/package/patch_test.go. It is YAML, or a list of structs
// whose fields are YAML.
func PatchCases(tb testing.TB, pkg, name string) []PatchCase {
	tb.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(Apimachinery(tb), "pkg", "util", pkg, "patch_test.go"), nil, 0)
	if err != nil {
		tb.Fatal(err)
	}
	for _, decl := range file.Decls {
		g, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range g.Specs {
			if v, ok := spec.(*ast.ValueSpec); ok && v.Names[0].Name == name {
				return readCases(tb, v.Values[0])
			}
		}
	}
	tb.Fatalf("no table %s in %s", name, pkg)
	return nil
}

// Apimachinery returns the folder of the module k8s.io/apimachinery.
func Apimachinery(tb testing.TB) string {
	tb.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/apimachinery").Output()
	dir := strings.TrimSpace(string(out))
	if _, statErr := os.Stat(dir); err != nil || statErr != nil {
		tb.Fatalf("the module k8s.io/apimachinery: %v, %v", err, statErr)
	}
	return dir
}

func readCases(tb testing.TB, expr ast.Expr) (out []PatchCase) {
	tb.Helper()
	list, ok := expr.(*ast.CompositeLit)
	if !ok {
		var table struct{ TestCases []PatchCase }
		if err := yaml.Unmarshal([]byte(literal(expr)), &table); err != nil {
			tb.Fatal(err)
		}
		return table.TestCases
	}
	for _, row := range list.Elts {
		fields := map[string]string{}
		ast.Inspect(row, func(n ast.Node) bool {
			if kv, ok := n.(*ast.KeyValueExpr); ok {
				if text := literal(kv.Value); text != "" {
					fields[kv.Key.(*ast.Ident).Name] = text
				}
			}
			return true
		})
		c := PatchCase{Description: fields["Description"], ExpectedError: fields["ExpectedError"]}
		for name, m := range map[string]*map[string]any{
			"Original": &c.Original, "Modified": &c.Modified, "Current": &c.Current,
			"TwoWay": &c.TwoWay, "ThreeWay": &c.ThreeWay, "Result": &c.Result, "TwoWayResult": &c.TwoWayResult,
		} {
			if err := yaml.Unmarshal([]byte(fields[name]), m); err != nil {
				tb.Fatalf("%s: %s: %v", c.Description, name, err)
			}
		}
		out = append(out, c)
	}
	return out
}

// literal returns the text of a string, or of []byte(string).
func literal(expr ast.Expr) string {
	if call, ok := expr.(*ast.CallExpr); ok && len(call.Args) == 1 {
		expr = call.Args[0]
	}
	if lit, ok := expr.(*ast.BasicLit); ok && lit.Kind == token.STRING {
		text, _ := strconv.Unquote(lit.Value)
		return text
	}
	return ""
}
