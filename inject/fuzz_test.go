package inject_test

import (
	"strings"
	"testing"

	"example.com/braid/inject"
	"example.com/braid/internal/pods"
	"example.com/braid/merge"
)

// Whatever a record says, nothing panics, injecting again changes nothing, and what it does
// not quote stays.
func FuzzRecord(f *testing.F) {
	for _, seed := range []string{
		`{"v":1,"by":[],"did":[]}`,
		`{"v":1,"by":[{"name":"law","version":"1"}],"did":[{"at":"spec.containers","add":[{"name":"braid-proxy"},{"name":"app"}],"order":{"app":"First"},"made":true}]}`,
		`{"v":1,"by":[],"did":[{"at":"spec","is":{"dnsPolicy":"x"}},{"at":"metadata.annotations","is":{},"was":null}]}`,
		`{"v":1,"by":[],"did":[{"at":"spec.volumes[name=v]","is":{"name":"v","emptyDir":{}},"was":{"name":"w"}},{"at":"spec.containers[name=app].env","add":[{"name":"A","value":"1"}]}]}`,
		`{"v":1,"by":[],"did":[{"at":"spec.containers[name=app].image","is":"nginx","was":[1]},{"at":"spec.tolerations","add":[{"key":"k"}]}]}`,
		`{"v":1,"by":[],"did":[{"at":"spec.containers[name=app].ports[containerPort=80,protocol=TCP]","is":1,"was":2},{"at":"metadata","is":[]}]}`,
		"H4sIAAAAAAAA/6rmUqgGAAAA//8BAAD//w==",
	} {
		f.Add(seed)
	}
	in := injector(f, inject.Options{OnConflict: inject.KeepLive}, parseTemplate(f, "sidecar"))
	f.Fuzz(func(t *testing.T, record string) {
		object := parseYAML(t, `
kind: Pod
apiVersion: v1
metadata: {labels: {a: b}, annotations: {c: d}}
spec:
  containers:
  - {name: app, image: nginx, env: [{name: A, value: "1"}, {name: A, value: "2"}], ports: [{containerPort: 80}]}
  - {name: two, image: nginx}
  volumes: [{name: v, emptyDir: {}}]
  tolerations: [{key: k}]
`).Map()
		object["metadata"].(map[string]any)["annotations"].(map[string]any)[inject.RecordAnnotation] = record
		pod, err := merge.FromMap(object)
		if err != nil {
			return // no UTF-8
		}
		l := law{t, record, pod}
		r, err := in.Inject(pod, inject.Values{})
		if err != nil {
			t.Fatal(err)
		}
		once := l.object(r, pod)
		if again, err := in.Inject(once, inject.Values{}); err != nil || again.Changed() {
			patch := again.Patch()
			t.Errorf("injecting again: %v, %s", err, patch)
		}
		if removed, err := inject.Uninject(pod); err == nil {
			l.object(removed, pod)
		}
		if !strings.Contains(record, "image") && !strings.Contains(string(once.JSON()), `{"image":"nginx","name":"two"}`) {
			t.Errorf("a container is gone that the record does not quote: %s", once.JSON())
		}
	})
}

// Whatever a template says, nothing panics; what is parsed can be injected and removed.
func FuzzTemplate(f *testing.F) {
	for _, text := range pods.Templates {
		f.Add(text, "x")
	}
	f.Add("kind: ConfigMap\ndata: {config: 'containers: [{name: a}]'}", "")
	f.Add("metadata: {annotations: {inject.braid.example.com/override: '*', inject.braid.example.com/order: 'a=Before b,b=Before a'}}\ncontainers: [{name: a}, {name: b}, {name: app, env: [{name: A, value: $(B)}, {name: B, value: $(A)}]}]", "")
	f.Fuzz(func(t *testing.T, text, value string) {
		tmpl, err := inject.ParseTemplate([]byte(text))
		if err != nil {
			return
		}
		in, err := inject.New(inject.Options{OnConflict: inject.KeepLive}, tmpl)
		if err != nil {
			t.Fatal(err)
		}
		pod := parseYAML(t, benchPod)
		values := inject.Values{Name: "n", Namespace: "ns", Given: map[string]string{"image": value, "x": value}}
		r, err := in.Inject(pod, values)
		if err != nil {
			return
		}
		l := law{t, text, pod}
		once := l.object(r, pod)
		if again, err := in.Inject(once, values); err != nil || again.Changed() {
			patch := again.Patch()
			t.Errorf("injecting again: %v, %s", err, patch)
		}
		l.undone(once)
	})
}
