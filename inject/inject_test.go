package inject_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	gvk "k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/braid/inject"
	"example.com/braid/merge"
)

func parseYAML(t testing.TB, text string) *merge.Doc {
	t.Helper()
	doc, err := merge.ParseYAML([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestTemplateErrors(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"no map", "[1]", "template: invalid template: a list, want a map"},
		{"no YAML", "a: [", "template: not valid YAML"},
		{"no data", "kind: ConfigMap\ndata: {a: x, b: y}", "template: data: invalid template: want the key config, or one key"},
		{"data of another form", "kind: ConfigMap\ndata: {config: '[1]'}", "data holds a list"},
		{"blank name", "containers: [{name: , image: a}]", "template: containers[0].name: invalid template: blank; it names the element"},
		{"empty name", "containers: [{name: '', image: a}]", "template: containers[0].name: invalid template: blank; it names the element"},
		{"blank port", "spec: {containers: [{name: a, ports: [{containerPort: }]}]}", "template: spec.containers[0].ports[0].containerPort: invalid template: blank"},
		{"no mount path", "containers: [{name: a, volumeMounts: [{name: v}]}]", "containers[0].volumeMounts[0]: invalid template: no mountPath"},
		{"wrong type", "containers: [{name: a, image: [x]}]", "template: spec.containers[0].image: wrong type"},
		{"containers are no list", "containers: {name: a}", "template: spec.containers: wrong type"},
		{"one name twice", "initContainers: [{name: a}]\ncontainers: [{name: a}]", "spec.containers[name=a]: invalid template: two containers of one name"},
		{"one volume twice", "volumes: [{name: a}, {name: a}]", "volumes[1]: invalid template: repeats name"},
		{"ephemeral", "ephemeralContainers: [{name: a}]", "by a subresource only"},
		{"every init container", "initContainers: [{name: '*'}]", "stands in containers only"},
		{"beside spec", "spec: {}\nvolumes: []", "volumes: invalid template: stands beside spec"},
		{"label is a number", "metadata: {labels: {a: 1}}", "metadata.labels.a: invalid template: a number, want a string"},
		{"placeholder without an end", "containers: [{name: a, image: '@{values.x'}]", "spec.containers[0].image: invalid template: @{ without }"},
		{"placeholder of nothing", "containers: [{name: a, image: '@{pod.spec}'}]", "want pod.name"},
		{"conversion of a part", "containers: [{name: a, image: 'a@{values.x|int}'}]", "converts whole scalars only"},
		{"text for a number", "containers: [{name: a, ports: [{containerPort: '@{values.x}'}]}]", "wrong type"},
		{"reference made of two", "containers: [{name: a, args: ['$@{values.x}']}]", "a $ before a placeholder"},
		{"order", "metadata: {annotations: {inject.braid.example.com/order: 'a=Middle'}}", `order "Middle", want First, Last, Before NAME or After NAME`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := inject.ParseTemplate([]byte(tc.text))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got  %v\nwant %s", err, tc.want)
			}
			var e *merge.Error
			if !errors.As(err, &e) || e.Doc != "template" {
				t.Errorf("%#v names no template", err)
			}
		})
	}
}

func TestTemplateForms(t *testing.T) {
	const body = "containers: [{name: side, image: a}]\n"
	var first string
	for _, tc := range []struct{ name, text, wantName string }{
		{"data", body, "template"},
		{"fragment", "spec:\n  " + body, "template"},
		{"named fragment", "metadata: {name: mesh}\nspec:\n  " + body, "mesh"},
		{"ConfigMap", "kind: ConfigMap\nmetadata: {name: cm}\ndata: {other: x, config: '" + strings.TrimSpace(body) + "'}", "cm"},
		{"ConfigMap with one key", "kind: ConfigMap\nmetadata: {name: cm, annotations: {inject.braid.example.com/name: own}}\ndata: {sidecar.yaml: '" + strings.TrimSpace(body) + "'}", "own"},
	} {
		tmpl, err := inject.ParseTemplate([]byte(tc.text))
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		if first == "" {
			first = tmpl.Version()
		}
		if tmpl.Name() != tc.wantName || tmpl.Version() != first {
			t.Errorf("%s: name %q, version %q; want %q, %q", tc.name, tmpl.Name(), tmpl.Version(), tc.wantName, first)
		}
	}
	other, err := inject.ParseTemplate([]byte("metadata: {annotations: {inject.braid.example.com/order: side=First}}\n" + body))
	if err != nil || other.Version() == first {
		t.Errorf("%v: another order has the same version", err)
	}
	named, err := inject.ParseTemplate([]byte("metadata: {annotations: {inject.braid.example.com/version: v7}}\n" + body))
	if err != nil || named.Version() != "v7" || named.Named("n", "").Name() != "n" || named.Named("", "v8").Version() != "v8" {
		t.Errorf("%v: %+v", err, named)
	}
}

