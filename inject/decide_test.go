package inject_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gvk "k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/braid/inject"
	"example.com/braid/merge"
)

// The decision, as a table: the first row that matches gives the reason; · is anything. A
// column is one thing that a decision can depend on, with all the values it can have.
var columns = []struct {
	name   string
	values []string
}{
	{"kind", []string{"Pod", "Job", "ReplicaSet", "ConfigMap", "-"}},
	{"subres", []string{"-", "status"}},
	{"operation", []string{"CREATE", "UPDATE", "DELETE"}},
	{"deleted", []string{"-", "x"}},
	{"namespace", []string{"mine", "kube-system", "injector"}},
	{"mirror", []string{"-", "mirror", "file"}},
	{"owner", []string{"-", "controller", "other"}},
	{"network", []string{"-", "host"}},
	{"os", []string{"-", "linux", "windows", "selected"}},

	{"label", []string{"-", "true", "false", "ture"}},
	{"annotation", []string{"-", "enabled", "disabled", "ture"}},
	{"record", []string{"-", "x"}},
	{"never", []string{"-", "x"}},
	{"always", []string{"-", "x"}},
	{"nslabel", []string{"-", "true", "false", "ture"}},
	{"mode", []string{"OptIn", "OptOut"}},
}

const decisions = `
kind       subres operation deleted namespace   mirror owner      network os       label annotation record never always nslabel mode   reason
-          ·      ·         ·       ·           ·      ·          ·       ·        ·     ·          ·      ·     ·      ·       ·      NoObject no
·          status ·         ·       ·           ·      ·          ·       ·        ·     ·          ·      ·     ·      ·       ·      Subresource no
·          ·      DELETE    ·       ·           ·      ·          ·       ·        ·     ·          ·      ·     ·      ·       ·      OtherOperation no
ConfigMap  ·      ·         ·       ·           ·      ·          ·       ·        ·     ·          ·      ·     ·      ·       ·      UnknownKind no
Pod        ·      UPDATE    ·       ·           ·      ·          ·       ·        ·     ·          ·      ·     ·      ·       ·      Immutable no
Job        ·      UPDATE    ·       ·           ·      ·          ·       ·        ·     ·          ·      ·     ·      ·       ·      Immutable no
·          ·      ·         x       ·           ·      ·          ·       ·        ·     ·          ·      ·     ·      ·       ·      Deleted no
·          ·      ·         ·       kube-system ·      ·          ·       ·        ·     ·          ·      ·     ·      ·       ·      IgnoredNamespace no
·          ·      ·         ·       injector    ·      ·          ·       ·        ·     ·          ·      ·     ·      ·       ·      IgnoredNamespace no
·          ·      ·         ·       ·           mirror ·          ·       ·        ·     ·          ·      ·     ·      ·       ·      MirrorPod no
·          ·      ·         ·       ·           file   ·          ·       ·        ·     ·          ·      ·     ·      ·       ·      MirrorPod no
ReplicaSet ·      ·         ·       ·           ·      controller ·       ·        ·     ·          ·      ·     ·      ·       ·      Controlled no
·          ·      ·         ·       ·           ·      ·          host    ·        ·     ·          ·      ·     ·      ·       ·      HostNetwork no
·          ·      ·         ·       ·           ·      ·          ·       windows  ·     ·          ·      ·     ·      ·       ·      OtherOS no
·          ·      ·         ·       ·           ·      ·          ·       selected ·     ·          ·      ·     ·      ·       ·      OtherOS no
·          ·      ·         ·       ·           ·      ·          ·       ·        false ·          x      ·     ·      ·       ·      OptedOut out
·          ·      ·         ·       ·           ·      ·          ·       ·        -     disabled   x      ·     ·      ·       ·      OptedOut out
·          ·      ·         ·       ·           ·      ·          ·       ·        true  ·          ·      ·     ·      ·       ·      LabelOn yes
·          ·      ·         ·       ·           ·      ·          ·       ·        false ·          ·      ·     ·      ·       ·      LabelOff no
·          ·      ·         ·       ·           ·      ·          ·       ·        ture  ·          ·      ·     ·      ·       ·      LabelUnclear no
·          ·      ·         ·       ·           ·      ·          ·       ·        ·     enabled    ·      ·     ·      ·       ·      AnnotationOn yes
·          ·      ·         ·       ·           ·      ·          ·       ·        ·     disabled   ·      ·     ·      ·       ·      AnnotationOff no
·          ·      ·         ·       ·           ·      ·          ·       ·        ·     ture       ·      ·     ·      ·       ·      AnnotationUnclear no
·          ·      ·         ·       ·           ·      ·          ·       ·        ·     ·          x      ·     ·      ·       ·      AlreadyInjected yes
·          ·      ·         ·       ·           ·      ·          ·       ·        ·     ·          ·      x     ·      ·       ·      NeverSelected no
·          ·      ·         ·       ·           ·      ·          ·       ·        ·     ·          ·      ·     x      ·       ·      AlwaysSelected yes
·          ·      ·         ·       ·           ·      ·          ·       ·        ·     ·          ·      ·     ·      true    ·      NamespaceOn yes
·          ·      ·         ·       ·           ·      ·          ·       ·        ·     ·          ·      ·     ·      false   ·      NamespaceOff no
·          ·      ·         ·       ·           ·      ·          ·       ·        ·     ·          ·      ·     ·      ture    ·      NamespaceUnclear no
·          ·      ·         ·       ·           ·      ·          ·       ·        ·     ·          ·      ·     ·      ·       OptOut DefaultOn yes
·          ·      ·         ·       ·           ·      ·          ·       ·        ·     ·          ·      ·     ·      ·       ·      DefaultOff no
`

