package apply_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

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
              mode: {type: string, default: auto}
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

// A null says the same on create and later: the field is absent.
func TestPlanNullsOnCreate(t *testing.T) {
	p := planner(t, apply.Options{})
	manifest := fromYAML(t, `{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: a, resources: {limits: {cpu: null, memory: 1Gi}}}]}}`)
	created, err := p.Plan(nil, manifest)
	if err != nil || created.Operation != apply.Create {
		t.Fatal(err)
	}
	limits, _, _ := unstructured.NestedSlice(created.Object.Map(), "spec", "containers")
	if got := limits[0].(map[string]any)["resources"]; !reflect.DeepEqual(got, map[string]any{"limits": map[string]any{"memory": "1Gi"}}) {
		t.Errorf("creates %v", got)
	}
	if again, err := p.Plan(created.Object, manifest); err != nil || again.Operation != apply.None {
		t.Errorf("%v, then %v", err, again)
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
		if how, _, _ := unstructured.NestedString(o, "spec", "strategy", "type"); how == "RollingUpdate" {
			setDefault(o, "25%", "spec", "strategy", "rollingUpdate", "maxSurge")
		}
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

// Planned again after it was applied, nothing is left to do: for every built-in kind with all
// its fields, and for real manifests.
func TestPlanAgainIsNone(t *testing.T) {
	t.Run("every kind", func(t *testing.T) {
		var manifests []map[string]any
		for _, file := range kinds.Samples(t) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			d, err := merge.Parse(text)
			if err != nil {
				t.Fatal(file, err)
			}
			if _, err := merge.SchemaFor(d.GVK()); err != nil {
				continue // a version that no server of this release serves
			}
			m := d.Map() // the metadata of the samples is refused by every server
			m["metadata"] = map[string]any{"name": "a", "labels": map[string]any{"a": "b"}, "annotations": map[string]any{"a": "b"}}
			manifests = append(manifests, m)
		}
		planAgain(t, manifests)
	})
	t.Run("corpus", func(t *testing.T) {
		var manifests []map[string]any
		for _, file := range kinds.Corpus(t, "") {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, part := range strings.Split("\n"+string(text), "\n---") {
				if d, err := merge.ParseYAML([]byte(part)); err == nil && d.GVK().Kind != "" {
					manifests = append(manifests, d.Map())
				}
			}
		}
		planAgain(t, manifests)
	})
}

// planAgain plans and carries out manifests, each in a cluster of its own. A few may be
// refused, as by a server.
func planAgain(t *testing.T, manifests []map[string]any) {
	t.Helper()
	done, refused := 0, 0
	for _, m := range manifests {
		switch err := again(t, m); {
		case err == nil:
			done++
		case apierrors.ReasonForError(err) != "" || errors.Is(err, merge.ErrType):
			t.Log(err)
			refused++
		default:
			t.Error(err)
		}
	}
	t.Logf("%d objects, %d refused", done, refused)
	if done < 90 || refused > done/20 {
		t.Errorf("%d of %d objects were refused", refused, len(manifests))
	}
}

func again(t *testing.T, m map[string]any) error {
	t.Helper()
	cluster := memory.New(memory.Options{Mutate: []memory.Hook{asServer}})
	p := planner(t, apply.Options{Schema: cluster.Schema})
	desired, err := merge.FromMap(m)
	if err != nil {
		return err
	}
	plan, err := p.Plan(nil, desired)
	if err != nil {
		return err
	}
	live, err := carryOut(t, cluster, plan)
	if apierrors.IsMethodNotSupported(err) && plan.ID.Namespace == "" { // which kubectl sets
		if err := unstructured.SetNestedField(m, "default", "metadata", "namespace"); err != nil {
			return err
		}
		return again(t, m)
	}
	if err != nil {
		return err
	}
	if plan, err = p.Plan(live, desired); err != nil {
		return fmt.Errorf("planned again: %v", err) // not to be taken for a manifest that is refused
	}
	if plan.Operation != apply.None {
		t.Errorf("%s: %v %s", plan.ID, plan.Operation, plan.Patch)
	}
	return nil
}
