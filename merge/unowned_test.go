package merge_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	gvk "k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/braid/merge"
)

// FuzzHandMade prunes a Pod whose managedFields, content and declaration are anything: every
// format makes the merged object, and then nothing is left to do.
func FuzzHandMade(f *testing.F) {
	const containers = `"containers":[{"name":"a","env":[{"name":"x","value":"1"},{"name":"x"}],"ports":[{"containerPort":80},{"containerPort":80,"protocol":"UDP"}]},{"name":"b","image":"i"}]`
	for _, fields := range []string{
		`"f:containers":{"k:{\"name\":\"b\"}":{".":{},"f:name":{}}}`, `"f:containers":{"k:{\"name\":\"a\"}":{"f:env":{"k:{\"name\":\"x\"}":{}},"f:ports":{"k:{\"containerPort\":80,\"protocol\":\"UDP\"}":{".":{}}}}}`,
		`"f:nodeSelector":{}`, `"f:volumes":{"k:{\"name\":\"v\"}":{"f:emptyDir":{}}}`, `"f:securityContext":{".":{},"f:runAsUser":{}}`, `"f:containers":{"k:{\"name\":\"b\"}":{"f:image":{}}}`,
	} {
		for _, desired := range []string{`{}`, `{"containers":[{"name":"a"}]}`, `{"containers":[{"name":"b"},{"name":"a","tty":true}],"volumes":[{"name":"v"}]}`} {
			f.Add(fields, `{`+containers+`,"nodeSelector":{"a":"b"},"volumes":[{"name":"v","emptyDir":{}}],"securityContext":{"runAsUser":1}}`, desired)
		}
	}
	schema, err := merge.SchemaFor(gvk.GroupVersionKind{Version: "v1", Kind: "Pod"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, fields, spec, declared string) {
		live, err := merge.Parse([]byte(`{"apiVersion":"v1","metadata":{"managedFields":[{"manager":"hand","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{` + fields + `}}}]},"spec":` + spec + `}`))
		if err != nil {
			return
		}
		desired, err := merge.Parse([]byte(`{"apiVersion":"v1","spec":` + declared + `}`))
		if err != nil {
			return
		}
		prunedInEveryFormat(t, schema, live, desired)
	})
}

// prunedInEveryFormat holds the patches of a merge that prunes to its merged object, and that to
// the next merge. It returns how many positions went.
func prunedInEveryFormat(t *testing.T, schema *merge.Schema, live, desired *merge.Doc) (gone int) {
	t.Helper()
	for _, model := range []merge.Model{merge.Strategic, merge.Structured, merge.Plain} {
		o := merge.Options{Schema: schema, Model: model, ByHand: []string{"hand"}, Unowned: merge.UnownedGoes, Guard: merge.GuardValues}
		m, err := merge.New(o)
		if err != nil {
			t.Fatal(err)
		}
		r, err := m.ThreeWay(nil, live, desired)
		if err != nil {
			return 0 // of desired
		}
		merged, err := r.Merged()
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range r.Edits() {
			if e.Case == merge.WeRemove { // last declared nothing
				gone++
			}
		}
		again, err := m.ThreeWay(desired, merged, desired)
		if err != nil || again.Changed() {
			t.Errorf("%v, model %v: then %v\nof %s", err, model, again.Edits(), merged.JSON())
		}
		for _, format := range []merge.PatchType{merge.StrategicPatch, merge.JSONMergePatch, merge.JSONPatch} {
			if format == merge.StrategicPatch && model != merge.Strategic {
				continue
			}
			patch, err := r.Patch(format)
			if errors.Is(err, merge.ErrInexpressible) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if bytes, err := merge.ThreeWay(format, nil, live.JSON(), desired.JSON(), o); err != nil || string(bytes) != string(patch) {
				t.Errorf("%v: of bytes %s, want %s", err, bytes, patch)
			}
			if read, err := m.PatchLive(format, nil, live.JSON(), desired); err != nil || string(read) != string(patch) {
				t.Errorf("%v: of live's bytes %s, want %s", err, read, patch)
			}
			got, err := merge.ApplyPatch(format, live.JSON(), patch, merge.Options{Schema: schema})
			if err != nil || string(got) != string(merged.JSON()) {
				t.Errorf("%v, model %v: %s makes\n%s, want\n%s", err, model, patch, got, merged.JSON())
			}
		}
	}
	return gone
}

