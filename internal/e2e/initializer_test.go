package e2e

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"example.com/braid/apply"
	"example.com/braid/inject"
	"example.com/braid/inject/initializer"
	"example.com/braid/merge"
)

var podKind = schema.GroupVersionKind{Version: "v1", Kind: "Pod"}

// injecting returns what a loop goes by that injects a proxy of a version into all there is.
func injecting(t *testing.T, version int) initializer.Config {
	t.Helper()
	template, err := inject.ParseTemplate(fmt.Appendf(nil, `{containers: [{name: proxy, image: 'proxy:%d', volumeMounts: [{name: v%[1]d, mountPath: /v}]},
		{name: "*", env: [{name: V%[1]d, value: "1"}]}], volumes: [{name: v%[1]d, emptyDir: {}}]}`, version))
	if err != nil {
		t.Fatal(err)
	}
	var c initializer.Config
	if c.Injector, err = inject.New(inject.Options{}, template); err != nil {
		t.Fatal(err)
	}
	if c.Decider, err = inject.NewDecider(inject.DecisionPolicy{Mode: inject.OptOut}); err != nil {
		t.Fatal(err)
	}
	return c
}

// Several loops at once inject, upgrade and take out, in Deployments that somebody edits at the
// same time; a pod is refused, and that is told once by each.
func TestInitializer(t *testing.T) {
	const loops, objects, edits = 4, 6, 5
	ns := namespace(t)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()

	var mu sync.Mutex
	seen := map[string]int{}
	all := make([]*initializer.Initializer, loops)
	for n := range all {
		var err error
		all[n], err = initializer.New(initializer.Options{
			Cluster: client, Config: injecting(t, 1), Namespace: ns,
			Kinds: append(initializer.Workloads(), podKind), FieldManager: fmt.Sprintf("loop%d", n),
			Observe: func(o initializer.Observation) {
				mu.Lock()
				defer mu.Unlock()
				seen[o.ID.GVK.Kind+" "+o.Outcome.String()]++
				if o.Outcome == initializer.Failed || o.Outcome == initializer.Refused && !apierrors.IsInvalid(o.Err) {
					t.Errorf("%s: %s, %v", o.ID, o.Outcome, o.Err)
				}
			},
			Loop: apply.ReconcilerOptions{Workers: 2, Log: slog.New(slog.DiscardHandler)},
		})
		if err != nil {
			t.Fatal(err)
		}
		running.Go(func() { all[n].Run(ctx) })
	}
	pod := written(t, `{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: %s}, spec: {containers: [{name: app, image: app}]}}`, ns)
	if _, err := client.Create(ctx, pod, apply.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	ids := make([]apply.ID, objects)
	made := make([]*unstructured.Unstructured, objects)
	var people sync.WaitGroup
	for n := range objects {
		people.Go(func() {
			u := written(t, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: d%[2]d, namespace: %[1]s}, spec: {selector: {matchLabels: {a: b}},
				template: {metadata: {labels: {a: b}, annotations: {n: "0"}}, spec: {containers: [{name: app, image: app}]}}}}`, ns, n)
			ids[n] = apply.IDOf(u)
			var err error
			if made[n], err = client.Create(ctx, u, apply.WriteOptions{}); err != nil {
				t.Error(err)
				return
			}
			for e := 1; e <= edits; e++ {
				patch := fmt.Sprintf(`{"spec":{"replicas":%d,"template":{"metadata":{"annotations":{"n":"%d"}}}}}`, e, e)
				if _, err := client.Patch(ctx, ids[n], types.StrategicMergePatchType, []byte(patch), apply.WriteOptions{FieldManager: "user"}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	people.Wait()
	if t.Failed() {
		return
	}
	// until waits for what every Deployment has to come to.
	until := func(what string, holds func(spec map[string]any, record string) bool) {
		t.Helper()
		for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
			left := ""
			for _, id := range ids {
				live, err := client.Get(ctx, id)
				if err != nil {
					t.Fatal(err)
				}
				spec, _, _ := unstructured.NestedMap(live.Object, "spec", "template", "spec")
				notes, _, _ := unstructured.NestedStringMap(live.Object, "spec", "template", "metadata", "annotations")
				replicas, _, _ := unstructured.NestedInt64(live.Object, "spec", "replicas")
				if !holds(spec, notes[inject.RecordAnnotation]) || notes["n"] != fmt.Sprint(edits) || replicas != edits {
					left = fmt.Sprintf("%s: replicas %d, annotations %v, %v", id, replicas, notes, spec)
				}
			}
			if left == "" {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s: not so after %s: %s", what, patience, left)
			}
		}
	}
	has := func(version int) func(map[string]any, string) bool {
		return func(spec map[string]any, record string) bool {
			return record != "" && names(spec["containers"], "image") == fmt.Sprintf("app app, proxy proxy:%d", version) && names(spec["volumes"], "") == fmt.Sprintf("v%d", version)
		}
	}
	until("injected", has(1))
	reload := func(c initializer.Config) {
		for _, i := range all {
			if err := i.Reload(c); err != nil {
				t.Fatal(err)
			}
		}
	}
	reload(injecting(t, 2))
	until("upgraded", has(2))
	nothing := injecting(t, 2)
	var err error
	if nothing.Injector, err = inject.New(inject.Options{}); err != nil {
		t.Fatal(err)
	}
	reload(nothing)
	until("taken out", func(spec map[string]any, record string) bool {
		return record == "" && names(spec["containers"], "image") == "app app" && spec["volumes"] == nil
	})
	cancel()
	running.Wait()
	// Each step is one write an object: all else in generation is edits.
	for n, id := range ids {
		live, err := client.Get(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := live.GetGeneration(), int64(1+edits+3); got != want {
			t.Errorf("%s has been changed %d times, want %d", id, got, want)
		}
		want, got := made[n].DeepCopy(), live.DeepCopy()
		for _, u := range []*unstructured.Unstructured{want, got} {
			for _, at := range [][]string{{"metadata"}, {"spec", "replicas"}, {"spec", "template", "metadata", "annotations", "n"}} {
				unstructured.RemoveNestedField(u.Object, at...)
			}
		}
		if a, b := parsed(t, want), parsed(t, got); !a.Equal(b) {
			t.Errorf("%s is left\n%s\nwant\n%s", id, b.JSON(), a.JSON())
		}
	}
	if got := seen["Deployment Injected"]; got != 3*objects {
		t.Errorf("%d patches of Deployments were stored, want 3 of each", got)
	}
	// By either template: each loop sends each patch once.
	if got := seen["Pod Refused"]; got < 1 || got > 2*loops || seen["Pod Injected"] > 0 {
		t.Errorf("the pod was refused %d times, want once by each loop and template: %v", got, seen)
	}
}

func written(t *testing.T, format string, args ...any) *unstructured.Unstructured {
	t.Helper()
	doc, err := merge.ParseYAML(fmt.Appendf(nil, format, args...))
	if err != nil {
		t.Fatal(err)
	}
	return &unstructured.Unstructured{Object: doc.Map()}
}

func parsed(t *testing.T, u *unstructured.Unstructured) *merge.Doc {
	t.Helper()
	doc, err := merge.FromMap(u.Object)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// names says which elements a list has, and a field of each.
func names(list any, field string) string {
	out := ""
	elements, _ := list.([]any)
	for i, e := range elements {
		if m, ok := e.(map[string]any); ok {
			if i > 0 {
				out += ", "
			}
			out += fmt.Sprint(m["name"])
			if field != "" {
				out += " " + fmt.Sprint(m[field])
			}
		}
	}
	return out
}