func TestOptions(t *testing.T) {
	tmpl := parseTemplate(t, "init")
	for name, err := range map[string]error{
		"OnConflict":     second(inject.New(inject.Options{OnConflict: 9})),
		"NativeSidecars": second(inject.New(inject.Options{NativeSidecars: 9})),
		"OnDrift":        second(inject.New(inject.Options{OnDrift: 9})),
		"nil":            second(inject.New(inject.Options{}, nil)),
		"one name":       second(inject.New(inject.Options{}, tmpl, tmpl)),
	} {
		if !errors.Is(err, merge.ErrOption) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestObjects(t *testing.T) {
	in := injector(t, inject.Options{PodTemplates: map[gvk.GroupKind][]string{
		{Group: "example.com", Kind: "Fleet"}: {"spec", "shape", "pod"},
	}}, parseTemplate(t, "init"))
	const pod = "{spec: {containers: [{name: app, image: nginx}]}}"
	for _, tc := range []struct {
		text string
		want error
		ops  string // the paths of the operations begin so
	}{
		{"apiVersion: v1\nkind: PodTemplate\ntemplate: " + pod, nil, "/template/"},
		{"apiVersion: v1\nkind: ReplicationController\nspec: {template: " + pod + "}", nil, "/spec/template/"},
		{"apiVersion: extensions/v1beta1\nkind: Deployment\nspec: {template: " + pod + "}", nil, "/spec/template/"},
		{"apiVersion: example.com/v1\nkind: Fleet\nspec: {shape: {pod: " + pod + "}}", nil, "/spec/shape/pod/"},
		{"apiVersion: v1\nkind: PodList\nitems: [" + pod + "]", nil, "/items/0/"},
		{"apiVersion: v1\nkind: Service", inject.ErrKind, ""},
		{"apiVersion: example.com/v1\nkind: Deployment\nspec: {template: " + pod + "}", inject.ErrKind, ""},
		{"apiVersion: apps/v1\nkind: Deployment\nspec: {template: null}", inject.ErrKind, ""},
		{"[1]", merge.ErrType, ""},
	} {
		r, err := in.Inject(parseYAML(t, tc.text), inject.Values{})
		if !errors.Is(err, tc.want) {
			t.Errorf("%s\n%v, want %v", tc.text, err, tc.want)
		}
		if err != nil {
			continue
		}
		patch := r.Patch()
		if strings.Count(string(patch), `"path":"`) != strings.Count(string(patch), `"path":"`+tc.ops) {
			t.Errorf("%s\n%s", tc.text, patch)
		}
	}
	if _, err := in.Inject(nil, inject.Values{}); !errors.Is(err, merge.ErrType) {
		t.Errorf("nil: %v", err)
	}
}

func TestStrategicPatch(t *testing.T) {
	in := injector(t, inject.Options{}, parseTemplate(t, "sidecar"))
	object := parseYAML(t, "apiVersion: apps/v1\nkind: Deployment\nspec: {template: {spec: {containers: [{name: app, image: nginx}]}}}")
	r, err := in.Inject(object, inject.Values{})
	if err != nil {
		t.Fatal(err)
	}
	patch, err := r.StrategicPatch()
	if err != nil {
		t.Fatal(err)
	}
	rules, err := merge.SchemaFor(object.GVK())
	if err != nil {
		t.Fatal(err)
	}
	m, err := merge.New(merge.Options{Schema: rules})
	if err != nil {
		t.Fatal(err)
	}
	want, err := r.Object()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := m.Patch(merge.StrategicPatch, object, parseYAML(t, string(patch))); err != nil || !got.Equal(want) {
		t.Errorf("%s, %v", patch, err)
	}
	nameless, err := in.Inject(parseYAML(t, "kind: Pod\napiVersion: v1\nspec: {containers: [{image: nginx}]}"), inject.Values{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := nameless.StrategicPatch(); !errors.Is(err, merge.ErrInexpressible) {
		t.Errorf("a container without a name: %v", err)
	}
	list, err := in.Inject(parseYAML(t, "kind: List\napiVersion: v1\nitems: [{kind: Pod, apiVersion: v1, spec: {containers: []}}]"), inject.Values{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := list.StrategicPatch(); !errors.Is(err, merge.ErrInexpressible) {
		t.Errorf("a list: %v", err)
	}
}

func TestInjected(t *testing.T) {
	in := injector(t, inject.Options{}, parseTemplate(t, "sidecar").Named("a", "1"), parseTemplate(t, "init").Named("b", "2"))
	r, err := in.Inject(parseYAML(t, "kind: Pod\napiVersion: v1\nspec: {containers: [{name: app, image: nginx}]}"), inject.Values{})
	if err != nil {
		t.Fatal(err)
	}
	object, err := r.Object()
	if err != nil {
		t.Fatal(err)
	}
	got, err := inject.Injected(object)
	if want := (inject.Injection{Name: "b", Version: "2"}); err != nil || len(got) != 2 || got[1] != want || len(r.Injections) != 2 {
		t.Errorf("%v, %v, %v", got, r.Injections, err)
	}
}

// A long record is compressed, and is read again.
func TestLongRecord(t *testing.T) {
	pod, in := large(t, 500)
	l := law{t, "long record", pod}
	once, _, _ := l.inject(in, pod)
	if record, _ := once.Text("metadata", "annotations", inject.RecordAnnotation); record == "" || record[0] == '{' || len(record) > 16<<10 {
		t.Errorf("a record of %d bytes begins with %.1q", len(record), record)
	}
	l.again(in, once)
	l.undone(once)
}

func TestAnnotationLimit(t *testing.T) {
	in := injector(t, inject.Options{}, parseTemplate(t, "sidecar"))
	pod := parseYAML(t, "kind: Pod\napiVersion: v1\nmetadata: {annotations: {a: "+strings.Repeat("x", 256<<10)+"}}\nspec: {containers: [{name: app}]}")
	if _, err := in.Inject(pod, inject.Values{}); !errors.Is(err, merge.ErrLimit) {
		t.Errorf("%v, want %v", err, merge.ErrLimit)
	}
}

// Neither errors nor conflicts, drift and warnings say what stands in an object or template.
func TestNoValuesInMessages(t *testing.T) {
	tmpl, err := inject.ParseTemplate([]byte("containers: [{name: '*', env: [{name: TOKEN, value: s3cret}]}]\ndnsPolicy: s3cret\nmetadata: {labels: {a: s3cret}, annotations: {b: s3cret}}"))
	if err != nil {
		t.Fatal(err)
	}
	pod := parseYAML(t, "kind: Pod\napiVersion: v1\nmetadata: {labels: {a: s3cret2}, annotations: {b: s3cret2}}\nspec: {dnsPolicy: s3cret2, containers: [{name: app, env: [{name: TOKEN, value: s3cret2}]}]}")
	_, err = injector(t, inject.Options{}, tmpl).Inject(pod, inject.Values{})
	var conflict *inject.ConflictError
	if !errors.As(err, &conflict) || len(conflict.Conflicts) != 3 || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("%v", err)
	}
	if r := conflict.Conflicts[1].Rule; r != inject.Env || r.String() != "Env" {
		t.Errorf("rule %s", r)
	}
}

func TestConcurrentUse(t *testing.T) {
	in := injector(t, inject.Options{OnConflict: inject.KeepLive}, parseTemplate(t, "sidecar"), parseTemplate(t, "values").Named("b", ""), parseTemplate(t, "everywhere").Named("c", ""))
	pod := parseYAML(t, benchPod)
	r, err := in.Inject(pod, inject.Values{})
	if err != nil {
		t.Fatal(err)
	}
	want, err := r.Object()
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				r, err := in.Inject(pod, inject.Values{})
				if err != nil {
					t.Error(err)
					return
				}
				if got, err := r.Object(); err != nil || !got.Equal(want) {
					t.Errorf("%v: another object", err)
				}
			}
		})
		wg.Go(func() {
			if got, err := r.Object(); err != nil || !got.Equal(want) {
				t.Errorf("%v: another object", err)
			}
		})
	}
	wg.Wait()
}

// What a placeholder becomes names no element either if it is empty.
func TestEmptyName(t *testing.T) {
	named, err := inject.ParseTemplate([]byte("containers: [{name: '@{values.x}', image: a}]"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = injector(t, inject.Options{}, named).Inject(parseYAML(t, benchPod), inject.Values{Given: map[string]string{"x": ""}})
	if !errors.Is(err, inject.ErrTemplate) {
		t.Errorf("an empty name: %v", err)
	}
}

// null is no number, though JSON takes it for one of any type.
func TestConversions(t *testing.T) {
	tmpl, err := inject.ParseTemplate([]byte("containers: [{name: a, ports: [{containerPort: '@{values.port|int}'}], tty: '@{values.tty|bool}'}]"))
	if err != nil {
		t.Fatal(err)
	}
	in, pod := injector(t, inject.Options{}, tmpl), parseYAML(t, benchPod)
	for _, tc := range []struct {
		port, tty string
		ok        bool
	}{{"80", "true", true}, {"-1", "false", true}, {"null", "true", false}, {"1.5", "true", false}, {"x", "true", false}, {" 80", "true", false}, {"80", "null", false}, {"80", "1", false}, {"", "true", false}} {
		_, err := in.Inject(pod, inject.Values{Given: map[string]string{"port": tc.port, "tty": tc.tty}})
		if ok := err == nil; ok != tc.ok || !ok && !errors.Is(err, inject.ErrValue) {
			t.Errorf("port %q, tty %q: got %v, want ok %t", tc.port, tc.tty, err, tc.ok)
		}
	}
}
