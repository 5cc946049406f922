package apply_test

import (
	"context"
	"errors"
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

// store stores what manager writes; what nobody does is of admission, after the server has seen
// who owns what.
func (o *tracked) store(manager string, obj map[string]any) {
	o.t.Helper()
	u := &unstructured.Unstructured{Object: obj}
	if err := asServer(context.Background(), &memory.Admission{Object: u}); err != nil {
		o.t.Fatal(err)
	}
	if manager != "nobody" {
		obj = o.server.Update(o.t, o.live, obj, manager)
	}
	o.live = obj
}

// patch is a strategic patch by manager, or what apply:manager applies by force.
func (o *tracked) patch(manager, patch string) {
	o.t.Helper()
	live := o.doc()
	if applier, ok := strings.CutPrefix(manager, "apply:"); ok {
		o.live = o.server.Apply(o.t, o.live, fromYAML(o.t, patch).Map(), applier)
		return
	}
	m, err := merge.New(merge.Options{Schema: schemaOf(o.t, live)})
	if err != nil {
		o.t.Fatal(err)
	}
	out, err := m.Patch(merge.StrategicPatch, live, fromYAML(o.t, patch))
	if err != nil {
		o.t.Fatal(err)
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
		set(m, pathSteps(at), gone)
	}
	out, err := merge.FromMap(sweep(m, gone).(map[string]any))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

var step = regexp.MustCompile(`\["(?:[^"\\]|\\.)*"\]|\[\d+\]|[^.\[]+`)

func pathSteps(path string) []string { return step.FindAllString(path, -1) }

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
		{name: "what means the same as nothing", writes: []string{`kubectl-edit {spec: {paused: false}}`}},
		{name: "a default, changed", writes: []string{`kubectl-edit {spec: {progressDeadlineSeconds: 5}}`}, want: `spec.progressDeadlineSeconds kubectl-edit`},
		{name: "what we declare, changed", writes: []string{`kubectl-edit ` + podSpec + `{containers: [{name: app, image: other}]}}}}`}},
		{name: "a controller's", writes: []string{`deployment-controller {metadata: {annotations: {deployment.kubernetes.io/revision: "1"}}, status: {replicas: 1}}`, `operator ` + podSpec + `{containers: [{name: sidecar, image: s}], hostNetwork: true}}}}`}},
		{name: "a hand in a controller's container", writes: []string{`operator ` + podSpec + `{containers: [{name: sidecar, image: s}]}}}}`, `kubectl-edit ` + podSpec + `{containers: [{name: sidecar, workingDir: /x}]}}}}`},
			want: `spec.template.spec.containers[0].workingDir kubectl-edit`},
		{name: "a hand in a controller's container, which stands before ours in another order", desired: strings.Replace(web, `containers: [`, `containers: [{name: first, image: f}, `, 1), writes: []string{
			`operator ` + podSpec + `{$setElementOrder/containers: [{name: sidecar}, {name: app}, {name: first}], containers: [{name: sidecar, image: s}, {name: app}]}}}}`,
			`kubectl-edit ` + podSpec + `{containers: [{name: sidecar, workingDir: /x}, {name: first, tty: true}]}}}}`,
		}, want: `spec.template.spec.containers[0].workingDir kubectl-edit; spec.template.spec.containers[2].tty kubectl-edit`},
		{name: "a hand in a controller's struct", writes: []string{`operator ` + podSpec + `{affinity: {podAffinity: {}}}}}}`, `kubectl-edit ` + podSpec + `{affinity: {podAntiAffinity: {}}}}}}`},
			want: `spec.template.spec.affinity.podAntiAffinity kubectl-edit`},
		{name: "a controller in a hand's container", writes: []string{`kubectl-edit ` + podSpec + `{containers: [{name: dbg, image: d}]}}}}`, `operator ` + podSpec + `{containers: [{name: dbg, workingDir: /x}]}}}}`}},
		{name: "another applier's, even kubectl-edit's", writes: []string{
			`apply:kubectl-edit {apiVersion: apps/v1, kind: Deployment, metadata: {name: web, labels: {x: v}}, spec: {paused: true}}`}},
		{name: "made by hand, and applied by another with the same value", writes: []string{`kubectl-edit {spec: {paused: true, minReadySeconds: 3}}`,
			`apply:other {apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {paused: true}}`}, want: `spec.minReadySeconds kubectl-edit`},
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
				o.patch(manager, patch)
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

// handManaged writes what a person made of an object of a custom kind.
func handManaged(fields string) string {
	return `managedFields: [{manager: kubectl-edit, operation: Update, apiVersion: example.com/v1, fieldsType: FieldsV1, fieldsV1: ` + fields + `}]`
}

// Of custom kinds, with a schema and without. What a person made there, and what is pruned.
func TestHandMadeCustom(t *testing.T) {
	cluster := memory.New(memory.Options{})
	if _, err := cluster.Create(context.Background(), &unstructured.Unstructured{Object: fromYAML(t, crd).Map()}, apply.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	const head = `{apiVersion: example.com/v1, kind: Thing, metadata: {name: x, `
	for _, c := range []struct {
		name, fields, live, want, format string
		nobodys                          bool // the schema is not known
	}{
		{"a field", `{"f:spec": {"f:size": {}}}`, `{parts: [{name: a}], size: 1}`, `spec.size`, "merge", false},
		{"an element", `{"f:spec": {"f:parts": {"k:{\"name\":\"b\"}": {".": {}, "f:name": {}, "f:size": {}}}}}`, `{parts: [{name: a}, {name: b, size: 1}]}`, `spec.parts[1]`, "json-patch", false},
		{"a field of an element of ours", `{"f:spec": {"f:parts": {"k:{\"name\":\"a\"}": {"f:size": {}}}}}`, `{parts: [{name: a, size: 1}]}`, `spec.parts[0].size`, "json-patch", false},
		{"the key of an element of ours", `{"f:spec": {"f:parts": {"k:{\"name\":\"a\"}": {"f:name": {}}}}}`, `{parts: [{name: a, size: 1}]}`, ``, "", false},
		{"the default of the schema", `{"f:spec": {"f:mode": {}}}`, `{parts: [{name: a}], mode: auto}`, ``, "", false},
		{"not the default", `{"f:spec": {"f:mode": {}}}`, `{parts: [{name: a}], mode: fixed}`, `spec.mode`, "merge", false},
		{"no schema, a field", `{"f:spec": {"f:size": {}}}`, `{parts: [{name: a}], size: 1}`, `spec.size`, "merge", true},
		{"no schema, an element", `{"f:spec": {"f:parts": {"k:{\"name\":\"b\"}": {".": {}, "f:name": {}, "f:size": {}}}}}`, `{parts: [{name: a}, {name: b, size: 1}]}`, ``, "merge", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := apply.Options{Unowned: merge.UnownedGoes, Schema: cluster.Schema}
			if c.nobodys {
				o.Schema = nil
			}
			desired := fromYAML(t, head+`}, spec: {parts: [{name: a}]}}`)
			p := planner(t, o)
			_, recorded, err := apply.Record{}.Exchange(nil, desired)
			if err != nil {
				t.Fatal(err)
			}
			note, _ := recorded.Text("metadata", "annotations", apply.LastAppliedAnnotation)
			live := fromYAML(t, head+handManaged(c.fields)+fmt.Sprintf(`, annotations: {%s: %q}}, spec: %s}`, apply.LastAppliedAnnotation, note, c.live))
			plan, err := p.Plan(live, desired)
			if err != nil {
				t.Fatal(err)
			}
			got := strings.ReplaceAll(strings.Join(byHand(plan), "; "), " kubectl-edit", "")
			if got != c.want || !strings.Contains(string(plan.PatchType), c.format) {
				t.Errorf("%s by a %s, want %s by %s\n%s", got, plan.PatchType, c.want, c.format, plan.Patch)
			}
			if c.want == "" {
				return
			}
			merged, err := plan.Merged()
			if err != nil {
				t.Fatal(err)
			}
			if want := without(t, live, byHand(plan)); !merged.Equal(want) {
				t.Errorf("%s\nwant %s", merged.JSON(), want.JSON())
			}
			m, err := merge.New(merge.Options{Schema: merge.Schemaless()})
			if err != nil {
				t.Fatal(err)
			}
			if patched, err := m.Patch(formatOf(plan), live, fromYAML(t, string(plan.Patch))); err != nil || !patched.Equal(merged) {
				t.Errorf("%v: the patch %s does not make %s", err, plan.Patch, merged.JSON())
			}
		})
	}
}

// Where nobody can know what was made by hand, nothing is removed, and a plan says why.
func TestHandMadeUnknown(t *testing.T) {
	const none = "live: there are no managedFields; so nothing counts as made by hand"
	for _, c := range []struct{ name, managed, keeps, prunes string }{
		{"no managedFields", `null`, "", none},
		{"no manager", `[]`, "", none},
		{"malformed", `[{manager: kubectl-edit, operation: Update, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {"f:data": 1}}]`,
			`metadata.managedFields[0].fieldsV1["f:data"]: live: managedFields cannot be read: want a map, got a number; so nothing counts as made by hand`, ""},
		{"another's are malformed", `[{manager: kubectl-edit, operation: Update, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {"f:data": {"f:x": {}}}}, {operation: Update, fieldsType: FieldsV1, fieldsV1: {"x": {}}}]`,
			`metadata.managedFields[1].fieldsV1.x: live: managedFields cannot be read: want the name of a field or element; so nothing counts as made by hand`, ""},
		{"another version", `[{manager: kubectl-edit, operation: Update, apiVersion: v0, fieldsType: FieldsV1, fieldsV1: {"f:data": {"f:x": {}}}}]`, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			const head = `{apiVersion: v1, kind: ConfigMap, metadata: {name: c, `
			desired := fromYAML(t, head+`}, data: {a: b}}`)
			_, recorded, err := apply.Record{}.Exchange(nil, desired)
			if err != nil {
				t.Fatal(err)
			}
			note, _ := recorded.Text("metadata", "annotations", apply.LastAppliedAnnotation)
			live := fromYAML(t, head+`managedFields: `+c.managed+fmt.Sprintf(`, annotations: {%s: %q}}, data: {a: b, x: v}}`, apply.LastAppliedAnnotation, note))
			for _, unowned := range []merge.Unowned{merge.UnownedStays, merge.UnownedGoes} {
				plan, err := planner(t, apply.Options{Unowned: unowned}).Plan(live, desired)
				if err != nil || plan.Operation != apply.None {
					t.Fatalf("%v, %v", err, plan)
				}
				want := c.keeps
				if unowned == merge.UnownedGoes && c.prunes != "" {
					want = c.prunes
				}
				if got := fmt.Sprint(plan.Warnings); got != "["+want+"]" {
					t.Errorf("%d: %s, want %s", unowned, got, want)
				}
			}
		})
	}
}

// Neither the warnings nor the report of a plan have values of a Secret, and a policy may make
// a conflict of what goes.
func TestHandMadeOfSecret(t *testing.T) {
	server := kinds.NewServer(t, schema.BuiltinVersion())
	desired := fromYAML(t, `{apiVersion: v1, kind: Secret, metadata: {name: s}, data: {a: b3Vycw==}}`)
	strict := merge.Apply
	strict[merge.WeRemove] = merge.Clash
	o := &tracked{t: t, server: server}
	o.apply(planner(t, apply.Options{}), desired)
	o.patch("kubectl-edit", `{data: {x: aHVudGVyMg==}}`)
	for _, policy := range []*merge.Policy{nil, &strict} {
		plan, err := planner(t, apply.Options{Unowned: merge.UnownedGoes, Policy: policy}).Plan(o.doc(), desired)
		if (err != nil) != (policy != nil) || plan == nil {
			t.Fatal(err)
		}
		var report strings.Builder
		if err := plan.WriteReport(&report, false); err != nil {
			t.Fatal(err)
		}
		said := fmt.Sprint(report.String(), plan.Warnings, err)
		if strings.Contains(said, "aHVudGVyMg") || !strings.Contains(said, "data.x: live: made by hand (kubectl-edit)") || !strings.Contains(said, "(secret)") {
			t.Error(said)
		}
		if policy != nil && (len(plan.Conflicts()) != 1 || plan.Conflicts()[0].Path.String() != "data.x") {
			t.Errorf("conflicts: %v", plan.Conflicts())
		}
	}
}

func TestUnownedOption(t *testing.T) {
	if _, err := apply.NewPlanner(apply.Options{Unowned: 2}); !errors.Is(err, merge.ErrOption) {
		t.Error(err)
	}
	hands := apply.ByHand()
	hands[0] = "changed"
	if slices.Contains(apply.ByHand(), "changed") {
		t.Error("ByHand returns its own list")
	}
}
