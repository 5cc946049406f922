package apply

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"example.com/braid/merge"
)

// The labels and annotations by which a cluster remembers a set: ApplySet v1, as kubectl writes
// it (KEP-3659, "ApplySet specification").
const (
	ParentLabel          = "applyset.kubernetes.io/id"                    // of the parent
	PartOfLabel          = "applyset.kubernetes.io/part-of"               // of members: the parent's ParentLabel
	ParentTypeLabel      = "applyset.kubernetes.io/is-parent-type"        // of definitions of kinds that may be parents
	ToolingAnnotation    = "applyset.kubernetes.io/tooling"               // of the parent: who manages the set
	KindsAnnotation      = "applyset.kubernetes.io/contains-group-kinds"  // of the parent: Deployment.apps,Secret
	NamespacesAnnotation = "applyset.kubernetes.io/additional-namespaces" // of the parent: besides its own

	resourcesAnnotation = "applyset.kubernetes.io/contains-group-resources" // of old parents
)

// Inventory is the object by which a cluster remembers a set, its parent. The zero value is none:
// nothing is remembered, and nothing pruned.
//
// kubectl apply --applyset can take a set over and give it back, if Tool says kubectl.
type Inventory struct {
	// Parent is a Secret or a ConfigMap, which is made if there is none, or an object of a custom
	// kind that allows it (ParentTypeLabel), which has to be there.
	Parent ID
	// Tool is who manages the set, as name/version: braid/v1. Sets of other names are refused.
	Tool string
}

// ErrInventory is the rule of errors about parents, which are [*Error]s.
var ErrInventory = errors.New("not the parent of this set")

// ID returns the value of the labels: a hash of the parent's address.
func (i Inventory) ID() string {
	p := i.Parent
	sum := sha256.Sum256([]byte(p.Name + "." + p.Namespace + "." + p.GVK.Kind + "." + p.GVK.Group))
	return "applyset-" + base64.RawURLEncoding.EncodeToString(sum[:]) + "-v1"
}

// label is the ID, or "" where there is no inventory.
func (i Inventory) label() string {
	if i.Parent == (ID{}) {
		return ""
	}
	return i.ID()
}

func (i Inventory) tool() (name, whole string) {
	whole = i.Tool
	if whole == "" {
		whole = "braid/v1"
	}
	return toolName(whole), whole
}

// toolName returns a tool without its version, which is what follows the last slash.
func toolName(tool string) string {
	if n := strings.LastIndexByte(tool, '/'); n >= 0 {
		return tool[:n]
	}
	return tool
}

// builtinParents are the kinds that kubectl makes parents of.
var builtinParents = []schema.GroupVersionKind{{Version: "v1", Kind: "Secret"}, {Version: "v1", Kind: "ConfigMap"}}

func (i Inventory) builtin() bool { return slices.Contains(builtinParents, i.Parent.GVK) }

// check checks what can be known without a cluster.
func (i Inventory) check() error {
	p := i.Parent
	if p == (ID{}) {
		return nil
	}
	_, err := merge.SchemaFor(p.GVK)
	switch {
	case p.GVK.Version == "" || p.GVK.Kind == "" || p.Name == "":
		return fmt.Errorf("%w: the parent of a set needs a version, a kind and a name, got %q", merge.ErrOption, p)
	case i.builtin() && p.Namespace == "":
		return fmt.Errorf("%w: the parent of a set, %s, needs a namespace", merge.ErrOption, p)
	case !i.builtin() && err == nil:
		return fmt.Errorf("%w: the parent of a set is a Secret, a ConfigMap or an object of a custom kind, not a %s", merge.ErrOption, p.GVK.Kind)
	}
	return nil
}

// content is where the members of a set are.
type content struct {
	kinds      map[schema.GroupKind]bool
	namespaces map[string]bool
}

func newContent() content { return content{map[schema.GroupKind]bool{}, map[string]bool{}} }

// and returns all that is in either.
func (c content) and(other content) content {
	out := content{maps.Clone(c.kinds), maps.Clone(c.namespaces)}
	maps.Copy(out.kinds, other.kinds)
	maps.Copy(out.namespaces, other.namespaces)
	return out
}

func (c content) equal(other content) bool {
	return maps.Equal(c.kinds, other.kinds) && maps.Equal(c.namespaces, other.namespaces)
}

