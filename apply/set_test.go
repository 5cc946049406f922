package apply_test

import (
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/braid/apply"
	"example.com/braid/merge"
)

// inventory is that of a set in the namespace default.
func inventory(name string) apply.Inventory {
	return apply.Inventory{Parent: apply.ID{GVK: schema.GroupVersionKind{Version: "v1", Kind: "Secret"}, Namespace: "default", Name: name}}
}

func newSet(t testing.TB, text string, o apply.SetOptions) *apply.Set {
	t.Helper()
	s, err := apply.NewSet(apply.ReadManifest("m", strings.NewReader(text)), o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// names returns the addresses of a set, in order.
func names(t testing.TB, s *apply.Set) []string {
	t.Helper()
	var out []string
	for d, err := range s.Documents() {
		if err != nil {
			t.Fatal(err)
		}
		name, _ := d.Text("metadata", "name")
		namespace, _ := d.Text("metadata", "namespace")
		out = append(out, strings.TrimPrefix(d.GVK().Kind+" "+namespace+"/"+name, "/"))
	}
	return out
}

func TestNewSet(t *testing.T) {
	for _, c := range []struct {
		name, text string
		o          apply.SetOptions
		want       string // documents, in order
	}{
		{"nothing", "", apply.SetOptions{}, ""},
		{"by kind, then as given", `
{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: w}}
---
{apiVersion: example.com/v1, kind: Thing, metadata: {name: x, namespace: ns}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: z, namespace: ns}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: b, namespace: ns}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: ns}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: ns}}
`, apply.SetOptions{}, "Namespace /ns, ConfigMap ns/b, ConfigMap ns/a, Deployment ns/z, Thing ns/x, ValidatingWebhookConfiguration /w"},
		{"a namespace where one is needed", `
{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: b, namespace: own}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: c, namespace: needless}}
---
{apiVersion: example.com/v1, kind: Wide, metadata: {name: d}}
---
{apiVersion: example.com/v1, kind: Other, metadata: {name: e}}
---
{apiVersion: example.com/v1, kind: Told, metadata: {name: f}}
---
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: wides.example.com}, spec: {group: example.com, scope: Cluster, names: {kind: Wide}}}
`, apply.SetOptions{Namespace: "ns", ClusterScoped: func(k schema.GroupKind) bool { return k.Kind == "Told" }},
			"CustomResourceDefinition /wides.example.com, ClusterRole /c, ConfigMap ns/a, ConfigMap own/b, Wide /d, Other ns/e, Told /f"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSet(t, c.text, c.o)
			if got := strings.Join(names(t, s), ", "); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestNewSetErrors(t *testing.T) {
	const good = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: ns}}\n---\n"
	for _, c := range []struct {
		name, text string
		o          apply.SetOptions
		rule       error
		want       string
	}{
		{"no kind", good + "{apiVersion: v1, metadata: {name: a}}", apply.SetOptions{}, merge.ErrType, "m, document 2 (line 3): desired: kind: wrong type: want a text"},
		{"no version", good + "{kind: ConfigMap, metadata: {name: a}}", apply.SetOptions{}, merge.ErrType, "m, document 2 (line 3): desired: apiVersion: wrong type: want a text"},
		{"no name", good + "{apiVersion: v1, kind: ConfigMap, metadata: {generateName: a}}", apply.SetOptions{}, merge.ErrType, "m, document 2 (line 3): desired: metadata.name: wrong type: want a text"},
		{"no map", good + "[1]", apply.SetOptions{}, merge.ErrType, "m, document 2 (line 3): desired: apiVersion: wrong type: want a text"},
		{"no manifest", good + "a: {", apply.SetOptions{}, merge.ErrYAML, "m, document 2 (line 3): desired: not valid YAML: line 4: did not find expected node content"},
		{"twice", good + "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}", apply.SetOptions{Namespace: "ns"}, apply.ErrTwice,
			"m, document 2 (line 3): v1 ConfigMap ns/a: declared twice in one set, first in m, document 1 (line 1)"},
		{"twice in two versions", "{apiVersion: autoscaling/v1, kind: HorizontalPodAutoscaler, metadata: {name: a}}\n---\n{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: a}}",
			apply.SetOptions{}, apply.ErrTwice, "m, document 2 (line 3): autoscaling/v2 HorizontalPodAutoscaler a: declared twice in one set, first in m, document 1 (line 1)"},
		{"all that is wrong", "{kind: A}\n---\n{apiVersion: v1}", apply.SetOptions{}, merge.ErrType,
			"m, document 1 (line 1): desired: apiVersion: wrong type: want a text\nm, document 2 (line 3): desired: kind: wrong type: want a text"},
		{"another set's", good + "{apiVersion: v1, kind: Secret, metadata: {name: a, labels: {applyset.kubernetes.io/part-of: other}}}", apply.SetOptions{Inventory: inventory("x")}, apply.ErrOtherSet,
			`m, document 2 (line 3): desired: metadata.labels["applyset.kubernetes.io/part-of"]: a member of another set`},
		{"labels that are none", "{apiVersion: v1, kind: Secret, metadata: {name: a, labels: [b]}}", apply.SetOptions{Inventory: inventory("x")}, merge.ErrType,
			"m, document 1 (line 1): desired: metadata.labels: wrong type: want a map, got a list"},
		{"a parent of no kind", "", apply.SetOptions{Inventory: apply.Inventory{Parent: apply.ID{Name: "x"}}}, merge.ErrOption, "needs a version"},
		{"a parent without namespace", "", apply.SetOptions{Inventory: apply.Inventory{Parent: apply.ID{GVK: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, Name: "x"}}}, merge.ErrOption, "needs a namespace"},
		{"a parent of a kind that cannot be", "", apply.SetOptions{Inventory: apply.Inventory{Parent: apply.ID{GVK: schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, Namespace: "ns", Name: "x"}}}, merge.ErrOption, "not a Pod"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := apply.NewSet(apply.ReadManifest("m", strings.NewReader(c.text)), c.o)
			if s != nil || !errors.Is(err, c.rule) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("set %v, error %v\nwant %q with the rule %v", s, err, c.want, c.rule)
			}
		})
	}
}

// A set declares what its documents declare, but for the namespace and the label; its own
// documents make the same set.
func TestSetDocuments(t *testing.T) {
	const text = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {b: c}}, data: {m: 1.0, z: null}}"
	o := apply.SetOptions{Namespace: "ns", Inventory: inventory("x")}
	s := newSet(t, text, o)
	want := `{"apiVersion":"v1","data":{"m":1.0,"z":null},"kind":"ConfigMap","metadata":{"labels":{"applyset.kubernetes.io/part-of":"` + o.Inventory.ID() + `","b":"c"},"name":"a","namespace":"ns"}}`
	for range 2 {
		for d := range s.Documents() {
			if got := string(d.JSON()); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		}
		var err error
		if s, err = apply.NewSet(s.Documents(), o); err != nil {
			t.Fatal(err)
		}
	}
	id := apply.ID{GVK: schema.GroupVersionKind{Version: "v9", Kind: "ConfigMap"}, Namespace: "ns", Name: "a"}
	if !s.Has(id) || s.Has(apply.ID{GVK: id.GVK, Name: "a"}) || s.Len() != 1 {
		t.Errorf("Has is wrong, or Len %d", s.Len())
	}
}

