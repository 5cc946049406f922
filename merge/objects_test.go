package merge_test

import (
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/braid/internal/node"
	"example.com/braid/merge"
)

// What is the same in all objects is not looked at, but where something depends on it.
func TestPatchObjectsLooksAtEnough(t *testing.T) {
	strict := merge.Options{Policy: &merge.Strict}
	for _, tc := range []struct {
		name, kind          string
		options             merge.Options
		last, live, desired string
	}{
		{"a Secret's stringData folds into data that is the same", "Secret", merge.Options{},
			`{data: {a: YQ==, b: Yg==}}`, `{data: {a: YQ==, b: Yg==}}`, `{data: {a: YQ==, b: Yg==}, stringData: {a: x}}`},
		{"a union is told what it retains", "Pod", merge.Options{},
			`{spec: {volumes: [{name: v, emptyDir: {}}], hostname: h}}`, `{spec: {volumes: [{name: v, emptyDir: {}}], hostname: h}}`, `{spec: {volumes: [{name: v, configMap: {name: c}}], hostname: h}}`},
		{"an alias goes with its other name", "Pod", merge.Options{},
			`{spec: {hostname: h, serviceAccountName: a}}`, `{spec: {hostname: h, serviceAccountName: a, serviceAccount: a}}`, `{spec: {hostname: h, serviceAccountName: b}}`},
		{"a map of the schema's no knowledge makes what holds it whole", "Pod", merge.Options{},
			`{spec: {hostname: h, new: {a: 1}}}`, `{spec: {hostname: h, new: {a: 1}}}`, `{spec: {hostname: h, new: {a: 2}}}`},
		{"at the root too", "Pod", merge.Options{},
			`{spec: {hostname: h}, new: {a: 1}}`, `{spec: {hostname: h}, new: {a: 1}}`, `{spec: {hostname: h}, new: {a: 2}}`},
		{"a map that is one value", "Pod", merge.Options{Model: merge.Structured},
			`{spec: {nodeSelector: {a: b, c: d}}}`, `{spec: {nodeSelector: {a: b, c: d}}}`, `{spec: {nodeSelector: {a: b, c: x}}}`},
		{"a null that is the same", "Pod", merge.Options{Nulls: merge.NullFails},
			`{spec: {securityContext: {runAsUser: null, fsGroup: 1}}}`, `{spec: {securityContext: {runAsUser: null, fsGroup: 1}}}`, `{spec: {securityContext: {runAsUser: null, fsGroup: 1}}}`},
		{"a null that is the same, and means something", "Pod", merge.Options{},
			`{metadata: {labels: {a: null, b: c}}}`, `{metadata: {labels: {a: null, b: c}}}`, `{metadata: {labels: {a: null, b: c}}}`},
		{"zero values that are the same", "Pod", merge.Options{},
			`{spec: {securityContext: {runAsUser: 0}, hostIPC: false}}`, `{spec: {securityContext: {runAsUser: 0, fsGroup: 1}, hostIPC: false}}`, `{spec: {securityContext: {runAsUser: 0}, hostIPC: false}}`},
		{"a map of nothing but zero values, which is as if it were absent", "PersistentVolumeClaim", merge.Options{},
			`{spec: {resources: {limits: {}, requests: {storage: 1Gi}}}}`, `{spec: {resources: {limits: {}, requests: {storage: 1Gi}}}}`, `{spec: {resources: {limits: {}}}}`},
		{"a conflict over a map that is one value", "Pod", merge.Options{Model: merge.Structured, Policy: &merge.Strict},
			`{spec: {nodeSelector: {a: b, c: d}}}`, `{spec: {nodeSelector: {a: b, c: e}}}`, `{spec: {nodeSelector: {a: b, c: x}}}`},
		{"a conflict", "Pod", strict, `{spec: {hostname: h, subdomain: s}}`, `{spec: {hostname: i, subdomain: s}}`, `{spec: {hostname: j, subdomain: s}}`},
		{"a guard", "Pod", merge.Options{Guard: merge.GuardVersion | merge.GuardValues},
			`{metadata: {resourceVersion: "7"}, spec: {hostname: h, subdomain: s}}`, `{metadata: {resourceVersion: "7"}, spec: {hostname: h, subdomain: s}}`, `{metadata: {resourceVersion: "7"}, spec: {hostname: i, subdomain: s}}`},
		{"a key that stands for what is left out", "ConfigMap", merge.Options{},
			`{data: {a: x, b: y, "` + node.Seal + `": z}}`, `{data: {a: x, b: y}}`, `{data: {a: x, b: y2}}`},
		{"nothing changes", "ConfigMap", merge.Options{}, `{data: {a: x}}`, `{data: {a: x}}`, `{data: {a: x}}`},
		{"no last", "ConfigMap", merge.Options{}, ``, `{data: {a: x, c: d}}`, `{data: {a: x, b: y}}`},
		{"no live", "ConfigMap", merge.Options{}, `{data: {a: x, c: d}}`, ``, `{data: {a: x, b: y}}`},
		{"lists of one key", "Pod", merge.Options{}, `{spec: {hostname: h, containers: [{name: a}, {name: a, image: i}]}}`,
			`{spec: {hostname: h, containers: [{name: a}, {name: a, image: i}]}}`, `{spec: {hostname: h, containers: [{name: a, image: j}, {name: a, image: i}]}}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := tc.options
			o.Schema = rules(t, schema.GroupVersionKind{Version: "v1", Kind: tc.kind})
			m := merger(t, o)
			for _, format := range []merge.PatchType{merge.StrategicPatch, merge.JSONMergePatch, merge.JSONPatch, merge.ApplyConfiguration} {
				if format == merge.StrategicPatch && o.Model != merge.Strategic {
					continue
				}
				var docs []*merge.Doc
				for _, text := range []string{tc.last, tc.live, tc.desired} {
					var d *merge.Doc
					if text != "" {
						var err error
						if d, err = merge.ParseYAML([]byte("{apiVersion: v1, kind: " + tc.kind + ", " + text[1:])); err != nil {
							t.Fatal(err)
						}
					}
					docs = append(docs, d)
				}
				sameForObjects(t, m, format, docs...)
			}
		})
	}
}

// An object that holds itself is an error, as it is where nothing is left out.
func TestPatchObjectsInCircles(t *testing.T) {
	circle := func() map[string]any {
		m, list := map[string]any{}, []any{nil}
		m["map"], m["list"], list[0] = m, list, list
		return map[string]any{"spec": m}
	}
	m := merger(t, merge.Options{Schema: merge.Schemaless()})
	if _, err := m.PatchObjects(merge.JSONPatch, circle(), circle(), circle()); !errors.Is(err, merge.ErrLimit) {
		t.Errorf("got %v, want %v", err, merge.ErrLimit)
	}
}
