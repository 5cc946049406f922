package apply_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/braid/apply"
	"example.com/braid/apply/memory"
	"example.com/braid/internal/kinds"
	"example.com/braid/merge"
)

func applySet(t testing.TB, c apply.SetClient, s *apply.Set, o apply.SetApplierOptions) (apply.Counts, error) {
	t.Helper()
	a, err := apply.NewSetApplier(c, s, o)
	if err != nil {
		t.Fatal(err)
	}
	return a.Apply(context.Background())
}

// has returns the annotations and labels of the parent of a set.
func parentOf(t testing.TB, c apply.Client, i apply.Inventory) (labels, annotations map[string]string) {
	t.Helper()
	u, err := c.Get(context.Background(), i.Parent)
	if err != nil {
		t.Fatal(err)
	}
	return u.GetLabels(), u.GetAnnotations()
}

func configMap(name, namespace string) string {
	return "{apiVersion: v1, kind: ConfigMap, metadata: {name: " + name + ", namespace: " + namespace + "}}\n---\n"
}

// A set that changes: the parent always says where members are, in kubectl's words, and what is
// no longer declared goes.
func TestSetApplier(t *testing.T) {
	i := inventory("web")
	var calls []string // writes, and lists of members
	c := memory.New(memory.Options{Intercept: func(_ context.Context, call memory.Call, next func() error) error {
		err := next()
		switch {
		case call.Verb == memory.List:
			calls = append(calls, fmt.Sprintf("list %s %s", call.ID.GVK.Kind, call.ID.Namespace))
		case call.Verb != memory.Get:
			calls = append(calls, fmt.Sprintf("%s %s %s/%s", call.Verb, call.ID.GVK.Kind, call.ID.Namespace, call.ID.Name))
		}
		return err
	}})
	const role = "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: r}}\n---\n"
	for _, step := range []struct {
		text   string
		want   apply.Counts
		calls  string
		kinds  string
		spaces string
	}{
		{configMap("a", "one") + role, apply.Counts{Create: 2}, "create Secret default/web, create ClusterRole /r, create ConfigMap one/a",
			"ClusterRole.rbac.authorization.k8s.io,ConfigMap", "one"},
		{configMap("a", "one") + role, apply.Counts{None: 2}, "list ClusterRole , list ConfigMap default, list ConfigMap one",
			"ClusterRole.rbac.authorization.k8s.io,ConfigMap", "one"},
		{configMap("b", "two"), apply.Counts{Create: 1, Prune: 2},
			"patch Secret default/web, create ConfigMap two/b, list ClusterRole , list ConfigMap default, list ConfigMap one, delete ConfigMap one/a, delete ClusterRole /r, patch Secret default/web",
			"ConfigMap", "two"},
		{"", apply.Counts{Prune: 1}, "list ConfigMap default, list ConfigMap two, delete ConfigMap two/b, patch Secret default/web", "", ""},
	} {
		calls = nil
		got, err := applySet(t, c, newSet(t, step.text, apply.SetOptions{Inventory: i}), apply.SetApplierOptions{})
		if err != nil || got != step.want {
			t.Errorf("%v, %v, want %v", got, err, step.want)
		}
		if s := strings.Join(calls, ", "); s != step.calls {
			t.Errorf("calls\n%s\nwant\n%s", s, step.calls)
		}
		labels, notes := parentOf(t, c, i)
		want := map[string]string{apply.ToolingAnnotation: "braid/v1", apply.KindsAnnotation: step.kinds, apply.NamespacesAnnotation: step.spaces}
		if !maps.Equal(notes, want) || !maps.Equal(labels, map[string]string{apply.ParentLabel: i.ID()}) {
			t.Errorf("the parent says %v %v, want %v", labels, notes, want)
		}
	}
}

