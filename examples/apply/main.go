// Command apply tells the story of one Deployment: created, stored with a server's defaults
// and somebody else's sidecar, changed, edited by hand, and applied again each time. Its
// cluster is in memory; it prints what was sent and why.
//
//	go run ./examples/apply
package main

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"log"
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"example.com/braid/apply"
	"example.com/braid/apply/memory"
	"example.com/braid/merge"
)

//go:embed nginx.yaml
var first []byte // what we declare first

//go:embed nginx-1.7.9.yaml
var second []byte // what we declare later

// somebody's changes, as strategic merge patches
const (
	sidecar = `{"spec":{"template":{"spec":{"containers":[{"name":"envoy","image":"envoyproxy/envoy:v1.30"}]}}}}`
	hotfix  = `{"spec":{"replicas":3,"template":{"spec":{"containers":[{"name":"nginx","image":"nginx:hotfix"}]}}}}`
)

func main() {
	log.SetFlags(0)
	if err := tell(context.Background(), os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// teller applies and prints.
type teller struct {
	io.Writer
	cluster *memory.Cluster
	applier *apply.Applier
}

func tell(ctx context.Context, w io.Writer) error {
	cluster := memory.New(memory.Options{Mutate: []memory.Hook{defaults}})
	applier, err := apply.NewApplier(cluster, apply.ApplierOptions{})
	if err != nil {
		return err
	}
	t := teller{w, cluster, applier}
	nginx, err := merge.ParseYAML(first)
	if err != nil {
		return err
	}
	newer, err := merge.ParseYAML(second)
	if err != nil {
		return err
	}
	out, err := t.apply(ctx, "1. We declare nginx. There is no such object yet, so all of it is sent.", nginx)
	if err != nil {
		return err
	}
	if err := t.edit(ctx, "The server has set defaults. Somebody adds a container named envoy.", out.ID, sidecar); err != nil {
		return err
	}
	if _, err := t.apply(ctx, "2. We declare image nginx:1.7.9. Only that is sent, and envoy stays.", newer); err != nil {
		return err
	}
	if _, err := t.apply(ctx, "3. We declare the same again. Nothing is sent.", newer); err != nil {
		return err
	}
	if err := t.edit(ctx, "Somebody edits live by hand: image nginx:hotfix, 3 replicas.", out.ID, hotfix); err != nil {
		return err
	}
	if _, err := t.apply(ctx, "4. We apply again: our image is restored, and the replicas that we never declared are left alone.", newer); err != nil {
		return err
	}
	out, err = t.apply(ctx, "5. And again: there is nothing left to do.", newer)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "\nWhat the cluster holds in the end:\n\n%s", summary(out.Object))
	return err
}

// apply applies what we declare, and prints what was done and why.
func (t teller) apply(ctx context.Context, title string, desired *merge.Doc) (apply.Outcome, error) {
	fmt.Fprintf(t, "\n%s\n\n", title)
	out, err := t.applier.Apply(ctx, desired)
	if err != nil {
		return out[0], err
	}
	if err := out[0].Plan.WriteReport(t, false); err != nil {
		return out[0], err
	}
	if patch := out[0].Plan.Patch; patch != nil {
		fmt.Fprintf(t, "\n%s: %d bytes\n", out[0].Plan.PatchType, len(patch))
	}
	return out[0], nil
}

// edit is what somebody else does.
func (t teller) edit(ctx context.Context, title string, id apply.ID, patch string) error {
	fmt.Fprintf(t, "\n   %s\n", title)
	_, err := t.cluster.Patch(ctx, id, types.StrategicMergePatchType, []byte(patch), apply.WriteOptions{FieldManager: "somebody"})
	return err
}

// defaults sets a few of the defaults that a server sets in Deployments.
func defaults(_ context.Context, a *memory.Admission) error {
	if a.Object == nil {
		return nil
	}
	if _, set, _ := unstructured.NestedFieldNoCopy(a.Object.Object, "spec", "replicas"); !set {
		if err := unstructured.SetNestedField(a.Object.Object, int64(1), "spec", "replicas"); err != nil {
			return err
		}
	}
	containers, _, err := unstructured.NestedSlice(a.Object.Object, "spec", "template", "spec", "containers")
	for _, c := range containers {
		if c, ok := c.(map[string]any); ok && c["imagePullPolicy"] == nil {
			c["imagePullPolicy"] = "IfNotPresent"
		}
	}
	if err != nil {
		return err
	}
	return unstructured.SetNestedSlice(a.Object.Object, containers, "spec", "template", "spec", "containers")
}

// summary says of a Deployment what the story is about.
func summary(u *unstructured.Unstructured) string {
	replicas, _, _ := unstructured.NestedInt64(u.Object, "spec", "replicas")
	text := fmt.Sprintf("replicas %d\n", replicas)
	containers, _, _ := unstructured.NestedSlice(u.Object, "spec", "template", "spec", "containers")
	for _, c := range containers {
		if c, ok := c.(map[string]any); ok {
			text += fmt.Sprintf("container %-5v %v, pulled %v\n", c["name"], c["image"], c["imagePullPolicy"])
		}
	}
	return text
}
