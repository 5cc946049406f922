package schema

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// everyType calls do once with every type reached from t that is not in seen.
func everyType(t *Type, seen map[*Type]bool, do func(*Type)) {
	if t == nil || seen[t] {
		return
	}
	seen[t] = true
	do(t)
	everyType(t.Elem, seen, do)
	for _, f := range t.Fields {
		everyType(f.Type, seen, do)
	}
}

// holds checks what doc.go promises of every type.
func holds(t *testing.T, where string, typ *Type) {
	t.Helper()
	must := func(ok bool, what string) {
		if !ok {
			t.Errorf("%s: %s: %+v", where, what, typ)
		}
	}
	for i, f := range typ.Fields {
		must(f.Type != nil && f.Prefix == field(f.Name, nil).Prefix, "every field has a type and its prefix")
		must(i == 0 || typ.Fields[i-1].Name < f.Name, "fields are sorted, no name twice")
	}
	must(len(typ.Fields) == 0 || typ.Kind == Map, "only maps have fields")
	must(typ.Elem == nil || typ.Kind == Map || typ.Kind == List, "only maps and lists have an elem")
	a, b := typ.Strategic, typ.Structured
	switch typ.Kind {
	case List:
		must(typ.Elem != nil, "a list has an elem")
		must(a.Merge != Granular && b.Merge != Granular, "a list is not granular")
	case Map, Any:
		must(a.Merge <= Atomic && b.Merge <= Atomic, "a map is granular or atomic")
	default:
		must(a.Merge == Granular && b.Merge == Granular && !a.RetainKeys, "a scalar has no rule")
	}
	must((a.Merge == Keyed) == (len(a.Keys) == 1) && len(a.Keys) <= 1, "strategic Keyed has one key")
	must((b.Merge == Keyed) == (len(b.Keys) > 0), "structured Keyed has keys")
	must(!b.RetainKeys, "no structured rule retains keys")
}

// Every type of the table decodes, and keeps what doc.go promises. The numbers are
// those of Kubernetes 1.37: 201 components of its documents have kinds, DeleteOptions
// and WatchEvent one in each of 34 groups and versions.
func TestTableInvariants(t *testing.T) {
	if len(builtinTable) > 120<<10 {
		t.Errorf("the table has %d bytes, at most 120 KiB", len(builtinTable))
	}
	table := openTable(builtinTable)
	for n := range table.types {
		holds(t, "type "+strconv.Itoa(n), table.typ(n))
	}
	if version := BuiltinVersion(); version != "v1.37.2" {
		t.Errorf("version %s", version)
	}
	all, shared := BuiltinKinds(), 0
	for _, k := range all {
		s, ok := Builtin(k.Group, k.Version, k.Kind)
		if !ok || s.Name != k.String() || s.Root == nil || s.Root.Kind != Map {
			t.Errorf("%s does not decode", k)
		}
		if k.Kind == "DeleteOptions" || k.Kind == "WatchEvent" {
			shared++
		}
	}
	if len(all) != 267 || shared != 68 || !slices.IsSortedFunc(all, compareGVK) {
		t.Errorf("%d kinds, %d of them DeleteOptions and WatchEvent", len(all), shared)
	}
	t.Logf("%d bytes, %d kinds, %d types, %d shapes", len(builtinTable), len(all), len(table.types), len(table.shapes))
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

// BenchmarkBuiltinFirstUse is what the first merge of a kind pays.
func BenchmarkBuiltinFirstUse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		t := openTable(builtinTable)
		t.typ(t.kinds[GVK{"apps", "v1", "Deployment"}])
	}
}