// Every pair of what must not be overruled, with some wishes, and every combination of wishes.
func TestDecideTable(t *testing.T) {
	var rows [][]string
	for line := range strings.Lines(strings.TrimSpace(decisions)) {
		rows = append(rows, strings.Fields(line))
	}
	for i, c := range columns {
		if rows[0][i] != c.name {
			t.Fatalf("column %d is %s, want %s", i, rows[0][i], c.name)
		}
	}
	deciders := map[string]*inject.Decider{}
	for name, mode := range map[string]inject.Mode{"OptIn": inject.OptIn, "OptOut": inject.OptOut} {
		deciders[name] = decider(t, inject.DecisionPolicy{
			Mode:              mode,
			Never:             []metav1.LabelSelector{{MatchLabels: map[string]string{"never": "x"}}},
			Always:            []metav1.LabelSelector{{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "always", Operator: metav1.LabelSelectorOpExists}}}},
			IgnoredNamespaces: []string{"injector"},
		})
	}
	reached, tried := make([]int, len(rows)), 0
	try := func(values []string) {
		tried++
		at := slices.IndexFunc(rows, func(row []string) bool {
			for i, v := range values {
				if row[i] != "·" && row[i] != v {
					return false
				}
			}
			return true
		})
		reached[at]++
		got := deciders[values[len(values)-1]].Decide(candidate(t, values))
		answer := "no"
		switch {
		case got.Inject():
			answer = "yes"
		case got.Uninject():
			answer = "out"
		}
		if want := rows[at][len(columns):]; got.String() != want[0] || answer != want[1] {
			t.Fatalf("%v\ngot  %s %s\nwant %v", values, got, answer, want)
		}
	}
	const firstWish = 9
	wishless := [][]string{
		{"-", "-", "-", "-", "-", "-", "OptIn"}, {"true", "-", "-", "-", "-", "-", "OptIn"},
		{"-", "ture", "x", "x", "x", "true", "OptOut"},
	}
	each(columns[:firstWish], func(hard []string) {
		for _, soft := range wishless {
			try(slices.Concat(hard, soft))
		}
	})
	each(columns[firstWish:], func(soft []string) {
		try(slices.Concat([]string{"Pod", "-", "CREATE", "-", "mine", "-", "-", "-", "-"}, soft))
		try(slices.Concat([]string{"ReplicaSet", "-", "UPDATE", "-", "mine", "-", "other", "-", "linux"}, soft))
	})
	for i, n := range reached[1:] {
		if n == 0 {
			t.Errorf("row %q is never reached", rows[i+1])
		}
	}
	t.Logf("%d combinations", tried)
}

