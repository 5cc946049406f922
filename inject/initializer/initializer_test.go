package initializer_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/braid/apply"
	"example.com/braid/apply/memory"
	"example.com/braid/inject"
	"example.com/braid/inject/initializer"
	"example.com/braid/merge"
)

// The life of objects beside a loop: found, edited, upgraded, opted out, deleted.
func TestLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{T: t, Cluster: memory.New(memory.Options{})}
		i := w.loop(initializer.Options{})
		w.create(deployment("old", "true")) // is there before the loop
		defer w.run(i)()
		step := func(want string) {
			t.Helper()
			settle(time.Hour)
			if got := w.tells(); got != want {
				t.Errorf("told %q, want %q", got, want)
			}
		}
		step("old Injected LabelOn")
		w.create(deployment("web", "true"))
		step("web Injected LabelOn")
		w.holds(web, deployment("web", "true"), sidecar)
		w.create(deployment("other", ""))
		step("other Skipped DefaultOff")
		w.holds(named("other"), deployment("other", ""), "")

		w.edit(web, `{"spec":{"replicas":3,"template":{"spec":{"containers":[{"name":"app","image":"app:2"}]}}}}`)
		step("")
		edited := deployment("web", "true")
		setImage(t, edited, "app:2")
		w.holds(web, edited, sidecar)

		w.create(object(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"shop","labels":{"` + inject.DefaultKey + `":"enabled"}}}`))
		step("other Injected NamespaceOn")
		w.edit(apply.ID{GVK: schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}, Name: "shop"}, `{"metadata":{"labels":null}}`)
		step("") // it was decided before

		if err := i.Reload(config(t, newer)); err != nil {
			t.Fatal(err)
		}
		settle(time.Hour)
		if got := w.tells(); strings.Count(got, " Injected ") != 3 {
			t.Errorf("told %q, want that all three are upgraded", got)
		}
		w.holds(web, edited, newer)
		w.holds(named("other"), deployment("other", ""), newer)

		off := `{"spec":{"template":{"metadata":{"labels":{"` + inject.DefaultKey + `":"false"}}}}}`
		w.edit(web, off)
		optedOut := edited.DeepCopy()
		if err := unstructured.SetNestedField(optedOut.Object, "false", "spec", "template", "metadata", "labels", inject.DefaultKey); err != nil {
			t.Fatal(err)
		}
		settle(time.Hour)
		if got := w.tells(); got != "web Removed OptedOut, web Skipped LabelOff" {
			t.Errorf("told %q, want the removal", got)
		}
		w.holds(web, optedOut, "")
		if err := w.Delete(t.Context(), web, apply.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		step("")
		if w.log.Len() > 0 {
			t.Errorf("logged %s", &w.log)
		}
	})
}

// Each kind that has workloads' pod templates is injected into, and pods where a cluster takes it.
func TestKinds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{T: t, Cluster: memory.New(memory.Options{})}
		kinds := append(initializer.Workloads(), pods)
		template := map[string]any{
			"metadata": map[string]any{"labels": map[string]any{inject.DefaultKey: "enabled"}},
			"spec":     map[string]any{"containers": []any{map[string]any{"name": "app", "image": "app:1"}}},
		}
		made := map[apply.ID]*unstructured.Unstructured{}
		for _, kind := range kinds {
			u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"template": template}}}
			switch kind.Kind {
			case "Pod":
				u.Object = template
			case "CronJob":
				u.Object = map[string]any{"spec": map[string]any{"jobTemplate": u.Object}}
			}
			u = u.DeepCopy()
			u.SetGroupVersionKind(kind)
			u.SetNamespace("shop")
			u.SetName("web")
			w.create(u)
			made[apply.IDOf(u)] = u
		}
		defer w.run(w.loop(initializer.Options{Kinds: kinds}))()
		settle(time.Hour)
		for id, u := range made {
			w.holds(id, u, sidecar)
		}
		if n := w.count(initializer.Injected); n != len(kinds) {
			t.Errorf("%d injected, want %d", n, len(kinds))
		}
	})
}

func named(name string) apply.ID { return apply.ID{GVK: deployments, Namespace: "shop", Name: name} }

// setImage does to an object what the user's edit in TestLife does.
func setImage(t *testing.T, u *unstructured.Unstructured, image string) {
	t.Helper()
	containers := []any{map[string]any{"name": "app", "image": image}}
	if err := unstructured.SetNestedSlice(u.Object, containers, "spec", "template", "spec", "containers"); err != nil {
		t.Fatal(err)
	}
	if err := unstructured.SetNestedField(u.Object, int64(3), "spec", "replicas"); err != nil {
		t.Fatal(err)
	}
}

// A loop of one namespace leaves the others alone, and needs no right to read namespaces.
func TestOneNamespace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{T: t, Cluster: memory.New(memory.Options{Intercept: func(_ context.Context, call memory.Call, next func() error) error {
			if call.ID.GVK.Kind == "Namespace" || call.ID.Namespace == "" && call.Verb == memory.List {
				t.Errorf("called %s %s", call.Verb, call.ID)
			}
			return next()
		}})}
		other := deployment("web", "true")
		other.SetNamespace("other")
		w.create(other)
		w.create(deployment("web", ""))
		asked := 0
		i := w.loop(initializer.Options{
			Namespace: "shop", Kinds: []schema.GroupVersionKind{deployments},
			NamespaceLabels: func(_ context.Context, name string) (map[string]string, error) {
				if asked++; asked == 1 {
					return nil, errors.New("not now")
				}
				return map[string]string{inject.DefaultKey: "true"}, nil
			},
		})
		defer w.run(i)()
		settle(time.Hour)
		if got := w.tells(); got != "web Injected NamespaceOn" {
			t.Errorf("told %q, want one injection", got)
		}
		id := web
		id.Namespace = "other"
		w.holds(id, other, "")
		if err := i.Reload(config(t, newer)); err != nil {
			t.Fatal(err)
		}
		settle(time.Hour)
		w.holds(id, other, "")
		w.holds(web, deployment("web", ""), newer)
	})
}

// immutable refuses what a server refuses of a pod.
func immutable(_ context.Context, a *memory.Admission) error {
	if a.ID.GVK.Kind != "Pod" || a.Verb != memory.Replace {
		return nil
	}
	now, _, _ := unstructured.NestedSlice(a.Object.Object, "spec", "containers")
	was, _, _ := unstructured.NestedSlice(a.Old.Object, "spec", "containers")
	if len(now) == len(was) {
		return nil
	}
	return apierrors.NewInvalid(pods.GroupKind(), a.ID.Name, field.ErrorList{
		field.Forbidden(field.NewPath("spec"), "pod updates may not change fields of topsecret"),
	})
}

// What a server refuses is sent once and told once, however often the object changes otherwise;
// again after RetryRefused, and at once where it would be another patch.
func TestRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent atomic.Int32
		w := &world{T: t, Cluster: memory.New(memory.Options{
			Validate: []memory.Hook{immutable},
			Intercept: func(_ context.Context, call memory.Call, next func() error) error {
				if call.Verb == memory.Patch && call.Options.FieldManager == "braid" {
					sent.Add(1)
				}
				return next()
			},
		})}
		pod := object(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","namespace":"shop","labels":{"a":"b"` + label("true") + `}},"spec":{"containers":[{"name":"app","image":"app:1"}]}}`)
		id := apply.IDOf(pod)
		w.create(pod)
		i := w.loop(initializer.Options{Kinds: []schema.GroupVersionKind{pods}, RetryRefused: time.Hour})
		defer w.run(i)()
		step := func(d time.Duration, wantSent int32, wantTold string) {
			t.Helper()
			settle(d)
			n := sent.Swap(0)
			if got := w.tells(); got != wantTold || n != wantSent {
				t.Errorf("told %q and sent %d patches, want %q and %d", got, n, wantTold, wantSent)
			}
		}
		step(time.Minute, 1, "web Refused LabelOn")
		for range 10 { // as the status of a pod does
			w.edit(id, `{"metadata":{"annotations":{"beat":"1"}}}`)
			settle(time.Second)
			w.edit(id, `{"metadata":{"annotations":{"beat":"2"}}}`)
			settle(time.Second)
		}
		// Where the annotation comes and goes, so does the map of the patch.
		step(time.Minute, 1, "web Refused LabelOn")
		step(time.Hour, 1, "web Refused LabelOn")
		if err := i.Reload(config(t, newer)); err != nil {
			t.Fatal(err)
		}
		step(time.Minute, 1, "web Refused LabelOn")
		text := w.log.String()
		if n := strings.Count(text, "reconcile failed"); n != 4 || strings.Contains(text, "topsecret") {
			t.Errorf("logged %d failures, want 4 and no values:\n%s", n, text)
		}
		var refusal *initializer.Observation
		for _, o := range w.all {
			refusal = &o
		}
		if refusal == nil || !apierrors.IsInvalid(refusal.Err) || refusal.Result == nil || refusal.Version == "" {
			t.Errorf("told %+v, want the server's answer", refusal)
		}
		if err := w.Delete(t.Context(), id, apply.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		settle(time.Minute)
		w.create(pod) // another pod
		step(time.Minute, 1, "web Refused LabelOn")
	})
}

