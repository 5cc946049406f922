package e2e

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	gvk "k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/braid/apply"
	"example.com/braid/merge"
)

// turns are objects that kubectl apply and braid apply in turn.
type turns struct {
	*testing.T
	kubectl *kubectl
	s       *settler
	first   []*merge.Doc // what is declared at first
	second  []*merge.Doc // and what then
}

// perKind is how many objects of a kind take part.
const perKind = 8

// Two people keep the same manifests in one cluster, one by kubectl apply, one by braid: what
// either has applied the other finds as it should be, and what either declared and the other
// no longer does is removed.
func TestTurns(t *testing.T) {
	k := newTurns(t)
	for name, said := range k.kubectlApplies(k.first, "created") {
		k.Errorf("%s: kubectl: %s at first", name, said)
	}
	k.second = k.changed()
	k.braidFindsNothing("after kubectl has made all", k.first)

	k.braidApplies(k.second)
	ours := k.live()
	k.isSecond("after braid has changed all", ours)
	configured := k.kubectlApplies(k.second, "unchanged")
	after := k.live()
	for name := range k.kubectlApplies(k.second, "unchanged") {
		delete(configured, name) // of these kubectl says so each time
	}
	for name, said := range configured {
		k.Errorf("%s: kubectl after braid applied the same: %s", name, said)
	}
	for name, u := range after {
		if got, want := annotation(u), annotation(ours[name]); got != want {
			k.Errorf("%s: kubectl's record\n%s\nbraid's\n%s", name, got, want)
		}
	}

	k.kubectlApplies(k.first, "configured")
	k.isFirst("after kubectl has changed all back", k.live())
	k.braidFindsNothing("after kubectl has changed all back", k.first)
	k.kubectlApplies(k.second, "configured")
	theirs := k.live()
	k.isSecond("after kubectl has changed all", theirs)
	k.braidFindsNothing("after kubectl has changed all", k.second)
	for name, u := range theirs {
		if !same(uncounted(u), uncounted(ours[name])) {
			k.Errorf("%s: kubectl makes of the second something else than braid:\n%s", name, difference(uncounted(u), uncounted(ours[name])))
		}
	}

	k.braidApplies(k.first)
	before := k.live()
	k.isFirst("after braid has changed all back", before)
	// By force, for to a server 1000m is not what another manager said by 1.
	k.kubectlApplies(k.first, "serverside-applied", "--server-side", "--force-conflicts")
	for name, u := range k.live() {
		if was := before[name]; !same(uncounted(u), uncounted(was)) {
			k.Errorf("%s: kubectl apply --server-side of the same makes a difference:\n%s", name, difference(uncounted(u), uncounted(was)))
		}
	}
	k.braidApplies(k.first) // brings back the record, and nothing else
	for name, u := range k.live() {
		if was := before[name]; !same(uncounted(u), uncounted(was)) || annotation(u) != annotation(was) {
			k.Errorf("%s: braid after kubectl apply --server-side of the same makes a difference:\n%s", name, difference(u, was))
		}
	}
	t.Logf("%d objects of %d kinds", len(k.first), k.kinds())
}

// newTurns chooses the objects: the first few of each kind in a namespace that the server
// takes, and one of a custom kind.
func newTurns(t *testing.T) *turns {
	t.Helper()
	ns := namespace(t)
	k := &turns{T: t, s: newSettler(t)}
	count := map[gvk.GroupKind]int{}
	for i, m := range append(k.custom(), manifests(t)...) {
		mapping, err := client.Mapper.RESTMapping(m.kind().GroupKind(), m.kind().Version)
		if err != nil || mapping.Scope.Name() != meta.RESTScopeNameNamespace || inTheWay[m.kind().Kind] || count[m.kind().GroupKind()] == perKind {
			continue
		}
		u := &unstructured.Unstructured{Object: m.doc.Map()}
		u.SetNamespace(ns)
		u.SetName(fmt.Sprintf("turn-%d", i))
		doc, err := labelled(docOf(t, u))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Create(t.Context(), &unstructured.Unstructured{Object: doc.Map()}, apply.WriteOptions{DryRun: true}); err != nil || len(doc.JSON()) > 100<<10 || portTwice(u.Object) {
			continue // kubectl does not take what is large
		}
		count[m.kind().GroupKind()]++
		k.first = append(k.first, doc)
	}
	if len(k.first) < 120 {
		t.Errorf("only %d objects", len(k.first))
	}
	k.kubectl = newKubectl(t, ns)
	return k
}

// custom makes a custom kind, that of our manifests under another group, and returns its object.
func (k *turns) custom() []manifest {
	k.Helper()
	var out []manifest
	for _, m := range own(k.T, "testdata/kinds.yaml") {
		if kind := m.kind().Kind; kind != "CustomResourceDefinition" && kind != "Thing" {
			continue
		}
		doc, err := merge.Parse(bytes.ReplaceAll(m.doc.JSON(), []byte("e2e.example.com"), []byte("turns.example.com")))
		if err != nil {
			k.Fatal(err)
		}
		if m.kind().Kind == "Thing" {
			out = append(out, manifest{m.from, doc})
		} else if _, _, err := k.s.settle(manifest{m.from, doc}); err != nil {
			k.Fatal(err)
		}
	}
	client.Mapper.Reset()
	return out
}

