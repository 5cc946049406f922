package inject_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"example.com/braid/inject"
	"example.com/braid/internal/pods"
	"example.com/braid/merge"
)

// oddTemplates are what the templates of internal/pods have not: keys that a JSON Pointer
// escapes, elements of two keys, what meets values of another shape.
var oddTemplates = map[string]string{
	"pointers": "metadata: {labels: {'~': a, /: b, ~1/0: c, '': d}, annotations: {'a/b': c, '': x, '-': z, '0': one}}\n" +
		"nodeSelector: {'~0': a, '~1': b}\n'~/': {'/~': [1], '': {'': ''}}\ncontainers: [{name: '*', '/': ['~'], env: [{name: '/', value: '~'}]}]",
	"shapes": "metadata: {annotations: {inject.braid.example.com/override: '*'}}\nsecurityContext: {a: [{b: c}], d: {e: f}}\nhostname: h\nfutureField: [{name: a}, 1, [2]]\n" +
		"tolerations: [{key: k, operator: Exists}]\ncontainers: [{name: app, image: other, args: [x], env: [{name: A, value: '9'}], ports: [{containerPort: 53, protocol: UDP}]}]",
	"keys of two": "topologySpreadConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: c}, {maxSkew: 2, topologyKey: a, whenUnsatisfiable: b}]\nhostAliases: [{ip: 1.1.1.1, hostnames: [a]}]",
}

// changer makes what nobody would write of JSON, with one seed the same.
type changer struct{ *rand.Rand }

var strange = []string{
	`null`, `7`, `""`, `"x"`, `[]`, `{}`, `[null]`, `[{}]`, `{"name":"app"}`, `[{"name":"app"},{"name":"app"},null,7,[1]]`,
	`{"name":""}`, `[{"name":"","value":"y"}]`, `{"~1/":[{"":1}]}`, `1.0`, `true`, `[[{"add":["x"]}]]`, `{"name":"braid-proxy","image":"mine"}`,
}

func (c changer) any() (v any) {
	if err := json.Unmarshal([]byte(strange[c.IntN(len(strange))]), &v); err != nil {
		panic(err)
	}
	return v
}

// change returns v with something else in one place. What it returns may be v, changed.
func (c changer) change(v any) any {
	switch v := v.(type) {
	case map[string]any:
		keys := slices.Sorted(maps.Keys(v))
		switch n := c.IntN(12); {
		case n == 0 || len(keys) == 0:
			v[[]string{"a", "~/", "env", "containers", "volumes", "add"}[c.IntN(6)]] = c.any()
		case n == 1:
			delete(v, keys[c.IntN(len(keys))])
		default:
			key := keys[c.IntN(len(keys))]
			if text, ok := v[key].(string); ok && key == inject.RecordAnnotation && c.IntN(3) > 0 {
				var record any
				if json.Unmarshal([]byte(text), &record) == nil {
					forged, _ := json.Marshal(c.change(record))
					v[key] = string(forged)
				}
			} else if key != "kind" && key != "apiVersion" {
				v[key] = c.change(v[key])
			}
		}
		return v
	case []any:
		if len(v) == 0 || c.IntN(8) == 0 {
			return append(v, c.any())
		}
		i, j := c.IntN(len(v)), c.IntN(len(v))
		switch c.IntN(8) {
		case 0:
			v[i], v[j] = v[j], v[i]
		case 1:
			return slices.Delete(v, i, i+1)
		case 2:
			return slices.Insert(v, i, v[j])
		default:
			v[i] = c.change(v[i])
		}
		return v
	}
	return c.any()
}

// doc returns a document with n changes.
func (c changer) doc(d *merge.Doc, n int) *merge.Doc {
	text := d.JSON()
	for range n {
		var v any
		if err := json.Unmarshal(text, &v); err != nil {
			panic(err)
		}
		text, _ = json.Marshal(c.change(v))
	}
	out, err := merge.Parse(text)
	if err != nil {
		return d // a key that JSON spells twice
	}
	return out
}

