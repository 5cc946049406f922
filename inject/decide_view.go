package inject

import (
	"encoding/json"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	gvk "k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/braid/internal/node"
)

// view is a candidate as the rows of the table look at it. A pod is its own template.
type view struct {
	*Decider
	Candidate
	gvk      gvk.GroupVersionKind
	known    bool // the kind has a pod template
	tree     *node.Tree
	template node.ID // that pod template, or node.None
}

// at returns what stands under fields of the pod template, or node.None.
func (v *view) at(fields ...string) node.ID {
	i := v.template
	for _, f := range fields {
		if i == node.None {
			break
		}
		i = v.tree.Field(i, f)
	}
	return i
}

func (v *view) text(fields ...string) (string, bool) {
	i := v.at(fields...)
	if i == node.None || v.tree.Kind(i) != node.String {
		return "", false
	}
	return v.tree.Text(i), true
}

func (v *view) inIgnoredNamespace() bool {
	namespace := v.Namespace
	if own, _ := v.Object.Text("metadata", "namespace"); own != "" {
		namespace = own
	}
	return slices.Contains(v.ignored, namespace)
}

// isMirror reports whether a kubelet made the pod from a file: it has marked it so.
func (v *view) isMirror() bool {
	source, ok := v.text("metadata", "annotations", "kubernetes.io/config.source")
	return ok && source != "api" || v.at("metadata", "annotations", "kubernetes.io/config.mirror") != node.None
}

func (v *view) isInjected() bool {
	_, is := v.text("metadata", "annotations", RecordAnnotation)
	return is
}

func (v *view) hasController() bool {
	var owners []metav1.OwnerReference
	if json.Unmarshal(v.Object.At("metadata", "ownerReferences").JSON(), &owners) != nil {
		return false
	}
	return slices.ContainsFunc(owners, func(o metav1.OwnerReference) bool { return o.Controller != nil && *o.Controller })
}

func (v *view) onHostNetwork() bool {
	i := v.at("spec", "hostNetwork")
	return i != node.None && v.tree.Kind(i) == node.Bool && v.tree.Text(i) == "true"
}

// hasOtherOS reports whether the pod says that it is for another operating system. Most say
// nothing.
func (v *view) hasOtherOS() bool {
	for _, at := range [...][]string{
		{"spec", "os", "name"},
		{"spec", "nodeSelector", "kubernetes.io/os"},
		{"spec", "nodeSelector", "beta.kubernetes.io/os"},
	} {
		if os, ok := v.text(at...); ok {
			return os != v.policy.OS
		}
	}
	return false
}

func (v *view) selected(by []labels.Selector) bool {
	return slices.ContainsFunc(by, func(s labels.Selector) bool { return s.Matches(podLabels{v}) })
}

// podLabels are the labels of the pod template, for selectors.
type podLabels struct{ v *view }

func (l podLabels) Lookup(key string) (string, bool) { return l.v.text("metadata", "labels", key) }

func (l podLabels) Has(key string) bool {
	_, ok := l.Lookup(key)
	return ok
}

func (l podLabels) Get(key string) string {
	text, _ := l.Lookup(key)
	return text
}

// wish is what somebody says about an object.
type wish uint8

const (
	none wish = iota
	on
	off
	unclear
)

func read(text string) wish {
	switch text {
	case "":
		return none
	case "true", "enabled":
		return on
	case "false", "disabled":
		return off
	}
	return unclear
}

func (v *view) label() wish {
	text, _ := v.text("metadata", "labels", v.policy.Keys.Label)
	return read(text)
}

func (v *view) annotation() wish {
	text, _ := v.text("metadata", "annotations", v.policy.Keys.Annotation)
	return read(text)
}

func (v *view) namespaceLabel() wish { return read(v.NamespaceLabels[v.policy.Keys.Namespace]) }
