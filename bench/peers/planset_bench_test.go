package peers

import (
	"encoding/json"
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"example.com/braid/apply"
	"example.com/braid/merge"
)

// planSetObject is one object of a set: as declared, and as a cluster holds it.
type planSetObject struct {
	name          string
	desired, live []byte
	typed         any // nil for a custom kind
}

type planSetJSON = map[string]any

// planSetObjects are Deployments, ConfigMaps and objects of a custom kind by turns, of which one
// in so many changes; 0 is none.
func planSetObjects(tb testing.TB, n, changes int) []planSetObject {
	out := make([]planSetObject, n)
	for i := range out {
		o := planSetObject{name: fmt.Sprintf("object-%d", i)}
		var declare func(tag string) planSetJSON
		metadata := func() planSetJSON {
			return planSetJSON{"name": o.name, "namespace": "bench", "labels": planSetJSON{"app.kubernetes.io/part-of": "bench"}}
		}
		switch i % 3 {
		case 0:
			o.typed = appsv1.Deployment{}
			declare = func(tag string) planSetJSON {
				var env []any
				for v := range 10 {
					env = append(env, planSetJSON{"name": fmt.Sprintf("SETTING_%d", v), "value": fmt.Sprintf("%d", v)})
				}
				return planSetJSON{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata(), "spec": planSetJSON{
					"replicas": 3, "selector": planSetJSON{"matchLabels": planSetJSON{"app": o.name}},
					"template": planSetJSON{"metadata": planSetJSON{"labels": planSetJSON{"app": o.name}}, "spec": planSetJSON{"containers": []any{
						planSetJSON{"name": "app", "image": "registry.example.com/app:" + tag, "env": env, "ports": []any{planSetJSON{"containerPort": 8080}}},
						planSetJSON{"name": "proxy", "image": "registry.example.com/proxy:1"},
					}}},
				}}
			}
		case 1:
			o.typed = corev1.ConfigMap{}
			declare = func(tag string) planSetJSON {
				return planSetJSON{"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata(), "data": planSetJSON{"tag": tag, "a": "1", "b": "2"}}
			}
		default:
			declare = func(tag string) planSetJSON {
				return planSetJSON{"apiVersion": "example.com/v1", "kind": "Thing", "metadata": metadata(), "spec": planSetJSON{"tag": tag, "parts": []any{planSetJSON{"name": "a", "size": 1}}}}
			}
		}
		tag := "1"
		if changes > 0 && i%changes == 0 {
			tag = "2"
		}
		o.desired = planSetText(tb, declare(tag))
		live := declare("1")
		meta := live["metadata"].(planSetJSON)
		meta["annotations"] = planSetJSON{apply.LastAppliedAnnotation: string(planSetRecord(tb, planSetText(tb, live)))}
		meta["creationTimestamp"], meta["uid"], meta["resourceVersion"], meta["generation"] = "2026-01-02T03:04:05Z", o.name, "7", 1
		if i%3 == 0 {
			live["spec"].(planSetJSON)["progressDeadlineSeconds"] = 600
		}
		o.live = planSetText(tb, live)
		out[i] = o
	}
	return out
}

func planSetText(tb testing.TB, v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

// planSetRecord is what kubectl apply records of an object (kubectl, util.GetModifiedConfiguration).
func planSetRecord(tb testing.TB, object []byte) []byte {
	var o planSetJSON
	if err := json.Unmarshal(object, &o); err != nil {
		tb.Fatal(err)
	}
	if meta := o["metadata"].(planSetJSON); meta["annotations"] == nil {
		meta["annotations"] = planSetJSON{}
	}
	return append(planSetText(tb, o), '\n')
}

// planSetUpstream plans an object as kubectl apply does (kubectl, cmd/apply.Patcher): the record
// goes into what is declared, last comes from live, and the patch is strategic for the kinds that
// have a Go type.
func planSetUpstream(tb testing.TB, o planSetObject) ([]byte, error) {
	var desired, live planSetJSON
	if err := json.Unmarshal(o.desired, &desired); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(o.live, &live); err != nil {
		return nil, err
	}
	desired["metadata"].(planSetJSON)["annotations"] = planSetJSON{apply.LastAppliedAnnotation: string(planSetRecord(tb, o.desired))}
	last, _ := live["metadata"].(planSetJSON)["annotations"].(planSetJSON)[apply.LastAppliedAnnotation].(string)
	if o.typed == nil {
		return jsonmergepatch.CreateThreeWayJSONMergePatch([]byte(last), planSetText(tb, desired), o.live)
	}
	lookup, err := strategicpatch.NewPatchMetaFromStruct(o.typed)
	if err != nil {
		return nil, err
	}
	return strategicpatch.CreateThreeWayMergePatch([]byte(last), planSetText(tb, desired), o.live, lookup, true)
}

// planSetBraid plans all objects, and calls f with each patch, nil where there is none.
func planSetBraid(objects []planSetObject, f func(i int, patch []byte)) error {
	at := make(map[string]int, len(objects))
	set, err := apply.NewSet(func(yield func(apply.Document, error) bool) {
		for i, o := range objects {
			at[o.name] = i
			d, err := merge.Parse(o.desired)
			if !yield(apply.Document{Doc: d}, err) {
				return
			}
		}
	}, apply.SetOptions{})
	if err != nil {
		return err
	}
	planner, err := apply.NewPlanner(apply.Options{Schema: set.Schema})
	if err != nil {
		return err
	}
	get := func(id apply.ID) (*merge.Doc, error) { return merge.Parse(objects[at[id.Name]].live) }
	for step := range set.Plan(planner, apply.Live{Get: get}) {
		if step.Err != nil {
			return step.Err
		}
		f(at[step.ID.Name], step.Plan.Patch)
	}
	return nil
}

// A set of 1,000 objects is planned from JSON, of which all, a tenth or none change: ours in
// order and checked as a set, upstream's one by one as kubectl does. Both plan the same objects.
func BenchmarkPlanSet(b *testing.B) {
	fmt.Println("work: PlanSet: plans for a set of 1,000 objects, from JSON: for none, a tenth or all of them a patch")
	for _, c := range []struct {
		name    string
		changes int
	}{{"none", 0}, {"a-tenth", 10}, {"all", 1}} {
		objects := planSetObjects(b, 1000, c.changes)
		size := 0
		for _, o := range objects {
			size += len(o.desired) + len(o.live)
		}
		patches := make([][]byte, len(objects))
		if err := planSetBraid(objects, func(i int, patch []byte) { patches[i] = patch }); err != nil {
			b.Fatal(err)
		}
		for i, o := range objects {
			theirs, err := planSetUpstream(b, o)
			if err != nil {
				b.Fatal(err)
			}
			planSetSame(b, o, patches[i], theirs)
		}
		for _, p := range []struct {
			name string
			run  func() error
		}{
			{"braid", func() error { return planSetBraid(objects, func(int, []byte) {}) }},
			{"kubectl", func() error {
				for _, o := range objects {
					if _, err := planSetUpstream(b, o); err != nil {
						return err
					}
				}
				return nil
			}},
		} {
			b.Run("case=1000-"+c.name+"/peer="+p.name, func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(size))
				for b.Loop() {
					if err := p.run(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// planSetSame fails unless both patches make the same of live, by a server's rules.
func planSetSame(tb testing.TB, o planSetObject, ours, theirs []byte) {
	tb.Helper()
	rules, format := merge.Schemaless(), merge.JSONMergePatch
	desired, err := merge.Parse(o.desired)
	if err != nil {
		tb.Fatal(err)
	}
	if o.typed != nil {
		format = merge.StrategicPatch
		if rules, err = merge.SchemaFor(desired.GVK()); err != nil {
			tb.Fatal(err)
		}
	}
	var objects [2]*merge.Doc
	for i, patch := range [][]byte{ours, theirs} {
		if patch == nil {
			patch = []byte("{}")
		}
		text, err := merge.ApplyPatch(format, o.live, patch, merge.Options{Schema: rules})
		if err != nil {
			tb.Fatalf("%s: %v", patch, err)
		}
		if objects[i], err = merge.Parse(text); err != nil {
			tb.Fatal(err)
		}
	}
	if !objects[0].Equal(objects[1]) {
		tb.Fatalf("%s: ours\n%s\nkubectl's\n%s\ngive\n%s\n%s", o.name, ours, theirs, objects[0].JSON(), objects[1].JSON())
	}
}