// pickFields returns what two managers own of some of what is in v, which is at random.
func pickFields(rng *rand.Rand, v any, key string) (hand, other map[string]any) {
	hand, other = map[string]any{}, map[string]any{}
	into := func(name string, kid any, key string) {
		h, o := pickFields(rng, kid, key)
		switch rng.IntN(8) {
		case 0, 1, 2:
			h["."] = map[string]any{}
			hand[name] = h
		case 3:
			o["."] = map[string]any{}
			other[name] = o
		case 4:
			h["."], o["."] = map[string]any{}, map[string]any{}
		}
		if len(h) > 0 {
			hand[name] = h
		}
		if len(o) > 0 {
			other[name] = o
		}
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			key := "name"
			if name == "ports" {
				key = "containerPort"
			}
			into("f:"+name, v[name], key)
		}
	case []any:
		for _, elem := range v {
			m, ok := elem.(map[string]any)
			if !ok {
				continue
			}
			names := map[string]any{key: m[key]}
			if key == "containerPort" {
				names["protocol"] = cmp.Or(m["protocol"], any("TCP"))
			}
			text, _ := json.Marshal(names)
			into("k:"+string(text), elem, "")
		}
	}
	return hand, other
}

// randomPod has keyed lists in which keys repeat, unions, free maps and atomic ones.
func randomPod(rng *rand.Rand) map[string]any {
	var value func(depth int, shape string) any
	list := func(depth int, shape string) []any {
		out := []any{}
		for range rng.IntN(4) {
			out = append(out, value(depth, shape))
		}
		return out
	}
	some := func(fields map[string]func() any) map[string]any {
		out := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			if rng.IntN(2) == 0 {
				out[name] = fields[name]()
			}
		}
		return out
	}
	word := func() any { return string(rune('a' + rng.IntN(3))) }
	value = func(depth int, shape string) any {
		m := map[string]any{}
		switch shape {
		case "env":
			m = some(map[string]func() any{"value": word, "valueFrom": func() any {
				return map[string]any{"fieldRef": some(map[string]func() any{"fieldPath": word, "apiVersion": word})}
			}})
		case "ports":
			m = some(map[string]func() any{"protocol": func() any { return []any{"TCP", "UDP"}[rng.IntN(2)] }, "name": word, "hostPort": func() any { return int64(rng.IntN(2)) }})
			m["containerPort"] = int64(rng.IntN(2))
			return m
		case "volumes":
			m = some(map[string]func() any{"emptyDir": func() any { return some(map[string]func() any{"medium": word, "sizeLimit": word}) }, "hostPath": func() any { return map[string]any{"path": word()} }})
		case "containers":
			m = some(map[string]func() any{
				"image": word, "tty": func() any { return rng.IntN(2) == 0 }, "env": func() any { return list(1, "env") }, "ports": func() any { return list(1, "ports") },
				"args":      func() any { return []any{word(), word()} },
				"resources": func() any { return map[string]any{"limits": some(map[string]func() any{"cpu": word, "memory": word})} },
			})
		}
		m["name"] = word()
		return m
	}
	return some(map[string]func() any{
		"containers": func() any { return list(0, "containers") }, "volumes": func() any { return list(0, "volumes") },
		"nodeSelector": func() any { return some(map[string]func() any{"a": word, "b": word}) },
		"securityContext": func() any {
			return some(map[string]func() any{"runAsUser": func() any { return int64(1) }, "fsGroup": func() any { return int64(2) }})
		},
		"affinity": func() any {
			return some(map[string]func() any{"nodeAffinity": func() any { return map[string]any{} }, "podAffinity": func() any { return map[string]any{} }})
		},
		"hostname": word, "odd": func() any { return some(map[string]func() any{"a": word, "b": func() any { return list(1, "env") }}) },
	})
}

// Anything may be owned by anybody.
func TestHandMadeAnywhere(t *testing.T) {
	schema, err := merge.SchemaFor(gvk.GroupVersionKind{Version: "v1", Kind: "Pod"})
	if err != nil {
		t.Fatal(err)
	}
	gone := 0
	for seed := range uint64(1500) {
		rng := rand.New(rand.NewPCG(seed, 7))
		spec := randomPod(rng)
		hand, other := pickFields(rng, map[string]any{"spec": spec}, "")
		entry := func(manager string, fields any) any {
			return map[string]any{"manager": manager, "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": fields}
		}
		live, err := merge.FromMap(map[string]any{"apiVersion": "v1", "spec": spec, "metadata": map[string]any{"managedFields": []any{entry("hand", hand), entry("other", other)}}})
		if err != nil {
			t.Fatal(err)
		}
		desired, err := merge.FromMap(map[string]any{"apiVersion": "v1", "spec": randomPod(rng)})
		if err != nil {
			t.Fatal(err)
		}
		gone += prunedInEveryFormat(t, schema, live, desired)
		if t.Failed() {
			t.Fatalf("seed %d: live\n%s\ndesired\n%s", seed, live.JSON(), desired.JSON())
		}
	}
	t.Logf("%d positions went", gone)
	if gone < 1500 {
		t.Errorf("only %d positions went", gone)
	}
}
