package schema_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"sigs.k8s.io/yaml"

	"example.com/braid/internal/kinds"
	"example.com/braid/internal/schema"
)

// The reader takes the schemas of the CRDs that real projects ship: what it calls
// malformed, no server that serves these accepts.
func TestReadOpenAPITakesCRDs(t *testing.T) {
	seen, quantities := 0, 0
	for _, file := range kinds.Corpus(t, "") {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, document := range bytes.Split(data, []byte("\n---")) {
			var crd struct {
				Kind string
				Spec struct {
					Versions []struct {
						Name   string
						Schema struct{ OpenAPIV3Schema any }
					}
				}
			}
			if yaml.Unmarshal(document, &crd) != nil || crd.Kind != "CustomResourceDefinition" {
				continue
			}
			for _, v := range crd.Spec.Versions {
				text, err := json.Marshal(map[string]any{"components": map[string]any{"schemas": map[string]any{"crd": v.Schema.OpenAPIV3Schema}}})
				if err != nil {
					t.Fatal(err)
				}
				api, err := schema.ReadOpenAPI(text)
				if err != nil {
					t.Errorf("%s: %v", filepath.Base(file), err)
					continue
				}
				seen++
				quantities += count(api.Types["crd"], schema.Quantity)
			}
		}
	}
	t.Logf("%d schemas, %d quantities", seen, quantities)
	if seen < 20 || quantities == 0 {
		t.Errorf("only %d schemas with %d quantities", seen, quantities)
	}
}

// count returns how often a kind stands in a type. A CRD has no references, so no
// cycles.
func count(typ *schema.Type, kind schema.Kind) (n int) {
	if typ == nil {
		return 0
	}
	if typ.Kind == kind {
		n = 1
	}
	for _, f := range typ.Fields {
		n += count(f.Type, kind)
	}
	return n + count(typ.Elem, kind)
}
