package schema

import (
	"reflect"
	"slices"
	"strings"
)

// What follows is true of built-in types, and no tag or extension says it. Types go by
// the names of their OpenAPI components, which Go types share:
// io.k8s.api.core.v1.PodSpec is k8s.io/api/core/v1, PodSpec.

// componentOf returns the component name of a Go type.
func componentOf(t reflect.Type) string {
	_, path, ok := strings.Cut("/"+t.PkgPath(), "/k8s.io/") // vendored or not
	if !ok {
		return ""
	}
	return "io.k8s." + strings.ReplaceAll(path, "/", ".") + "." + t.Name()
}

// of reports whether a component is one of those of a list, in any version of its
// group: core.EnvVar is io.k8s.api.core.v1.EnvVar.
func of(component string, list []string) bool {
	rest, ok := strings.CutPrefix(component, "io.k8s.api.")
	parts := strings.Split(rest, ".")
	return ok && len(parts) == 3 && slices.Contains(list, parts[0]+"."+parts[2])
}

// unions have one member at a time, and an API server refuses two.
var unions = []string{
	"core.EnvVar", // value, valueFrom
	"core.Volume",
	"core.LifecycleHandler",
	"apps.DeploymentStrategy", "extensions.DeploymentStrategy",
	"apps.DaemonSetUpdateStrategy", "extensions.DaemonSetUpdateStrategy",
	"apps.StatefulSetUpdateStrategy",
}

// aliases are fields that a server keeps equal, both ways
// (k8s.io/kubernetes, pkg/apis/core/v1/conversion.go).
var aliases = map[string][2]string{
	"io.k8s.api.core.v1.PodSpec": {"serviceAccount", "serviceAccountName"},
}

// facts completes the type of a component, and its fields.
func facts(t *Type, component string) {
	t.Union = of(component, unions)
	t.StringData = component == "io.k8s.api.core.v1.Secret"
	if pair, ok := aliases[component]; ok {
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

// autos are the fields, other than pointers, in whose zero value an API server puts one
// of its own: what pkg/apis/*/v*/defaults.go of k8s.io/kubernetes does, and what the
// registry fills in or allocates.
var autos = map[string][]string{
	"core.ServiceSpec":                                     {"clusterIP", "clusterIPs", "externalTrafficPolicy", "healthCheckNodePort", "ipFamilies", "sessionAffinity", "type"},
	"core.ServicePort":                                     {"nodePort", "protocol", "targetPort"},
	"core.EndpointPort":                                    {"protocol"},
	"core.ContainerPort":                                   {"hostPort", "protocol"}, // hostPort under hostNetwork
	"core.Container":                                       {"imagePullPolicy", "terminationMessagePath", "terminationMessagePolicy"},
	"core.EphemeralContainer":                              {"imagePullPolicy", "terminationMessagePath", "terminationMessagePolicy"},
	"core.EphemeralContainerCommon":                        {"imagePullPolicy", "terminationMessagePath", "terminationMessagePolicy"},
	"core.Probe":                                           {"failureThreshold", "periodSeconds", "successThreshold", "timeoutSeconds"},
	"core.HTTPGetAction":                                   {"path", "scheme"},
	"core.ImageVolumeSource":                               {"pullPolicy"},
	"core.ObjectFieldSelector":                             {"apiVersion"},
	"core.PodSpec":                                         {"dnsPolicy", "nodeName", "restartPolicy", "schedulerName", "serviceAccount", "serviceAccountName"},
	"core.PersistentVolumeSpec":                            {"persistentVolumeReclaimPolicy"},
	"core.PersistentVolumeClaimSpec":                       {"volumeName"},
	"core.Secret":                                          {"type"},
	"core.NamespaceSpec":                                   {"finalizers"},
	"core.ReplicationControllerSpec":                       {"selector"},
	"apps.DeploymentStrategy":                              {"type"},
	"apps.DaemonSetUpdateStrategy":                         {"type"},
	"apps.StatefulSetUpdateStrategy":                       {"type"},
	"apps.StatefulSetSpec":                                 {"podManagementPolicy"},
	"apps.StatefulSetPersistentVolumeClaimRetentionPolicy": {"whenDeleted", "whenScaled"},
	"autoscaling.HorizontalPodAutoscalerSpec":              {"metrics"},
	"batch.CronJobSpec":                                    {"concurrencyPolicy"},
	"flowcontrol.FlowSchemaSpec":                           {"matchingPrecedence"},
	"flowcontrol.QueuingConfiguration":                     {"handSize", "queueLengthLimit", "queues"},
	"flowcontrol.LimitedPriorityLevelConfiguration":        {"assuredConcurrencyShares"},
	"networking.NetworkPolicySpec":                         {"policyTypes"},
	"rbac.RoleRef":                                         {"apiGroup"},
	"rbac.Subject":                                         {"apiGroup"},
	"resource.DeviceRequest":                               {"allocationMode", "count"},
	"resource.ExactDeviceRequest":                          {"allocationMode", "count"},
	"resource.DeviceSubRequest":                            {"allocationMode", "count"},
	"storage.CSIDriverSpec":                                {"volumeLifecycleModes"},
}

// metaAutos are those of ObjectMeta, which a server writes itself.
var metaAutos = []string{"creationTimestamp", "generation", "name", "namespace", "resourceVersion", "selfLink", "uid"}

// zeroOf returns what a field of a Go struct makes of its zero value. A pointer tells it
// from absence, and who knows what a type does that writes its own JSON.
func zeroOf(owner, t reflect.Type, name string) Zero {
	switch t.Kind() {
	case reflect.Pointer, reflect.Interface:
		return ZeroTells
	}
	if kind, own := ownKind(t); own && kind == Any {
		return ZeroTells
	}
	component := componentOf(owner)
	if component == "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta" && slices.Contains(metaAutos, name) {
		return ZeroIsAuto
	}
	for typ, fields := range autos {
		if slices.Contains(fields, name) && of(component, []string{typ}) {
			return ZeroIsAuto
		}
	}
	return ZeroIsAbsent
}

// TakeZeros sets what the fields of t, which a document describes, make of their zero
// values to what those of a Go type's graph do. Fields that the Go type lacks can tell.
// O(size of t).
func (t *Type) TakeZeros(from *Type) { takeZeros(t, from, map[[2]*Type]bool{}) }

func takeZeros(t, from *Type, seen map[[2]*Type]bool) {
	pair := [2]*Type{t, from}
	if t == nil || from == nil || seen[pair] {
		return
	}
	seen[pair] = true
	for i := range t.Fields {
		if f := from.Field(t.Fields[i].Name); f != nil {
			t.Fields[i].Zero = f.Zero
			takeZeros(t.Fields[i].Type, f.Type, seen)
		}
	}
	takeZeros(t.Elem, from.Elem, seen)
}
