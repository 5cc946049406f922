package apply_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/braid/apply"
	"example.com/braid/apply/memory"
	"example.com/braid/internal/kinds"
	"example.com/braid/internal/schema"
	"example.com/braid/merge"
)

// tracked is an object on a server that sets defaults and keeps managedFields by a server's
// own code.
type tracked struct {
	t      testing.TB
	server *kinds.Server
	live   map[string]any
}

// store stores what manager writes.
func (o *tracked) store(manager string, obj map[string]any) {
	o.t.Helper()
	u := &unstructured.Unstructured{Object: obj}
	if err := asServer(context.Background(), &memory.Admission{Object: u}); err != nil {
		o.t.Fatal(err)
	}
	if m := u.GetManagedFields(); len(m) == 0 {
		unstructured.RemoveNestedField(obj, "metadata", "managedFields")
	}
	o.live = o.server.Update(o.t, o.live, obj, manager)
}

// patch is a patch by manager. admission is set when the fields have been counted: nobody owns it.
func (o *tracked) patch(manager, format, patch string) {
	o.t.Helper()
	t := merge.StrategicPatch
	if format != "" {
		t = merge.JSONMergePatch
	}
	live := o.doc()
	rules, err := merge.SchemaFor(live.GVK())
	if err != nil {
		rules = merge.Schemaless()
	}
	m, err := merge.New(merge.Options{Schema: rules})
	if err != nil {
		o.t.Fatal(err)
	}
	out, err := m.Patch(t, live, fromYAML(o.t, patch))
	if err != nil {
		o.t.Fatal(err)
	}
	if manager == "nobody" {
		o.live = out.Map()
		return
	}
	o.store(manager, out.Map())
}

func (o *tracked) doc() *merge.Doc {
	o.t.Helper()
	if o.live == nil {
		return nil
	}
	d, err := merge.FromMap(o.live)
	if err != nil {
		o.t.Fatal(err)
	}
	return d
}

// apply plans and stores what becomes of it.
func (o *tracked) apply(p *apply.Planner, desired *merge.Doc) *apply.Plan {
	o.t.Helper()
	live := o.doc()
	plan, err := p.Plan(live, desired)
	if err != nil {
		o.t.Fatal(err)
	}
	switch plan.Operation {
	case apply.Create, apply.Replace:
		o.store("kubectl-client-side-apply", plan.Object.Map())
	case apply.Patch:
		patched, err := merge.ApplyPatch(formatOf(plan), live.JSON(), plan.Patch, merge.Options{Schema: schemaOf(o.t, live)})
		if err != nil {
			o.t.Fatal(err)
		}
		d, err := merge.Parse(patched)
		if err != nil {
			o.t.Fatal(err)
		}
		if merged, err := plan.Merged(); err != nil || !merged.Equal(d) {
			o.t.Fatalf("%v: the patch %s makes\n%s, not\n%s", err, plan.Patch, d.JSON(), merged.JSON())
		}
		o.store("kubectl-client-side-apply", d.Map())
	}
	return plan
}

func formatOf(plan *apply.Plan) merge.PatchType {
	for _, f := range []merge.PatchType{merge.StrategicPatch, merge.JSONMergePatch, merge.JSONPatch} {
		if f.MediaType() == string(plan.PatchType) {
			return f
		}
	}
	return merge.ApplyConfiguration
}

