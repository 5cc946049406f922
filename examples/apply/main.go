// Command apply tells the story of one Deployment: created, stored with a server's
// defaults and somebody else's sidecar, changed, and applied again. It needs no
// cluster; it prints what braid would send and why.
//
//	go run ./examples/apply
package main

import (
	_ "embed"
	"fmt"
	"log"
	"os"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/braid/merge"
)

//go:embed nginx.yaml
var first []byte // what we declare first

//go:embed nginx-1.7.9.yaml
var second []byte // what we declare later

//go:embed live.yaml
var stored []byte // what the server holds in between

func main() {
	log.SetFlags(0)
	if err := tell(); err != nil {
		log.Fatal(err)
	}
}

func tell() error {
	kind := schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	rules, err := merge.SchemaFor(kind)
	if err != nil {
		return err
	}
	m, err := merge.New(merge.Options{Schema: rules})
	if err != nil {
		return err
	}
	var docs [3]*merge.Doc
	for i, text := range [][]byte{first, stored, second} {
		if docs[i], err = merge.ParseYAML(text); err != nil {
			return err
		}
	}
	nginx, live, newer := docs[0], docs[1], docs[2]

	if _, err := step(m, "1. We declare nginx. There is no such object yet, so all of it is sent.", nil, nil, nginx); err != nil {
		return err
	}
	fmt.Println("   The server stores it with defaults, and somebody adds a container named envoy.")
	merged, err := step(m, "2. We declare image nginx:1.7.9. Only that is sent, and envoy stays.", nginx, live, newer)
	if err != nil {
		return err
	}
	if _, err = step(m, "3. We declare the same again. Nothing is sent.", newer, merged, newer); err != nil {
		return err
	}
	without, err := merge.ParseYAML([]byte(patchedByHand))
	if err != nil {
		return err
	}
	drifted, err := m.Patch(merge.StrategicPatch, merged, without)
	if err != nil {
		return err
	}
	_, err = step(m, "4. Somebody edits live by hand: image nginx:hotfix, 3 replicas. We apply again: our image is\n   restored, and the replicas we never declared are left alone.", newer, drifted, newer)
	return err
}

const patchedByHand = `
spec:
  replicas: 3
  template:
    spec:
      containers:
      - name: nginx
        image: nginx:hotfix
`

// step merges, prints what happens and returns the merged object.
func step(m *merge.Merger, title string, last, live, desired *merge.Doc) (*merge.Doc, error) {
	r, err := m.ThreeWay(last, live, desired)
	if err != nil {
		return nil, err
	}
	patch, err := r.Patch(merge.StrategicPatch)
	if err != nil {
		return nil, err
	}
	fmt.Printf("\n%s\n\n", title)
	if err := r.WriteReport(os.Stdout, false); err != nil {
		return nil, err
	}
	fmt.Printf("\npatch: %s\n", patch)
	return r.Merged()
}
