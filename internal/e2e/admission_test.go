package e2e

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/braid/apply"
	"example.com/braid/inject"
	"example.com/braid/inject/admission"
	"example.com/braid/internal/kinds"
	"example.com/braid/merge"
)

// A shape is a pod, or what has a pod template, and what the server makes of it without the
// webhook and of what Inject makes of it.
type shape struct {
	manifest
	plain, served *unstructured.Unstructured
	record        string // of what is injected into what the server shows a webhook
}

// Real pods and pod templates of every shape: what a server stores that calls the webhook is
// what Inject predicts, and its removal leaves what a server would have stored without it.
func TestSidecars(t *testing.T) {
	ns := namespace(t)
	all := shapes(t, ns)
	h := newHook(t, admission.Options{})
	h.register(t, ns, admission.ManifestOptions{Workloads: true})
	counts := map[string]int{}
	for _, s := range all {
		stored, err := client.Create(t.Context(), &unstructured.Unstructured{Object: s.doc.Map()}, apply.WriteOptions{})
		if err != nil {
			t.Errorf("%s: %v", s, err)
			continue
		}
		outcomes := h.outcomes()
		counts[outcomes]++
		if got := record(stored); got != s.record {
			t.Errorf("%s: %s: record\n%s\nwant\n%s", s, outcomes, got, s.record)
		}
		if !same(anew(stored), anew(s.served)) {
			t.Errorf("%s: %s: not as predicted:\n%s", s, outcomes, difference(anew(stored), anew(s.served)))
			continue
		}
		removal, err := inject.Uninject(docOf(t, stored))
		if err != nil {
			t.Errorf("%s: removal: %v", s, err)
			continue
		}
		rest, err := removal.Object()
		if err != nil {
			t.Errorf("%s: removal: %v", s, err)
			continue
		}
		if got := anew(&unstructured.Unstructured{Object: rest.Map()}); !same(got, anew(s.plain)) {
			t.Errorf("%s: %s: removal does not restore:\n%s", s, outcomes, difference(got, anew(s.plain)))
		}
	}
	for _, outcome := range slices.Sorted(maps.Keys(counts)) {
		t.Logf("%4d %s", counts[outcome], outcome)
	}
}

// shapes asks the server, which does not call the webhook yet, about all pods and pod
// templates at hand.
func shapes(t *testing.T, ns string) (out []shape) {
	t.Helper()
	in, decider := injector(t, "1"), optOut(t)
	invalid := 0
	for i, m := range slices.Concat(manifests(t), own(t, "testdata/pods.yaml"), fields(t)) {
		u := &unstructured.Unstructured{Object: m.doc.Map()}
		u.SetNamespace(ns)
		u.SetName(fmt.Sprintf("shape-%d", i)) // many examples have one name
		s := shape{manifest: manifest{m.from, docOf(t, u)}}
		reason := decider.Decide(inject.Candidate{Object: s.doc})
		if reason == inject.UnknownKind || s.kind().Kind == "ReplicaSet" { // its pods come with those of its Deployment
			continue
		}
		var err error
		if s.plain, err = client.Create(t.Context(), u, apply.WriteOptions{DryRun: true}); err != nil {
			invalid++
			continue
		}
		made := s.doc
		if reason.Inject() {
			if made, err = injected(in, s.doc); err != nil {
				t.Errorf("%s: %v", s, err)
				continue
			}
			shown, err := injected(in, docOf(t, s.plain))
			if err != nil {
				t.Errorf("%s: %v", s, err)
				continue
			}
			s.record = record(&unstructured.Unstructured{Object: shown.Map()})
		}
		if s.served, err = client.Create(t.Context(), &unstructured.Unstructured{Object: made.Map()}, apply.WriteOptions{DryRun: true}); err != nil {
			t.Errorf("%s: injection makes it invalid: %v", s, err)
			continue
		}
		out = append(out, s)
	}
	if len(out) < 300 {
		t.Errorf("only %d pods and pod templates", len(out))
	}
	t.Logf("%d pods and pod templates; %d more are not valid", len(out), invalid)
	return out
}

// injected is what becomes of an object: nothing, where it is in conflict.
func injected(in *inject.Injector, doc *merge.Doc) (*merge.Doc, error) {
	result, err := in.Inject(doc, inject.Values{Given: given})
	if errors.Is(err, merge.ErrConflict) {
		return doc, nil
	}
	if err != nil {
		return nil, err
	}
	return result.Object()
}

// record is what an object says of what is injected into it.
func record(u *unstructured.Unstructured) string {
	text, _, _ := unstructured.NestedString(podOf(u), "metadata", "annotations", inject.RecordAnnotation)
	return text
}

// fields are pods with one of the fields that the sample of k8s.io/api sets in a pod's spec, a
// container or a volume: all of them at once are not valid.
func fields(t *testing.T) (out []manifest) {
	t.Helper()
	files := kinds.Samples(t)
	at := slices.IndexFunc(files, func(file string) bool { return filepath.Base(file) == "core.v1.Pod.json" })
	if at < 0 {
		t.Fatal("no sample of a pod")
	}
	text, err := os.ReadFile(files[at])
	if err != nil {
		t.Fatal(err)
	}
	doc, err := merge.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	sample := doc.Map()["spec"].(map[string]any)
	add := func(name string, edit func(spec, app map[string]any)) {
		u := pod(t, "", "shape", "")
		spec := u.Object["spec"].(map[string]any)
		edit(spec, spec["containers"].([]any)[0].(map[string]any))
		out = append(out, manifest{name, docOf(t, u)})
	}
	for name, value := range sample {
		if _, list := value.([]any); name != "volumes" && (name != "containers" || !list) {
			add("spec."+name, func(spec, _ map[string]any) { spec[name] = value })
		}
	}
	for name, value := range sample["containers"].([]any)[0].(map[string]any) {
		add("container."+name, func(_, app map[string]any) { app[name] = value })
	}
	for name, value := range sample["volumes"].([]any)[0].(map[string]any) {
		add("volume."+name, func(spec, _ map[string]any) {
			spec["volumes"] = []any{map[string]any{"name": "v", name: value}}
		})
	}
	return out
}

// anew is an object without what no two creations have in common, and without its record: the
// server shows a webhook what it has decoded, in which an empty list, say, is no longer there.
func anew(u *unstructured.Unstructured) *unstructured.Unstructured {
	u = u.DeepCopy()
	unstructured.RemoveNestedField(podOf(u), "metadata", "annotations", inject.RecordAnnotation)
	unstructured.RemoveNestedField(u.Object, "metadata", "uid")
	unstructured.RemoveNestedField(u.Object, "metadata", "creationTimestamp")
	for _, key := range []string{"controller-uid", "batch.kubernetes.io/controller-uid"} { // of a Job
		unstructured.RemoveNestedField(u.Object, "metadata", "labels", key)
		unstructured.RemoveNestedField(u.Object, "spec", "selector", "matchLabels", key)
		unstructured.RemoveNestedField(u.Object, "spec", "template", "metadata", "labels", key)
	}
	return u
}
