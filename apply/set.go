package apply

import (
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"unique"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/braid/internal/node"
	"example.com/braid/merge"
)

// Layout: this file is what is declared, checked and in order; set_plan.go plans it and sends
// nothing; inventory.go is what a cluster remembers of it; set_apply.go carries it out.
//
// What holds: a set keeps the text of what is declared and addresses, and nothing that is made
// of them or read, so plans and live objects of 10,000 objects are never in memory at once.

// SetOptions configure a Set. The zero value takes the documents as they are.
type SetOptions struct {
	// Namespace is that of objects which name none and whose kind has namespaces.
	Namespace string
	// ClusterScoped reports whether a kind has no namespaces. It is asked about kinds that are
	// neither built-in nor defined by a CustomResourceDefinition of the set; nil says no.
	ClusterScoped func(schema.GroupKind) bool
	// Inventory is what the set is remembered by. With it, every object gets the label that
	// makes it a member, and what is no longer in the set can be pruned.
	Inventory Inventory
}

// Set is the objects that are applied together: each at most once, in an order that works.
// Immutable, safe for concurrent use.
type Set struct {
	inventory Inventory
	members   []member
	at        map[ID]int // by ID.object
	schemas   func() map[schema.GroupVersionKind]*merge.Schema

	clusterScoped func(schema.GroupKind) bool
}

// member is an object of a set. Its text is a quarter of the size of a Doc, which takes some
// microseconds to make.
type member struct {
	id    ID
	place Place
	text  []byte
}

// The rules of errors about sets, for errors.Is.
var (
	ErrTwice    = errors.New("declared twice in one set")
	ErrOtherSet = errors.New("a member of another set")
)

// TwiceError says that two documents declare one object.
type TwiceError struct {
	ID            ID
	First, Second Place
}

// Error names both places.
func (e *TwiceError) Error() string {
	return e.Second.String() + ": " + e.ID.String() + ": " + ErrTwice.Error() + ", first in " + e.First.String()
}

// Is makes errors.Is(err, ErrTwice) true.
func (e *TwiceError) Is(target error) bool { return target == ErrTwice }

// NewSet makes a set of documents, such as those of [ReadFiles]. They stand in the order of
// [CompareKinds], and within it in the order given.
//
// The error joins all that is wrong with the documents: what the sequence says, a *[ManifestError]
// about one that has no address or belongs to another set ([ErrOtherSet]), and a *[TwiceError]
// ([ErrTwice]) about two that have the same, be it in two versions of the kind. Then there is no
// set: a part of one would prune the rest. O(n log n) in the number of documents.
func NewSet(docs iter.Seq2[Document, error], o SetOptions) (*Set, error) {
	if err := o.Inventory.check(); err != nil {
		return nil, err
	}
	s := &Set{inventory: o.Inventory, at: map[ID]int{}}
	s.schemas = sync.OnceValue(s.defines)
	var errs []error
	defined := map[schema.GroupKind]bool{} // whether cluster-scoped
	for d, err := range docs {
		if err == nil {
			err = s.add(d, defined)
		}
		if err != nil {
			errs = append(errs, err)
		}
	}
	s.clusterScoped = func(kind schema.GroupKind) bool {
		if cluster, ok := defined[kind]; ok {
			return cluster
		}
		return ClusterScoped(kind) || o.ClusterScoped != nil && o.ClusterScoped(kind)
	}
	for i := range s.members { // now that all definitions are known
		m := &s.members[i]
		namespace := m.id.Namespace
		switch {
		case s.clusterScoped(m.id.GVK.GroupKind()):
			namespace = ""
		case namespace == "":
			namespace = o.Namespace
		}
		if err := m.complete(namespace, o.Inventory.label()); err != nil {
			errs = append(errs, err)
		}
	}
	slices.SortStableFunc(s.members, func(a, b member) int {
		return CompareKinds(a.id.GVK.GroupKind(), b.id.GVK.GroupKind())
	})
	for i, m := range s.members {
		first, twice := s.at[m.id.object()]
		if twice {
			errs = append(errs, &TwiceError{m.id, s.members[first].place, m.place})
			continue
		}
		s.at[m.id.object()] = i
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return s, nil
}

// object is the address without the version: objects have several.
func (id ID) object() ID {
	id.GVK.Version = ""
	return id
}

// add takes a document in, and notes what it defines.
func (s *Set) add(d Document, defined map[schema.GroupKind]bool) error {
	if d.Doc == nil {
		return &ManifestError{d.Place, &merge.Error{Doc: "desired", Offset: -1, Rule: merge.ErrType, Detail: "no document"}}
	}
	id := idOf(d.Doc)
	for _, field := range [...]struct {
		path  []string
		value string
	}{
		{[]string{"apiVersion"}, id.GVK.Version},
		{[]string{"kind"}, id.GVK.Kind},
		{[]string{"metadata", "name"}, id.Name},
	} {
		if field.value == "" {
			var path merge.Path
			for _, f := range field.path {
				path = append(path, merge.Step{Field: f})
			}
			return &ManifestError{d.Place, &merge.Error{Doc: "desired", Path: path, Offset: -1, Rule: merge.ErrType, Detail: "want a text"}}
		}
	}
	if id.GVK.GroupKind() == definitionKind {
		kind, d := definitionOf(d.Doc)
		defined[kind] = d.cluster
	}
	s.members = append(s.members, member{compactID(id), d.Place, d.JSON()})
	return nil
}

// compactID returns an address that shares no memory with the document that it was read from.
func compactID(id ID) ID {
	shared := func(s string) string { return unique.Make(s).Value() }
	return ID{
		GVK:       schema.GroupVersionKind{Group: shared(id.GVK.Group), Version: shared(id.GVK.Version), Kind: shared(id.GVK.Kind)},
		Namespace: shared(id.Namespace), Name: strings.Clone(id.Name),
	}
}

// complete writes the namespace and the label of a member.
func (m *member) complete(namespace, label string) error {
	t, err := node.Parse(m.text, node.Limits{})
	if err != nil {
		return &ManifestError{m.place, node.In("desired", err)}
	}
	var fields []field
	if label != "" {
		labels := t.Lookup("metadata", "labels")
		if labels != node.None && t.Kind(labels) == node.Map {
			if has := t.Field(labels, PartOfLabel); has != node.None && (t.Kind(has) != node.String || t.Text(has) != label) {
				return &ManifestError{m.place, &merge.Error{Doc: "desired", Path: t.Path(has), Offset: -1, Rule: ErrOtherSet}}
			}
		} else if labels != node.None && t.Kind(labels) != node.Null {
			return &ManifestError{m.place, &merge.Error{Doc: "desired", Path: t.Path(labels), Offset: -1, Rule: merge.ErrType, Detail: "want a map, got a " + t.Kind(labels).String()}}
		}
		fields = append(fields, field{"labels", func(dst []byte) []byte {
			return writer{tree: t}.mapWith(dst, labels, quoted(PartOfLabel, label))
		}})
	}
	if namespace != m.id.Namespace {
		f := field{key: "namespace"}
		if namespace != "" {
			f = quoted("namespace", namespace)
		}
		fields = append(fields, f)
	}
	m.id.Namespace = namespace
	if len(fields) > 0 {
		w, room := writer{tree: t}, len(m.text)+len(`,"metadata":{"labels":{"":""},"namespace":""}`)+len(PartOfLabel)+len(label)+len(namespace)
		m.text = w.mapWith(make([]byte, 0, room), 0, field{"metadata", func(dst []byte) []byte { return w.mapWith(dst, t.Field(0, "metadata"), fields...) }})
	}
	return nil
}

// doc returns what is declared.
func (m member) doc() (*merge.Doc, error) {
	d, err := merge.Parse(m.text)
	if err != nil {
		return nil, &ManifestError{m.place, node.In("desired", err)}
	}
	return d, nil
}

// Len returns the number of objects.
func (s *Set) Len() int { return len(s.members) }

// Has reports whether the set declares an object, in whichever version of its kind.
func (s *Set) Has(id ID) bool {
	_, ok := s.at[id.object()]
	return ok
}

// Get returns what the set declares at an address, in whichever version of its kind, or nil. A
// set of what a cluster holds is a [Live] by it.
func (s *Set) Get(id ID) (*merge.Doc, error) {
	i, ok := s.at[id.object()]
	if !ok {
		return nil, nil
	}
	return s.members[i].doc()
}

// ClusterScoped reports whether a kind has no namespaces, as far as the set was told.
func (s *Set) ClusterScoped(kind schema.GroupKind) bool { return s.clusterScoped(kind) }

// Documents returns the objects in the order in which they are made, with their namespaces and
// the label of members. They are made one by one.
func (s *Set) Documents() iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		for _, m := range s.members {
			d, err := m.doc()
			if !yield(Document{d, m.place}, err) {
				return
			}
		}
	}
}

