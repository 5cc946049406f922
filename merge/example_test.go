package merge_test

import (
	"errors"
	"fmt"
	"log"
	"os"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/braid/merge"
)

var service = schema.GroupVersionKind{Version: "v1", Kind: "Service"}

// The one-liner: bytes in, patch out.
func ExampleThreeWay() {
	last := []byte(`{"apiVersion":"v1","kind":"Service","spec":{"ports":[{"port":80}]}}`)
	live := []byte(`{"apiVersion":"v1","kind":"Service","spec":{"clusterIP":"10.0.0.7","ports":[{"port":80,"targetPort":80}]}}`)
	desired := []byte(`{"apiVersion":"v1","kind":"Service","spec":{"ports":[{"port":80,"targetPort":8080}]}}`)

	rules, err := merge.SchemaFor(service)
	if err != nil {
		log.Fatal(err)
	}
	patch, err := merge.ThreeWay(merge.StrategicPatch, last, live, desired, merge.Options{Schema: rules})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", patch)
	// Output: {"spec":{"ports":[{"port":80,"targetPort":8080}]}}
}

// Typed objects are merged as they are: here what has changed in a copy of one.
func ExampleMerger_PatchObjects() {
	rules, err := merge.SchemaFor(service)
	if err != nil {
		log.Fatal(err)
	}
	m, err := merge.New(merge.Options{Schema: rules})
	if err != nil {
		log.Fatal(err)
	}
	before := &corev1.Service{Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}, {Port: 443}}}}
	after := before.DeepCopy()
	after.Spec.Ports[0].Name = "http"
	patch, err := m.PatchObjects(merge.StrategicPatch, before, before, after)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", patch)
	// Output: {"spec":{"ports":[{"name":"http","port":80}]}}
}

// A controller makes a Merger once, parses what it declares once, and asks a Result
// for what it needs.
func ExampleMerger_ThreeWay() {
	rules, err := merge.SchemaFor(service)
	if err != nil {
		log.Fatal(err)
	}
	m, err := merge.New(merge.Options{Schema: rules})
	if err != nil {
		log.Fatal(err)
	}
	desired, err := merge.ParseYAML([]byte(`
apiVersion: v1
kind: Service
metadata: {name: web, labels: {team: a}}
`))
	if err != nil {
		log.Fatal(err)
	}
	live, err := merge.FromMap(map[string]any{
		"apiVersion": "v1", "kind": "Service",
		"metadata": map[string]any{"name": "web", "uid": "1", "labels": map[string]any{"cost": "low"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	r, err := m.ThreeWay(nil, live, desired)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Changed())
	r.WriteReport(os.Stdout, false)
	// Output:
	// true
	// + metadata.labels.team  WeAdd            "a"
}

// Under Strict, what others changed is a conflict, and a conflict is a value.
func ExampleResult_Conflicts() {
	m, err := merge.New(merge.Options{Schema: merge.Schemaless(), Policy: &merge.Strict})
	if err != nil {
		log.Fatal(err)
	}
	doc := func(json string) *merge.Doc {
		d, err := merge.Parse([]byte(json))
		if err != nil {
			log.Fatal(err)
		}
		return d
	}
	r, err := m.ThreeWay(doc(`{"replicas":1}`), doc(`{"replicas":5}`), doc(`{"replicas":2}`))
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range r.Conflicts() {
		fmt.Println(c)
	}
	_, err = r.Patch(merge.StrategicPatch)
	fmt.Println(errors.Is(err, merge.ErrConflict))
	// Output:
	// replicas: BothSetOther: last 1, live 5, desired 2
	// true
}

// A policy is a table: copy one and change a row.
func ExamplePolicy() {
	policy := merge.Apply
	policy[merge.TheySet] = merge.Keep // leave drift alone
	m, err := merge.New(merge.Options{Schema: merge.Schemaless(), Policy: &policy})
	if err != nil {
		log.Fatal(err)
	}
	last, _ := merge.Parse([]byte(`{"replicas":1,"image":"a"}`))
	live, _ := merge.Parse([]byte(`{"replicas":5,"image":"a"}`))
	desired, _ := merge.Parse([]byte(`{"replicas":1,"image":"b"}`))
	r, err := m.ThreeWay(last, live, desired)
	if err != nil {
		log.Fatal(err)
	}
	patch, err := r.Patch(merge.StrategicPatch)
	fmt.Println(string(patch), err)
	// Output: {"image":"b"} <nil>
}

// Patch says what an API server makes of a patch.
func ExampleMerger_Patch() {
	rules, err := merge.SchemaFor(schema.GroupVersionKind{Version: "v1", Kind: "Pod"})
	if err != nil {
		log.Fatal(err)
	}
	m, err := merge.New(merge.Options{Schema: rules})
	if err != nil {
		log.Fatal(err)
	}
	pod, _ := merge.ParseYAML([]byte(`spec: {containers: [{name: a, image: x}, {name: b, image: x}]}`))
	patch, _ := merge.ParseYAML([]byte(`spec: {containers: [{name: b, image: z}, {name: a, $patch: delete}]}`))
	out, err := m.Patch(merge.StrategicPatch, pod, patch)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", out.JSON())
	// Output: {"spec":{"containers":[{"image":"z","name":"b"}]}}
}

// One merge, in four formats. The sidecar is somebody else's.
func ExampleResult_Patch() {
	rules, err := merge.SchemaFor(schema.GroupVersionKind{Version: "v1", Kind: "Pod"})
	if err != nil {
		panic(err)
	}
	m, err := merge.New(merge.Options{Schema: rules})
	if err != nil {
		panic(err)
	}
	pod := func(containers string) *merge.Doc {
		d, err := merge.ParseYAML([]byte("{spec: {containers: [" + containers + "]}}"))
		if err != nil {
			panic(err)
		}
		return d
	}
	r, err := m.ThreeWay(pod("{name: app, image: a}"), pod("{name: side, image: s}, {name: app, image: a}"), pod("{name: app, image: b}"))
	if err != nil {
		panic(err)
	}
	for _, format := range []merge.PatchType{merge.StrategicPatch, merge.JSONPatch, merge.JSONMergePatch, merge.ApplyConfiguration} {
		patch, err := r.Patch(format)
		fmt.Println(string(patch), err)
	}
	// Output:
	// {"spec":{"containers":[{"image":"b","name":"app"}]}} <nil>
	// [{"op":"add","path":"/spec/containers/1/image","value":"b"}] <nil>
	// {"spec":{"containers":[{"image":"s","name":"side"},{"image":"b","name":"app"}]}} <nil>
	// {"spec":{"containers":[{"image":"b","name":"app"}]}} <nil>
}

// Others may keep what we name: an autoscaler its replicas, a mesh its sidecar.
func ExampleOptions_ignore() {
	rules, err := merge.SchemaFor(schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"})
	if err != nil {
		panic(err)
	}
	o := merge.Options{Schema: rules, Ignore: []string{"spec.replicas"}, HandOver: []string{"spec.paused"}}
	patch, err := merge.ThreeWay(merge.StrategicPatch,
		[]byte(`{"spec":{"replicas":1,"paused":true,"minReadySeconds":1}}`),
		[]byte(`{"spec":{"replicas":9,"paused":true,"minReadySeconds":1}}`),
		[]byte(`{"spec":{"replicas":2,"minReadySeconds":2}}`), o)
	fmt.Println(string(patch), err)
	// Output: {"spec":{"minReadySeconds":2}} <nil>
}
