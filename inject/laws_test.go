package inject_test

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"testing"

	"example.com/braid/inject"
	"example.com/braid/internal/node"
	"example.com/braid/internal/pods"
	"example.com/braid/merge"
)

func parseTemplate(t testing.TB, name string) *inject.Template {
	t.Helper()
	tmpl, err := inject.ParseTemplate([]byte(pods.Templates[name]))
	if err != nil {
		t.Fatalf("template %s: %v", name, err)
	}
	return tmpl.Named("law", "")
}

func injector(t testing.TB, o inject.Options, tmpl ...*inject.Template) *inject.Injector {
	t.Helper()
	in, err := inject.New(o, tmpl...)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func TestLaws(t *testing.T) {
	objects := pods.Objects(t)
	var templates []string
	for name := range pods.Templates {
		templates = append(templates, name)
	}
	slices.Sort(templates)
	injectors := map[string]*inject.Injector{}
	for _, name := range templates {
		injectors[name] = injector(t, inject.Options{OnConflict: inject.KeepLive}, parseTemplate(t, name))
		injectors["over "+name] = injector(t, inject.Options{OnConflict: inject.UseTemplate}, parseTemplate(t, name))
	}
	injected, conflicts, refused := 0, 0, 0
	for i, object := range objects {
		x := object.Doc
		for k, name := range templates {
			next := templates[(k+1)%len(templates)]
			for _, over := range []string{"", "over "} {
				law := law{t, object.Name + ", " + over + name + ", " + next, x}
				once, clashes, ok := law.inject(injectors[over+name], x)
				if !ok {
					refused++
					continue
				}
				injected++
				law.again(injectors[over+name], once)
				law.undone(once)
				law.kept(once)
				if upgraded, _, ok := law.inject(injectors[over+next], once); ok {
					if want, _, ok := law.inject(injectors[over+next], x); ok && !upgraded.Equal(want) {
						law.fail("the outcome depends on what was injected before", upgraded, want)
					}
				}
				if (i+k)%3 == 0 {
					law.served(injectors[over+name], injectors[over+next])
				}
				if clashes == 0 {
					break // the template's values would win nowhere
				}
				conflicts++
			}
		}
	}
	t.Logf("%d objects, %d injections, %d with conflicts, %d refused", len(objects), injected, conflicts, refused)
}

// served holds the laws where a server has put in its defaults after each injection.
func (l law) served(in, next *inject.Injector) {
	l.t.Helper()
	x := defaulted(l.t, l.x)
	l.x, l.name = x, l.name+", by way of a server"
	once, _, ok := l.inject(in, x)
	if !ok {
		return
	}
	once = defaulted(l.t, once)
	l.again(in, once)
	l.undone(once)
	if upgraded, _, ok := l.inject(next, once); ok {
		if want, _, ok := l.inject(next, x); ok && !defaulted(l.t, upgraded).Equal(defaulted(l.t, want)) {
			l.fail("the outcome depends on what was injected before", defaulted(l.t, upgraded), defaulted(l.t, want))
		}
	}
}

// defaulted returns an object with some of a server's defaults in every pod, and quantities
// as a server spells them.
func defaulted(t testing.TB, doc *merge.Doc) *merge.Doc {
	object := doc.Map()
	var visit func(key string, v any)
	put := func(m map[string]any, key string, value any) {
		if _, ok := m[key]; !ok {
			m[key] = value
		}
	}
	visit = func(key string, v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				m, ok := e.(map[string]any)
				if ok {
					switch key {
					case "containers", "initContainers":
						put(m, "terminationMessagePath", "/dev/termination-log")
						put(m, "imagePullPolicy", "Always")
						put(m, "resources", map[string]any{})
					case "ports":
						put(m, "protocol", "TCP")
					}
				}
				visit("", e)
			}
		case map[string]any:
			for k, e := range v {
				if k == "annotations" || k == "labels" || k == "data" {
					continue
				}
				if key == "limits" && e == "100m" {
					v[k] = "0.1"
				}
				if m, ok := e.(map[string]any); ok && (k == "configMap" || k == "secret") && (m["name"] != nil || m["secretName"] != nil) {
					put(m, "defaultMode", int64(420))
				}
				visit(k, e)
			}
		}
	}
	visit("", object)
	out, err := merge.FromMap(object)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

type law struct {
	t    *testing.T
	name string
	x    *merge.Doc
}

func (l law) fail(what string, got, want *merge.Doc) {
	l.t.Helper()
	l.t.Errorf("%s: %s\ngot  %s\nwant %s", l.name, what, got.JSON(), want.JSON())
}

// inject injects and holds the patch to the object.
func (l law) inject(in *inject.Injector, x *merge.Doc) (object *merge.Doc, conflicts int, ok bool) {
	l.t.Helper()
	r, err := in.Inject(x, inject.Values{Namespace: "ns"})
	if errors.Is(err, merge.ErrConflict) {
		return nil, 0, false
	}
	if err != nil {
		l.t.Fatalf("%s: %v", l.name, err)
	}
	return l.object(r, x), len(r.Conflicts), true
}

var plainMerger = func() *merge.Merger {
	m, err := merge.New(merge.Options{Schema: merge.Schemaless(), Nulls: merge.NullStays, Equality: merge.Exact})
	if err != nil {
		panic(err)
	}
	return m
}()

