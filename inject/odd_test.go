package inject_test

import (
	"errors"
	"slices"
	"testing"

	"example.com/braid/inject"
	"example.com/braid/internal/pods"
	"example.com/braid/merge"
)

// The laws hold for pods that nobody would write, and that servers and tools give all the same.
func TestOddObjects(t *testing.T) {
	odd := []string{
		"metadata: {name: a, creationTimestamp: null, labels: null, annotations: null}\nspec: {containers: [{name: app, image: nginx, resources: {}}], volumes: null, initContainers: null, nodeSelector: null, tolerations: null, imagePullSecrets: null, securityContext: null}\nstatus: {}",
		"metadata: {labels: {}, annotations: {}}\nspec: {containers: [{name: app, env: null, ports: null, volumeMounts: []}], volumes: [], initContainers: [], nodeSelector: {}, tolerations: [], imagePullSecrets: [], securityContext: {}, hostAliases: []}",
		"metadata: null\nspec: {containers: []}",
		"spec: {}",
		"spec: null",
		"metadata: {}",
		"spec: {containers: [{name: app, env: [{name: A, value: '1'}, {name: B}, {name: A, value: '2'}], ports: [{containerPort: 53}, {containerPort: 53, protocol: UDP}, {containerPort: 53, hostPort: 5}]}, {name: app, image: again}]}",
		"spec: {containers: [{image: no-name}, {name: ''}, null, 7, [x], {name: app, env: [null, 1, {value: x}]}], volumes: [null, {}], tolerations: [null]}",
		"spec: {containers: {name: app}, volumes: x, tolerations: 3, nodeSelector: [a], securityContext: true}",
		"metadata: {annotations: [a], labels: x}\nspec: {containers: [{name: app}]}",
		"metadata: x\nspec: {containers: [{name: app}]}",
		"spec: x",
		"metadata: {annotations: {braid.example.com/injected: 7}}\nspec: {containers: [{name: app, image: 1.50, n: 1e400}]}",
	}
	var templates []string
	for name := range pods.Templates {
		templates = append(templates, name)
	}
	slices.Sort(templates)
	held, refused := 0, 0
	for _, text := range odd {
		x := parseYAML(t, "kind: Pod\napiVersion: v1\n"+text)
		for k, name := range templates {
			in := injector(t, inject.Options{OnConflict: inject.KeepLive}, parseTemplate(t, name))
			next := injector(t, inject.Options{OnConflict: inject.KeepLive}, parseTemplate(t, templates[(k+1)%len(templates)]))
			if _, err := in.Inject(x, inject.Values{}); err != nil {
				var typed *merge.Error
				if !errors.As(err, &typed) && !errors.Is(err, merge.ErrConflict) {
					t.Errorf("%s, %s: %v", text, name, err)
				}
				refused++
				continue
			}
			held++
			l := law{t, text + ", " + name, x}
			once, _, _ := l.inject(in, x)
			l.again(in, once)
			if record, _ := x.Text("metadata", "annotations", inject.RecordAnnotation); record == "" && !has(x, inject.RecordAnnotation) {
				l.undone(once)
			}
			if _, err := next.Inject(x, inject.Values{}); err != nil {
				continue
			}
			upgraded, _, _ := l.inject(next, once)
			if want, _, _ := l.inject(next, x); !upgraded.Equal(want) {
				l.fail("the outcome depends on what was injected before", upgraded, want)
			}
		}
	}
	t.Logf("%d held, %d refused", held, refused)
}

func has(doc *merge.Doc, annotation string) bool {
	found := false
	visit(doc.Map(), func(m map[string]any) { _, ok := m[annotation]; found = found || ok })
	return found
}