// The patch is that of the object, and Check knows it from others, whatever stands in an
// object, whatever others do to what was injected, and whatever they make of the record.
func TestPatchOfOddObjects(t *testing.T) {
	templates := maps.Clone(pods.Templates)
	maps.Copy(templates, oddTemplates)
	names := slices.Sorted(maps.Keys(templates))
	rounds := 1000
	if testing.Short() {
		rounds = 100
	}
	changed, refused := 0, 0
	for seed := range rounds {
		c := changer{rand.New(rand.NewPCG(uint64(seed), 7))}
		pod := c.doc(parseYAML(t, benchPod), c.IntN(6))
		x := wrapped(t, c, pod)
		for range 3 {
			o := inject.Options{OnConflict: inject.OnConflict(c.IntN(4)), OnDrift: inject.OnDrift(c.IntN(2)), NativeSidecars: inject.NativeSidecars(c.IntN(3))}
			var laid []*inject.Template
			for k := range 1 + c.IntN(2) {
				tmpl, err := inject.ParseTemplate([]byte(templates[names[c.IntN(len(names))]]))
				if err != nil {
					t.Fatal(err)
				}
				laid = append(laid, tmpl.Named(fmt.Sprint("law", k), ""))
			}
			in := injector(t, o, laid...)
			l := law{t, fmt.Sprintf("seed %d, %+v", seed, o), x}
			r, err := in.Inject(x, inject.Values{Namespace: "ns"})
			if c.IntN(5) == 0 {
				r, err = in.Uninject(x)
			}
			if err != nil {
				var typed *merge.Error
				if !errors.As(err, &typed) && !errors.Is(err, merge.ErrConflict) {
					t.Errorf("%s: %v", l.name, err)
				}
				refused++
				break
			}
			next := l.object(r, x)
			l.checked(c, r, x, next)
			if t.Failed() {
				t.Fatalf("%s: of %s", l.name, x.JSON())
			}
			if r.Changed() {
				changed++
			}
			x = c.doc(next, c.IntN(4))
		}
	}
	t.Logf("%d changed, %d refused", changed, refused)
}

// wrapped returns an object with one pod template or some.
func wrapped(t *testing.T, c changer, pod *merge.Doc) *merge.Doc {
	cron := `{"apiVersion":"batch/v1","kind":"CronJob","spec":{"jobTemplate":{"spec":{"template":%s}}}}`
	deployment := `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"a~/b":1,"template":%s}}`
	text := string(pod.JSON())
	switch c.IntN(5) {
	case 0:
		text = fmt.Sprintf(deployment, text)
	case 1:
		text = fmt.Sprintf(cron, text)
	case 2:
		other := string(c.doc(pod, 2).JSON())
		text = fmt.Sprintf(`{"apiVersion":"v1","kind":"List","items":[7,%s,`+cron+`,{"kind":"Other"},`+deployment+`]}`, other, text, text)
	}
	return parseYAML(t, text)
}

// checked holds Check to what a patch gives.
func (l law) checked(c changer, r *inject.Result, x, object *merge.Doc) {
	l.t.Helper()
	if ok, err := r.Check(x, r.Patch()); !ok || err != nil {
		l.t.Errorf("%s: Check of the patch itself: %t, %v", l.name, ok, err)
	}
	again, err := merge.Parse(x.JSON())
	if err != nil {
		l.t.Fatal(err)
	}
	if ok, err := r.Check(again, r.Patch()); !ok || err != nil {
		l.t.Errorf("%s: Check with an equal object: %t, %v", l.name, ok, err)
	}
	patch, err := merge.Parse(r.Patch())
	if err != nil {
		l.t.Fatal(err)
	}
	for _, tc := range []struct{ x, patch *merge.Doc }{{c.doc(x, 1), patch}, {x, c.doc(patch, 1)}} {
		got, wantErr := plainMerger.Patch(merge.JSONPatch, tc.x, tc.patch)
		want := wantErr == nil && got.Equal(object)
		if ok, err := r.Check(tc.x, tc.patch.JSON()); ok != want || (err == nil) != (wantErr == nil) {
			l.t.Errorf("%s: Check with %s and the patch %s: %t, %v, want %t, %v", l.name, tc.x.JSON(), tc.patch.JSON(), ok, err, want, wantErr)
		}
	}
}