// each calls f with every combination of the columns' values.
func each(cs []struct {
	name   string
	values []string
}, f func([]string)) {
	if len(cs) == 0 {
		f(nil)
		return
	}
	for _, v := range cs[0].values {
		each(cs[1:], func(rest []string) { f(append([]string{v}, rest...)) })
	}
}

// candidate makes what a row of values describes.
func candidate(t *testing.T, values []string) inject.Candidate {
	t.Helper()
	v := map[string]string{}
	for i, c := range columns {
		if v[c.name] = values[i]; values[i] == "-" {
			v[c.name] = ""
		}
	}
	c := inject.Candidate{Operation: v["operation"], Subresource: v["subres"], Namespace: v["namespace"]}
	if v["nslabel"] != "" {
		c.NamespaceLabels = map[string]string{inject.DefaultKey: v["nslabel"]}
	}
	if v["kind"] == "" {
		return c
	}
	labels, annotations, spec := map[string]any{}, map[string]any{}, map[string]any{}
	set := func(m map[string]any, key, value string) {
		if value != "" {
			m[key] = value
		}
	}
	set(labels, inject.DefaultKey, v["label"])
	set(labels, "never", v["never"])
	set(labels, "always", v["always"])
	set(annotations, inject.DefaultKey, v["annotation"])
	set(annotations, inject.RecordAnnotation, v["record"])
	switch v["mirror"] {
	case "mirror":
		annotations["kubernetes.io/config.mirror"] = "c0ffee"
	case "file":
		annotations["kubernetes.io/config.source"] = "file"
	default:
		annotations["kubernetes.io/config.source"] = "api"
	}
	spec["hostNetwork"] = v["network"] == "host"
	switch v["os"] {
	case "selected":
		spec["nodeSelector"] = map[string]any{"kubernetes.io/os": "windows"}
	case "":
	default:
		spec["os"] = map[string]any{"name": v["os"]}
	}
	template := map[string]any{"metadata": map[string]any{"labels": labels, "annotations": annotations}, "spec": spec}
	object := template
	version := map[string]string{"Job": "batch/v1", "ReplicaSet": "apps/v1"}[v["kind"]]
	if version == "" {
		version = "v1"
	} else {
		object = map[string]any{"metadata": map[string]any{}, "spec": map[string]any{"template": template}}
	}
	object["apiVersion"], object["kind"] = version, v["kind"]
	metadata := object["metadata"].(map[string]any)
	set(metadata, "deletionTimestamp", strings.Replace(v["deleted"], "x", "2026-01-01T00:00:00Z", 1))
	if v["owner"] != "" {
		metadata["ownerReferences"] = []any{map[string]any{"kind": "Deployment", "controller": v["owner"] == "controller"}}
	}
	doc, err := merge.FromMap(object)
	if err != nil {
		t.Fatal(err)
	}
	c.Object = doc
	return c
}

