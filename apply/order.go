package apply

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ordered has the kinds that have to be made before others, each as Kind.group; what is in no
// list stands at the dots. Namespaces and definitions come before what is in them, accounts,
// rules and configuration before the pods that need them, and what intercepts requests when all
// is made. The convention is helm's (pkg/release/v1/util, InstallOrder) and kustomize's
// (kyaml/resid, orderFirst and orderLast), which agree but for details; of kinds they know the
// name only.
const ordered = `
Namespace CustomResourceDefinition.apiextensions.k8s.io
PriorityClass.scheduling.k8s.io RuntimeClass.node.k8s.io PriorityLevelConfiguration.flowcontrol.apiserver.k8s.io FlowSchema.flowcontrol.apiserver.k8s.io
ResourceQuota LimitRange NetworkPolicy.networking.k8s.io
ServiceAccount ClusterRole.rbac.authorization.k8s.io ClusterRoleBinding.rbac.authorization.k8s.io Role.rbac.authorization.k8s.io RoleBinding.rbac.authorization.k8s.io
Secret ConfigMap
CSIDriver.storage.k8s.io StorageClass.storage.k8s.io VolumeAttributesClass.storage.k8s.io PersistentVolume PersistentVolumeClaim
DeviceClass.resource.k8s.io ResourceClaimTemplate.resource.k8s.io ResourceClaim.resource.k8s.io
Service Endpoints EndpointSlice.discovery.k8s.io PodDisruptionBudget.policy
DaemonSet.apps Pod ReplicationController ReplicaSet.apps Deployment.apps StatefulSet.apps Job.batch CronJob.batch
HorizontalPodAutoscaler.autoscaling IngressClass.networking.k8s.io Ingress.networking.k8s.io
...
ValidatingAdmissionPolicy.admissionregistration.k8s.io ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io
MutatingAdmissionPolicy.admissionregistration.k8s.io MutatingAdmissionPolicyBinding.admissionregistration.k8s.io
MutatingWebhookConfiguration.admissionregistration.k8s.io ValidatingWebhookConfiguration.admissionregistration.k8s.io
APIService.apiregistration.k8s.io`

var ranks, otherKinds = func() (map[schema.GroupKind]int, int) {
	out, others := map[schema.GroupKind]int{}, 0
	for i, word := range strings.Fields(ordered) {
		if word == "..." {
			others = i
			continue
		}
		out[schema.ParseGroupKind(word)] = i
	}
	return out, others
}()

func rank(kind schema.GroupKind) int {
	if i, ok := ranks[kind]; ok {
		return i
	}
	return otherKinds
}

// CompareKinds says in which order objects of two kinds are made: it is negative if those of a
// come first, and 0 if it does not matter. They are deleted in the reverse order. Custom kinds
// come after the workloads, which serve them, and before webhooks.
//
// It orders kinds for [slices.SortStableFunc]; a [Set] does so.
func CompareKinds(a, b schema.GroupKind) int { return rank(a) - rank(b) }