func schemaOf(t testing.TB, d *merge.Doc) *merge.Schema {
	t.Helper()
	s, err := merge.SchemaFor(d.GVK())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var madeByHand = regexp.MustCompile(`^(.*): live: made by hand \((.*)\); nobody declares it$`)

// byHand returns the paths that a plan says were made by hand, and by whom.
func byHand(p *apply.Plan) (found []string) {
	for _, w := range p.Warnings {
		if m := madeByHand.FindStringSubmatch(w.String()); m != nil {
			found = append(found, m[1]+" "+m[2])
		}
	}
	return found
}

// without returns d without what stands at the paths of found, lists by index.
func without(t testing.TB, d *merge.Doc, found []string) *merge.Doc {
	t.Helper()
	m := d.Map()
	gone := new(int)
	for _, f := range found {
		at, _, _ := strings.Cut(f, " ")
		set(m, steps(at), gone)
	}
	out, err := merge.FromMap(sweep(m, gone).(map[string]any))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

var step = regexp.MustCompile(`\["(?:[^"\\]|\\.)*"\]|\[\d+\]|[^.\[]+`)

func steps(path string) []string { return step.FindAllString(path, -1) }

// set puts value where the steps lead.
func set(v any, steps []string, value any) {
	s := steps[0]
	var put func(any)
	var next any
	switch v := v.(type) {
	case map[string]any:
		key := s
		if strings.HasPrefix(s, `["`) {
			key = s[2 : len(s)-2]
		}
		next, put = v[key], func(x any) { v[key] = x }
	case []any:
		var i int
		fmt.Sscanf(s, "[%d]", &i)
		next, put = v[i], func(x any) { v[i] = x }
	}
	if len(steps) == 1 {
		put(value)
		return
	}
	set(next, steps[1:], value)
}

// sweep returns v without gone.
func sweep(v, gone any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			if x == gone {
				delete(v, k)
			} else {
				v[k] = sweep(x, gone)
			}
		}
	case []any:
		out := []any{}
		for _, x := range v {
			if x != gone {
				out = append(out, sweep(x, gone))
			}
		}
		return out
	}
	return v
}

