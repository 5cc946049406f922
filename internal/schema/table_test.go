package schema

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Every type of the table decodes, and keeps what doc.go promises.
func TestTableInvariants(t *testing.T) {
	if len(builtinTable) > 120<<10 {
		t.Errorf("the table has %d bytes, at most 120 KiB", len(builtinTable))
	}
	table := openTable(builtinTable)
	for n := range table.types {
		typ := table.typ(n)
		for i := 1; i < len(typ.Fields); i++ {
			if typ.Fields[i-1].Name >= typ.Fields[i].Name {
				t.Errorf("type %d: fields %s and %s are not in order", n, typ.Fields[i-1].Name, typ.Fields[i].Name)
			}
		}
		for _, f := range typ.Fields {
			if f.Type == nil || f.Prefix != field(f.Name, nil).Prefix {
				t.Errorf("type %d: field %s: %+v", n, f.Name, f)
			}
		}
		if (typ.Kind == List) != (typ.Strategic.Merge >= Keyed || typ.Kind == List && typ.Strategic.Merge == Atomic) && typ.Kind != Map {
			t.Errorf("type %d of kind %d has strategic rule %+v", n, typ.Kind, typ.Strategic)
		}
		if typ.Kind == List && (typ.Elem == nil || typ.Strategic.Merge == Granular || typ.Structured.Merge == Granular) {
			t.Errorf("type %d: a list %+v", n, typ)
		}
		if k := len(typ.Strategic.Keys); (typ.Strategic.Merge == Keyed) != (k == 1) {
			t.Errorf("type %d: strategic keys %v", n, typ.Strategic.Keys)
		}
		if (typ.Structured.Merge == Keyed) != (len(typ.Structured.Keys) > 0) {
			t.Errorf("type %d: structured keys %v", n, typ.Structured.Keys)
		}
	}
	if version := BuiltinVersion(); version != "v1.37.2" {
		t.Errorf("version %s", version)
	}
	for _, k := range BuiltinKinds() {
		if s, ok := Builtin(k.Group, k.Version, k.Kind); !ok || s.Name != k.String() || s.Root == nil {
			t.Errorf("%s does not decode", k)
		}
	}
	// 205 components have kinds; those of every group, such as DeleteOptions, have
	// one in each.
	roots := map[int]bool{}
	for _, n := range table.kinds {
		roots[n] = true
	}
	t.Logf("%d bytes, %d kinds of %d types, %d types in all", len(builtinTable), len(table.kinds), len(roots), len(table.types))
}

// Generating again gives the table that is checked in.
func TestTableIsFresh(t *testing.T) {
	out := filepath.Join(t.TempDir(), "builtin.bin")
	cmd := exec.Command("go", "run", "./gen", "-out", out)
	if os.Getenv("BRAID_REQUIRE") == "" {
		cmd.Env = append(os.Environ(), "GOPROXY=off") // what is not at hand is not fetched by a test
	}
	if text, err := cmd.CombinedOutput(); err != nil {
		if os.Getenv("BRAID_REQUIRE") == "" && strings.Contains(string(text), "module k8s.io/kubernetes") {
			t.Skipf("SKIPPED, NOT FOUND: the OpenAPI documents of Kubernetes: %s", text)
		}
		t.Fatalf("%v\n%s", err, text)
	}
	fresh, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if string(fresh) != builtinTable {
		t.Error("builtin.bin is stale; run go generate ./internal/schema")
	}
}

// The same kind gives the same pointer, whoever asks at the same time.
func TestBuiltinIsShared(t *testing.T) {
	var wg sync.WaitGroup
	got := make([]*Schema, 8)
	for i := range got {
		wg.Go(func() {
			got[i], _ = Builtin("batch", "v1", "CronJob")
			spec, _ := got[i].Root.Lookup("spec")
			if typ, ok := spec.Lookup("jobTemplate"); !ok || typ.Kind != Map {
				t.Error("jobTemplate", typ, ok)
			}
		})
	}
	wg.Wait()
	for _, s := range got {
		if s == nil || s != got[0] {
			t.Fatal("one kind, two schemas")
		}
	}
	if _, ok := Builtin("apps", "v1", "Unheard"); ok {
		t.Error("a kind that does not exist")
	}
}

// BenchmarkFirstUse is what the first merge of a kind pays.
func BenchmarkFirstUse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		t := openTable(builtinTable)
		t.typ(t.kinds[GVK{"apps", "v1", "Deployment"}])
	}
}
