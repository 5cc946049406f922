// Command initializer runs the loop that injects a sidecar into the objects of a cluster, while
// people create, edit and opt out, and the template changes. It needs no cluster: it runs on one
// in memory. It prints what the loop does, and why.
//
//	go run ./examples/initializer
package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"example.com/braid/apply"
	"example.com/braid/apply/memory"
	"example.com/braid/inject"
	"example.com/braid/inject/initializer"
)

//go:embed template-1.yaml
var first []byte // what we inject at first

//go:embed template-2.yaml
var second []byte // what we inject later

func main() {
	log.SetFlags(0)
	if err := tell(context.Background(), os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// config makes of a template what the loop goes by: it serves those that opt in.
func config(text []byte) (c initializer.Config, err error) {
	template, err := inject.ParseTemplate(text)
	if err != nil {
		return c, err
	}
	if c.Injector, err = inject.New(inject.Options{}, template); err != nil {
		return c, err
	}
	c.Decider, err = inject.NewDecider(inject.DecisionPolicy{})
	return c, err
}

var (
	deploymentKind = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	podKind        = schema.GroupVersionKind{Version: "v1", Kind: "Pod"}
	namespaceKind  = schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}

	web  = apply.ID{GVK: deploymentKind, Namespace: "shop", Name: "web"}
	api  = apply.ID{GVK: deploymentKind, Namespace: "shop", Name: "api"}
	shop = apply.ID{GVK: namespaceKind, Name: "shop"}
)

// story is what people do, and see.
type story struct {
	io.Writer
	cluster *memory.Cluster
	loop    *initializer.Initializer
	told    chan initializer.Observation
}

// tell runs the loop for as long as the story takes.
func tell(ctx context.Context, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	s := &story{Writer: out, told: make(chan initializer.Observation)}
	s.cluster = memory.New(memory.Options{Validate: []memory.Hook{immutable}})
	now, err := config(first)
	if err != nil {
		return err
	}
	s.loop, err = initializer.New(initializer.Options{
		Cluster: s.cluster, Config: now,
		Kinds: []schema.GroupVersionKind{deploymentKind, podKind},
		Observe: func(o initializer.Observation) {
			select {
			case s.told <- o:
			case <-ctx.Done():
			}
		},
		Loop: apply.ReconcilerOptions{Log: slog.New(slog.DiscardHandler)}, // what it would log is told
	})
	if err != nil {
		return err
	}
	if err := s.create(ctx, namespace, deployment("web", "true")); err != nil {
		return err
	}
	running.Go(func() { s.loop.Run(ctx) })
	return s.tell(ctx)
}

func (s *story) tell(ctx context.Context) error {
	for _, chapter := range []struct {
		title string
		act   func() error
		about []apply.ID // what the loop has to look at
	}{
		{"1. The loop finds a Deployment that opts in by its label.", func() error { return nil }, []apply.ID{web}},
		{"2. Somebody makes a Deployment that says nothing.", func() error { return s.create(ctx, deployment("api", "")) }, []apply.ID{api}},
		{"3. The namespace opts in.", func() error {
			return s.edit(ctx, shop, `{"metadata":{"labels":{"`+inject.DefaultKey+`":"enabled"}}}`)
		}, []apply.ID{web, api}},
		{"4. Somebody edits web: another image, and a container of their own. There is nothing to do.", func() error {
			return s.edit(ctx, web, `{"spec":{"template":{"spec":{"containers":[{"name":"app","image":"app:2"},{"name":"log","image":"log:1"}]}}}}`)
		}, []apply.ID{web}},
		{"5. Somebody replaces api by their file, which knows nothing of the proxy.", func() error {
			u, err := object(deployment("api", ""))
			if err == nil {
				_, err = s.cluster.Replace(ctx, u, person)
			}
			return err
		}, []apply.ID{api}},
		{"6. There is a new template, without a restart: another image, no volume.", func() error {
			newer, err := config(second)
			if err != nil {
				return err
			}
			return s.loop.Reload(newer)
		}, []apply.ID{web, api}},
		{"7. web opts out. Nothing of the proxy is left.", func() error {
			return s.edit(ctx, web, `{"spec":{"template":{"metadata":{"labels":{"`+inject.DefaultKey+`":"false"}}}}}`)
		}, []apply.ID{web}},
		{"8. Somebody makes a pod. A server changes no pods: that is for the webhook.", func() error { return s.create(ctx, pod) },
			[]apply.ID{{GVK: podKind, Namespace: "shop", Name: "job"}}},
	} {
		fmt.Fprintln(s, chapter.title)
		if err := chapter.act(); err != nil {
			return err
		}
		for range chapter.about {
			if err := s.listen(ctx); err != nil {
				return err
			}
		}
		for _, id := range chapter.about {
			live, err := s.cluster.Get(ctx, id)
			if err != nil {
				return err
			}
			fmt.Fprintf(s, "   %s runs %s\n", id.Name, containers(live))
		}
	}
	return nil
}

// listen prints what the loop tells, until it has done with one object.
func (s *story) listen(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case o := <-s.told:
			switch o.Outcome {
			case initializer.Unchanged:
				return nil
			case initializer.Injected, initializer.Removed:
				patch := o.Result.Patch()
				fmt.Fprintf(s, "   %s: %s, because %s, by a patch of %d bytes\n", o.ID, o.Outcome, o.Reason, len(patch))
			case initializer.Refused:
				fmt.Fprintf(s, "   %s: %s as %s, though %s\n", o.ID, o.Outcome, apierrors.ReasonForError(o.Err), o.Reason)
				return nil
			case initializer.Skipped:
				fmt.Fprintf(s, "   %s: %s, because %s\n", o.ID, o.Outcome, o.Reason)
				return nil
			default:
				return errors.Join(fmt.Errorf("%s: %s", o.ID, o.Outcome), o.Err)
			}
		}
	}
}

