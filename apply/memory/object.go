package memory

import (
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/braid/apply"
	"example.com/braid/merge"
)

// read returns a copy of what a caller or a hook made.
func read(obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	doc, err := merge.FromMap(obj.Object)
	if err != nil {
		return nil, err
	}
	return form(doc)
}

// form returns an object as a server reads it: metadata that is no ObjectMeta is an error, and
// fields of it that are unknown, null or empty go.
func form(doc *merge.Doc) (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{Object: doc.Map()}
	metadata, ok := u.Object["metadata"].(map[string]any)
	if !ok && u.Object["metadata"] != nil {
		return nil, fmt.Errorf("metadata: want a map, got %T", u.Object["metadata"])
	}
	var typed metav1.ObjectMeta
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(metadata, &typed); err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	metadata, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&typed)
	if err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	if typed.CreationTimestamp.IsZero() {
		delete(metadata, "creationTimestamp")
	}
	u.Object["metadata"] = metadata
	return u, nil
}

// The rules are those of k8s.io/apiserver: registry/rest, BeforeCreate and BeforeUpdate; and
// k8s.io/apiextensions-apiserver: registry/customresource, strategy and status strategy.

// prepareCreate sets what the server owns of a new object.
func (c *Cluster) prepareCreate(u *unstructured.Unstructured, t traits) {
	u.SetUID(c.newUID())
	u.SetCreationTimestamp(metav1.NewTime(c.now()))
	u.SetDeletionTimestamp(nil)
	u.SetDeletionGracePeriodSeconds(nil)
	u.SetSelfLink("")
	u.SetGeneration(0)
	if t.generation {
		u.SetGeneration(1)
	}
	if t.status {
		delete(u.Object, "status")
	}
}

// prepareUpdate restores what the server owns and what the request is not about.
func prepareUpdate(u, old *unstructured.Unstructured, t traits, subresource string) {
	if subresource == "status" {
		whole := old.DeepCopy()
		setField(whole, "status", u.Object["status"])
		u.Object = whole.Object
		return
	}
	if t.status {
		setField(u, "status", old.Object["status"])
	}
	u.SetGeneration(old.GetGeneration())
	if u.GetUID() == "" {
		u.SetUID(old.GetUID())
	}
	u.SetCreationTimestamp(old.GetCreationTimestamp())
	if at := old.GetDeletionTimestamp(); at != nil {
		u.SetDeletionTimestamp(at)
	}
	if u.GetDeletionGracePeriodSeconds() == nil {
		u.SetDeletionGracePeriodSeconds(old.GetDeletionGracePeriodSeconds())
	}
}

// compare reports whether u is what is stored, and counts a generation if it differs in more
// than metadata and status.
func compare(u, old *unstructured.Unstructured, was *stored, t traits) (bool, error) {
	whole := maps.Clone(u.Object)
	whole["apiVersion"], _ = was.doc.Text("apiVersion")
	doc, err := merge.FromMap(whole)
	if err != nil || doc.Equal(was.doc) {
		return err == nil, err
	}
	if !t.generation {
		return false, nil
	}
	now, err := merge.FromMap(counted(u, t))
	if err != nil {
		return false, err
	}
	before, err := merge.FromMap(counted(old, t))
	if err == nil && !now.Equal(before) {
		u.SetGeneration(old.GetGeneration() + 1)
	}
	return false, err
}

func setField(u *unstructured.Unstructured, name string, value any) {
	if value == nil {
		delete(u.Object, name)
		return
	}
	u.Object[name] = value
}

// counted is what generation counts the changes of.
func counted(u *unstructured.Unstructured, t traits) map[string]any {
	out := maps.Clone(u.Object)
	delete(out, "metadata")
	if t.status || !t.known {
		delete(out, "status")
	}
	if annotations := u.GetAnnotations(); t.annotations && len(annotations) > 0 {
		m := map[string]any{}
		for k, v := range annotations {
			m[k] = v
		}
		out["metadata"] = m
	}
	return out
}

// check validates metadata as a server does. old is nil for a new object.
func check(id apply.ID, u, old *unstructured.Unstructured, t traits) error {
	name := validation.NameIsDNSSubdomain
	if id.GVK.Group == "rbac.authorization.k8s.io" {
		name = func(name string, _ bool) []string { return content.IsPathSegmentName(name) }
	}
	namespaced := t.known && !t.cluster || !t.known && u.GetNamespace() != ""
	at := field.NewPath("metadata")
	if old == nil {
		old = &unstructured.Unstructured{}
	}
	n := news{u, added(u.GetLabels(), old.GetLabels()), u.GetAnnotations()}
	if validation.ValidateAnnotationsSize(n.annotations) == nil {
		n.annotations = added(n.annotations, old.GetAnnotations())
	}
	errs := validation.ValidateObjectMetaAccessor(n, namespaced, name, at)
	if old.Object != nil {
		errs = append(errs, validation.ValidateObjectMetaAccessorUpdate(n, old, at)...)
	}
	if len(errs) > 0 {
		id.Name = u.GetName()
		return invalid(id, errs...)
	}
	return nil
}

// news is an object with the labels and annotations that have not been checked before: an
// object may have hundreds, and a write seldom changes more than one.
type news struct {
	*unstructured.Unstructured
	labels, annotations map[string]string
}

func (n news) GetLabels() map[string]string      { return n.labels }
func (n news) GetAnnotations() map[string]string { return n.annotations }

// added returns what old does not have. It may change m.
func added(m, old map[string]string) map[string]string {
	maps.DeleteFunc(m, func(k, v string) bool { was, ok := old[k]; return ok && was == v })
	return m
}
