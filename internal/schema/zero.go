package schema

import (
	"reflect"
	"slices"

	"example.com/braid/internal/jsonfield"
)

// autos are the fields, other than pointers, in whose zero value an API server puts one
// of its own. Most it defaults (k8s.io/kubernetes v1.37, pkg/apis/*/v*/defaults.go and
// zz_generated.defaults.go); of the rest a comment says who chooses. A field that is a
// pointer in some version tells zero from absence there.
//
// Maps to which a server adds keys are not here: labels of a Job, requests of a
// container. What they lack is no change, for they merge key by key.
var autos = map[string][]string{
	"core.Container":                   {"imagePullPolicy", "terminationMessagePath", "terminationMessagePolicy"},
	"core.ContainerPort":               {"hostPort", "protocol"}, // hostPort under hostNetwork, where it must not be another
	"core.EndpointPort":                {"protocol"},
	"core.EphemeralContainerCommon":    {"imagePullPolicy", "terminationMessagePath", "terminationMessagePolicy"},
	"core.HTTPGetAction":               {"path", "scheme"},
	"core.ImageVolumeSource":           {"pullPolicy"},
	"core.ISCSIPersistentVolumeSource": {"iscsiInterface"},
	"core.ISCSIVolumeSource":           {"iscsiInterface"},
	"core.NamespaceSpec":               {"finalizers"}, // registry/core/namespace
	"core.NamespaceStatus":             {"phase"},
	"core.NodeSpec":                    {"podCIDR", "podCIDRs"}, // each from the other, or allocated by a controller
	"core.ObjectFieldSelector":         {"apiVersion"},
	"core.PersistentVolumeClaimSpec":   {"volumeName"}, // the controller that binds it
	"core.PersistentVolumeClaimStatus": {"phase"},
	"core.PersistentVolumeSpec":        {"persistentVolumeReclaimPolicy"},
	"core.PersistentVolumeStatus":      {"phase"},
	"core.PodSpec": {
		"dnsPolicy", "restartPolicy", "schedulerName",
		"nodeName",                             // the scheduler
		"priorityClassName",                    // admission, of a Pod where one class is the default
		"serviceAccount", "serviceAccountName", // admission, of a Pod
	},
	"core.PodStatus":                     {"phase", "qosClass"}, // registry/core/pod
	"core.Probe":                         {"failureThreshold", "periodSeconds", "successThreshold", "timeoutSeconds"},
	"core.RBDPersistentVolumeSource":     {"keyring", "pool", "user"},
	"core.RBDVolumeSource":               {"keyring", "pool", "user"},
	"core.ReplicationControllerSpec":     {"selector"},
	"core.ScaleIOPersistentVolumeSource": {"fsType", "storageMode"},
	"core.ScaleIOVolumeSource":           {"fsType", "storageMode"},
	"core.Secret":                        {"type"},
	"core.ServicePort":                   {"nodePort", "protocol", "targetPort"}, // nodePort is allocated
	"core.ServiceSpec": {
		"externalTrafficPolicy", "sessionAffinity", "type",
		"clusterIP", "clusterIPs", "healthCheckNodePort", "ipFamilies", // allocated (registry/core/service)
	},

	"admissionregistration.MutatingWebhook":                {"admissionReviewVersions"}, // in v1beta1; v1 requires them
	"admissionregistration.ValidatingWebhook":              {"admissionReviewVersions"},
	"apps.DaemonSetUpdateStrategy":                         {"type"},
	"apps.DeploymentStrategy":                              {"type"},
	"apps.StatefulSetPersistentVolumeClaimRetentionPolicy": {"whenDeleted", "whenScaled"},
	"apps.StatefulSetSpec":                                 {"podManagementPolicy"},
	"apps.StatefulSetUpdateStrategy":                       {"type"},
	"autoscaling.HorizontalPodAutoscalerSpec":              {"metrics"},
	"batch.CronJobSpec":                                    {"concurrencyPolicy"},
	"batch.PodFailurePolicyOnPodConditionsPattern":         {"status"},
	"certificates.CertificateSigningRequestCondition":      {"status"}, // in v1beta1; v1 requires it
	"certificates.CertificateSigningRequestSpec": {
		"usages",                             // in v1beta1; v1 requires them
		"extra", "groups", "uid", "username", // of who asks (registry/certificates)
	},
	"extensions.DaemonSetUpdateStrategy":            {"type"},
	"extensions.DeploymentStrategy":                 {"type"},
	"extensions.NetworkPolicySpec":                  {"policyTypes"},
	"flowcontrol.FlowSchemaSpec":                    {"matchingPrecedence"},
	"flowcontrol.LimitedPriorityLevelConfiguration": {"assuredConcurrencyShares", "nominalConcurrencyShares"},
	"flowcontrol.QueuingConfiguration":              {"handSize", "queueLengthLimit", "queues"},
	"networking.NetworkPolicySpec":                  {"policyTypes"},
	"rbac.RoleRef":                                  {"apiGroup"},
	"rbac.Subject":                                  {"apiGroup", "apiVersion"}, // of users and groups; apiVersion in v1alpha1
	"resource.DeviceRequest":                        {"allocationMode", "count"},
	"resource.DeviceSubRequest":                     {"allocationMode", "count"},
	"resource.DeviceToleration":                     {"operator"},
	"resource.ExactDeviceRequest":                   {"allocationMode", "count"},
	"storage.CSIDriverSpec":                         {"volumeLifecycleModes"},
}

// metaAutos are those of ObjectMeta: what a server writes itself, or takes from the
// request where the object does not say it.
var metaAutos = []string{
	"creationTimestamp", "generation", "managedFields", "name", "namespace", "resourceVersion", "selfLink", "uid",
}

// zeroOf returns whether a field of a Go struct tells its zero value from absence. A
// pointer does, and who knows what a type does that writes its own JSON, but for those
// of apimachinery.
func zeroOf(f *jsonfield.Field) Zero {
	kind, own := ownKind(f.Type)
	switch {
	case f.Type.Kind() == reflect.Pointer, f.Type.Kind() == reflect.Interface, f.Quoted:
		return ZeroTells
	case own && kind != Quantity && kind != IntOrString && kind != Duration && kind != Time:
		return ZeroTells
	}
	component, list := componentOf(f.Owner), metaAutos
	if component != "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta" {
		list = autos[unversioned(component)]
	}
	if slices.Contains(list, f.Name) {
		return ZeroIsAuto
	}
	return ZeroIsAbsent
}
