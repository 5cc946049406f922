package schema_test

import (
	"fmt"
	"testing"

	"example.com/braid/internal/kinds"
	"example.com/braid/internal/schema"
)

// The table says of every field what its Go type does, and knows some fields well.
func TestFactsOfTableAndTypes(t *testing.T) {
	scheme, err := kinds.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	counts := map[schema.Zero]int{}
	seen := map[[2]*schema.Type]bool{}
	var same func(path string, table, typ *schema.Type)
	same = func(path string, table, typ *schema.Type) {
		if table == nil || typ == nil || seen[[2]*schema.Type{table, typ}] {
			return
		}
		seen[[2]*schema.Type{table, typ}] = true
		if table.Union != typ.Union || table.StringData != typ.StringData {
			t.Errorf("%s: union %v, stringData %v; the Go type %v, %v", path, table.Union, table.StringData, typ.Union, typ.StringData)
		}
		for _, f := range table.Fields {
			g := typ.Field(f.Name)
			if g == nil {
				continue
			}
			counts[f.Zero]++
			if f.Zero != g.Zero || f.Alias != g.Alias {
				t.Errorf("%s.%s: zero %d, alias %q; the Go type %d, %q", path, f.Name, f.Zero, f.Alias, g.Zero, g.Alias)
			}
			same(path+"."+f.Name, f.Type, g.Type)
		}
		same(path+"[]", table.Elem, typ.Elem)
	}
	for k, typ := range scheme.AllKnownTypes() {
		table, ok := schema.Builtin(k.Group, k.Version, k.Kind)
		if !ok {
			continue
		}
		s, err := schema.FromType(typ)
		if err != nil {
			t.Fatal(err)
		}
		same(k.Kind, table.Root, s.Root)
	}
	if counts[schema.ZeroTells] < 500 || counts[schema.ZeroIsAbsent] < 1500 || counts[schema.ZeroIsAuto] < 60 {
		t.Errorf("fields by zero: %v", counts)
	}
}

func TestFactsOfFields(t *testing.T) {
	for _, c := range []struct {
		group, version, kind string
		fields               []string // "" is an element
		zero                 schema.Zero
		union                bool
		alias                string
	}{
		{"apps", "v1", "Deployment", []string{"spec", "replicas"}, schema.ZeroTells, false, ""},
		{"apps", "v1", "Deployment", []string{"spec", "minReadySeconds"}, schema.ZeroIsAbsent, false, ""},
		{"apps", "v1", "Deployment", []string{"spec", "strategy"}, schema.ZeroIsAbsent, true, ""},
		{"apps", "v1", "Deployment", []string{"metadata", "creationTimestamp"}, schema.ZeroIsAuto, false, ""},
		{"", "v1", "Pod", []string{"spec", "serviceAccount"}, schema.ZeroIsAuto, false, "serviceAccountName"},
		{"", "v1", "Pod", []string{"spec", "serviceAccountName"}, schema.ZeroIsAuto, false, "serviceAccount"},
		{"", "v1", "Pod", []string{"spec", "securityContext"}, schema.ZeroTells, false, ""},
		{"", "v1", "Pod", []string{"spec", "containers", "", "resources"}, schema.ZeroIsAbsent, false, ""},
		{"", "v1", "Pod", []string{"spec", "containers", "", "env", "", "value"}, schema.ZeroIsAbsent, false, ""},
		{"", "v1", "Pod", []string{"spec", "containers", "", "env", "", "valueFrom"}, schema.ZeroTells, false, ""},
		{"", "v1", "Service", []string{"spec", "ports", "", "targetPort"}, schema.ZeroIsAuto, false, ""},
		{"rbac.authorization.k8s.io", "v1", "ClusterRole", []string{"rules"}, schema.ZeroIsAbsent, false, ""},
		{"", "v1", "Pod", []string{"spec", "volumes", ""}, schema.ZeroTells, true, ""},
		{"", "v1", "Pod", []string{"spec", "volumes", "", "iscsi", "iscsiInterface"}, schema.ZeroIsAuto, false, ""},
		{"", "v1", "Pod", []string{"spec", "ephemeralContainers", "", "imagePullPolicy"}, schema.ZeroIsAuto, false, ""},
		{"", "v1", "Pod", []string{"spec", "containers", "", "livenessProbe", "timeoutSeconds"}, schema.ZeroIsAuto, false, ""},
		{"", "v1", "Pod", []string{"spec", "containers", "", "livenessProbe", "initialDelaySeconds"}, schema.ZeroIsAbsent, false, ""},
		{"", "v1", "Pod", []string{"spec", "containers", "", "lifecycle", "preStop"}, schema.ZeroTells, true, ""},
		{"apps", "v1", "StatefulSet", []string{"spec", "updateStrategy", "type"}, schema.ZeroIsAuto, false, ""},
		{"autoscaling", "v2", "HorizontalPodAutoscaler", []string{"spec", "metrics", ""}, schema.ZeroTells, true, ""},
		{"flowcontrol.apiserver.k8s.io", "v1", "PriorityLevelConfiguration", []string{"spec", "limited", "nominalConcurrencyShares"}, schema.ZeroTells, false, ""},
		{"apiextensions.k8s.io", "v1", "CustomResourceDefinition", []string{"spec", "preserveUnknownFields"}, schema.ZeroIsAbsent, false, ""}, // k8s.io/api lacks it: see gen/zeros.go
		{"scheduling.k8s.io", "v1", "PriorityClass", []string{"globalDefault"}, schema.ZeroIsAbsent, false, ""},
	} {
		s, ok := schema.Builtin(c.group, c.version, c.kind)
		if !ok {
			t.Fatal(c.kind)
		}
		f := schema.Field{Type: s.Root}
		for _, name := range c.fields {
			if name == "" {
				f = schema.Field{Type: f.Type.Elem}
			} else {
				f = *f.Type.Field(name)
			}
		}
		got := fmt.Sprint(f.Zero, f.Type.Union, f.Alias)
		if want := fmt.Sprint(c.zero, c.union, c.alias); got != want {
			t.Errorf("%s %v: %s, want %s", c.kind, c.fields, got, want)
		}
	}
	if s, _ := schema.Builtin("", "v1", "Secret"); !s.Root.StringData {
		t.Error("a Secret has stringData")
	}
}
