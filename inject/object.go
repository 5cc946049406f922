package inject

import (
	"fmt"
	"slices"
	"strings"

	gvk "k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/braid/internal/node"
	"example.com/braid/merge"
)

// podTemplates says where the pod template of a kind stands. A pod is its own.
var podTemplates = map[gvk.GroupKind][]string{
	{Kind: "Pod"}:                        {},
	{Kind: "PodTemplate"}:                {"template"},
	{Kind: "ReplicationController"}:      {"spec", "template"},
	{Group: "apps", Kind: "Deployment"}:  {"spec", "template"},
	{Group: "apps", Kind: "ReplicaSet"}:  {"spec", "template"},
	{Group: "apps", Kind: "StatefulSet"}: {"spec", "template"},
	{Group: "apps", Kind: "DaemonSet"}:   {"spec", "template"},
	{Group: "batch", Kind: "Job"}:        {"spec", "template"},
	{Group: "batch", Kind: "CronJob"}:    {"spec", "jobTemplate", "spec", "template"},
}

// place is where a pod template stands in an object.
type place struct {
	object *value    // which has the kind
	at     node.Path // of the pod template, from the root of the document
	pod    *value    // the pod template
	kind   gvk.GroupKind

	record *record // that was read
	unfit  error   // why it does not count
}

// places finds the pod templates of an object, or of the items of a list. An item of
// another kind has none.
func (in *Injector) places(root *value) ([]place, error) {
	if root.kind != node.Map {
		return nil, &merge.Error{Doc: "live", Offset: -1, Rule: merge.ErrType, Detail: fmt.Sprintf("an object is a map, this is a %s", root.kind)}
	}
	kind := kindOf(root)
	if items := root.look("items"); strings.HasSuffix(kind.Kind, "List") && items != nil && items.kind == node.List {
		var out []place
		for i, item := range items.elements() {
			if item.kind != node.Map {
				continue
			}
			k := kindOf(item)
			if k.Kind == "" { // the items of a PodList need not say theirs
				k = gvk.GroupKind{Group: kind.Group, Kind: strings.TrimSuffix(kind.Kind, "List")}
			}
			at := node.Path{{Field: "items"}, {Elem: true, Index: i}}
			if p, ok := in.place(item, k, at); ok {
				out = append(out, p)
			}
		}
		return out, nil
	}
	p, ok := in.place(root, kind, nil)
	if !ok {
		return nil, &merge.Error{Doc: "live", Path: p.at, Offset: -1, Rule: ErrKind, Detail: kind.String()}
	}
	return []place{p}, nil
}

func kindOf(v *value) gvk.GroupKind {
	group, _, grouped := strings.Cut(v.str("apiVersion"), "/")
	if !grouped {
		group = ""
	}
	return gvk.GroupKind{Group: group, Kind: v.str("kind")}
}

// podTemplateOf says where the pod template of a kind stands, if it has one; custom says so of
// kinds that are not built in. Groups of old, such as extensions, count as apps.
func podTemplateOf(kind gvk.GroupKind, custom map[gvk.GroupKind][]string) ([]string, bool) {
	fields, ok := custom[kind]
	if !ok {
		fields, ok = podTemplates[kind]
	}
	if !ok && kind.Group == "extensions" {
		fields, ok = podTemplates[gvk.GroupKind{Group: "apps", Kind: kind.Kind}]
	}
	return fields, ok
}

// place finds the pod template of an object.
func (in *Injector) place(object *value, kind gvk.GroupKind, at node.Path) (place, bool) {
	fields, ok := podTemplateOf(kind, in.o.PodTemplates)
	p := place{object: object, at: at, pod: object, kind: kind}
	for _, f := range fields {
		p.pod = p.pod.look(f)
		p.at = append(p.at[:len(p.at):len(p.at)], node.Step{Field: f})
	}
	return p, ok && p.pod != nil && p.pod.kind == node.Map
}

// below returns the path from the root of the document to what stands at a path of the pod
// template.
func (p *place) below(path node.Path) node.Path { return slices.Concat(p.at, path) }

// ends reports whether the pods of an object run to completion, so that a sidecar that does
// not end keeps them from it.
func (p *place) ends() bool {
	if p.kind.Group == "batch" {
		return true
	}
	restart := p.pod.look("spec", "restartPolicy").text()
	return restart == "Never" || restart == "OnFailure"
}
