package admission

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"sigs.k8s.io/yaml"

	"example.com/braid/inject"
	"example.com/braid/merge"
)

// ManifestOptions say what Manifests writes. Namespace and Image are required.
type ManifestOptions struct {
	Name      string // of all objects: braid-injector if ""
	Namespace string // of the injector
	Image     string
	Args      []string
	Replicas  int // 2 if 0
	Port      int // of the container: 8443 if 0

	// CertificateSecret is a Secret of type kubernetes.io/tls, mounted at /etc/braid/tls: Name
	// and -tls if "". Its certificate is for NAME.NAMESPACE.svc.
	CertificateSecret string
	// CABundle is what API servers trust it by, as PEM. If it is empty, something else must fill
	// it in, for which Annotations of the webhook configuration may ask.
	CABundle    []byte
	Annotations map[string]string
	// TemplateConfigMap is mounted at /etc/braid/templates, unless it is "".
	TemplateConfigMap string

	OnFailure         FailurePolicy // also of what the API server does if no answer comes
	TimeoutSeconds    int           // that the API server waits: 5 if 0, at most 30
	Keys              inject.Keys   // as the injector's DecisionPolicy has them
	IgnoredNamespaces []string      // beside those of the system and the injector's own
	Workloads         bool          // also call for the pod templates of workloads
}

// Manifests writes the Service, PodDisruptionBudget, Deployment and
// MutatingWebhookConfiguration of an injector that runs a Server, as YAML, in the order in
// which to apply them. API servers do not call for namespaces that are ignored nor for
// objects that opt out by their label. The error is merge.ErrOption.
func Manifests(o ManifestOptions) ([]byte, error) {
	o.Name = cmp.Or(o.Name, "braid-injector")
	o.Replicas, o.Port, o.TimeoutSeconds = cmp.Or(o.Replicas, 2), cmp.Or(o.Port, 8443), cmp.Or(o.TimeoutSeconds, 5)
	o.CertificateSecret = cmp.Or(o.CertificateSecret, o.Name+"-tls")
	o.Keys.Label = cmp.Or(o.Keys.Label, inject.DefaultKey)
	if err := o.check(); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	for i, object := range []object{o.service(), o.budget(), o.deployment(), o.configuration()} {
		text, err := yaml.Marshal(object)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out.WriteString("---\n")
		}
		out.Write(text)
	}
	return out.Bytes(), nil
}

func (o *ManifestOptions) check() error {
	for _, c := range []struct {
		option   string
		problems []string
	}{
		{"Name", content.IsDNS1123Label(o.Name)},
		{"Namespace", content.IsDNS1123Label(o.Namespace)},
		{"CertificateSecret", content.IsDNS1123Subdomain(o.CertificateSecret)},
		{"TemplateConfigMap", content.IsDNS1123Subdomain(cmp.Or(o.TemplateConfigMap, "none"))},
		{"Keys.Label", content.IsLabelKey(o.Keys.Label)},
	} {
		if len(c.problems) > 0 {
			return fmt.Errorf("%w: %s: %s", merge.ErrOption, c.option, c.problems[0])
		}
	}
	switch {
	case o.Image == "":
		return fmt.Errorf("%w: Image is required", merge.ErrOption)
	case o.OnFailure > FailClosed:
		return fmt.Errorf("%w: OnFailure %d", merge.ErrOption, o.OnFailure)
	case o.TimeoutSeconds < 1 || o.TimeoutSeconds > 30:
		return fmt.Errorf("%w: TimeoutSeconds %d: want 1 to 30", merge.ErrOption, o.TimeoutSeconds)
	case o.Port < 1 || o.Port > 65535:
		return fmt.Errorf("%w: Port %d", merge.ErrOption, o.Port)
	case o.Replicas < 1:
		return fmt.Errorf("%w: Replicas %d", merge.ErrOption, o.Replicas)
	}
	return nil
}

type (
	object = map[string]any
	list   = []any
)

func (o *ManifestOptions) labels() object { return object{"app.kubernetes.io/name": o.Name} }

func (o *ManifestOptions) metadata() object {
	return object{"name": o.Name, "namespace": o.Namespace, "labels": o.labels()}
}

func (o *ManifestOptions) service() object {
	return object{
		"apiVersion": "v1", "kind": "Service", "metadata": o.metadata(),
		"spec": object{
			"selector": o.labels(),
			"ports":    list{object{"name": "https", "port": 443, "targetPort": "https"}},
		},
	}
}

func (o *ManifestOptions) budget() object {
	return object{
		"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": o.metadata(),
		"spec": object{"maxUnavailable": 1, "selector": object{"matchLabels": o.labels()}},
	}
}

