package admission_test

import (
	"bytes"
	"encoding/pem"
	"errors"
	"slices"
	"strings"
	"testing"

	registrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"

	"example.com/braid/inject"
	"example.com/braid/inject/admission"
	"example.com/braid/merge"
)

// written are the manifests as typed objects.
type written struct {
	service       corev1.Service
	budget        policyv1.PodDisruptionBudget
	deployment    appsv1.Deployment
	configuration registrationv1.MutatingWebhookConfiguration
}

// manifests reads what Manifests writes, strictly, and holds it to the schema of each kind.
func manifests(t *testing.T, o admission.ManifestOptions) written {
	t.Helper()
	text, err := admission.Manifests(o)
	if err != nil {
		t.Fatal(err)
	}
	var w written
	documents := bytes.Split(text, []byte("---\n"))
	into := []any{&w.service, &w.budget, &w.deployment, &w.configuration}
	if len(documents) != len(into) {
		t.Fatalf("%d documents, want %d", len(documents), len(into))
	}
	for i, d := range documents {
		if err := yaml.UnmarshalStrict(d, into[i]); err != nil {
			t.Fatalf("%v in\n%s", err, d)
		}
		doc, err := merge.ParseYAML(d)
		if err != nil {
			t.Fatal(err)
		}
		rules, err := merge.SchemaFor(doc.GVK())
		if err != nil {
			t.Fatal(err)
		}
		m, err := merge.New(merge.Options{Schema: rules})
		if err != nil {
			t.Fatal(err)
		}
		r, err := m.ThreeWay(nil, nil, doc)
		if err != nil || len(r.Warnings()) > 0 {
			t.Errorf("%s: %v %v", doc.GVK().Kind, err, r.Warnings())
		}
	}
	return w
}

func TestManifests(t *testing.T) {
	chain, _ := pair(t, 1)
	w := manifests(t, admission.ManifestOptions{Namespace: "injector", Image: "injector:1", CABundle: chain, Workloads: true, TemplateConfigMap: "templates", Args: []string{"--log=debug"}})
	hook := w.configuration.Webhooks[0]
	pod := w.deployment.Spec.Template
	container := pod.Spec.Containers[0]

	if *hook.FailurePolicy != registrationv1.Ignore || *hook.MatchPolicy != registrationv1.Equivalent || *hook.SideEffects != registrationv1.SideEffectClassNone ||
		*hook.ReinvocationPolicy != registrationv1.IfNeededReinvocationPolicy || *hook.TimeoutSeconds != 5 || !slices.Equal(hook.AdmissionReviewVersions, []string{"v1", "v1beta1"}) {
		t.Errorf("webhook %+v", hook)
	}
	if strings.Count(hook.Name, ".") < 2 {
		t.Errorf("a server wants three parts in the name of a webhook: %s", hook.Name)
	}
	if block, _ := pem.Decode(hook.ClientConfig.CABundle); block == nil {
		t.Errorf("caBundle %.50s is no PEM", hook.ClientConfig.CABundle)
	}
	namespaces, objects := selector(t, hook.NamespaceSelector), selector(t, hook.ObjectSelector)
	for namespace, want := range map[string]bool{"kube-system": false, "kube-public": false, "kube-node-lease": false, "injector": false, "shop": true} {
		if namespaces.Matches(labels.Set{"kubernetes.io/metadata.name": namespace}) != want {
			t.Errorf("called for namespace %s: %t, want %t", namespace, !want, want)
		}
	}
	for value, want := range map[string]bool{"true": true, "false": false, "disabled": false, "ture": true} {
		if objects.Matches(labels.Set{inject.DefaultKey: value}) != want {
			t.Errorf("called for label %s: %t, want %t", value, !want, want)
		}
	}
	if objects.Matches(labels.Set(pod.Labels)) || !objects.Matches(labels.Set{}) {
		t.Error("called for itself, or not for those who say nothing")
	}
	for _, rule := range hook.Rules {
		for _, resource := range rule.Resources {
			once := resource == "pods" || resource == "jobs"
			if once == slices.Contains(rule.Operations, registrationv1.Update) || strings.Contains(resource, "/") {
				t.Errorf("called at %v of %s", rule.Operations, resource)
			}
		}
	}

	// The parts fit to each other and to the server.
	s := hook.ClientConfig.Service
	if s.Name != w.service.Name || s.Namespace != w.service.Namespace || *s.Path != admission.Path || *s.Port != w.service.Spec.Ports[0].Port {
		t.Errorf("the webhook calls %+v", s)
	}
	if p := container.Ports[0]; w.service.Spec.Ports[0].TargetPort.StrVal != p.Name || p.ContainerPort != 8443 {
		t.Errorf("the service's port %+v is none of the pod's %+v", w.service.Spec.Ports[0], p)
	}
	for _, selector := range []labels.Selector{
		labels.SelectorFromSet(w.service.Spec.Selector), selector(t, w.budget.Spec.Selector), selector(t, w.deployment.Spec.Selector),
		selector(t, pod.Spec.TopologySpreadConstraints[0].LabelSelector), selector(t, pod.Spec.TopologySpreadConstraints[1].LabelSelector),
	} {
		if selector.Empty() || !selector.Matches(labels.Set(pod.Labels)) {
			t.Errorf("%s does not select the pods", selector)
		}
	}
	if container.LivenessProbe.HTTPGet.Path != admission.HealthPath || container.ReadinessProbe.HTTPGet.Path != admission.ReadyPath ||
		container.ReadinessProbe.HTTPGet.Scheme != corev1.URISchemeHTTPS || container.ReadinessProbe.HTTPGet.Port.StrVal != "https" {
		t.Errorf("probes %+v %+v", container.LivenessProbe, container.ReadinessProbe)
	}
	for _, m := range container.VolumeMounts {
		if !slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == m.Name }) || !m.ReadOnly || m.SubPath != "" {
			t.Errorf("mount %+v", m)
		}
	}
	if *w.deployment.Spec.Replicas < 2 || w.budget.Spec.MaxUnavailable.IntVal != 1 || !slices.Equal(container.Args, []string{"--log=debug"}) {
		t.Errorf("%d replicas, budget %+v, args %q", *w.deployment.Spec.Replicas, w.budget.Spec, container.Args)
	}
	c, p := container.SecurityContext, pod.Spec.SecurityContext
	if !*p.RunAsNonRoot || *p.RunAsUser == 0 || p.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault || *c.AllowPrivilegeEscalation ||
		!*c.ReadOnlyRootFilesystem || c.Capabilities.Drop[0] != "ALL" || *pod.Spec.AutomountServiceAccountToken {
		t.Errorf("rights %+v %+v", p, c)
	}
}

