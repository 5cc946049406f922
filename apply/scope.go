package apply

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// clusterKinds are the built-in kinds of Kubernetes v1.37 without namespaces, as Kind.group. A
// test in package memory holds them to the server's OpenAPI documents.
const clusterKinds = `
ComponentStatus Namespace Node PersistentVolume MutatingAdmissionPolicy.admissionregistration.k8s.io
MutatingAdmissionPolicyBinding.admissionregistration.k8s.io
MutatingWebhookConfiguration.admissionregistration.k8s.io ValidatingAdmissionPolicy.admissionregistration.k8s.io
ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io
ValidatingWebhookConfiguration.admissionregistration.k8s.io CustomResourceDefinition.apiextensions.k8s.io
APIService.apiregistration.k8s.io CertificateSigningRequest.certificates.k8s.io
ClusterTrustBundle.certificates.k8s.io FlowSchema.flowcontrol.apiserver.k8s.io
PriorityLevelConfiguration.flowcontrol.apiserver.k8s.io StorageVersion.internal.apiserver.k8s.io
IPAddress.networking.k8s.io IngressClass.networking.k8s.io ServiceCIDR.networking.k8s.io RuntimeClass.node.k8s.io
ClusterRole.rbac.authorization.k8s.io ClusterRoleBinding.rbac.authorization.k8s.io DeviceClass.resource.k8s.io
DeviceTaintRule.resource.k8s.io ResourcePoolStatusRequest.resource.k8s.io ResourceSlice.resource.k8s.io
PriorityClass.scheduling.k8s.io CSIDriver.storage.k8s.io CSINode.storage.k8s.io StorageClass.storage.k8s.io
VolumeAttachment.storage.k8s.io VolumeAttributesClass.storage.k8s.io StorageVersionMigration.storagemigration.k8s.io`

var clusterScoped = func() map[schema.GroupKind]bool {
	out := map[schema.GroupKind]bool{}
	for word := range strings.FieldsSeq(clusterKinds) {
		out[schema.ParseGroupKind(word)] = true
	}
	return out
}()

// ClusterScoped reports whether a kind is a built-in one whose objects are in no namespace.
func ClusterScoped(kind schema.GroupKind) bool { return clusterScoped[kind] }
