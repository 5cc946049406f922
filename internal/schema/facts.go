package schema

import (
	"reflect"
	"slices"
	"strings"
)

// Here and in zero.go stands what is true of built-in types, and no tag or extension
// says. Types go by the names of their OpenAPI components, which Go types share:
// io.k8s.api.core.v1.PodSpec is k8s.io/api/core/v1, PodSpec. A list names them without
// their version, core.PodSpec, for what it says is true of all.

// componentOf returns the component name of a Go type.
func componentOf(t reflect.Type) string {
	_, path, ok := strings.Cut("/"+t.PkgPath(), "/k8s.io/") // vendored or not
	if !ok {
		return ""
	}
	return "io.k8s." + strings.ReplaceAll(path, "/", ".") + "." + t.Name()
}

// unversioned returns the name under which lists have a component of k8s.io/api, or "".
func unversioned(component string) string {
	rest, ok := strings.CutPrefix(component, "io.k8s.api.")
	group, rest, _ := strings.Cut(rest, ".")
	_, name, named := strings.Cut(rest, ".")
	if !ok || !named || strings.Contains(name, ".") {
		return ""
	}
	return group + "." + name
}

// unions have one member at a time, and an API server refuses two.
var unions = []string{
	"core.EnvVar",           // value, valueFrom
	"core.Volume",           // the sources
	"core.LifecycleHandler", // exec, httpGet, sleep, tcpSocket
	"apps.DeploymentStrategy", "extensions.DeploymentStrategy",
	"apps.DaemonSetUpdateStrategy", "extensions.DaemonSetUpdateStrategy",
	"apps.StatefulSetUpdateStrategy",
	"autoscaling.MetricSpec", // what type names
}

// aliases are pairs of fields that a server keeps equal, the deprecated one first. If
// the two differ, it is the second that counts (SetDefaults_PodSpec).
var aliases = map[string][2]string{
	"core.PodSpec": {"serviceAccount", "serviceAccountName"},
}

// facts completes the type of a component, and its fields.
func facts(t *Type, component string) {
	name := unversioned(component)
	t.Union = name != "" && slices.Contains(unions, name)
	t.StringData = name == "core.Secret"
	if pair, ok := aliases[name]; ok {
		for i := range t.Fields {
			switch t.Fields[i].Name {
			case pair[0]:
				t.Fields[i].Alias = pair[1]
			case pair[1]:
				t.Fields[i].Alias = pair[0]
			}
		}
	}
}
