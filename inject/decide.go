package inject

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	gvk "k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/braid/internal/docs"
	"example.com/braid/merge"
)

// Mode says what happens to objects about which nobody has said anything.
type Mode uint8

const (
	OptIn  Mode = iota // they are left alone
	OptOut             // they are injected into
)

// Keys are the keys under which people say what they wish. A wish is "true" or "enabled",
// "false" or "disabled"; "" is none. A key that is "" has its default.
type Keys struct {
	Label      string // of the object's or pod template's labels: braid.example.com/inject
	Annotation string // of its annotations: as Label
	Namespace  string // of the namespace's labels: as Label
}

// DefaultKey is where wishes are read from, if Keys do not say otherwise.
const DefaultKey = "braid.example.com/inject"

// DecisionPolicy says which objects are injected into. The zero value serves those that opt
// in, by their own label or annotation or their namespace's label.
type DecisionPolicy struct {
	Mode Mode
	Keys Keys
	// Never and Always choose objects by their labels (those of the pod template), if neither
	// label nor annotation says anything. Never wins. A selector that selects everything is
	// refused: Mode says that.
	Never, Always []metav1.LabelSelector
	// IgnoredNamespaces are left alone, as are kube-system, kube-public and kube-node-lease.
	// The injector's own must be among them, or it waits for itself to start.
	IgnoredNamespaces []string
	// HostNetwork is set if templates may stand in pods that use their node's network.
	HostNetwork bool
	// PodTemplates is as Options have it.
	PodTemplates map[gvk.GroupKind][]string
	// OS is the operating system that templates are for: linux if "".
	OS string
}

// Candidate is an object about which to decide.
type Candidate struct {
	Object *merge.Doc // a pod, or what has a pod template; nil if there is none
	// Namespace is that of the request. It counts where the object names none, as generated
	// pods do not.
	Namespace       string
	NamespaceLabels map[string]string
	Operation       string // CREATE, UPDATE, ...; "" is CREATE
	Subresource     string // such as status; "" is the object itself
}

// Decider decides by one policy. Immutable, safe for concurrent use.
type Decider struct {
	policy        DecisionPolicy
	never, always []labels.Selector
	ignored       []string
}

// NewDecider checks the policy, once for all decisions. The error is merge.ErrOption.
func NewDecider(p DecisionPolicy) (*Decider, error) {
	if p.Mode > OptOut {
		return nil, fmt.Errorf("%w: Mode %d", merge.ErrOption, p.Mode)
	}
	for _, key := range [...]*string{&p.Keys.Label, &p.Keys.Annotation, &p.Keys.Namespace} {
		if *key == "" {
			*key = DefaultKey
		}
		if problems := content.IsLabelKey(*key); len(problems) > 0 {
			return nil, fmt.Errorf("%w: Keys: %q: %s", merge.ErrOption, *key, problems[0])
		}
	}
	if p.OS == "" {
		p.OS = "linux"
	}
	p.PodTemplates = maps.Clone(p.PodTemplates)
	d := &Decider{policy: p, ignored: append(slices.Clone(p.IgnoredNamespaces), SystemNamespaces()...)}
	var err error
	if d.never, err = selectors("Never", p.Never); err != nil {
		return nil, err
	}
	d.always, err = selectors("Always", p.Always)
	return d, err
}

// SystemNamespaces returns the namespaces that are never injected into.
func SystemNamespaces() []string { return []string{"kube-system", "kube-public", "kube-node-lease"} }

func selectors(option string, from []metav1.LabelSelector) ([]labels.Selector, error) {
	var out []labels.Selector
	for i := range from {
		s, err := metav1.LabelSelectorAsSelector(&from[i])
		if err != nil {
			return nil, fmt.Errorf("%w: %s[%d]: %v", merge.ErrOption, option, i, err)
		}
		if s.Empty() {
			return nil, fmt.Errorf("%w: %s[%d] selects everything", merge.ErrOption, option, i)
		}
		out = append(out, s)
	}
	return out, nil
}