var person = apply.WriteOptions{FieldManager: "kubectl"}

const namespace = `{apiVersion: v1, kind: Namespace, metadata: {name: shop}}`

const pod = `{apiVersion: v1, kind: Pod, metadata: {name: job, namespace: shop}, spec: {containers: [{name: job, image: job:1}]}}`

// deployment writes a Deployment whose pods say whether to inject into them.
func deployment(name, wish string) string {
	labels := "app: " + name
	if wish != "" {
		labels += fmt.Sprintf(", %s: %q", inject.DefaultKey, wish)
	}
	return fmt.Sprintf(`{apiVersion: apps/v1, kind: Deployment, metadata: {name: %s, namespace: shop},
		spec: {template: {metadata: {labels: {%s}}, spec: {containers: [{name: app, image: app:1}]}}}}`, name, labels)
}

func object(manifest string) (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{}
	return u, yaml.Unmarshal([]byte(strings.ReplaceAll(manifest, "\t", " ")), &u.Object)
}

func (s *story) create(ctx context.Context, manifests ...string) error {
	for _, m := range manifests {
		u, err := object(m)
		if err == nil {
			_, err = s.cluster.Create(ctx, u, person)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *story) edit(ctx context.Context, id apply.ID, patch string) error {
	_, err := s.cluster.Patch(ctx, id, types.StrategicMergePatchType, []byte(patch), person)
	return err
}

// immutable refuses, as a server does, another number of containers in a pod.
func immutable(_ context.Context, a *memory.Admission) error {
	if a.ID.GVK != podKind || a.Object == nil || a.Old == nil || containers(a.Object) == containers(a.Old) {
		return nil
	}
	return apierrors.NewInvalid(podKind.GroupKind(), a.ID.Name, field.ErrorList{
		field.Forbidden(field.NewPath("spec"), "pod updates may not change fields other than images"),
	})
}

// containers says which containers there are in a pod, or in the pods of a Deployment.
func containers(u *unstructured.Unstructured) string {
	at := []string{"spec", "template", "spec", "containers"}
	if u.GroupVersionKind() == podKind {
		at = at[2:]
	}
	all, _, _ := unstructured.NestedSlice(u.Object, at...)
	var names []string
	for _, c := range all {
		if c, ok := c.(map[string]any); ok {
			names = append(names, fmt.Sprintf("%v (%v)", c["name"], c["image"]))
		}
	}
	return strings.Join(names, ", ")
}