func (l law) object(r *inject.Result, x *merge.Doc) *merge.Doc {
	l.t.Helper()
	object, err := r.Object()
	if err != nil {
		l.t.Fatalf("%s: %v", l.name, err)
	}
	patch := r.Patch()
	if (string(patch) != "[]") != r.Changed() || r.Changed() == x.Equal(object) {
		l.t.Errorf("%s: changed %t, but the patch is %s", l.name, r.Changed(), patch)
	}
	change, err := merge.Parse(patch)
	if err != nil {
		l.t.Fatalf("%s: %v", l.name, err)
	}
	if got, err := plainMerger.Patch(merge.JSONPatch, x, change); err != nil || !got.Equal(object) {
		l.t.Errorf("%s: the patch %s gives another object: %v", l.name, patch, err)
	}
	l.strategic(r, x, object)
	return object
}

// strategic holds the strategic patch to the object, but for what a server does by it to
// variables that share a name and to nulls.
func (l law) strategic(r *inject.Result, x, object *merge.Doc) {
	l.t.Helper()
	rules, err := merge.SchemaFor(x.GVK())
	if err != nil {
		return
	}
	patch, err := r.StrategicPatch()
	if errors.Is(err, merge.ErrInexpressible) {
		return
	}
	if err != nil || (string(patch) != "{}") != r.Changed() {
		l.t.Fatalf("%s: changed %t, but the strategic patch is %s, %v", l.name, r.Changed(), patch, err)
	}
	m, err := merge.New(merge.Options{Schema: rules, Equality: merge.Exact})
	if err != nil {
		l.t.Fatal(err)
	}
	change, err := merge.Parse(patch)
	if err != nil {
		l.t.Fatal(err)
	}
	got, err := m.Patch(merge.StrategicPatch, x, change)
	if err != nil {
		l.t.Fatalf("%s: the strategic patch %s: %v", l.name, patch, err)
	}
	both := [2]*merge.Doc{got, object}
	for i, doc := range both {
		if both[i], err = merge.FromMap(mergedByServer(doc.Map()).(map[string]any)); err != nil {
			l.t.Fatal(err)
		}
	}
	if !both[0].Equal(both[1]) {
		l.fail("the strategic patch "+string(patch)+" gives another object", got, object)
	}
}

// mergedByServer is a value as a server's strategic merge leaves it: elements of one name stand
// together, and null is absence.
func mergedByServer(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, f := range v {
			if v[k] = mergedByServer(f); f == nil {
				delete(v, k)
			}
		}
	case []any:
		first, named := map[string]int{}, true
		name := func(e any) string { m, _ := e.(map[string]any); name, _ := m["name"].(string); return name }
		for i, e := range v {
			v[i], named = mergedByServer(e), named && name(e) != ""
			if _, again := first[name(e)]; !again {
				first[name(e)] = i
			}
		}
		if named {
			slices.SortStableFunc(v, func(a, b any) int { return cmp.Compare(first[name(a)], first[name(b)]) })
		}
	}
	return v
}

func (l law) again(in *inject.Injector, once *merge.Doc) {
	l.t.Helper()
	if r, err := in.Inject(once, inject.Values{Namespace: "ns"}); err != nil || r.Changed() {
		patch := r.Patch()
		l.t.Errorf("%s: injecting again: %v, %s", l.name, err, patch)
	}
}

func (l law) undone(once *merge.Doc) {
	l.t.Helper()
	r, err := inject.Uninject(once)
	if err != nil {
		l.t.Fatalf("%s: %v", l.name, err)
	}
	if got := l.object(r, once); !got.Equal(l.x) {
		l.fail("removal leaves another object", got, l.x)
	}
}

// kept holds that the author's elements are there in their order, and that nothing stands
// twice that did not before.
func (l law) kept(once *merge.Doc) {
	l.t.Helper()
	was, now := lists(l.x), lists(once)
	for path, names := range was {
		rest := now[path]
		for _, name := range names {
			at := slices.Index(rest, name)
			if at < 0 {
				l.t.Errorf("%s: %s: %q is gone or moved: %q, before %q", l.name, path, name, now[path], names)
				break
			}
			rest = rest[at+1:]
		}
	}
	for path, names := range now {
		seen := map[string]int{}
		for _, name := range names {
			seen[name]++
		}
		for _, name := range was[path] {
			seen[name] = min(seen[name], 1)
		}
		for name, n := range seen {
			if n > 1 {
				l.t.Errorf("%s: %s: %q stands %d times", l.name, path, name, n)
			}
		}
	}
}

// lists returns the names of the elements of each list of a document, by its path.
func lists(doc *merge.Doc) map[string][]string {
	tree, err := node.Parse(doc.JSON(), node.Limits{})
	if err != nil {
		panic(err)
	}
	out := map[string][]string{}
	var visit func(i node.ID, path string)
	visit = func(i node.ID, path string) {
		for n, kid := range tree.Kids(i) {
			switch {
			case tree.Kind(i) == node.Map:
				visit(kid, path+"."+tree.Key(kid))
			default:
				name := ""
				for _, key := range []string{"mountPath", "containerPort", "name", "ip", "topologyKey"} {
					if f := tree.Field(kid, key); f != node.None && name == "" {
						name = tree.Text(f)
					}
				}
				if p := tree.Field(kid, "protocol"); p != node.None && tree.Text(p) != "TCP" {
					name += "/" + tree.Text(p)
				}
				if name != "" {
					out[path] = append(out[path], name)
				}
				if name == "" {
					name = fmt.Sprint(n)
				}
				visit(kid, path+"["+name+"]")
			}
		}
	}
	visit(0, "")
	return out
}
