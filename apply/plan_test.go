package apply_test

import (
	"context"
	"encoding/base64"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"example.com/braid/apply"
	"example.com/braid/apply/memory"
	"example.com/braid/internal/kinds"
	"example.com/braid/merge"
)

func fromYAML(t testing.TB, text string) *merge.Doc {
	t.Helper()
	d, err := merge.ParseYAML([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func planner(t testing.TB, o apply.Options) *apply.Planner {
	t.Helper()
	p, err := apply.NewPlanner(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// carryOut sends a plan, and returns what the cluster holds afterwards.
func carryOut(t testing.TB, c apply.Client, p *apply.Plan) (*merge.Doc, error) {
	t.Helper()
	ctx := context.Background()
	var u *unstructured.Unstructured
	var err error
	switch p.Operation {
	case apply.Create:
		u, err = c.Create(ctx, &unstructured.Unstructured{Object: p.Object.Map()}, apply.WriteOptions{})
	case apply.Replace:
		u, err = c.Replace(ctx, &unstructured.Unstructured{Object: p.Object.Map()}, apply.WriteOptions{})
	case apply.Patch:
		u, err = c.Patch(ctx, p.ID, p.PatchType, p.Patch, apply.WriteOptions{})
	default:
		u, err = c.Get(ctx, p.ID)
	}
	if err != nil {
		return nil, err
	}
	return merge.FromMap(u.Object)
}

const crd = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  names: {kind: Thing, plural: things}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {type: integer}
              parts:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items: {type: object, properties: {name: {type: string}, size: {type: integer}}}
`

func TestPlanOperations(t *testing.T) {
	deployment := func(image string) string {
		return `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: default}, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: app, image: ` + image + `}]}}}}`
	}
	thing := func(spec string) string {
		return `{apiVersion: example.com/v1, kind: Thing, metadata: {name: x, namespace: default}, spec: ` + spec + `}`
	}
	for _, c := range []struct {
		name          string
		first, second string
		replace       bool
		operation     apply.Operation
		format        types.PatchType
	}{
		{"built-in", deployment("a"), deployment("b"), false, apply.Patch, types.StrategicMergePatchType},
		{"built-in, whole", deployment("a"), deployment("b"), true, apply.Replace, ""},
		{"custom, a field", thing(`{size: 1}`), thing(`{size: 2}`), false, apply.Patch, types.MergePatchType},
		{"custom, in an element", thing(`{parts: [{name: a, size: 1}, {name: b}]}`), thing(`{parts: [{name: a, size: 2}, {name: b}]}`), false, apply.Patch, types.JSONPatchType},
		{"nobody's kind", `{apiVersion: none.example.com/v1, kind: Odd, metadata: {name: x, namespace: default}, list: [1]}`,
			`{apiVersion: none.example.com/v1, kind: Odd, metadata: {name: x, namespace: default}, list: [2]}`, false, apply.Patch, types.MergePatchType},
	} {
		t.Run(c.name, func(t *testing.T) {
			cluster := memory.New(memory.Options{})
			p := planner(t, apply.Options{Schema: cluster.Schema, Replace: c.replace})
			var live *merge.Doc
			step := func(text string, live *merge.Doc, operation apply.Operation, format types.PatchType) *merge.Doc {
				t.Helper()
				plan, err := p.Plan(live, fromYAML(t, text))
				if err != nil {
					t.Fatal(err)
				}
				if plan.Operation != operation || plan.PatchType != format {
					t.Fatalf("%v %s %s, want %v %s", plan.Operation, plan.PatchType, plan.Patch, operation, format)
				}
				stored, err := carryOut(t, cluster, plan)
				if err != nil {
					t.Fatal(err)
				}
				return stored
			}
			step(crd, nil, apply.Create, "")
			live = step(c.first, nil, apply.Create, "")
			live = step(c.first, live, apply.None, "")
			live = step(c.second, live, c.operation, c.format)
			step(c.second, live, apply.None, "")
		})
	}
}

// Each line of the list names what a plan must warn of.
func TestPlanWarnings(t *testing.T) {
	const head = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: `
	for _, c := range []struct {
		name                  string
		first, drift, desired string // drift is a strategic patch by somebody else
		want                  []string
	}{
		{"nothing odd", head + `{paused: true}}`, `{}`, head + `{paused: false}}`, nil},
		{"no longer declared", head + `{replicas: 3}}`, `{spec: {replicas: 9}}`, head + `{paused: true}}`, []string{"spec.replicas: no longer declared"}},
		{"of an autoscaler", head + `{replicas: 3}}`, `{spec: {replicas: 9}}`, head + `{replicas: 3}}`, []string{"spec.replicas: somebody else set 9"}},
		{"immutable", head + `{selector: {matchLabels: {a: b}}}}`, `{}`, head + `{selector: {matchLabels: {a: c}}}}`, []string{"spec.selector"}},
		{"dropped by the server", head + `{paused: true, novel: 1}}`, `{spec: {novel: null}}`, head + `{paused: true, novel: 1}}`, []string{"spec.novel: declared before"}},
		{"union", head + `{paused: true}}`, `{spec: {strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1}}}}`, head + `{strategy: {type: Recreate}}}`, []string{"spec.strategy.rollingUpdate: nobody declared this"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := planner(t, apply.Options{})
			created, err := p.Plan(nil, fromYAML(t, c.first))
			if err != nil {
				t.Fatal(err)
			}
			m, err := merge.New(merge.Options{Schema: merge.Schemaless(), Model: merge.Plain})
			if err != nil {
				t.Fatal(err)
			}
			live, err := m.Patch(merge.JSONMergePatch, created.Object, fromYAML(t, c.drift))
			if err != nil {
				t.Fatal(err)
			}
			plan, err := p.Plan(live, fromYAML(t, c.desired))
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range c.want {
				if !slices.ContainsFunc(plan.Warnings, func(got apply.Warning) bool { return strings.HasPrefix(got.String(), w) }) {
					t.Errorf("no warning %q in %v", w, plan.Warnings)
				}
			}
			if len(c.want) == 0 && len(plan.Warnings) > 0 {
				t.Errorf("warnings: %v", plan.Warnings)
			}
		})
	}
}

