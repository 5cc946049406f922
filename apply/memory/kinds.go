package memory

import (
	"net/http"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/braid/apply"
	"example.com/braid/merge"
)

// traits are what a server knows of a kind, but for its schema.
type traits struct {
	known       bool // by the table below or by a CustomResourceDefinition
	builtin     bool
	cluster     bool // cluster-scoped
	status      bool // has the subresource status
	generation  bool // metadata.generation counts changes
	annotations bool // … also of annotations
	conditional bool // a replace must have a resourceVersion
}

// unknown are the traits of a kind that nobody defined. Its scope is what the request says,
// and status may be written either way.
var unknown = traits{generation: true}

// builtinKinds lists the kinds of Kubernetes v1.37 by group, each with its traits:
// s status, g generation, a annotations count, r resourceVersion required.
// A test holds the first one against the server's OpenAPI documents; the others are those of
// the strategies in k8s.io/kubernetes, pkg/registry.
const builtinKinds = `
core ComponentStatus ConfigMap Endpoints Event LimitRange Namespace:s Node:s PersistentVolume:s PersistentVolumeClaim:s
	Pod:sg PodTemplate:g ReplicationController:sg ResourceQuota:s Secret Service:s ServiceAccount
admissionregistration.k8s.io MutatingAdmissionPolicy:gr MutatingAdmissionPolicyBinding:gr MutatingWebhookConfiguration:gr
	ValidatingAdmissionPolicy:sgr ValidatingAdmissionPolicyBinding:gr ValidatingWebhookConfiguration:gr
apiextensions.k8s.io CustomResourceDefinition:sgr
apiregistration.k8s.io APIService:sr
apps ControllerRevision DaemonSet:sg Deployment:sga ReplicaSet:sg StatefulSet:sg
autoscaling HorizontalPodAutoscaler:s
batch CronJob:sg Job:sg
certificates.k8s.io CertificateSigningRequest:s ClusterTrustBundle:r PodCertificateRequest:sr
coordination.k8s.io Lease:r LeaseCandidate:r
discovery.k8s.io EndpointSlice:g
events.k8s.io Event
flowcontrol.apiserver.k8s.io FlowSchema:sg PriorityLevelConfiguration:sg
internal.apiserver.k8s.io StorageVersion:sr
lifecycle.k8s.io Eviction:sgr EvictionRequest:sgr
networking.k8s.io IPAddress Ingress:sg IngressClass:g NetworkPolicy:g ServiceCIDR:s
node.k8s.io RuntimeClass:r
policy PodDisruptionBudget:sgr
rbac.authorization.k8s.io ClusterRole ClusterRoleBinding Role RoleBinding
resource.k8s.io DeviceClass:g DeviceTaintRule:sg ResourceClaim:s ResourceClaimTemplate ResourcePoolStatusRequest:sr ResourceSlice:g
scheduling.k8s.io CompositePodGroup:sr PodGroup:sr PriorityClass:g Workload:r
storage.k8s.io CSIDriver:r CSINode:sr CSIStorageCapacity:r StorageClass VolumeAttachment:sr VolumeAttributesClass
storagemigration.k8s.io StorageVersionMigration:sr`

var builtins = sync.OnceValue(func() map[schema.GroupKind]traits {
	out := map[schema.GroupKind]traits{}
	group := ""
	for line := range strings.Lines(builtinKinds) {
		words := strings.Fields(line)
		if len(words) > 0 && line[0] != '\t' {
			group, words = strings.TrimPrefix(words[0], "core"), words[1:]
		}
		for _, word := range words {
			kind, flags, _ := strings.Cut(word, ":")
			has := func(flag string) bool { return strings.Contains(flags, flag) }
			gk := schema.GroupKind{Group: group, Kind: kind}
			out[gk] = traits{
				known: true, builtin: true, cluster: apply.ClusterScoped(gk), status: has("s"),
				generation: has("g"), annotations: has("a"), conditional: has("r"),
			}
		}
	}
	return out
})

// definition is what a CustomResourceDefinition says.
type definition struct {
	kind    schema.GroupKind
	cluster bool
	status  []string // the versions with the subresource
	schemas map[schema.GroupVersionKind]*merge.Schema
}

var crdKind = schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}

// defined reads a CustomResourceDefinition; of other kinds it returns nil. The error is
// Invalid.
func defined(id apply.ID, u *unstructured.Unstructured) (*definition, error) {
	if id.GVK.GroupKind() != crdKind {
		return nil, nil
	}
	doc, err := merge.FromMap(u.Object)
	if err != nil {
		return nil, err
	}
	d := &definition{}
	if d.schemas, err = merge.SchemasFromCRD(doc); err != nil {
		return nil, invalid(id, field.Invalid(field.NewPath("spec"), "", err.Error()))
	}
	d.kind.Group, _ = doc.Text("spec", "group")
	d.kind.Kind, _ = doc.Text("spec", "names", "kind")
	scope, _ := doc.Text("spec", "scope")
	d.cluster = scope == "Cluster"
	versions, _, _ := unstructured.NestedSlice(u.Object, "spec", "versions")
	for _, v := range versions {
		if v, ok := v.(map[string]any); ok {
			if _, has, _ := unstructured.NestedMap(v, "subresources", "status"); has {
				name, _, _ := unstructured.NestedString(v, "name")
				d.status = append(d.status, name)
			}
		}
	}
	return d, nil
}

// define makes known what a CustomResourceDefinition defines, and forgets what it defined when
// it goes. The caller holds c.mu.
func (c *Cluster) define(was *stored, d *definition) {
	if was != nil && was.doc.GVK().GroupKind() == crdKind {
		group, _ := was.doc.Text("spec", "group")
		kind, _ := was.doc.Text("spec", "names", "kind")
		delete(c.kinds, schema.GroupKind{Group: group, Kind: kind})
	}
	if d != nil {
		c.kinds[d.kind] = d
	}
}

// traits returns those of a kind. The error is that of a path that is not served.
func (c *Cluster) traits(kind schema.GroupVersionKind) (traits, error) {
	if kind.Version == "" || kind.Kind == "" {
		return traits{}, noSuchPath()
	}
	if t, ok := builtins()[kind.GroupKind()]; ok {
		return t, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.kinds[kind.GroupKind()]
	switch {
	case d == nil:
		return unknown, nil
	case d.schemas[kind] == nil:
		return traits{}, noSuchPath()
	}
	return traits{known: true, cluster: d.cluster, status: slices.Contains(d.status, kind.Version), generation: true, conditional: true}, nil
}

// resolve returns the traits of what a request is about, and drops the namespace of what has
// none. Unlike an HTTP path, an ID may be read before the scope of its kind is known.
func (c *Cluster) resolve(verb Verb, id *apply.ID, subresource string) (traits, error) {
	t, err := c.traits(id.GVK)
	if err != nil {
		return t, err
	}
	if t.cluster {
		id.Namespace = ""
	}
	switch {
	case subresource != "" && (subresource != "status" || t.known && !t.status || verb == Create):
		return t, noSuchPath()
	case !t.known || t.cluster || id.Namespace != "" || verb == List:
		return t, nil
	case verb == Create:
		return t, status(http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed, "the server does not allow this method on the requested resource")
	}
	return t, noSuchPath()
}