// A clash is told once, until the object or the templates change.
func TestFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{T: t, Cluster: memory.New(memory.Options{})}
		clash := deployment("web", "true")
		volumes := []any{map[string]any{"name": "proxy", "hostPath": map[string]any{"path": "/topsecret"}}}
		if err := unstructured.SetNestedSlice(clash.Object, volumes, "spec", "template", "spec", "volumes"); err != nil {
			t.Fatal(err)
		}
		w.create(clash)
		i := w.loop(initializer.Options{})
		defer w.run(i)()
		settle(time.Hour)
		for range 5 {
			w.edit(web, `{"metadata":{"annotations":{"beat":"1"}}}`)
			w.edit(web, `{"metadata":{"annotations":{"beat":null}}}`)
			settle(time.Minute)
		}
		if got := w.tells(); got != "web Failed LabelOn" || !errors.Is(w.all[0].Err, merge.ErrConflict) {
			t.Errorf("told %q, %v, want one clash", got, w.all[0].Err)
		}
		w.holds(web, clash, "")
		w.edit(web, `{"spec":{"template":{"spec":{"volumes":[{"$patch":"delete","name":"proxy"}]}}}}`)
		settle(time.Hour)
		if got := w.tells(); got != "web Injected LabelOn" {
			t.Errorf("told %q, want the injection", got)
		}
		if text := w.log.String(); strings.Count(text, "reconcile failed") != 1 || strings.Contains(text, "topsecret") {
			t.Errorf("want one failure in the log and no values:\n%s", text)
		}
	})
}