func (k *turns) kinds() int {
	seen := map[gvk.GroupVersionKind]bool{}
	for _, d := range k.first {
		seen[d.GVK()] = true
	}
	return len(seen)
}

// changed is what is declared in the second turn: a label less and one more, and the first
// change of another sort that the server takes.
func (k *turns) changed() (out []*merge.Doc) {
	k.Helper()
	dry, err := apply.NewApplier(client, apply.ApplierOptions{Options: apply.Options{Schema: k.s.schema}, DryRun: true, Attempts: 1})
	if err != nil {
		k.Fatal(err)
	}
	for i, d := range k.first {
		fields := d.Map()
		all := changes(d)
		for n := range min(len(all), 12) {
			c := all[(i+n)%len(all)]
			doc, err := merge.FromMap(c.desired)
			if err != nil || strings.HasPrefix(c.name, "label") || portTwice(c.desired) || d.GVK().Kind == "Pod" { // what can be added to a pod cannot be taken away
				continue
			}
			if outcomes, err := dry.Apply(k.Context(), doc); err == nil && outcomes[0].Operation != apply.None {
				fields = c.desired
				break
			}
		}
		labels := child(child(fields, "metadata"), "labels")
		delete(labels, ours)
		labels["braid.example.com/second"] = "declared"
		doc, err := merge.FromMap(fields)
		if err != nil {
			k.Fatal(err)
		}
		out = append(out, doc)
	}
	return out
}

// kubectlApplies returns of which objects kubectl says something else than want.
func (k *turns) kubectlApplies(desired []*merge.Doc, want string, args ...string) map[string]string {
	k.Helper()
	said, aside := k.kubectl.apply(k.T, desired, args...)
	if len(said) != len(desired) {
		k.Errorf("kubectl speaks of %d of %d objects", len(said), len(desired))
	}
	if aside != "" {
		k.Errorf("kubectl warns: %s", aside)
	}
	for name, what := range said {
		if what == want {
			delete(said, name)
		}
	}
	return said
}

func (k *turns) braidApplies(desired []*merge.Doc) []apply.Outcome {
	k.Helper()
	applier, err := apply.NewApplier(client, apply.ApplierOptions{Options: apply.Options{Schema: k.s.schema}})
	if err != nil {
		k.Fatal(err)
	}
	outcomes, err := applier.Apply(k.Context(), desired...)
	if err != nil {
		k.Error(err)
	}
	return outcomes
}

// braidFindsNothing applies what is there already: nothing is written, but for what a server
// changes each time.
func (k *turns) braidFindsNothing(when string, desired []*merge.Doc) {
	k.Helper()
	for _, o := range k.braidApplies(desired) {
		if o.Operation != apply.None && (o.Plan == nil || why(o.Plan) == "") {
			var report strings.Builder
			if o.Plan != nil {
				_ = o.Plan.WriteReport(&report, false)
			}
			k.Errorf("%s: %s\n%s", when, o, &report)
		}
	}
}

// live is what is stored, by name.
func (k *turns) live() map[string]*unstructured.Unstructured {
	k.Helper()
	out := map[string]*unstructured.Unstructured{}
	for _, d := range k.first {
		u, err := client.Get(k.Context(), apply.IDOf(&unstructured.Unstructured{Object: d.Map()}))
		if err != nil {
			k.Fatal(err)
		}
		out[u.GetName()] = u
	}
	return out
}

func (k *turns) isFirst(when string, live map[string]*unstructured.Unstructured) {
	k.Helper()
	k.labels(when, live, "declared", "")
}

func (k *turns) isSecond(when string, live map[string]*unstructured.Unstructured) {
	k.Helper()
	k.labels(when, live, "", "declared")
}

func (k *turns) labels(when string, live map[string]*unstructured.Unstructured, first, second string) {
	k.Helper()
	for name, u := range live {
		if l := u.GetLabels(); l[ours] != first || l["braid.example.com/second"] != second {
			k.Errorf("%s: %s %s: labels %v", when, u.GetKind(), name, l)
		}
	}
}

// uncounted is an object without what counts changes, and without the record, which kubectl
// apply --server-side writes in another form.
func uncounted(u *unstructured.Unstructured) *unstructured.Unstructured {
	u = u.DeepCopy()
	unstructured.RemoveNestedField(u.Object, "metadata", "annotations", "deprecated.daemonset.template.generation")
	unstructured.RemoveNestedField(u.Object, "metadata", "annotations", apply.LastAppliedAnnotation)
	return u
}

// portTwice reports whether two ports of a list have one number, of which kubectl loses one.
func portTwice(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, field := range v {
			if portTwice(field) {
				return true
			}
		}
	case []any:
		seen := map[string]bool{}
		for _, e := range v {
			if portTwice(e) {
				return true
			}
			m, _ := e.(map[string]any)
			port := fmt.Sprint(cmp.Or(m["port"], m["containerPort"]))
			if seen[port] {
				return true
			}
			seen[port] = m["port"] != nil || m["containerPort"] != nil
		}
	}
	return false
}

func annotation(u *unstructured.Unstructured) string {
	return u.GetAnnotations()[apply.LastAppliedAnnotation]
}