// An API server takes 10,000 operations, of which one may be a guard.
func TestMostOperations(t *testing.T) {
	for _, tc := range []struct {
		name, pod, template string
		n, want             int
	}{
		{"labels", "metadata: {labels: {a: b}, annotations: {c: d}}", "metadata:\n  labels:\n", 9998, 9999},
		{"one label more", "metadata: {labels: {a: b}, annotations: {c: d}}", "metadata:\n  labels:\n", 9999, 1},
		{"tolerations", "metadata: {annotations: {c: d}}\nspec: {tolerations: [{key: a}]}", "tolerations:\n", 9998, 9999},
		{"one toleration more", "metadata: {annotations: {c: d}}\nspec: {tolerations: [{key: a}]}", "tolerations:\n", 9999, 2},
	} {
		line := "    l%d: x\n"
		if strings.Contains(tc.name, "toleration") {
			line = "- {key: k%d}\n"
		}
		text := strings.Builder{}
		text.WriteString(tc.template)
		for i := range tc.n {
			fmt.Fprintf(&text, line, i)
		}
		tmpl, err := inject.ParseTemplate([]byte(text.String()))
		if err != nil {
			t.Fatal(err)
		}
		x := parseYAML(t, "kind: Pod\napiVersion: v1\n"+tc.pod)
		if !strings.Contains(tc.pod, "spec") {
			x = parseYAML(t, "kind: Pod\napiVersion: v1\nspec: {}\n"+tc.pod)
		}
		r, err := injector(t, inject.Options{}, tmpl).Inject(x, inject.Values{})
		if err != nil {
			t.Fatal(err)
		}
		once := law{t, tc.name, x}.object(r, x)
		if got := count(t, r.Patch()); got != tc.want {
			t.Errorf("%s: %d operations, want %d", tc.name, got, tc.want)
		}
		back, err := inject.Uninject(once)
		if err != nil {
			t.Fatal(err)
		}
		law{t, tc.name + ", taken out", once}.object(back, once)
		if got := count(t, back.Patch()); got != tc.want {
			t.Errorf("%s, taken out: %d operations, want %d", tc.name, got, tc.want)
		}
	}
}

func count(t *testing.T, patch []byte) int {
	t.Helper()
	var operations []json.RawMessage
	if err := json.Unmarshal(patch, &operations); err != nil {
		t.Fatal(err)
	}
	return len(operations)
}

// A map where containers belong is in the way: nothing is said to be injected there.
func TestContainersThatAreNoList(t *testing.T) {
	x := parseYAML(t, "kind: Pod\napiVersion: v1\nspec: {containers: {name: app}}")
	for _, on := range []inject.OnConflict{inject.Fail, inject.UseTemplate} {
		if _, err := injector(t, inject.Options{OnConflict: on}, parseTemplate(t, "sidecar")).Inject(x, inject.Values{}); !errors.Is(err, merge.ErrConflict) {
			t.Errorf("%d: %v, want a conflict", on, err)
		}
	}
	r, err := injector(t, inject.Options{OnConflict: inject.KeepLive}, parseTemplate(t, "sidecar")).Inject(x, inject.Values{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Changed() || len(r.Injections) > 0 || len(r.Conflicts) != 1 || r.Conflicts[0].Path.String() != "spec.containers" {
		t.Errorf("KeepLive: %s, injected %v, conflicts %v", r.Patch(), r.Injections, r.Conflicts)
	}
}

func TestCheckOfNothing(t *testing.T) {
	x := parseYAML(t, benchPod)
	r, err := injector(t, inject.Options{}, parseTemplate(t, "sidecar")).Inject(x, inject.Values{})
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := r.Check(nil, r.Patch()); ok || !errors.Is(err, merge.ErrType) {
		t.Errorf("without an object: %t, %v", ok, err)
	}
	for _, patch := range []string{"", "[", "{}", "null"} {
		if ok, err := r.Check(x, []byte(patch)); ok || err == nil {
			t.Errorf("patch %q: %t, %v", patch, ok, err)
		}
	}
}

// Many may ask one Result at once, also of several templates and after others have been there.
func TestResultIsShared(t *testing.T) {
	pod := parseYAML(t, benchPod)
	in := injector(t, inject.Options{}, parseTemplate(t, "sidecar"), parseTemplate(t, "everywhere").Named("more", ""))
	list := parseYAML(t, fmt.Sprintf(`{"kind":"List","apiVersion":"v1","items":[%s,%s]}`, pod.JSON(), pod.JSON()))
	once, _, _ := law{t, "first", pod}.inject(in, pod)
	for _, x := range []*merge.Doc{pod, list, defaulted(t, once), once} {
		r, err := injector(t, inject.Options{}, parseTemplate(t, "sidecar 2")).Inject(x, inject.Values{Namespace: "ns"})
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if ok, err := r.Check(x, r.Patch()); !ok || err != nil {
					t.Errorf("Check: %t, %v", ok, err)
				}
				if _, err := r.StrategicPatch(); err != nil && !errors.Is(err, merge.ErrInexpressible) {
					t.Error(err)
				}
				law{t, "shared", x}.object(r, x)
			})
		}
		all.Wait()
	}
}
