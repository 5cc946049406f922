package node

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
)

// deployment is about 7 KB of JSON as an API server sends it: three containers,
// labels that need quoting, an annotation that holds escaped JSON.
func deployment() []byte {
	labels := map[string]any{"app.kubernetes.io/name": "shop", "app.kubernetes.io/part-of": "store"}
	var containers []any
	for i := range 3 {
		var env []any
		for j := range 12 {
			env = append(env, map[string]any{"name": fmt.Sprintf("VARIABLE_%d", j), "value": fmt.Sprintf("https://svc-%d.example.com:8443/", j)})
		}
		containers = append(containers, map[string]any{
			"name": fmt.Sprintf("container-%d", i), "image": "registry.example.com/shop/backend:1.2.3",
			"env": env, "ports": []any{map[string]any{"containerPort": 8080 + i, "protocol": "TCP"}},
			"resources":      map[string]any{"limits": map[string]any{"cpu": "500m", "memory": "128Mi"}},
			"readinessProbe": map[string]any{"httpGet": map[string]any{"path": "/ready", "port": "http"}, "periodSeconds": 10},
			"volumeMounts":   []any{map[string]any{"name": "data", "mountPath": "/var/lib/data", "readOnly": true}},
		})
	}
	d := map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": map[string]any{
			"name": "shop", "namespace": "default", "labels": labels, "generation": 7,
			"annotations": map[string]any{"kubectl.kubernetes.io/last-applied-configuration": `{"a":"b\n"}` + "\n"},
		},
		"spec": map[string]any{
			"replicas": 3, "selector": map[string]any{"matchLabels": labels},
			"template": map[string]any{"metadata": map[string]any{"labels": labels}, "spec": map[string]any{
				"containers": containers, "volumes": []any{map[string]any{"name": "data", "emptyDir": map[string]any{}}},
			}},
		},
		"status": map[string]any{"observedGeneration": 7, "conditions": []any{map[string]any{"type": "Available", "status": "True", "lastTransitionTime": "2024-01-01T00:00:00Z"}}},
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", " ")
	if err := e.Encode(d); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func BenchmarkParse(b *testing.B) {
	pretty := deployment()
	var flat bytes.Buffer
	json.Compact(&flat, pretty)
	for name, text := range map[string][]byte{"pretty": pretty, "compact": flat.Bytes()} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, err := Parse(text, Limits{}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/reader", func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			var r Reader
			for b.Loop() {
				if _, err := r.Read(text, Limits{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Upper bounds of allocations, so that a slip shows without a clock.
func TestAllocations(t *testing.T) {
	text := deployment()
	if len(text) < 6000 || len(text) > 8000 {
		t.Fatal("the document has", len(text), "bytes")
	}
	a, err := Parse(text, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := FromMap(a.Map(), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	const plain = `{"a":"b","l":[1,1.5,true,{"x":null}]}`
	x, y := parsed(t, plain), parsed(t, plain)
	var r Reader
	buf := make([]byte, 0, 2*len(text))
	escaped := []byte(`{"k\n2":1,"k\n1":2,"k\n3":3,"k\n0":4,"k\n5":5,"k\n4":6}`)
	for _, c := range []struct {
		name string
		most float64
		f    func()
	}{
		{"Parse", 5, func() { Parse(text, Limits{}) }}, // tree, text, nodes, kids, stack
		{"Reader.Read", 0, func() { r.Read(text, Limits{}) }},
		{"Reader.Read of six keys with escapes", 6, func() { r.Read(escaped, Limits{}) }}, // none of the sort
		{"Equal", 0, func() { Equal(x, 0, y, 0) }},
		{"Equal with two strings with escapes", 2, func() { Equal(a, 0, b, 0) }},
		{"EqualDeclared", 0, func() { EqualDeclared(x, 0, y, 0) }},
		{"Covers", 0, func() { Covers(x, 0, y, 0) }},
		{"NumberEqual", 0, func() { NumberEqual("9007199254740992", "9007199254740993e0") }},
		{"NumberEqual of huge exponents", 0, func() { NumberEqual("1e-99999999999999999999", "1.0e-99999999999999999999") }},
		{"AppendNumberKey", 0, func() { buf = AppendNumberKey(buf[:0], "-120.50e-7") }},
		{"Append", 1, func() { buf = a.Append(buf[:0], 0) }}, // the string with escapes
		{"Lookup", 0, func() { a.Lookup("spec", "template", "spec", "containers") }},
	} {
		if got := testing.AllocsPerRun(100, c.f); got > c.most {
			t.Errorf("%s: %v allocations, at most %v", c.name, got, c.most)
		}
	}
}
