package apply_test

import (
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/braid/apply"
	"example.com/braid/apply/memory"
	"example.com/braid/merge"
)

const writers = 64

// rounds is how often each of many writers writes.
func rounds() int {
	if testing.Short() { // under the race detector, in CI
		return 4
	}
	return 200
}

// shared is the object of all writers.
const shared = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: shared, namespace: default},
	spec: {replicas: 2, template: {spec: {containers: [{name: app, image: app}]}}}}`

// share is what one writer says in one round: a label, an annotation and an element of a list
// within an element.
func share(t testing.TB, writer, round int) *merge.Doc {
	return fromYAML(t, fmt.Sprintf(`{apiVersion: apps/v1, kind: Deployment,
	metadata: {name: shared, namespace: default, labels: {w%[1]d: "%[2]d"}, annotations: {w%[1]d: "%[2]d"}},
	spec: {template: {spec: {containers: [{name: app, env: [{name: w%[1]d, value: "%[2]d"}]}]}}}}`, writer, round))
}

// says reports whether an object has what a writer says in a round.
func says(u *unstructured.Unstructured, writer, round int) bool {
	name, value := "w"+strconv.Itoa(writer), strconv.Itoa(round)
	found := 0
	for _, e := range env(u) {
		if e, ok := e.(map[string]any); ok && e["name"] == name && e["value"] == value {
			found++
		}
	}
	return found == 1 && u.GetLabels()[name] == value && u.GetAnnotations()[name] == value
}

func env(u *unstructured.Unstructured) []any {
	containers, _, _ := unstructured.NestedSlice(u.Object, "spec", "template", "spec", "containers")
	if len(containers) != 1 {
		return nil
	}
	app, _ := containers[0].(map[string]any)
	env, _ := app["env"].([]any)
	return env
}

// parallel runs f once for each of n writers.
func parallel(n int, f func(writer int)) {
	var all sync.WaitGroup
	for writer := range n {
		all.Go(func() { f(writer) })
	}
	all.Wait()
}

// sharedIn returns a cluster with the shared object, and how many writes it has stored.
func sharedIn(t *testing.T) (c *memory.Cluster, get func() *unstructured.Unstructured, stored func() int) {
	c = memory.New(memory.Options{})
	out, err := applier(t, c, apply.ApplierOptions{}).Apply(t.Context(), fromYAML(t, shared))
	if err != nil {
		t.Fatal(err)
	}
	get = func() *unstructured.Unstructured {
		u, err := c.Get(t.Context(), out[0].ID)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	version := func(u *unstructured.Unstructured) int {
		n, err := strconv.Atoi(u.GetResourceVersion())
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	return c, get, func() int { return version(get()) - version(out[0].Object) }
}

// allSay fails the test unless live has what all writers said last, and what they never did.
func allSay(t *testing.T, live *unstructured.Unstructured, writers, round int) {
	t.Helper()
	for writer := range writers {
		if !says(live, writer, round) {
			t.Errorf("what writer %d wrote last was lost", writer)
		}
	}
	if n, _, _ := unstructured.NestedInt64(live.Object, "spec", "replicas"); n != 2 || len(env(live)) != writers {
		t.Errorf("replicas %d, %d elements, want 2 and %d", n, len(env(live)), writers)
	}
}

// Many who apply to one object, each with a record of its own, need no luck: every write lands,
// at the first attempt, and stays.
func TestManyApply(t *testing.T) {
	rounds := rounds()
	c, get, stored := sharedIn(t)
	var attempts atomic.Int64
	appliers := make([]*apply.Applier, writers)
	for writer := range writers {
		record := apply.Record{Name: "w" + strconv.Itoa(writer)}
		appliers[writer] = applier(t, c, apply.ApplierOptions{Options: apply.Options{Record: record}})
	}
	parallel(writers, func(writer int) {
		for round := range rounds {
			out, err := appliers[writer].Apply(t.Context(), share(t, writer, round))
			if err != nil || out[0].Operation != apply.Patch || !says(out[0].Object, writer, round) {
				t.Errorf("writer %d, round %d: %v, %v", writer, round, out[0], err)
				return
			}
			attempts.Add(int64(out[0].Attempts))
		}
	})
	allSay(t, get(), writers, rounds-1)
	if n, a := stored(), int(attempts.Load()); n != writers*rounds || a != writers*rounds {
		t.Errorf("stored %d times in %d attempts, want %d", n, a, writers*rounds)
	}
	for writer, a := range appliers {
		if out, err := a.Apply(t.Context(), share(t, writer, rounds-1)); err != nil || out[0].Operation != apply.None {
			t.Errorf("again: %v, %v", out, err)
		}
	}
}

// Where writes are guarded by the version that was read, they collide, and are made again until
// they land: no conflict reaches the caller.
func TestManyApplyGuarded(t *testing.T) {
	const writers, rounds = 8, 20
	for name, o := range map[string]apply.Options{
		"patch":   {Guard: merge.GuardVersion},
		"replace": {Replace: true},
	} {
		t.Run(name, func(t *testing.T) {
			c, get, stored := sharedIn(t)
			var attempts atomic.Int64
			parallel(writers, func(writer int) {
				o := apply.ApplierOptions{Options: o, Attempts: 1000, MinBackoff: 1, MaxBackoff: 1000}
				o.Record.Name = "w" + strconv.Itoa(writer)
				a := applier(t, c, o)
				for round := range rounds {
					out, err := a.Apply(t.Context(), share(t, writer, round))
					if err != nil || !says(out[0].Object, writer, round) {
						t.Errorf("writer %d, round %d: %v, %v", writer, round, out[0], err)
						return
					}
					attempts.Add(int64(out[0].Attempts))
				}
			})
			allSay(t, get(), writers, rounds-1)
			if n := stored(); n != writers*rounds {
				t.Errorf("stored %d times, want %d", n, writers*rounds)
			}
			t.Logf("%d conflicts in %d writes", attempts.Load()-writers*rounds, writers*rounds)
		})
	}
}

// Many who read, change and replace collide; each conflict is told, and none is a write that
// landed or was lost.
func TestManyReplace(t *testing.T) {
	rounds := rounds()
	c, get, stored := sharedIn(t)
	id := apply.IDOf(get())
	var conflicts, landed atomic.Int64
	parallel(writers, func(writer int) {
		name := "w" + strconv.Itoa(writer)
		for round := 0; round < rounds; {
			u, err := c.Get(t.Context(), id)
			if err == nil {
				change(u, name, strconv.Itoa(round))
				_, err = c.Replace(t.Context(), u, apply.WriteOptions{FieldManager: name})
			}
			switch {
			case err == nil:
				landed.Add(1)
				round++
			case apierrors.IsConflict(err):
				conflicts.Add(1)
			default:
				t.Error(err)
				return
			}
		}
	})
	allSay(t, get(), writers, rounds-1)
	if n := stored(); n != writers*rounds || landed.Load() != int64(n) {
		t.Errorf("stored %d times, told %d times, want %d", n, landed.Load(), writers*rounds)
	}
	t.Logf("%d conflicts in %d writes", conflicts.Load(), writers*rounds)
}

// change sets what a writer says in an object, as a controller would by hand.
func change(u *unstructured.Unstructured, name, value string) {
	set := func(m map[string]string) map[string]string {
		if m == nil {
			m = map[string]string{}
		}
		m[name] = value
		return m
	}
	u.SetLabels(set(u.GetLabels()))
	u.SetAnnotations(set(u.GetAnnotations()))
	mine := map[string]any{"name": name, "value": value}
	var all []any
	for _, e := range env(u) {
		if e.(map[string]any)["name"] != name {
			all = append(all, e)
		}
	}
	containers := []any{map[string]any{"name": "app", "image": "app", "env": append(all, mine)}}
	_ = unstructured.SetNestedSlice(u.Object, containers, "spec", "template", "spec", "containers")
}