func TestCompareKinds(t *testing.T) {
	kinds := []schema.GroupKind{
		{Kind: "Namespace"}, {Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}, {Group: "scheduling.k8s.io", Kind: "PriorityClass"},
		{Kind: "ServiceAccount"}, {Group: "rbac.authorization.k8s.io", Kind: "Role"}, {Group: "rbac.authorization.k8s.io", Kind: "RoleBinding"},
		{Kind: "ConfigMap"}, {Group: "storage.k8s.io", Kind: "StorageClass"}, {Kind: "PersistentVolumeClaim"}, {Kind: "Service"}, {Group: "apps", Kind: "Deployment"},
		{Group: "example.com", Kind: "Namespace"}, // by its name only
		{Group: "admissionregistration.k8s.io", Kind: "MutatingWebhookConfiguration"}, {Group: "apiregistration.k8s.io", Kind: "APIService"},
	}
	if !slices.IsSortedFunc(kinds, apply.CompareKinds) {
		t.Error("not in order:", kinds)
	}
	for i, a := range kinds {
		for j, b := range kinds {
			if x, y := apply.CompareKinds(a, b), apply.CompareKinds(b, a); x != -y || (x == 0) != (i == j) {
				t.Errorf("%v, %v: %d, the other way %d", a, b, x, y)
			}
		}
	}
}