func TestPlanConflicts(t *testing.T) {
	p := planner(t, apply.Options{Policy: &merge.Strict})
	manifest := fromYAML(t, `{apiVersion: v1, kind: Secret, metadata: {name: s}, data: {a: aHVudGVyMg==}}`)
	live := fromYAML(t, `{apiVersion: v1, kind: Secret, metadata: {name: s}, data: {a: b3RoZXI=}}`)
	plan, err := p.Plan(live, manifest)
	if !errors.Is(err, merge.ErrConflict) || plan == nil || len(plan.Conflicts()) != 1 || plan.Operation != apply.None || plan.Patch != nil {
		t.Fatalf("%v, %+v", err, plan)
	}
	var report strings.Builder
	if err := plan.WriteReport(&report, false); err != nil {
		t.Fatal(err)
	}
	if s := report.String(); !strings.Contains(s, "data.a") || strings.Contains(s+err.Error(), "aHVudGVyMg") {
		t.Error(s, err)
	}
}

// asServer does to an object what a server does: Secrets have no stringData, and a Deployment
// has defaults, also in its lists.
func asServer(_ context.Context, a *memory.Admission) error {
	o := a.Object.Object
	if text, ok := o["stringData"].(map[string]any); ok && a.Object.GetKind() == "Secret" {
		for k, v := range text {
			s, _ := v.(string)
			if err := unstructured.SetNestedField(o, base64.StdEncoding.EncodeToString([]byte(s)), "data", k); err != nil {
				return err
			}
		}
		delete(o, "stringData")
	}
	if a.Object.GetKind() == "Deployment" {
		setDefault(o, int64(1), "spec", "replicas")
		setDefault(o, int64(600), "spec", "progressDeadlineSeconds")
		setDefault(o, "RollingUpdate", "spec", "strategy", "type")
		setDefault(o, "25%", "spec", "strategy", "rollingUpdate", "maxSurge")
		setDefault(o, "Always", "spec", "template", "spec", "restartPolicy")
		containers, _, _ := unstructured.NestedSlice(o, "spec", "template", "spec", "containers")
		for _, c := range containers {
			if c, ok := c.(map[string]any); ok {
				setDefault(c, "/dev/termination-log", "terminationMessagePath")
				setDefault(c, "IfNotPresent", "imagePullPolicy")
				ports, _, _ := unstructured.NestedSlice(c, "ports")
				for _, p := range ports {
					if p, ok := p.(map[string]any); ok {
						setDefault(p, "TCP", "protocol")
					}
				}
				if len(ports) > 0 {
					c["ports"] = ports
				}
			}
		}
		if len(containers) > 0 {
			return unstructured.SetNestedSlice(o, containers, "spec", "template", "spec", "containers")
		}
	}
	return nil
}

// setDefault sets a field that is absent; where there is no room for it, it does not.
func setDefault(o map[string]any, value any, fields ...string) {
	if _, has, err := unstructured.NestedFieldNoCopy(o, fields...); err == nil && !has {
		_ = unstructured.SetNestedField(o, value, fields...)
	}
}

// Planned again after it was applied, nothing is left to do: for every built-in kind and for
// real manifests.
func TestPlanAgainIsNone(t *testing.T) {
	var manifests []*merge.Doc
	for _, file := range kinds.Samples(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		d, err := merge.Parse(text)
		if err != nil {
			t.Fatal(file, err)
		}
		manifests = append(manifests, d)
	}
	t.Run("corpus", func(t *testing.T) {
		for _, file := range kinds.Corpus(t, "") {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, part := range strings.Split("\n"+string(text), "\n---") {
				if json, err := yaml.YAMLToJSON([]byte(part)); err == nil {
					if d, err := merge.Parse(json); err == nil && d.GVK().Kind != "" {
						manifests = append(manifests, d)
					}
				}
			}
		}
	})
	done := 0
	for _, d := range manifests {
		cluster := memory.New(memory.Options{Mutate: []memory.Hook{asServer}})
		p := planner(t, apply.Options{Schema: cluster.Schema})
		var live *merge.Doc
		for i, want := range []apply.Operation{apply.Create, apply.None} {
			plan, err := p.Plan(live, d)
			if err != nil {
				if i == 1 {
					t.Errorf("%v: %v", d.GVK(), err)
				}
				break // not a manifest that can be applied
			}
			if i == 1 && plan.Operation != want {
				t.Errorf("%s: %v %s", plan.ID, plan.Operation, plan.Patch)
			}
			if live, err = carryOut(t, cluster, plan); err != nil {
				if i == 1 || !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err) && apierrors.ReasonForError(err) == "" {
					t.Errorf("%s: %v", plan.ID, err)
				}
				break // refused, as a server would
			}
			done += i
		}
	}
	if done < 90 {
		t.Errorf("only %d objects of %d were planned again", done, len(manifests))
	}
	t.Logf("%d objects", done)
}
