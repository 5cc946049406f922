package inject_test

import (
	"errors"
	"fmt"
	"log"

	"example.com/braid/inject"
	"example.com/braid/merge"
)

const sidecar = `
kind: ConfigMap
apiVersion: v1
metadata:
  name: log-shipper
data:
  config: |
    containers:
    - name: shipper
      image: shipper:1
      args: [--namespace, '@{pod.namespace}']
`

func newInjector(text string) *inject.Injector {
	template, err := inject.ParseTemplate([]byte(text))
	if err != nil {
		log.Fatal(err)
	}
	in, err := inject.New(inject.Options{}, template)
	if err != nil {
		log.Fatal(err)
	}
	return in
}

// A template is parsed once and injected into any number of objects. What somebody adds or
// changes in the meantime stays; what a template no longer has goes.
func Example() {
	pod, err := merge.ParseYAML([]byte("kind: Pod\napiVersion: v1\nspec: {containers: [{name: web, image: nginx}]}"))
	if err != nil {
		log.Fatal(err)
	}
	once, err := newInjector(sidecar).Inject(pod, inject.Values{Namespace: "shop"})
	if err != nil {
		log.Fatal(err)
	}
	injected, err := once.Object()
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range injected.Map()["spec"].(map[string]any)["containers"].([]any) {
		fmt.Println(c)
	}

	again, err := newInjector(sidecar).Inject(injected, inject.Values{Namespace: "shop"})
	if err != nil {
		log.Fatal(err)
	}
	patch := again.Patch()
	fmt.Println(again.Changed(), string(patch))

	removed, err := inject.Uninject(injected)
	if err != nil {
		log.Fatal(err)
	}
	restored, err := removed.Object()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(restored.Equal(pod))
	// Output:
	// map[image:nginx name:web]
	// map[args:[--namespace shop] image:shipper:1 name:shipper]
	// false []
	// true
}

// Where the pod and the template say different things nothing is injected, and the error
// says where.
func ExampleConflictError() {
	pod, err := merge.ParseYAML([]byte("kind: Pod\napiVersion: v1\nspec: {initContainers: [{name: shipper, image: mine}], containers: [{name: web, image: nginx}]}"))
	if err != nil {
		log.Fatal(err)
	}
	_, err = newInjector(sidecar).Inject(pod, inject.Values{Namespace: "shop"})
	var conflict *inject.ConflictError
	if errors.As(err, &conflict) {
		for _, c := range conflict.Conflicts {
			fmt.Println(c.Rule, c.Path)
		}
	}
	// Output:
	// ContainerName spec.initContainers[name=shipper]
}
