package apply_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"example.com/braid/apply"
	"example.com/braid/apply/memory"
	"example.com/braid/merge"
)

// Appliers with records of their own take turns at one object. Each takes back what it no longer
// declares, none what others declare, and kubectl's record stands beside them.
func TestRecordOwners(t *testing.T) {
	const head = `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default}, data: `
	c := memory.New(memory.Options{})
	as := map[string]*apply.Applier{}
	for _, name := range []string{"", "alice", "bob.dev"} {
		as[name] = applier(t, c, apply.ApplierOptions{Options: apply.Options{Record: apply.Record{Name: name}}})
	}
	for i, step := range []struct {
		who, data string
		operation apply.Operation
		want      string
	}{
		{"alice", `{a: "1", a2: "1"}`, apply.Create, "a=1 a2=1"},
		{"bob.dev", `{b: "1"}`, apply.Patch, "a=1 a2=1 b=1"},
		{"", `{k: "1"}`, apply.Patch, "a=1 a2=1 b=1 k=1"},
		{"alice", `{a: "1", a2: "1"}`, apply.None, "a=1 a2=1 b=1 k=1"},
		{"bob.dev", `{b: "1"}`, apply.None, "a=1 a2=1 b=1 k=1"},
		{"", `{k: "1"}`, apply.None, "a=1 a2=1 b=1 k=1"},
		{"alice", `{a: "2"}`, apply.Patch, "a=2 b=1 k=1"},
		{"bob.dev", `{b2: "1"}`, apply.Patch, "a=2 b2=1 k=1"},
		{"", `{}`, apply.Patch, "a=2 b2=1"},
		{"alice", `{a: "2"}`, apply.None, "a=2 b2=1"},
		{"bob.dev", `{b2: "1"}`, apply.None, "a=2 b2=1"},
	} {
		out, err := as[step.who].Apply(t.Context(), fromYAML(t, head+step.data+"}"))
		if err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
		var got []string
		data, _ := out[0].Object.Object["data"].(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(data)) {
			got = append(got, key+"="+data[key].(string))
		}
		if s := strings.Join(got, " "); s != step.want || out[0].Operation != step.operation {
			t.Errorf("step %d: %v %q, want %v %q", i, out[0].Operation, s, step.operation, step.want)
		}
	}
	live, err := c.Get(t.Context(), configA)
	if err != nil {
		t.Fatal(err)
	}
	keys := slices.Sorted(maps.Keys(live.GetAnnotations()))
	if want := []string{"alice.braid.example.com/last-applied", "bob.dev.braid.example.com/last-applied", apply.LastAppliedAnnotation}; !slices.Equal(keys, want) {
		t.Errorf("annotations %q, want %q", keys, want)
	}

	// What is read back from a cluster declares nobody's record.
	dump, err := merge.FromMap(live.Object)
	if err != nil {
		t.Fatal(err)
	}
	_, recorded, err := apply.Record{Name: "carol"}.Exchange(nil, dump)
	if err != nil {
		t.Fatal(err)
	}
	annotations, _ := recorded.Map()["metadata"].(map[string]any)["annotations"].(map[string]any)
	if len(annotations) != 1 || annotations["carol.braid.example.com/last-applied"] == nil {
		t.Errorf("carol records beside her own: %q", slices.Sorted(maps.Keys(annotations)))
	}
	if text := string(apply.Strip(dump).JSON()); strings.Contains(text, "last-applied") || strings.Contains(text, "annotations") {
		t.Errorf("stripped: %s", text)
	}
}

