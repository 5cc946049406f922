package peers

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	evanphx "github.com/evanphx/json-patch/v5"
	gomodules "gomodules.xyz/jsonpatch/v2"

	"example.com/braid/inject"
	"example.com/braid/internal/pods"
	"example.com/braid/merge"
)

// The patches of injections and removals, applied by the library that API servers apply them
// with, give the objects that package inject says they give.
func TestInjection(t *testing.T) {
	objects := pods.Objects(t)
	injected, removed, refused := 0, 0, 0
	for name, text := range pods.Templates {
		template, err := inject.ParseTemplate([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		in, err := inject.New(inject.Options{OnConflict: inject.KeepLive}, template.Named("law", ""))
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range objects {
			r, err := in.Inject(x.Doc, inject.Values{Namespace: "ns"})
			if err != nil {
				refused++ // no template has a place there, or a port is another's
				continue
			}
			once := patchedAs(t, x.Name+", "+name, x.Doc, r)
			if r.Changed() {
				injected++
			}
			if r, err = inject.Uninject(once); err != nil {
				t.Fatalf("%s, %s: %v", x.Name, name, err)
			}
			if got := patchedAs(t, x.Name+", "+name+", removed", once, r); !got.Equal(x.Doc) {
				t.Errorf("%s, %s: removed, got\n%s\nwant\n%s", x.Name, name, got.JSON(), x.Doc.JSON())
			}
			if r.Changed() {
				removed++
			}
		}
	}
	t.Logf("%d objects: %d injections, %d removals, %d refused", len(objects), injected, removed, refused)
	if injected < len(objects) || removed != injected {
		t.Errorf("%d objects: %d injections, %d removals; want one of each object, and each removed", len(objects), injected, removed)
	}
}

// patchedAs applies the patch of r to the bytes of x by evanphx, and holds the outcome to
// what r says.
func patchedAs(t *testing.T, name string, x *merge.Doc, r *inject.Result) *merge.Doc {
	t.Helper()
	patch := r.Patch()
	want, err := r.Object()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	ops, err := evanphx.DecodePatch(patch)
	if err != nil {
		t.Fatalf("%s: %v in %s", name, err, patch)
	}
	made, err := ops.Apply(x.JSON())
	if err != nil {
		t.Fatalf("%s: %v by %s", name, err, patch)
	}
	got, err := merge.Parse(made)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if !got.Equal(want) {
		t.Errorf("%s: %s gives\n%s\nwant\n%s", name, patch, got.JSON(), want.JSON())
	}
	return want
}

const sidecar = `
initContainers: [{name: mesh-init, image: init}]
containers:
- {name: '*', env: [{name: MESH, value: "on"}]}
- {name: proxy, image: proxy, env: [{name: POD, value: '@{pod.name:-none}'}], volumeMounts: [{name: mesh, mountPath: /etc/mesh}]}
volumes: [{name: mesh, emptyDir: {}}]
`

// BenchmarkInject injects into a pod of so many variables, from its bytes to a JSON Patch. The
// peer is told the outcome and compares the two objects, as webhooks do; what it takes them to
// make that outcome is left out.
func BenchmarkInject(b *testing.B) {
	template, err := inject.ParseTemplate([]byte(sidecar))
	if err != nil {
		b.Fatal(err)
	}
	in, err := inject.New(inject.Options{}, template)
	if err != nil {
		b.Fatal(err)
	}
	patch := func(pod []byte) (*inject.Result, []byte, error) {
		x, err := merge.Parse(pod)
		if err != nil {
			return nil, nil, err
		}
		r, err := in.Inject(x, inject.Values{})
		if err != nil {
			return nil, nil, err
		}
		return r, r.Patch(), nil
	}
	for _, n := range []int{10, 1500, 3000} {
		pod := podOfVariables(n)
		r, _, err := patch(pod)
		if err != nil {
			b.Fatal(err)
		}
		want, err := r.Object()
		if err != nil {
			b.Fatal(err)
		}
		outcome := want.JSON()
		measure := func(name string, run func() error) {
			b.Run(fmt.Sprintf("%denv/%s", n, name), func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(len(pod)))
				for b.Loop() {
					if err := run(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		measure("braid", func() error { _, _, err := patch(pod); return err })
		measure("gomodules", func() error { _, err := gomodules.CreatePatch(pod, outcome); return err })
	}
}

func podOfVariables(n int) []byte {
	env := make([]string, n)
	for i := range env {
		env[i] = fmt.Sprintf(`{"name":"VARIABLE_%d","value":"some value or other"}`, i)
	}
	return slices.Concat(
		[]byte(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web"},"spec":{"containers":[{"env":[`), []byte(strings.Join(env, ",")),
		[]byte(`],"image":"web:1","name":"web"}]}}`))
}