func (o *ManifestOptions) deployment() object {
	labels := o.labels()
	labels[o.Keys.Label] = "false" // it does not wait for itself
	spread := func(key string) object {
		return object{
			"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "ScheduleAnyway",
			"labelSelector": object{"matchLabels": o.labels()},
		}
	}
	volumes := list{object{"name": "tls", "secret": object{"secretName": o.CertificateSecret, "defaultMode": 0o440}}}
	if o.TemplateConfigMap != "" {
		volumes = append(volumes, object{"name": "templates", "configMap": object{"name": o.TemplateConfigMap}})
	}
	return object{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": o.metadata(),
		"spec": object{
			"replicas": o.Replicas,
			"selector": object{"matchLabels": o.labels()},
			// There is always one more, never one less.
			"strategy": object{"type": "RollingUpdate", "rollingUpdate": object{"maxSurge": 1, "maxUnavailable": 0}},
			"template": object{
				"metadata": object{"labels": labels},
				"spec": object{
					"automountServiceAccountToken":  false, // it calls no API
					"terminationGracePeriodSeconds": 30,
					"securityContext": object{
						"runAsNonRoot": true, "runAsUser": 65532, "runAsGroup": 65532, "fsGroup": 65532,
						"seccompProfile": object{"type": "RuntimeDefault"},
					},
					"topologySpreadConstraints": list{spread("kubernetes.io/hostname"), spread("topology.kubernetes.io/zone")},
					"containers":                list{o.container()},
					"volumes":                   volumes,
				},
			},
		},
	}
}

func (o *ManifestOptions) container() object {
	probe := func(path string) object {
		return object{"httpGet": object{"path": path, "port": "https", "scheme": "HTTPS"}, "periodSeconds": 5}
	}
	c := object{
		"name": "injector", "image": o.Image,
		"ports":          list{object{"name": "https", "containerPort": o.Port}},
		"livenessProbe":  probe(HealthPath),
		"readinessProbe": probe(ReadyPath),
		"resources": object{
			"requests": object{"cpu": "50m", "memory": "64Mi"},
			"limits":   object{"memory": "256Mi"}, // no limit of cpu: an injector that waits delays all pods
		},
		"securityContext": object{
			"allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "capabilities": object{"drop": list{"ALL"}},
		},
	}
	mounts := list{object{"name": "tls", "mountPath": "/etc/braid/tls", "readOnly": true}}
	if o.TemplateConfigMap != "" {
		mounts = append(mounts, object{"name": "templates", "mountPath": "/etc/braid/templates", "readOnly": true})
	}
	c["volumeMounts"] = mounts
	if len(o.Args) > 0 {
		c["args"] = o.Args
	}
	return c
}

func (o *ManifestOptions) configuration() object {
	client := object{"service": object{"name": o.Name, "namespace": o.Namespace, "path": Path, "port": 443}}
	if len(o.CABundle) > 0 {
		client["caBundle"] = base64.StdEncoding.EncodeToString(o.CABundle)
	}
	policy := "Ignore"
	if o.OnFailure == FailClosed {
		policy = "Fail"
	}
	ignored := slices.Concat(inject.SystemNamespaces(), []string{o.Namespace}, o.IgnoredNamespaces)
	slices.Sort(ignored)
	metadata := object{"name": o.Name, "labels": o.labels()}
	if len(o.Annotations) > 0 {
		metadata["annotations"] = o.Annotations
	}
	return object{
		"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration", "metadata": metadata,
		"webhooks": list{object{
			"name":                    o.Name + "." + o.Namespace + ".svc",
			"admissionReviewVersions": list{"v1", "v1beta1"},
			"clientConfig":            client,
			"rules":                   o.rules(),
			"namespaceSelector":       object{"matchExpressions": list{notIn("kubernetes.io/metadata.name", slices.Compact(ignored))}},
			"objectSelector":          object{"matchExpressions": list{notIn(o.Keys.Label, []string{"false", "disabled"})}},
			"failurePolicy":           policy,
			"matchPolicy":             "Equivalent",
			"reinvocationPolicy":      "IfNeeded",
			"sideEffects":             "None",
			"timeoutSeconds":          o.TimeoutSeconds,
		}},
	}
}

func notIn(key string, values []string) object {
	return object{"key": key, "operator": "NotIn", "values": values}
}

// rules names what to call for. Pods and jobs only when they are made: what is injected may
// not change later. A ReplicaSet's pods come with those of its Deployment.
func (o *ManifestOptions) rules() list {
	rule := func(group string, operations list, resources ...string) object {
		return object{
			"apiGroups": list{group}, "apiVersions": list{"v1"}, "operations": operations, "resources": resources, "scope": "Namespaced",
		}
	}
	rules := list{rule("", list{"CREATE"}, "pods")}
	if o.Workloads {
		both := list{"CREATE", "UPDATE"}
		rules = append(rules,
			rule("", both, "podtemplates", "replicationcontrollers"),
			rule("apps", both, "daemonsets", "deployments", "statefulsets"),
			rule("batch", both, "cronjobs"), rule("batch", list{"CREATE"}, "jobs"))
	}
	return rules
}