// steps runs a plan of a set to its end.
func steps(seq iter.Seq[apply.Step]) (out []apply.Step, counts apply.Counts) {
	for s := range seq {
		out = append(out, s)
		counts.Add(s)
	}
	return out, counts
}

func TestSetPlan(t *testing.T) {
	i := inventory("x")
	s := newSet(t, `
{apiVersion: v1, kind: ConfigMap, metadata: {name: new, namespace: ns}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: same, namespace: ns}, data: {a: b}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: other, namespace: ns}, data: {a: c}}
`, apply.SetOptions{Inventory: i})
	p := planner(t, apply.Options{})
	applied := func(text string) *merge.Doc {
		for step := range newSet(t, text, apply.SetOptions{Inventory: i}).Plan(p, apply.Live{}) {
			return step.Plan.Object
		}
		return nil
	}
	objects := map[string]*merge.Doc{
		"same":  applied("{apiVersion: v1, kind: ConfigMap, metadata: {name: same, namespace: ns}, data: {a: b}}"),
		"other": applied("{apiVersion: v1, kind: ConfigMap, metadata: {name: other, namespace: ns}, data: {a: b}}"),
	}
	member := func(kind, name, label string) *merge.Doc {
		return fromYAML(t, "{apiVersion: v1, kind: "+kind+", metadata: {name: "+name+", namespace: default, uid: u-"+name+", labels: {applyset.kubernetes.io/part-of: "+label+"}}}")
	}
	live := apply.Live{
		Get: func(id apply.ID) (*merge.Doc, error) { return objects[id.Name], nil },
		Members: func(yield func(*merge.Doc, error) bool) {
			for _, d := range []*merge.Doc{
				objects["same"], objects["other"], // declared
				member("Namespace", "ns", i.ID()), member("ConfigMap", "gone", i.ID()), member("Pod", "gone", i.ID()),
				member("Secret", "x", i.ID()),       // the parent
				member("Secret", "theirs", "other"), // what an odd Lister may return
			} {
				if !yield(d, nil) {
					return
				}
			}
		},
	}
	all, counts := steps(s.Plan(p, live))
	var report strings.Builder
	for n, step := range all {
		if step.Number != n+1 || step.Total != s.Len() && step.Prune == nil || step.Prune != nil && step.Total != len(all) {
			t.Errorf("step %d is %d of %d", n, step.Number, step.Total)
		}
		if err := step.WriteReport(&report, false); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for line := range strings.Lines(report.String()) {
		if !strings.HasPrefix(line, " ") && strings.Contains(line, "v1 ") && !strings.Contains(line, "metadata.") {
			got = append(got, line)
		}
	}
	want := `v1 ConfigMap ns/new: Create
v1 ConfigMap ns/same: None
v1 ConfigMap ns/other: Patch
v1 Pod default/gone: Prune
v1 ConfigMap default/gone: Prune
v1 Namespace default/ns: kept: a namespace goes with all that is in it; delete it by hand
`
	if strings.Join(got, "") != want {
		t.Errorf("got\n%s\nwant lines\n%s", report.String(), want)
	}
	if all[3].Prune.UID != "u-gone" || all[0].Place.Line != 2 {
		t.Errorf("UID %q, line %d", all[3].Prune.UID, all[0].Place.Line)
	}
	if c := (apply.Counts{None: 1, Create: 1, Patch: 1, Prune: 2, Keep: 1}); counts != c || counts.Changes() != 4 || counts.String() != "1 Create, 1 Patch, 2 Prune, 1 kept, 1 None" {
		t.Errorf("counts %+v, %s", counts, counts)
	}

	t.Run("nothing is pruned after an error", func(t *testing.T) {
		objects["same"] = member("ConfigMap", "same", "other")
		all, counts := steps(s.Plan(p, live))
		if len(all) != 3 || !errors.Is(all[1].Err, apply.ErrOtherSet) || counts.Fail != 1 {
			t.Errorf("%d steps, then %v, %s", len(all), all[1].Err, counts)
		}
	})
	t.Run("a caller that has enough", func(t *testing.T) {
		delete(objects, "same")
		for n := 1; n < 6; n++ {
			got := 0
			for range s.Plan(p, live) {
				if got++; got == n {
					break
				}
			}
			if got != n {
				t.Errorf("%d steps, want %d", got, n)
			}
		}
	})
}