// What two declare stays when one of them no longer does, and goes with the other: fields,
// labels, and elements of lists, also those of which each declares a part.
func TestRecordOwnersShare(t *testing.T) {
	const head = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: default, labels: {%s}}, spec: {%stemplate: {spec: {containers: [%s]}}}}`
	manifest := func(labels, spec, containers string) *merge.Doc {
		return fromYAML(t, fmt.Sprintf(head, labels, spec, containers))
	}
	const app = "{name: app, image: app:1}"
	for _, tt := range []struct {
		why                string
		ours, theirs, then *merge.Doc // then is what we declare next, and they in the end
		stays, goes        string     // of live, as text
	}{
		{"a field", manifest("", "replicas: 3, ", app), manifest("", "replicas: 3, ", app), manifest("", "", app), `"replicas":3`, `"replicas"`},
		{"a label", manifest("a: b", "", app), manifest("a: b", "", app), manifest("", "", app), `"a":"b"`, `"a":"b"`},
		{"an element", manifest("", "", app+", {name: x, image: x}"), manifest("", "", app+", {name: x, image: x}"),
			manifest("", "", app), `"name":"x"`, `"name":"x"`},
		{"parts of an element", manifest("", "", app+", {name: x, image: x, env: [{name: A, value: ours}]}"), manifest("", "", app+", {name: x, image: x, env: [{name: B, value: theirs}]}"),
			manifest("", "", app), `"value":"theirs"`, `"name":"x"`},
		{"one beside it", manifest("", "replicas: 3, paused: true, ", app), manifest("", "replicas: 3, ", app), manifest("", "", app), `"replicas":3`, `"paused"`},
	} {
		t.Run(tt.why, func(t *testing.T) {
			c := memory.New(memory.Options{})
			us := applier(t, c, apply.ApplierOptions{Options: apply.Options{Record: apply.Record{Name: "us"}}})
			they := applier(t, c, apply.ApplierOptions{})
			do := func(a *apply.Applier, d *merge.Doc, want apply.Operation) string {
				t.Helper()
				out, err := a.Apply(t.Context(), d)
				if err != nil || want != apply.None && out[0].Operation == apply.None || want == apply.None && out[0].Operation != want {
					t.Fatalf("%v, %v", out, err)
				}
				live, err := merge.FromMap(out[0].Object.Object)
				if err != nil {
					t.Fatal(err)
				}
				return string(apply.Strip(live).JSON())
			}
			do(us, tt.ours, apply.Create)
			do(they, tt.theirs, apply.Patch)
			if got := do(us, tt.then, apply.Patch); !strings.Contains(got, tt.stays) {
				t.Errorf("we took %s from them: %s", tt.stays, got)
			}
			do(they, tt.theirs, apply.None)
			do(us, tt.then, apply.None)
			if got := do(they, tt.then, apply.Patch); strings.Contains(got, tt.goes) {
				t.Errorf("%s stays when nobody declares it: %s", tt.goes, got)
			}
			do(us, tt.then, apply.None)
		})
	}
}

// A large object has the compact form in the annotation of the same name, and comes back.
func TestRecordOwnersCompact(t *testing.T) {
	r := apply.Record{Name: "alice"}
	const key = "alice.braid.example.com/last-applied"
	manifest := func(n int) *merge.Doc {
		return fromYAML(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {text: "`+strings.Repeat("abc ", n)+`"}}`)
	}
	small, large := manifest(10), manifest(100_000)
	live := (*merge.Doc)(nil)
	for i, desired := range []*merge.Doc{small, large, large, small} {
		before := live
		_, recorded, err := r.Exchange(live, desired)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := recorded.Text("metadata", "annotations", key)
		if packed := !strings.HasPrefix(text, "{"); packed != (desired == large) || len(text) > 4096 {
			t.Errorf("step %d: %d bytes that begin with %.9q", i, len(text), text)
		}
		live = recorded
		last, err := r.Read(live, desired)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := last.Text("data", "text")
		if want, _ := desired.Text("data", "text"); got != want {
			t.Errorf("step %d: reads back %d bytes, want %d", i, len(got), len(want))
		}
		if i == 2 && !live.Equal(before) {
			t.Error("recorded again, it is not the same")
		}
	}
}

func TestRecordName(t *testing.T) {
	desired := fromYAML(t, configA1)
	for name, ok := range map[string]bool{
		"": true, "a": true, "team-a.example": true,
		"A": false, "a/b": false, "-": false, "a..b": false, "a b": false, strings.Repeat("a", 250): false,
	} {
		_, err := apply.NewPlanner(apply.Options{Record: apply.Record{Name: name}})
		if _, _, err2 := (apply.Record{Name: name}).Exchange(nil, desired); (err2 == nil) != ok || (err == nil) != ok {
			t.Errorf("%q: %v, %v", name, err, err2)
		}
		if err != nil && !errors.Is(err, merge.ErrOption) {
			t.Errorf("%q: %v is not merge.ErrOption", name, err)
		}
	}
}