// Keys returns the keys that wishes are read from.
func (d *Decider) Keys() Keys { return d.policy.Keys }

// Decide decides. O(size of the policy); the object is looked at in a few places only.
func (d *Decider) Decide(c Candidate) Reason {
	v := view{Decider: d, Candidate: c}
	if c.Object != nil {
		v.gvk = c.Object.GVK()
		var fields []string
		fields, v.known = podTemplateOf(v.gvk.GroupKind(), d.policy.PodTemplates)
		v.tree = docs.Tree(c.Object)
		v.template = v.tree.Lookup(fields...)
	}
	for _, row := range table {
		if row.holds(&v) {
			return row.reason
		}
	}
	return DefaultOff
}

// DecideAsking is Decide for those to whom the labels of a namespace cost a call: ask is called
// where nothing else has decided, if there is a namespace to ask about. nil is no labels. The
// error is that of ask.
func (d *Decider) DecideAsking(c Candidate, ask func(namespace string) (map[string]string, error)) (Reason, error) {
	reason := d.Decide(c)
	if ask == nil || reason != DefaultOn && reason != DefaultOff {
		return reason, nil
	}
	if own, _ := c.Object.Text("metadata", "namespace"); own != "" {
		c.Namespace = own
	}
	if c.Namespace == "" {
		return reason, nil
	}
	var err error
	if c.NamespaceLabels, err = ask(c.Namespace); err != nil {
		return reason, err
	}
	return d.Decide(c), nil
}

// table is what Decide goes by: the first row that holds gives the reason. If none does, it is
// DefaultOff.
var table = [...]struct {
	reason Reason
	holds  func(*view) bool
}{
	{NoObject, func(v *view) bool { return v.gvk.Kind == "" }},
	{Subresource, func(v *view) bool { return v.Subresource != "" }},
	{OtherOperation, func(v *view) bool {
		return v.Operation != "" && v.Operation != "CREATE" && v.Operation != "UPDATE"
	}},
	{UnknownKind, func(v *view) bool { return !v.known }},
	{Immutable, func(v *view) bool { return v.Operation == "UPDATE" && (v.gvk.Kind == "Pod" || v.gvk.Kind == "Job") }},
	{Deleted, func(v *view) bool { _, is := v.Object.Text("metadata", "deletionTimestamp"); return is }},
	{IgnoredNamespace, (*view).inIgnoredNamespace},
	{MirrorPod, (*view).isMirror},
	{Controlled, func(v *view) bool { return v.gvk.Kind == "ReplicaSet" && v.hasController() }},
	{HostNetwork, func(v *view) bool { return !v.policy.HostNetwork && v.onHostNetwork() }},
	{OtherOS, (*view).hasOtherOS},

	{OptedOut, func(v *view) bool { return cmp.Or(v.label(), v.annotation()) == off && v.isInjected() }},
	{LabelOn, func(v *view) bool { return v.label() == on }},
	{LabelOff, func(v *view) bool { return v.label() == off }},
	{LabelUnclear, func(v *view) bool { return v.label() == unclear }},
	{AnnotationOn, func(v *view) bool { return v.annotation() == on }},
	{AnnotationOff, func(v *view) bool { return v.annotation() == off }},
	{AnnotationUnclear, func(v *view) bool { return v.annotation() == unclear }},
	{AlreadyInjected, (*view).isInjected},
	{NeverSelected, func(v *view) bool { return v.selected(v.never) }},
	{AlwaysSelected, func(v *view) bool { return v.selected(v.always) }},
	{NamespaceOn, func(v *view) bool { return v.namespaceLabel() == on }},
	{NamespaceOff, func(v *view) bool { return v.namespaceLabel() == off }},
	{NamespaceUnclear, func(v *view) bool { return v.namespaceLabel() == unclear }},
	{DefaultOn, func(v *view) bool { return v.policy.Mode == OptOut }},
}