const web = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, labels: {app: web}}, spec: {selector: {matchLabels: {app: web}},
	template: {metadata: {labels: {app: web}}, spec: {containers: [{name: app, image: a, ports: [{containerPort: 80}]}], nodeSelector: {zone: a}}}}}`

// Somebody writes to an object of ours; what does a plan of the same manifest say, and what does
// it remove if it is asked to?
func TestHandMade(t *testing.T) {
	server := kinds.NewServer(t, schema.BuiltinVersion())
	const podSpec = `{spec: {template: {spec: `
	for _, c := range []struct {
		name    string
		desired string   // web if it is ""
		writes  []string // manager, and a strategic patch
		want    string   // what is made by hand, and by whom
		options apply.Options
	}{
		{name: "nothing, and defaults are nobody's"},
		{name: "a label", writes: []string{`kubectl-label {metadata: {labels: {x: v}}}`}, want: `metadata.labels.x kubectl-label`},
		{name: "the first annotations but the record", writes: []string{`kubectl-annotate {metadata: {annotations: {example.com/a: b}}}`}, want: `metadata.annotations["example.com/a"] kubectl-annotate`},
		{name: "a key of an atomic map", writes: []string{`kubectl-edit ` + podSpec + `{nodeSelector: {disk: ssd}}}}}`}, want: `spec.template.spec.nodeSelector.disk kubectl-edit`},
		{name: "a container", writes: []string{`kubectl-edit ` + podSpec + `{containers: [{name: dbg, image: d, ports: [{containerPort: 1}]}]}}}}`}, want: `spec.template.spec.containers[0] kubectl-edit`},
		{name: "a container with what admission put there", writes: []string{
			`kubectl-edit ` + podSpec + `{containers: [{name: dbg, image: d}]}}}}`,
			`nobody ` + podSpec + `{containers: [{name: dbg, env: [{name: INJECTED, value: x}]}]}}}}`,
		}, want: `spec.template.spec.containers[0] kubectl-edit`},
		{name: "a field of a container of ours", writes: []string{`kubectl-patch ` + podSpec + `{containers: [{name: app, workingDir: /x}]}}}}`}, want: `spec.template.spec.containers[0].workingDir kubectl-patch`},
		{name: "environment, in a list that we do not have", writes: []string{`kubectl-set ` + podSpec + `{containers: [{name: app, env: [{name: A, value: b}]}]}}}}`}, want: `spec.template.spec.containers[0].env kubectl-set`},
		{name: "a port with our key and another protocol", writes: []string{`kubectl-edit ` + podSpec + `{containers: [{name: app, $setElementOrder/ports: [{containerPort: 80}, {containerPort: 81}], ports: [{containerPort: 81, protocol: UDP}]}]}}}}`},
			want: `spec.template.spec.containers[0].ports[1] kubectl-edit`},
		{name: "a struct", writes: []string{`kubectl-edit ` + podSpec + `{securityContext: {runAsUser: 1}}}}}`}, want: `spec.template.spec.securityContext kubectl-edit`},
		{name: "two hands, in the order of the object", writes: []string{`kubectl-edit {spec: {paused: true}}`, `kubectl-label {metadata: {labels: {x: v}}}`},
			want: `metadata.labels.x kubectl-label; spec.paused kubectl-edit`},
		{name: "a default, changed", writes: []string{`kubectl-edit {spec: {progressDeadlineSeconds: 5}}`}, want: `spec.progressDeadlineSeconds kubectl-edit`},
		{name: "what we declare, changed", writes: []string{`kubectl-edit ` + podSpec + `{containers: [{name: app, image: other}]}}}}`}},
		{name: "a controller's", writes: []string{`deployment-controller {metadata: {annotations: {deployment.kubernetes.io/revision: "1"}}, status: {replicas: 1}}`, `operator ` + podSpec + `{containers: [{name: sidecar, image: s}], hostNetwork: true}}}}`}},
		{name: "a hand in a controller's container", writes: []string{`operator ` + podSpec + `{containers: [{name: sidecar, image: s}]}}}}`, `kubectl-edit ` + podSpec + `{containers: [{name: sidecar, workingDir: /x}]}}}}`},
			want: `spec.template.spec.containers[0].workingDir kubectl-edit`},
		{name: "a hand in a controller's struct", writes: []string{`operator ` + podSpec + `{affinity: {podAffinity: {}}}}}}`, `kubectl-edit ` + podSpec + `{affinity: {podAntiAffinity: {}}}}}}`},
			want: `spec.template.spec.affinity.podAntiAffinity kubectl-edit`},
		{name: "a controller in a hand's container", writes: []string{`kubectl-edit ` + podSpec + `{containers: [{name: dbg, image: d}]}}}}`, `operator ` + podSpec + `{containers: [{name: dbg, workingDir: /x}]}}}}`}},
		{name: "made by hand, then a controller's", writes: []string{`kubectl-edit {spec: {paused: true}}`, `operator {spec: {paused: null, minReadySeconds: 3}}`}},
		{name: "what admission put there", writes: []string{`nobody ` + podSpec + `{hostNetwork: true, containers: [{name: injected, image: i}]}}}}`}},
		{name: "metadata of others", writes: []string{`kubectl-edit {metadata: {finalizers: [a/b], ownerReferences: [{apiVersion: v1, kind: Pod, name: a, uid: u}], generateName: x}}`}},
		{name: "finalizers, of our own too", desired: strings.Replace(web, `name: web,`, `name: web, finalizers: [ours/f],`, 1), writes: []string{`kubectl-edit {metadata: {finalizers: [a/b]}}`}},
		{name: "a hand-over", writes: []string{`kubectl-edit {spec: {paused: true, minReadySeconds: 3}}`}, want: `spec.minReadySeconds kubectl-edit`, options: apply.Options{HandOver: []string{"spec.paused"}}},
		{name: "a hand-over of an element", writes: []string{`kubectl-edit ` + podSpec + `{containers: [{name: dbg, image: d}]}}}}`}, options: apply.Options{HandOver: []string{"spec.template.spec.containers[name=dbg]"}}},
		{name: "ignored", writes: []string{`kubectl-edit {spec: {paused: true, minReadySeconds: 3}}`}, want: `spec.minReadySeconds kubectl-edit`, options: apply.Options{Ignore: []string{"spec.paused"}}},
		{name: "ignored, all around", writes: []string{`kubectl-edit ` + podSpec + `{containers: [{name: dbg, image: d}, {name: app, workingDir: /x}]}}}}`}, options: apply.Options{Ignore: []string{"spec.template.spec.containers[*]"}}},
		{name: "nobody is a hand", writes: []string{`kubectl-edit {spec: {paused: true}}`}, options: apply.Options{ByHand: []string{}}},
		{name: "another hand", writes: []string{`kubectl-edit {spec: {paused: true}}`, `Mozilla {spec: {minReadySeconds: 3}}`}, want: `spec.minReadySeconds Mozilla`, options: apply.Options{ByHand: []string{"Mozilla"}}},
		{name: "replaced whole", writes: []string{`kubectl-edit ` + podSpec + `{containers: [{name: dbg, image: d}, {name: app, workingDir: /x}]}}}}`},
			want: `spec.template.spec.containers[0] kubectl-edit; spec.template.spec.containers[1].workingDir kubectl-edit`, options: apply.Options{Replace: true}},
		{name: "a map of any keys", desired: `{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {a: b}}`, writes: []string{`kubectl-edit {data: {x: v}, binaryData: {z: aGk=}}`},
			want: `binaryData kubectl-edit; data.x kubectl-edit`},
		{name: "two ports of one number", desired: `{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {ports: [{name: a, port: 53, protocol: UDP}], selector: {a: b}}}`,
			writes: []string{`kubectl-patch {spec: {ports: [{$patch: replace}, {name: a, port: 53, protocol: UDP}, {name: b, port: 53, protocol: TCP}]}}`}, want: `spec.ports[1] kubectl-patch`},
	} {
		t.Run(c.name, func(t *testing.T) {
			desired := fromYAML(t, web)
			if c.desired != "" {
				desired = fromYAML(t, c.desired)
			}
			keeps := planner(t, c.options)
			c.options.Unowned = merge.UnownedGoes
			prunes := planner(t, c.options)
			o := &tracked{t: t, server: server}
			o.apply(keeps, desired)
			for _, w := range c.writes {
				manager, patch, _ := strings.Cut(w, " ")
				o.patch(manager, "", patch)
			}
			prunedAsDeleted(t, o, keeps, prunes, desired, c.want)
		})
	}
}

// prunedAsDeleted holds what a plan prunes to what it warns of: to prune is to merge as if that
// were deleted, and leaves nothing to do. want is what is made by hand; "?" is anything.
func prunedAsDeleted(t *testing.T, o *tracked, keeps, prunes *apply.Planner, desired *merge.Doc, want string) {
	t.Helper()
	live := o.doc()
	kept, err := keeps.Plan(live, desired)
	if err != nil {
		t.Fatal(err)
	}
	found := byHand(kept)
	if got := strings.Join(found, "; "); got != want && want != "?" {
		t.Errorf("made by hand: %s\nwant          %s\nof %s", got, want, live.JSON())
	}
	deleted, err := keeps.Plan(without(t, live, found), desired)
	if err != nil {
		t.Fatal(err)
	}
	plan := o.apply(prunes, desired)
	if got := byHand(plan); !slices.Equal(got, found) {
		t.Errorf("prunes %v, but warns of %v", got, found)
	}
	merged, err := plan.Merged()
	if err != nil {
		t.Fatal(err)
	}
	if want, err := deleted.Merged(); err != nil || !merged.Equal(want) {
		t.Errorf("%v: pruned\n%s, want\n%s", err, merged.JSON(), want.JSON())
	}
	if again, err := prunes.Plan(o.doc(), desired); err != nil || again.Operation != apply.None || len(byHand(again)) > 0 {
		t.Errorf("the second plan: %v, %v %s, %v", err, again.Operation, again.Patch, again.Warnings)
	}
}