// Schema returns the rules of a kind that is built-in or defined by a CustomResourceDefinition
// of the set: a value for Options.Schema. The error is [merge.ErrNoSchema].
func (s *Set) Schema(kind schema.GroupVersionKind) (*merge.Schema, error) {
	if own := s.schemas()[kind]; own != nil {
		return own, nil
	}
	return merge.SchemaFor(kind)
}

// defines returns the rules of the kinds that the set defines. A malformed definition defines
// nothing here, and a server says why.
func (s *Set) defines() map[schema.GroupVersionKind]*merge.Schema {
	out := map[schema.GroupVersionKind]*merge.Schema{}
	for _, m := range s.members {
		if m.id.GVK.GroupKind() != definitionKind {
			continue
		}
		if d, err := m.doc(); err == nil {
			kinds, _ := merge.SchemasFromCRD(d)
			maps.Copy(out, kinds)
		}
	}
	return out
}

// content returns the kinds and namespaces that the set has objects in.
func (s *Set) content() content {
	c := newContent()
	for _, m := range s.members {
		c.kinds[m.id.GVK.GroupKind()] = true
		if m.id.Namespace != "" {
			c.namespaces[m.id.Namespace] = true
		}
	}
	return c
}

// versions returns a version that the set declares of each kind.
func (s *Set) versions() map[schema.GroupKind]string {
	out := map[schema.GroupKind]string{}
	for _, m := range s.members {
		out[m.id.GVK.GroupKind()] = m.id.GVK.Version
	}
	return out
}

// definitionKind is the kind of what defines kinds.
var definitionKind = schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}

// definition is what a CustomResourceDefinition says of a kind.
type definition struct {
	cluster bool
	version string // one that is served
	parent  bool   // its objects may be parents of sets
}

func definitionOf(doc *merge.Doc) (schema.GroupKind, definition) {
	var crd struct {
		Metadata struct{ Labels map[string]string }
		Spec     struct {
			Group, Scope, Version string
			Names                 struct{ Kind string }
			Versions              []struct {
				Name   string
				Served bool
			}
		}
	}
	_ = doc.Decode(&crd) // a server refuses what is none
	d := definition{cluster: crd.Spec.Scope == "Cluster", version: crd.Spec.Version}
	for _, v := range slices.Backward(crd.Spec.Versions) {
		if v.Served {
			d.version = v.Name
		}
	}
	_, d.parent = crd.Metadata.Labels[ParentTypeLabel]
	return schema.GroupKind{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind}, d
}
