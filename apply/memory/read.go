package memory

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"example.com/braid/apply"
)

// Get returns an object. O(its size).
func (c *Cluster) Get(ctx context.Context, id apply.ID) (*unstructured.Unstructured, error) {
	return through(ctx, c, Call{Verb: Get, ID: id}, func() (*unstructured.Unstructured, error) {
		if _, err := c.resolve(Get, &id, ""); err != nil {
			return nil, err
		}
		s, err := c.load(id)
		if err != nil {
			return nil, err
		}
		return s.as(id.GVK), nil
	})
}

// List returns the objects of a kind as they were at one moment, by namespace and name.
func (c *Cluster) List(ctx context.Context, kind schema.GroupVersionKind, o apply.ListOptions) (*unstructured.UnstructuredList, error) {
	id := apply.ID{GVK: kind, Namespace: o.Namespace}
	return through(ctx, c, Call{Verb: List, ID: id}, func() (*unstructured.UnstructuredList, error) {
		if _, err := c.resolve(List, &id, ""); err != nil {
			return nil, err
		}
		c.mu.Lock()
		found, version := c.find(id, o.Labels), c.version
		c.mu.Unlock()

		out := &unstructured.UnstructuredList{Items: make([]unstructured.Unstructured, len(found))}
		apiVersion, name := kind.ToAPIVersionAndKind()
		out.SetAPIVersion(apiVersion)
		out.SetKind(name + "List")
		out.SetResourceVersion(strconv.FormatUint(version, 10))
		for i, s := range found {
			out.Items[i] = *s.as(kind)
		}
		return out, nil
	})
}

// find returns the objects of id's kind and namespace that selector selects, in order. The
// caller holds c.mu.
func (c *Cluster) find(id apply.ID, selector labels.Selector) []*stored {
	var names []types.NamespacedName
	objects := c.objects[id.GVK.GroupKind()]
	for name, s := range objects {
		if (id.Namespace == "" || id.Namespace == name.Namespace) && selects(selector, s) {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b types.NamespacedName) int {
		if by := strings.Compare(a.Namespace, b.Namespace); by != 0 {
			return by
		}
		return strings.Compare(a.Name, b.Name)
	})
	out := make([]*stored, len(names))
	for i, name := range names {
		out[i] = objects[name]
	}
	return out
}

// selects reports whether selector selects a state; none is never selected.
func selects(selector labels.Selector, s *stored) bool {
	return s != nil && (selector == nil || selector.Matches(s.labels))
}