// annotations returns those of a parent in a namespace.
func (c content) annotations(namespace string) map[string]string {
	var kinds, namespaces []string
	for kind := range c.kinds {
		kinds = append(kinds, kind.String())
	}
	for n := range c.namespaces {
		if n != namespace {
			namespaces = append(namespaces, n)
		}
	}
	slices.Sort(kinds)
	slices.Sort(namespaces)
	return map[string]string{KindsAnnotation: strings.Join(kinds, ","), NamespacesAnnotation: strings.Join(namespaces, ",")}
}

// contentOf reads annotations that a parent in a namespace has.
func contentOf(annotations map[string]string, namespace string) content {
	c := newContent()
	for kind := range strings.SplitSeq(annotations[KindsAnnotation], ",") {
		if kind != "" {
			c.kinds[schema.ParseGroupKind(kind)] = true
		}
	}
	for n := range strings.SplitSeq(annotations[NamespacesAnnotation]+","+namespace, ",") {
		if n != "" {
			c.namespaces[n] = true
		}
	}
	return c
}

// read returns the parent, or nil, and where the members are.
func (i Inventory) read(ctx context.Context, client Client) (*unstructured.Unstructured, content, error) {
	fail := func(format string, args ...any) (*unstructured.Unstructured, content, error) {
		return nil, content{}, &Error{i.Parent, fmt.Errorf("%w: "+format, append([]any{ErrInventory}, args...)...)}
	}
	parent, err := client.Get(ctx, i.Parent)
	switch {
	case apierrors.IsNotFound(err) && i.builtin():
		return nil, contentOf(nil, i.Parent.Namespace), nil
	case apierrors.IsNotFound(err):
		return fail("a parent of a custom kind has to be made first")
	case err != nil:
		return nil, content{}, &Error{i.Parent, err}
	}
	notes := parent.GetAnnotations()
	name, _ := i.tool()
	switch by, managed := notes[ToolingAnnotation]; {
	case !managed:
		return fail("it is there and has no annotation %s", ToolingAnnotation)
	case toolName(by) != name:
		return fail("%q manages it, not %q", toolName(by), name)
	}
	if id := parent.GetLabels()[ParentLabel]; id != i.ID() {
		return fail("its label %s is %q, not %q", ParentLabel, id, i.ID())
	}
	if _, known := notes[KindsAnnotation]; !known {
		return fail("it has no annotation %s, so its members cannot be found", KindsAnnotation)
	}
	return parent, contentOf(notes, i.Parent.Namespace), nil
}

// update writes where the members are, as a function of what the parent says, and returns what
// it said. It is written only if that changes it, and never over a write of somebody else.
func (i Inventory) update(ctx context.Context, client Client, dryRun bool, next func(content) (content, error)) (content, error) {
	const attempts = 10 // a custom parent has a controller that writes to it
	for n := 1; ; n++ {
		parent, before, err := i.read(ctx, client)
		if err != nil {
			return content{}, err
		}
		after, err := next(before)
		if err != nil {
			return content{}, &Error{i.Parent, err}
		}
		err = i.write(ctx, client, parent, after, dryRun)
		if again := apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err) && parent != nil; again && n < attempts {
			continue
		}
		if err != nil {
			return content{}, &Error{i.Parent, err}
		}
		return before, nil
	}
}

func (i Inventory) write(ctx context.Context, client Client, parent *unstructured.Unstructured, c content, dryRun bool) error {
	name, tool := i.tool()
	o := WriteOptions{FieldManager: name + "-applyset", DryRun: dryRun} // kubectl's name for it
	notes := c.annotations(i.Parent.Namespace)
	notes[ToolingAnnotation] = tool
	if parent == nil {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(i.Parent.GVK)
		u.SetNamespace(i.Parent.Namespace)
		u.SetName(i.Parent.Name)
		u.SetLabels(map[string]string{ParentLabel: i.ID()})
		u.SetAnnotations(notes)
		_, err := client.Create(ctx, u, o)
		return err
	}
	change := map[string]any{}
	has := parent.GetAnnotations()
	for key, note := range notes {
		if old, ok := has[key]; !ok || old != note {
			change[key] = note
		}
	}
	if _, old := has[resourcesAnnotation]; old {
		change[resourcesAnnotation] = nil
	}
	if len(change) == 0 {
		return nil
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"annotations": change, "resourceVersion": parent.GetResourceVersion(),
	}})
	if err != nil {
		return err
	}
	_, err = client.Patch(ctx, i.Parent, types.MergePatchType, patch, o)
	return err
}