// The law of sets: after any row of sets the cluster holds what the last one declares and what
// is nobody's, and applying it again does nothing.
func TestSetApplierLaw(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	text := func(name, namespace, kind string, data int) string {
		return fmt.Sprintf("{apiVersion: v1, kind: %s, metadata: {name: %s, namespace: %s}, data: {a: aGV5%d}}\n---\n", kind, name, namespace, data)
	}
	for round := range 20 {
		c := memory.New(memory.Options{})
		nobodys := newSet(t, configMap("nobodys", "one"), apply.SetOptions{})
		others := newSet(t, configMap("others", "one"), apply.SetOptions{Inventory: inventory("others")})
		for _, s := range []*apply.Set{nobodys, others} {
			if _, err := applySet(t, c, s, apply.SetApplierOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		var last map[string]bool
		for range 4 {
			manifest, now := "", map[string]bool{}
			for _, kind := range []string{"ConfigMap", "Secret", "Service"} {
				for _, namespace := range []string{"one", "two", "default"} {
					for _, name := range []string{"x", "z"} {
						if r.IntN(2) == 0 {
							manifest += text(name, namespace, kind, r.IntN(3))
							now[kind+" "+namespace+"/"+name] = true
						}
					}
				}
			}
			set := newSet(t, manifest, apply.SetOptions{Inventory: inventory("web")})
			var pruned []string
			o := apply.SetApplierOptions{Step: func(s apply.Step) {
				if s.Prune != nil {
					pruned = append(pruned, s.ID.GVK.Kind+" "+s.ID.Namespace+"/"+s.ID.Name)
				}
			}}
			o.Concurrency = 1 + r.IntN(4)
			if _, err := applySet(t, c, set, o); err != nil {
				t.Fatal(err)
			}
			var gone []string
			for id := range last {
				if !now[id] {
					gone = append(gone, id)
				}
			}
			slices.Sort(gone)
			slices.Sort(pruned)
			if !slices.Equal(pruned, gone) {
				t.Errorf("round %d: pruned %v, want %v", round, pruned, gone)
			}
			for _, kind := range []string{"ConfigMap", "Secret", "Service"} {
				list, err := c.List(context.Background(), schema.GroupVersionKind{Version: "v1", Kind: kind}, apply.ListOptions{})
				if err != nil {
					t.Fatal(err)
				}
				for _, u := range list.Items {
					if id := kind + " " + u.GetNamespace() + "/" + u.GetName(); !now[id] && !slices.Contains([]string{"nobodys", "others", "web"}, u.GetName()) {
						t.Errorf("round %d: %s is left", round, id)
					}
				}
			}
			if again, err := applySet(t, c, set, apply.SetApplierOptions{}); err != nil || again != (apply.Counts{None: set.Len()}) {
				t.Errorf("round %d: again %v, %v", round, again, err)
			}
			last = now
		}
		for _, s := range []*apply.Set{nobodys, others} {
			if counts, err := applySet(t, c, s, apply.SetApplierOptions{}); err != nil || counts != (apply.Counts{None: 1}) {
				t.Errorf("round %d: %v, %v", round, counts, err)
			}
		}
	}
}

// Nothing that failed is pruned, and nothing at all unless that is asked for.
func TestSetApplierFailures(t *testing.T) {
	before := configMap("a", "one") + configMap("b", "one") + configMap("c", "one")
	after := configMap("a", "one") + configMap("b", "one")
	refuse := func(name string) memory.Hook {
		return func(_ context.Context, a *memory.Admission) error {
			if a.ID.Name == name {
				return errors.New("no")
			}
			return nil
		}
	}
	for _, c := range []struct {
		name    string
		refuse  string
		options apply.SetApplierOptions
		left    string
		want    apply.Counts
		spaces  string // the namespaces of the parent afterwards
	}{
		{"all is well", "", apply.SetApplierOptions{}, "a b", apply.Counts{None: 1, Patch: 1, Prune: 1}, "one"},
		{"one fails", "b", apply.SetApplierOptions{}, "a b c", apply.Counts{None: 1, Fail: 1}, "one"},
		{"one fails, prune anyway", "b", apply.SetApplierOptions{Pruning: apply.PruneAnyway}, "a b", apply.Counts{None: 1, Fail: 1, Prune: 1}, "one"},
		{"never prune", "", apply.SetApplierOptions{Pruning: apply.PruneNever}, "a b c", apply.Counts{None: 1, Patch: 1}, "one"},
		{"a prune fails", "c", apply.SetApplierOptions{}, "a b c", apply.Counts{None: 1, Patch: 1, Fail: 1}, "one"},
		{"dry run", "", apply.SetApplierOptions{ApplierOptions: apply.ApplierOptions{DryRun: true}}, "a b c", apply.Counts{None: 1, Patch: 1, Prune: 1}, "one"},
	} {
		t.Run(c.name, func(t *testing.T) {
			armed := false
			hook := refuse(c.refuse)
			cluster := memory.New(memory.Options{Validate: []memory.Hook{func(ctx context.Context, a *memory.Admission) error {
				if armed {
					return hook(ctx, a)
				}
				return nil
			}}})
			o := apply.SetOptions{Inventory: inventory("web")}
			if _, err := applySet(t, cluster, newSet(t, before, o), apply.SetApplierOptions{}); err != nil {
				t.Fatal(err)
			}
			armed = true
			changed := strings.Replace(after, "name: b, namespace: one}", "name: b, namespace: one}, data: {k: v}", 1)
			got, err := applySet(t, cluster, newSet(t, changed, o), c.options)
			var object *apply.Error
			if got != c.want || (err != nil) != (c.want.Fail > 0) || err != nil && (!errors.As(err, &object) || object.ID.Name != c.refuse) {
				t.Errorf("%v, %v, want %v", got, err, c.want)
			}
			list, err := cluster.List(context.Background(), schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, apply.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			var left []string
			for _, u := range list.Items {
				left = append(left, u.GetName())
			}
			if s := strings.Join(left, " "); s != c.left {
				t.Errorf("left are %s, want %s", s, c.left)
			}
			if _, notes := parentOf(t, cluster, o.Inventory); notes[apply.NamespacesAnnotation] != c.spaces {
				t.Errorf("the parent says %v", notes)
			}
		})
	}
}

// A run that breaks off leaks nothing: the next one finds all members.
func TestSetApplierBreaksOff(t *testing.T) {
	o := apply.SetOptions{Inventory: inventory("web")}
	for stop := range 12 {
		calls, limit := 0, 1000
		c := memory.New(memory.Options{Intercept: func(_ context.Context, call memory.Call, next func() error) error {
			if calls++; calls > limit {
				return errors.New("the line is cut")
			}
			return next()
		}})
		if _, err := applySet(t, c, newSet(t, configMap("a", "one")+configMap("b", "two"), o), apply.SetApplierOptions{}); err != nil {
			t.Fatal(err)
		}
		calls, limit = 0, stop
		_, first := applySet(t, c, newSet(t, configMap("d", "three")+configMap("e", "four"), o), apply.SetApplierOptions{})
		calls, limit = 0, 1000
		if _, err := applySet(t, c, newSet(t, configMap("f", "five"), o), apply.SetApplierOptions{}); err != nil {
			t.Fatal(err)
		}
		list, err := c.List(context.Background(), schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, apply.ListOptions{})
		if err != nil || len(list.Items) != 1 || list.Items[0].GetName() != "f" {
			t.Errorf("cut after %d calls (%v): %d objects are left, %v", stop, first, len(list.Items), err)
		}
	}
}

func TestSetApplierStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c := memory.New(memory.Options{})
	set := newSet(t, configMap("a", "one")+configMap("b", "one")+configMap("c", "one"), apply.SetOptions{Inventory: inventory("web")})
	var last apply.Step
	a, err := apply.NewSetApplier(c, set, apply.SetApplierOptions{Step: func(s apply.Step) {
		last = s
		if s.Number == 2 {
			cancel()
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	counts, err := a.Apply(ctx)
	if counts.Create < 2 || last.Total != 3 || counts.Create < 3 && (!errors.Is(err, apply.ErrNotTried) || !errors.Is(err, context.Canceled)) {
		t.Errorf("%v, step %d of %d, %v", counts, last.Number, last.Total, err)
	}
}

// What is another set's stays as it is, and so does what came in the place of a member.
func TestSetApplierOthers(t *testing.T) {
	ctx := context.Background()
	c := memory.New(memory.Options{})
	theirs := newSet(t, configMap("a", "one"), apply.SetOptions{Inventory: inventory("theirs")})
	ours := newSet(t, configMap("a", "one")+configMap("b", "one"), apply.SetOptions{Inventory: inventory("ours")})
	if _, err := applySet(t, c, theirs, apply.SetApplierOptions{}); err != nil {
		t.Fatal(err)
	}
	counts, err := applySet(t, c, ours, apply.SetApplierOptions{})
	if !errors.Is(err, apply.ErrOtherSet) || counts != (apply.Counts{Create: 1, Fail: 1}) {
		t.Errorf("%v, %v", counts, err)
	}
	if again, err := applySet(t, c, theirs, apply.SetApplierOptions{}); err != nil || again != (apply.Counts{None: 1}) {
		t.Errorf("theirs: %v, %v", again, err)
	}

	t.Run("a namespace", func(t *testing.T) {
		o := apply.SetOptions{Inventory: inventory("spaces")}
		if _, err := applySet(t, c, newSet(t, "{apiVersion: v1, kind: Namespace, metadata: {name: one}}", o), apply.SetApplierOptions{}); err != nil {
			t.Fatal(err)
		}
		counts, err := applySet(t, c, newSet(t, "", o), apply.SetApplierOptions{})
		if _, gone := c.Get(ctx, apply.ID{GVK: schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}, Name: "one"}); err != nil || counts != (apply.Counts{Keep: 1}) || gone != nil {
			t.Errorf("%v, %v, %v", counts, err, gone)
		}
	})
	t.Run("one that came in its place", func(t *testing.T) {
		o := apply.SetOptions{Inventory: inventory("place")}
		id := apply.ID{GVK: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, Namespace: "two", Name: "x"}
		swap := false
		c := memory.New(memory.Options{})
		between := intercepted{c, func(namespace string) {
			if swap && namespace == "two" { // deleted and made anew after the list
				swap = false
				if err := c.Delete(ctx, id, apply.DeleteOptions{}); err != nil {
					t.Fatal(err)
				}
				u := &unstructured.Unstructured{}
				u.SetGroupVersionKind(id.GVK)
				u.SetNamespace("two")
				u.SetName("x")
				if _, err := c.Create(ctx, u, apply.WriteOptions{}); err != nil {
					t.Fatal(err)
				}
			}
		}}
		if _, err := applySet(t, between, newSet(t, configMap("x", "two"), o), apply.SetApplierOptions{}); err != nil {
			t.Fatal(err)
		}
		swap = true
		if counts, err := applySet(t, between, newSet(t, "", o), apply.SetApplierOptions{}); !apierrors.IsConflict(err) || counts.Fail != 1 {
			t.Errorf("%v, %v", counts, err)
		}
		if _, err := c.Get(ctx, id); err != nil {
			t.Error(err)
		}
		if counts, err := applySet(t, between, newSet(t, "", o), apply.SetApplierOptions{}); err != nil || counts != (apply.Counts{}) {
			t.Errorf("%v, %v", counts, err)
		}
	})
}

// intercepted calls a function after each list.
type intercepted struct {
	*memory.Cluster
	listed func(namespace string)
}

func (c intercepted) List(ctx context.Context, kind schema.GroupVersionKind, o apply.ListOptions) (*unstructured.UnstructuredList, error) {
	defer c.listed(o.Namespace)
	return c.Cluster.List(ctx, kind, o)
}

// A parent is taken only if it is this set's and this tool's, and of a kind that may be.
func TestSetApplierParents(t *testing.T) {
	const own = "{apiVersion: v1, kind: Secret, metadata: {name: web, namespace: default, labels: {applyset.kubernetes.io/id: %s}, annotations: {%s}}}"
	id := inventory("web").ID()
	custom := apply.Inventory{Parent: apply.ID{GVK: schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Thing"}, Namespace: "default", Name: "web"}}
	const customParent = "---\n{apiVersion: example.com/v1, kind: Thing, metadata: {name: web, namespace: default, labels: {applyset.kubernetes.io/id: %s}, annotations: {applyset.kubernetes.io/tooling: braid/v0, applyset.kubernetes.io/contains-group-kinds: ''}}}"
	allowed := strings.Replace(crd, "{name: things.example.com}", `{name: things.example.com, labels: {applyset.kubernetes.io/is-parent-type: "true"}}`, 1)
	for _, c := range []struct {
		name, there string
		inventory   apply.Inventory
		want        string // part of the error; "" for none
	}{
		{"nothing there", "", inventory("web"), ""},
		{"an older braid's", fmt.Sprintf(own, id, "applyset.kubernetes.io/tooling: braid/v0, applyset.kubernetes.io/contains-group-kinds: Secret, applyset.kubernetes.io/contains-group-resources: secrets"), inventory("web"), ""},
		{"kubectl's", fmt.Sprintf(own, id, "applyset.kubernetes.io/tooling: kubectl/v1.37.2, applyset.kubernetes.io/contains-group-kinds: ''"), inventory("web"), `"kubectl" manages it, not "braid"`},
		{"kubectl's, as kubectl", fmt.Sprintf(own, id, "applyset.kubernetes.io/tooling: kubectl/v1.37.2, applyset.kubernetes.io/contains-group-kinds: ''"), apply.Inventory{Parent: inventory("web").Parent, Tool: "kubectl/v1.38.0"}, ""},
		{"nobody's", fmt.Sprintf(own, id, ""), inventory("web"), "no annotation applyset.kubernetes.io/tooling"},
		{"of another address", fmt.Sprintf(own, "applyset-x-v1", "applyset.kubernetes.io/tooling: braid/v0, applyset.kubernetes.io/contains-group-kinds: ''"), inventory("web"), `its label applyset.kubernetes.io/id is "applyset-x-v1"`},
		{"without kinds", fmt.Sprintf(own, id, "applyset.kubernetes.io/tooling: braid/v0"), inventory("web"), "no annotation applyset.kubernetes.io/contains-group-kinds"},
		{"custom", allowed + fmt.Sprintf(customParent, custom.ID()), custom, ""},
		{"custom, not there", allowed, custom, "has to be made first"},
		{"custom, not allowed", crd + fmt.Sprintf(customParent, custom.ID()), custom, "no label applyset.kubernetes.io/is-parent-type"},
		{"custom, of no kind", "", custom, "no label applyset.kubernetes.io/is-parent-type"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cluster := memory.New(memory.Options{})
			for d, err := range newSet(t, c.there, apply.SetOptions{}).Documents() {
				if err != nil {
					t.Fatal(err)
				}
				if _, err := cluster.Create(context.Background(), &unstructured.Unstructured{Object: d.Map()}, apply.WriteOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			counts, err := applySet(t, cluster, newSet(t, configMap("a", "one"), apply.SetOptions{Inventory: c.inventory}), apply.SetApplierOptions{})
			if c.want != "" {
				if !errors.Is(err, apply.ErrInventory) || !strings.Contains(err.Error(), c.want) || counts != (apply.Counts{}) {
					t.Errorf("%v, %v, want %q", counts, err, c.want)
				}
				return
			}
			if err != nil || counts != (apply.Counts{Create: 1}) {
				t.Errorf("%v, %v", counts, err)
			}
			_, notes := parentOf(t, cluster, c.inventory)
			if _, old := notes["applyset.kubernetes.io/contains-group-resources"]; old || notes[apply.KindsAnnotation] != "ConfigMap" {
				t.Errorf("the parent says %v", notes)
			}
		})
	}
}

// A custom kind is defined and used in one set, pruned by what the cluster knows of it, and
// stays in the parent's list where the cluster knows it no more.
func TestSetApplierCustomKinds(t *testing.T) {
	const thing = "---\n{apiVersion: example.com/v1, kind: Thing, metadata: {name: x, namespace: default}}"
	o := apply.SetOptions{Inventory: inventory("web")}
	refusals := 3 // a server takes a while until it serves a new kind
	c := memory.New(memory.Options{Intercept: func(_ context.Context, call memory.Call, next func() error) error {
		if call.Verb == memory.Create && call.ID.GVK.Kind == "Thing" && refusals > 0 {
			refusals--
			return apierrors.NewNotFound(schema.GroupResource{Group: "example.com", Resource: "things"}, "x")
		}
		return next()
	}})
	run := func(text string, want apply.Counts, kinds string) {
		t.Helper()
		counts, err := applySet(t, c, newSet(t, text, o), apply.SetApplierOptions{})
		if _, notes := parentOf(t, c, o.Inventory); err != nil || counts != want || notes[apply.KindsAnnotation] != kinds {
			t.Errorf("%v, %v, kinds %s; want %v, %s", counts, err, notes[apply.KindsAnnotation], want, kinds)
		}
	}
	both := "CustomResourceDefinition.apiextensions.k8s.io,Thing.example.com"
	run(crd+thing, apply.Counts{Create: 2}, both)
	run(crd+thing, apply.Counts{None: 2}, both)
	run(crd, apply.Counts{None: 1, Prune: 1}, "CustomResourceDefinition.apiextensions.k8s.io")
	run(crd+thing, apply.Counts{None: 1, Create: 1}, both)
	if err := c.Delete(context.Background(), apply.ID{GVK: schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}, Name: "things.example.com"}, apply.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	run("", apply.Counts{}, "Thing.example.com")
}

// Real projects, their documents shuffled, apply in one pass on a cluster that refuses what a
// real one refuses for want of another object of the set, or for a webhook that is not up yet.
func TestSetOrderCorpus(t *testing.T) {
	if testing.Short() {
		t.Skip("applies the corpus twice")
	}
	projects := map[string]string{}
	for _, file := range kinds.Corpus(t, "") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		project, _, _ := strings.Cut(filepath.Base(file), "__")
		projects[project] += string(text) + "\n---\n"
	}
	r := rand.New(rand.NewPCG(3, 4))
	objects := 0
	for _, project := range slices.Sorted(maps.Keys(projects)) {
		t.Run(project, func(t *testing.T) {
			var docs []apply.Document
			seen := map[string]bool{}
			for d, err := range apply.ReadManifest(project, strings.NewReader(projects[project])) {
				if err != nil || d.GVK().Version == "" {
					continue // a template
				}
				name, _ := d.Text("metadata", "name")
				namespace, _ := d.Text("metadata", "namespace")
				if apply.ClusterScoped(d.GVK().GroupKind()) {
					namespace = ""
				} else if namespace == "" {
					namespace = "default"
				}
				id := d.GVK().GroupKind().String() + " " + namespace + "/" + name
				if name == "" || seen[id] { // files of one project may be alternatives
					continue
				}
				seen[id] = true
				docs = append(docs, d)
			}
			r.Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
			set, err := apply.NewSet(func(yield func(apply.Document, error) bool) {
				for _, d := range docs {
					if !yield(d, nil) {
						return
					}
				}
			}, apply.SetOptions{Namespace: "default", Inventory: inventory(project)})
			if err != nil {
				t.Fatal(err)
			}
			objects += set.Len()
			c := memory.New(memory.Options{Validate: []memory.Hook{demanding(set)}})
			refused := 0 // as they are, in whatever order
			first, _ := applySet(t, c, set, apply.SetApplierOptions{Step: func(s apply.Step) {
				_, unserved := set.Schema(s.ID.GVK)
				switch {
				case s.Err == nil:
				case errors.Is(s.Err, merge.ErrType), apierrors.IsInvalid(s.Err), apierrors.IsNotFound(s.Err) && unserved != nil:
					refused++
				default:
					t.Error(s.ID, s.Err)
				}
			}})
			if want := (apply.Counts{Create: set.Len() - refused, Fail: refused}); first != want || refused > set.Len()/10 {
				t.Errorf("%v of %d", first, set.Len())
			}
			second, _ := applySet(t, c, set, apply.SetApplierOptions{})
			if want := (apply.Counts{None: first.Create, Fail: refused}); second != want {
				t.Errorf("again: %v of %d", second, set.Len())
			}
		})
	}
	if objects < 1000 {
		t.Errorf("%d objects of the corpus, want more", objects)
	}
}

// demanding refuses an object that is created before what it needs, if the set has that: its
// namespace, the definition of its kind, the role of a binding, the account, the priority class
// and the storage class of a pod; and all but webhooks once there is one.
func demanding(set *apply.Set) memory.Hook {
	needed := map[string]bool{} // what the set declares and the cluster does not have yet
	key := func(kind, namespace, name string) string { return kind + " " + namespace + "/" + name }
	for d := range set.Documents() {
		namespace, _ := d.Text("metadata", "namespace")
		name, _ := d.Text("metadata", "name")
		needed[key(d.GVK().Kind, namespace, name)] = true
		if d.GVK().Kind == "CustomResourceDefinition" {
			group, _ := d.Text("spec", "group")
			kind, _ := d.Text("spec", "names", "kind")
			needed["definition of "+kind+"."+group] = true
		}
	}
	webhooks := false
	return func(_ context.Context, a *memory.Admission) error {
		if a.Verb != memory.Create {
			return nil
		}
		o, namespace := a.Object.Object, a.ID.Namespace
		at := func(fields ...string) string { s, _, _ := unstructured.NestedString(o, fields...); return s }
		needs := []string{key("Namespace", "", namespace), "definition of " + a.ID.GVK.GroupKind().String()}
		if strings.HasSuffix(a.ID.GVK.Kind, "RoleBinding") {
			in := namespace
			if at("roleRef", "kind") == "ClusterRole" {
				in = ""
			}
			needs = append(needs, key(at("roleRef", "kind"), in, at("roleRef", "name")))
		}
		if _, err := merge.SchemaFor(a.ID.GVK); err == nil {
			for _, pod := range [][]string{{"spec"}, {"spec", "template", "spec"}, {"spec", "jobTemplate", "spec", "template", "spec"}} {
				needs = append(needs, key("ServiceAccount", namespace, at(append(pod, "serviceAccountName")...)),
					key("PriorityClass", "", at(append(pod, "priorityClassName")...)))
			}
			needs = append(needs, key("StorageClass", "", at("spec", "storageClassName")))
		}
		for _, n := range needs {
			if needed[n] {
				return fmt.Errorf("needs %s", n)
			}
		}
		isWebhook := a.ID.GVK.Group == "admissionregistration.k8s.io" || a.ID.GVK.Group == "apiregistration.k8s.io"
		if webhooks && !isWebhook {
			return errors.New("a webhook is not up")
		}
		webhooks = webhooks || isWebhook
		delete(needed, key(a.ID.GVK.Kind, namespace, a.ID.Name))
		if a.ID.GVK.Kind == "CustomResourceDefinition" {
			delete(needed, "definition of "+at("spec", "names", "kind")+"."+at("spec", "group"))
		}
		return nil
	}
}
