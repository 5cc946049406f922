package merge_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/braid/merge"
)

const widgetCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {kind: Widget, plural: widgets}
  versions:
  - name: v1
    served: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              parts:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items: {type: object, required: [name], properties: {name: {type: string}, size: {type: integer}}}
  - name: v1alpha1
    served: false
`

var widget = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}

func docOf(t *testing.T, text string) *merge.Doc {
	t.Helper()
	d, err := merge.ParseYAML([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestSchemasFromCRD(t *testing.T) {
	kinds, err := merge.SchemasFromCRD(docOf(t, widgetCRD))
	if err != nil || len(kinds) != 1 || kinds[widget].Name() != "example.com/v1, Kind=Widget" {
		t.Fatalf("%v %v", kinds, err)
	}
	live := docOf(t, "metadata: {finalizers: [theirs]}\nspec: {parts: [{name: theirs, size: 1}]}")
	desired := docOf(t, "metadata: {finalizers: [ours]}\nspec: {parts: [{name: ours, size: 2}]}")
	for model, want := range map[merge.Model]string{
		merge.Strategic:  `{"metadata":{"finalizers":["ours","theirs"]},"spec":{"parts":[{"name":"ours","size":2}]}}`,
		merge.Structured: `{"metadata":{"finalizers":["ours","theirs"]},"spec":{"parts":[{"name":"ours","size":2},{"name":"theirs","size":1}]}}`,
	} {
		m, err := merge.New(merge.Options{Schema: kinds[widget], Model: model})
		if err != nil {
			t.Fatal(err)
		}
		r, err := m.ThreeWay(nil, live, desired)
		if err != nil {
			t.Fatal(err)
		}
		merged, err := r.Merged()
		if err != nil || !merged.Equal(docOf(t, want)) {
			t.Errorf("model %d: %s %v, want %s", model, merged.JSON(), err, want)
		}
		if _, err := r.Patch(merge.JSONMergePatch); err != nil {
			t.Error(err)
		}
	}
	m, err := merge.New(merge.Options{Schema: kinds[widget]})
	if err != nil {
		t.Fatal(err)
	}
	r, err := m.ThreeWay(nil, live, desired)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Patch(merge.StrategicPatch); !errors.Is(err, merge.ErrInexpressible) {
		t.Errorf("a strategic patch for a custom kind: %v", err)
	}
}

func TestSchemaErrors(t *testing.T) {
	if _, err := merge.SchemasFromCRD(nil); !errors.Is(err, merge.ErrOption) {
		t.Error(err)
	}
	var e *merge.Error
	if kinds, err := merge.SchemasFromCRD(docOf(t, "kind: Pod")); kinds != nil || !errors.Is(err, merge.ErrSchema) || !errors.As(err, &e) {
		t.Errorf("%v %v", kinds, err)
	}
	if kinds, err := merge.SchemasFromOpenAPI([]byte(`{`)); kinds != nil || !errors.Is(err, merge.ErrSyntax) || !errors.As(err, &e) {
		t.Errorf("%v %v", kinds, err)
	}
	kinds, err := merge.SchemasFromOpenAPI([]byte(`{"components":{"schemas":{
		"good":{"type":"object","x-kubernetes-group-version-kind":[{"group":"g","version":"v","kind":"Good"}]},
		"bad":{"$ref":"x","x-kubernetes-group-version-kind":[{"group":"g","version":"v","kind":"Bad"}]}}}}`))
	if len(kinds) != 1 || !errors.Is(err, merge.ErrSchema) || !errors.As(err, &e) || !strings.Contains(err.Error(), "g/v, Kind=Bad") {
		t.Errorf("%v %v", kinds, err)
	}
	if s, err := merge.Schemaless().WithRule("a[0]", "set"); s != nil || !errors.Is(err, merge.ErrOption) || !strings.Contains(err.Error(), `rule "set" for path "a[0]"`) {
		t.Errorf("%v %v", s, err)
	}
}

// What a patch makes of live, by the rules of the server, is what was merged by the
// user's rules.
func TestWithRulePatches(t *testing.T) {
	builtin := func(group, version, kind string) *merge.Schema {
		s, err := merge.SchemaFor(schema.GroupVersionKind{Group: group, Version: version, Kind: kind})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	deployment, service := builtin("apps", "v1", "Deployment"), builtin("", "v1", "Service")
	csr := builtin("certificates.k8s.io", "v1", "CertificateSigningRequest")
	none := merge.Schemaless()
	for _, c := range []struct {
		why           string
		s             *merge.Schema
		path, rule    string
		live, desired string
		want          string
	}{
		{"no rule", none, "", "granular", "a: [1]", "a: [2]", "a: [2]"},
		{"a list by two keys", service, "spec.ports", "map=port,protocol",
			"spec: {ports: [{port: 53, protocol: UDP, nodePort: 1}]}", "spec: {ports: [{port: 53, protocol: TCP}]}",
			"spec: {ports: [{port: 53, protocol: TCP}, {port: 53, protocol: UDP, nodePort: 1}]}"},
		{"a keyed list as one value", deployment, "spec.template.spec.containers", "atomic",
			"spec: {template: {spec: {containers: [{name: a, image: x}, {name: b}]}}}", "spec: {template: {spec: {containers: [{name: a, image: w}]}}}",
			"spec: {template: {spec: {containers: [{name: a, image: w}]}}}"},
		{"a list of words as a set", deployment, "spec.template.spec.containers[*].args", "set",
			"spec: {template: {spec: {containers: [{name: a, args: [u, v]}]}}}", "spec: {template: {spec: {containers: [{name: a, args: [w]}]}}}",
			"spec: {template: {spec: {containers: [{name: a, args: [w, u, v]}]}}}"},
		{"a map as one value", deployment, "spec.template.metadata.labels", "atomic",
			"spec: {template: {metadata: {labels: {a: x, b: x}}}}", "spec: {template: {metadata: {labels: {a: w}}}}",
			"spec: {template: {metadata: {labels: {a: w}}}}"},
		{"a key of a Go map", csr, `spec.extra["a"]`, "set", "spec: {extra: {a: [u], b: [u]}}", "spec: {extra: {a: [v], b: [u]}}", "spec: {extra: {a: [v, u], b: [u]}}"},
		{"all keys of a Go map", csr, "spec.extra.*", "set", "spec: {extra: {a: [u], b: [u]}}", "spec: {extra: {a: [v], b: [u]}}", "spec: {extra: {a: [v, u], b: [u]}}"},
		{"a union", service, "spec.sessionAffinityConfig", "retainKeys",
			"spec: {sessionAffinityConfig: {clientIP: {timeoutSeconds: 1}, other: 1}}", "spec: {sessionAffinityConfig: {clientIP: {timeoutSeconds: 2}}}",
			"spec: {sessionAffinityConfig: {clientIP: {timeoutSeconds: 2}}}"},
		{"no union", deployment, "spec.strategy", "granular",
			"spec: {strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1}}}", "spec: {strategy: {type: Recreate}}",
			"spec: {strategy: {type: Recreate, rollingUpdate: {maxSurge: 1}}}"},
		{"schemaless lists by key, beside others", none, "spec.ports", "map=port",
			"spec: {ports: [{port: 1, a: 1}], x: {q: [1]}, z: {a: 1}}", "spec: {ports: [{port: 1, b: 1}, {port: 2}], x: {q: [2]}, z: {b: 1}}",
			"spec: {ports: [{port: 1, a: 1, b: 1}, {port: 2}], x: {q: [2]}, z: {a: 1, b: 1}}"},
		{"a schemaless map as one value", none, "spec.m", "atomic", "spec: {m: {a: 1}}", "spec: {m: {b: 1}}", "spec: {m: {b: 1}}"},
		{"a schemaless list as one value", none, "spec.m", "atomic", "spec: {m: [1]}", "spec: {m: [2]}", "spec: {m: [2]}"},
		{"quantities are equal", deployment, `metadata.annotations["cpu"]`, "quantity", "metadata: {annotations: {cpu: 1000m}}", `metadata: {annotations: {cpu: "1"}}`, "metadata: {annotations: {cpu: 1000m}}"},
	} {
		s, err := c.s.WithRule(c.path, c.rule)
		if err != nil {
			t.Errorf("%s: %v", c.why, err)
			continue
		}
		m, err := merge.New(merge.Options{Schema: s})
		if err != nil {
			t.Fatal(err)
		}
		server, err := merge.New(merge.Options{Schema: c.s})
		if err != nil {
			t.Fatal(err)
		}
		live := docOf(t, c.live)
		r, err := m.ThreeWay(nil, live, docOf(t, c.desired))
		if err != nil {
			t.Errorf("%s: %v", c.why, err)
			continue
		}
		merged, err := r.Merged()
		if err != nil || !merged.Equal(docOf(t, c.want)) {
			t.Errorf("%s: %s %v, want %s", c.why, merged.JSON(), err, c.want)
			continue
		}
		for _, format := range []merge.PatchType{merge.StrategicPatch, merge.JSONMergePatch, merge.JSONPatch} {
			patch, err := r.Patch(format)
			if errors.Is(err, merge.ErrInexpressible) {
				t.Logf("%s: %s: %v", c.why, format.MediaType(), err)
				continue
			}
			if err != nil {
				t.Errorf("%s: %s: %v", c.why, format.MediaType(), err)
				continue
			}
			for who, m := range map[string]*merge.Merger{"server": server, "ours": m} {
				out, err := m.Patch(format, live, docOf(t, string(patch)))
				if err != nil || !out.Equal(merged) {
					t.Errorf("%s: %s makes of %s: %s, want %s", c.why, who, patch, show(out, err), merged.JSON())
				}
			}
		}
	}
}

func show(d *merge.Doc, err error) string {
	if err != nil {
		return fmt.Sprint(err)
	}
	return string(d.JSON())
}
