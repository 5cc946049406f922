package inject

import "fmt"

// Reason says why an object is injected into, has that taken out, or is left alone. Each
// decision has exactly one: that of the first row of the table in decide.go that holds.
type Reason uint8

// The reasons, in the order of their rows. The first group no wish can overrule, as the
// result would be refused by the server, break a node or serve nobody.
const (
	NoObject         Reason = iota // no: there is no object, or it has no kind
	Subresource                    // no: the request is not about the object itself
	OtherOperation                 // no: neither a creation nor an update
	UnknownKind                    // no: the kind has no pod template
	Immutable                      // no: an update of an object whose pod template may not change
	Deleted                        // no: the object is being deleted
	IgnoredNamespace               // no: a namespace of the system or of the injector
	MirrorPod                      // no: a kubelet owns it
	Controlled                     // no: its owner would not know it again and make another, for ever
	HostNetwork                    // no: the pod has its node's network
	OtherOS                        // no: the pod is for another operating system than the templates

	OptedOut          // out: the object says no, and has the record of what was injected
	LabelOn           // yes: the object's label says so
	LabelOff          // no: the object's label says so
	LabelUnclear      // no: the object's label is neither yes nor no
	AnnotationOn      // yes: the object's annotation says so
	AnnotationOff     // no: the object's annotation says so
	AnnotationUnclear // no: the object's annotation is neither yes nor no
	AlreadyInjected   // yes: it was decided before, and the object has the record of it
	NeverSelected     // no: a selector of Never matches
	AlwaysSelected    // yes: a selector of Always matches
	NamespaceOn       // yes: the namespace's label says so
	NamespaceOff      // no: the namespace's label says so
	NamespaceUnclear  // no: the namespace's label is neither yes nor no
	DefaultOn         // yes: nobody said anything
	DefaultOff        // no: nobody said anything
)

var reasons = [...]string{
	"NoObject", "Subresource", "OtherOperation", "UnknownKind", "Immutable", "Deleted", "IgnoredNamespace", "MirrorPod",
	"Controlled", "HostNetwork", "OtherOS",
	"OptedOut", "LabelOn", "LabelOff", "LabelUnclear", "AnnotationOn", "AnnotationOff", "AnnotationUnclear", "AlreadyInjected",
	"NeverSelected", "AlwaysSelected", "NamespaceOn", "NamespaceOff", "NamespaceUnclear", "DefaultOn", "DefaultOff",
}

// String returns the name of the reason: a stable code for metrics, logs and events.
func (r Reason) String() string {
	if int(r) < len(reasons) {
		return reasons[r]
	}
	return fmt.Sprintf("Reason(%d)", r)
}

// Inject reports whether the reason is one to inject.
func (r Reason) Inject() bool {
	switch r {
	case LabelOn, AnnotationOn, AlreadyInjected, AlwaysSelected, NamespaceOn, DefaultOn:
		return true
	}
	return false
}

// Uninject reports whether the reason is one to take out what was injected.
func (r Reason) Uninject() bool { return r == OptedOut }

// Unclear reports whether somebody wrote a wish that cannot be read.
func (r Reason) Unclear() bool {
	return r == LabelUnclear || r == AnnotationUnclear || r == NamespaceUnclear
}