func decider(t *testing.T, p inject.DecisionPolicy) *inject.Decider {
	t.Helper()
	d, err := inject.NewDecider(p)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// The names of reasons are in dashboards: they do not change.
func TestReasonNames(t *testing.T) {
	const want = "NoObject Subresource OtherOperation UnknownKind Immutable Deleted IgnoredNamespace MirrorPod Controlled " +
		"HostNetwork OtherOS OptedOut LabelOn LabelOff LabelUnclear AnnotationOn AnnotationOff AnnotationUnclear AlreadyInjected " +
		"NeverSelected AlwaysSelected NamespaceOn NamespaceOff NamespaceUnclear DefaultOn DefaultOff Reason(26)"
	var got []string
	for r := inject.NoObject; r <= inject.DefaultOff+1; r++ {
		got = append(got, r.String())
	}
	if g := strings.Join(got, " "); g != want {
		t.Errorf("got  %s\nwant %s", g, want)
	}
}

func TestDecide(t *testing.T) {
	policy := inject.DecisionPolicy{Mode: inject.OptOut}
	with := func(change func(*inject.DecisionPolicy)) inject.DecisionPolicy {
		p := policy
		change(&p)
		return p
	}
	template := "metadata: {labels: {braid.example.com/inject: 'false'}}"
	tests := []struct {
		reason string
		policy inject.DecisionPolicy
		c      inject.Candidate
		object string
		want   inject.Reason
	}{
		{reason: "the object's own namespace counts before the request's", policy: policy,
			c:      inject.Candidate{Namespace: "mine"},
			object: "{apiVersion: v1, kind: Pod, metadata: {namespace: kube-public}}", want: inject.IgnoredNamespace},
		{reason: "a generated pod has only the request's (I12)", policy: policy,
			c:      inject.Candidate{Namespace: "kube-node-lease"},
			object: "{apiVersion: v1, kind: Pod, metadata: {generateName: web-}}", want: inject.IgnoredNamespace},
		{reason: "an empty wish is none, as charts write it", policy: policy,
			object: "{apiVersion: v1, kind: Pod, metadata: {labels: {braid.example.com/inject: ''}}}", want: inject.DefaultOn},
		{reason: "a null deletionTimestamp is none", policy: policy,
			object: "{apiVersion: v1, kind: Pod, metadata: {deletionTimestamp: null}}", want: inject.DefaultOn},
		{reason: "keys of the user's own", policy: with(func(p *inject.DecisionPolicy) { p.Keys.Label = "mesh/sidecar" }),
			object: "{apiVersion: v1, kind: Pod, metadata: {labels: {mesh/sidecar: 'false', braid.example.com/inject: 'true'}}}", want: inject.LabelOff},
		{reason: "host network where templates can stand it", policy: with(func(p *inject.DecisionPolicy) { p.HostNetwork = true }),
			object: "{apiVersion: v1, kind: Pod, spec: {hostNetwork: true}}", want: inject.DefaultOn},
		{reason: "templates for Windows, a pod that says so", policy: with(func(p *inject.DecisionPolicy) { p.OS = "windows" }),
			object: "{apiVersion: v1, kind: Pod, spec: {nodeSelector: {beta.kubernetes.io/os: windows}}}", want: inject.DefaultOn},
		{reason: "templates for Windows, a pod for Linux", policy: with(func(p *inject.DecisionPolicy) { p.OS = "windows" }),
			object: "{apiVersion: v1, kind: Pod, spec: {os: {name: linux}}}", want: inject.OtherOS},
		{reason: "a custom kind that the policy knows", policy: with(func(p *inject.DecisionPolicy) {
			p.PodTemplates = map[gvk.GroupKind][]string{{Group: "example.com", Kind: "Rollout"}: {"spec", "pod"}}
		}), object: "{apiVersion: example.com/v1, kind: Rollout, spec: {pod: {" + template + "}}}", want: inject.LabelOff},
		{reason: "a group of old", policy: policy,
			object: "{apiVersion: extensions/v1beta1, kind: DaemonSet}", want: inject.DefaultOn},
		{reason: "bad owners are nobody's", policy: policy,
			object: "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {ownerReferences: 3}}", want: inject.DefaultOn},
		{reason: "a workload's own labels are not its pods'", policy: policy,
			object: "{apiVersion: apps/v1, kind: Deployment, " + template + "}", want: inject.DefaultOn},
		{reason: "a kind of the same name in another group", policy: policy,
			object: "{apiVersion: example.com/v1, kind: Deployment}", want: inject.UnknownKind},
		{reason: "no object at all", policy: policy, object: "[]", want: inject.NoObject},
	}
	for kind, at := range map[string]string{
		"v1, kind: Pod": "%s", "v1, kind: PodTemplate": "template: {%s}", "v1, kind: ReplicationController": "spec: {template: {%s}}",
		"apps/v1, kind: Deployment": "spec: {template: {%s}}", "apps/v1, kind: ReplicaSet": "spec: {template: {%s}}",
		"apps/v1, kind: StatefulSet": "spec: {template: {%s}}", "apps/v1, kind: DaemonSet": "spec: {template: {%s}}",
		"batch/v1, kind: Job": "spec: {template: {%s}}", "batch/v1, kind: CronJob": "spec: {jobTemplate: {spec: {template: {%s}}}}",
	} {
		tests = append(tests, struct {
			reason string
			policy inject.DecisionPolicy
			c      inject.Candidate
			object string
			want   inject.Reason
		}{"the template of " + kind, policy, inject.Candidate{}, fmt.Sprintf("{apiVersion: %s, %s}", kind, fmt.Sprintf(at, template)), inject.LabelOff})
	}
	for _, tc := range tests {
		t.Run(tc.reason, func(t *testing.T) {
			doc, err := merge.ParseYAML([]byte(tc.object))
			if err != nil {
				t.Fatal(err)
			}
			tc.c.Object = doc
			if got := decider(t, tc.policy).Decide(tc.c); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func TestDecisionPolicyErrors(t *testing.T) {
	for want, p := range map[string]inject.DecisionPolicy{
		"invalid option: Keys: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an " +
			"alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')": {Keys: inject.Keys{Annotation: "a b"}},
		"invalid option: Mode 7":                      {Mode: 7},
		"invalid option: Never[0] selects everything": {Never: []metav1.LabelSelector{{}}},
		"invalid option: Always[1]: \"Sometimes\" is not a valid label selector operator": {Always: []metav1.LabelSelector{
			{MatchLabels: map[string]string{"a": "b"}}, {MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Sometimes"}}},
		}},
	} {
		_, err := inject.NewDecider(p)
		if !errors.Is(err, merge.ErrOption) || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

// The labels of a namespace are asked for only where they decide, and by the object's own
// namespace if it has one.
func TestDecideAsking(t *testing.T) {
	d, err := inject.NewDecider(inject.DecisionPolicy{})
	if err != nil {
		t.Fatal(err)
	}
	wrong := errors.New("wrong")
	for _, tc := range []struct {
		name, object, namespace string
		labels                  map[string]string
		err                     error
		asked                   string
		want                    inject.Reason
	}{
		{"nobody else decides", `{"kind":"Pod","metadata":{}}`, "shop", map[string]string{inject.DefaultKey: "true"}, nil, "shop", inject.NamespaceOn},
		{"nor does the namespace", `{"kind":"Pod","metadata":{}}`, "shop", nil, nil, "shop", inject.DefaultOff},
		{"its own namespace", `{"kind":"Pod","metadata":{"namespace":"own"}}`, "shop", map[string]string{inject.DefaultKey: "false"}, nil, "own", inject.NamespaceOff},
		{"no namespace", `{"kind":"Pod","metadata":{}}`, "", map[string]string{inject.DefaultKey: "true"}, nil, "", inject.DefaultOff},
		{"its label decides", `{"kind":"Pod","metadata":{"labels":{"` + inject.DefaultKey + `":"true"}}}`, "shop", nil, nil, "", inject.LabelOn},
		{"no answer", `{"kind":"Pod","metadata":{}}`, "shop", nil, wrong, "shop", inject.DefaultOff},
	} {
		object, err := merge.Parse([]byte(tc.object))
		if err != nil {
			t.Fatal(err)
		}
		asked, c := "", inject.Candidate{Object: object, Namespace: tc.namespace}
		got, err := d.DecideAsking(c, func(namespace string) (map[string]string, error) {
			asked = namespace
			return tc.labels, tc.err
		})
		if got != tc.want || asked != tc.asked || !errors.Is(err, tc.err) {
			t.Errorf("%s: %s, %v, asked for %q; want %s, %v, %q", tc.name, got, err, asked, tc.want, tc.err, tc.asked)
		}
	}
	if got, err := d.DecideAsking(inject.Candidate{}, nil); got != inject.NoObject || err != nil {
		t.Errorf("of nothing: %s, %v, want NoObject", got, err)
	}
}