func TestNew(t *testing.T) {
	c := memory.New(memory.Options{})
	good := config(t, sidecar)
	decider, err := inject.NewDecider(inject.DecisionPolicy{Keys: inject.Keys{Namespace: "example.com/inject"}})
	if err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]initializer.Options{
		"no cluster":      {Config: good},
		"no injector":     {Cluster: c, Config: initializer.Config{Decider: good.Decider}},
		"no decider":      {Cluster: c, Config: initializer.Config{Injector: good.Injector}},
		"RetryRefused":    {Cluster: c, Config: good, RetryRefused: -1},
		"Loop.Sources":    {Cluster: c, Config: good, Loop: apply.ReconcilerOptions{Sources: []apply.Source{{}}}},
		"Loop.Cluster":    {Cluster: c, Config: good, Loop: apply.ReconcilerOptions{Cluster: c}},
		"Loop.Workers":    {Cluster: c, Config: good, Loop: apply.ReconcilerOptions{Workers: -1}},
		"Loop.MinBackoff": {Cluster: c, Config: good, Loop: apply.ReconcilerOptions{MinBackoff: -1}},
	} {
		if i, err := initializer.New(o); i != nil || !errors.Is(err, merge.ErrOption) {
			t.Errorf("%s: got %v, %v, want ErrOption", name, i, err)
		}
	}
	i, err := initializer.New(initializer.Options{Cluster: c, Config: good})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]initializer.Config{"none": {}, "another key": {Decider: decider, Injector: good.Injector}} {
		if err := i.Reload(c); !errors.Is(err, merge.ErrOption) {
			t.Errorf("Reload of %s: %v, want ErrOption", name, err)
		}
	}
}

func TestOutcome(t *testing.T) {
	names := ""
	for o := initializer.Injected; o <= initializer.Failed+1; o++ {
		names += o.String() + " "
	}
	if want := "Injected Removed Unchanged Skipped Refused Failed Outcome(6) "; names != want {
		t.Errorf("got %s, want %s", names, want)
	}
}

// An object without a version could only be patched blindly, and is not.
func TestNoVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{T: t, Cluster: memory.New(memory.Options{})}
		w.create(deployment("web", "true"))
		defer w.run(w.loop(initializer.Options{Cluster: forgetful{w.Cluster}}))()
		settle(time.Minute)
		w.holds(web, deployment("web", "true"), "")
		if !strings.Contains(w.log.String(), "without a resourceVersion") {
			t.Errorf("logged %s", &w.log)
		}
	})
}

// forgetful is a cluster whose objects have no version.
type forgetful struct{ *memory.Cluster }

func (f forgetful) Get(ctx context.Context, id apply.ID) (*unstructured.Unstructured, error) {
	u, err := f.Cluster.Get(ctx, id)
	if err == nil {
		u.SetResourceVersion("")
	}
	return u, err
}