func selector(t *testing.T, s *metav1.LabelSelector) labels.Selector {
	t.Helper()
	out, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestManifestOptions(t *testing.T) {
	w := manifests(t, admission.ManifestOptions{
		Name: "mesh", Namespace: "mesh-system", Image: "a:b", Replicas: 3, Port: 9443, CertificateSecret: "cert", OnFailure: admission.FailClosed,
		TimeoutSeconds: 2, Keys: inject.Keys{Label: "mesh/inject"}, IgnoredNamespaces: []string{"monitoring", "kube-system"},
		Annotations: map[string]string{"cert-manager.io/inject-ca-from": `a/"b"` + "\n"},
	})
	hook := w.configuration.Webhooks[0]
	if *hook.FailurePolicy != registrationv1.Fail || *hook.TimeoutSeconds != 2 || len(hook.ClientConfig.CABundle) != 0 || len(hook.Rules) != 1 || hook.Name != "mesh.mesh-system.svc" {
		t.Errorf("webhook %+v", hook)
	}
	if got, want := hook.NamespaceSelector.MatchExpressions[0].Values, []string{"kube-node-lease", "kube-public", "kube-system", "mesh-system", "monitoring"}; !slices.Equal(got, want) {
		t.Errorf("ignored namespaces %q, want %q", got, want)
	}
	if hook.ObjectSelector.MatchExpressions[0].Key != "mesh/inject" || w.configuration.Annotations["cert-manager.io/inject-ca-from"] != "a/\"b\"\n" {
		t.Errorf("selector %v, annotations %q", hook.ObjectSelector, w.configuration.Annotations)
	}
	spec := w.deployment.Spec.Template.Spec
	if *w.deployment.Spec.Replicas != 3 || spec.Containers[0].Ports[0].ContainerPort != 9443 || spec.Volumes[0].Secret.SecretName != "cert" || len(spec.Volumes) != 1 {
		t.Errorf("deployment %+v", spec)
	}
}

func TestManifestOptionErrors(t *testing.T) {
	for want, change := range map[string]func(*admission.ManifestOptions){
		"Name: ":              func(o *admission.ManifestOptions) { o.Name = "a.b" },
		"Namespace: ":         func(o *admission.ManifestOptions) { o.Namespace = "" },
		"Image is required":   func(o *admission.ManifestOptions) { o.Image = "" },
		"CertificateSecret: ": func(o *admission.ManifestOptions) { o.CertificateSecret = "a\nb: c" },
		"TemplateConfigMap: ": func(o *admission.ManifestOptions) { o.TemplateConfigMap = "A" },
		"Keys.Label: ":        func(o *admission.ManifestOptions) { o.Keys.Label = "a b" },
		"OnFailure 2":         func(o *admission.ManifestOptions) { o.OnFailure = 2 },
		"TimeoutSeconds 31":   func(o *admission.ManifestOptions) { o.TimeoutSeconds = 31 },
		"Port 65536":          func(o *admission.ManifestOptions) { o.Port = 65536 },
		"Replicas -1":         func(o *admission.ManifestOptions) { o.Replicas = -1 },
	} {
		o := admission.ManifestOptions{Namespace: "injector", Image: "a"}
		change(&o)
		if _, err := admission.Manifests(o); !errors.Is(err, merge.ErrOption) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
