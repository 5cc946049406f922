package merge

import (
	"strings"

	gvk "k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/braid/internal/docs"
	"example.com/braid/internal/node"
	"example.com/braid/internal/secret"
)

// Doc is one immutable document. Parse once, then share and cache it: a Doc may be
// used by any number of merges at the same time.
type Doc struct{ tree *node.Tree }

func init() {
	docs.Tree = func(d any) *node.Tree { return d.(*Doc).tree }
	docs.Of = func(t *node.Tree) any { return &Doc{t} }
}

// Limits bounds what a document may cost. A zero field means the default.
type Limits = node.Limits

// DefaultLimits are those of the package's functions: 64 MiB, depth 1,000,
// 4 Mi values.
var DefaultLimits = node.DefaultLimits

// Parser makes Docs under limits of its own. The zero Parser has the default ones.
type Parser struct{ Limits Limits }

// Parse reads a JSON document and copies what it needs. It accepts what
// encoding/json does, but refuses repeated keys, invalid UTF-8 and unpaired
// surrogates. Numbers keep all their digits. O(n).
func (p Parser) Parse(json []byte) (*Doc, error) { return doc(node.Parse(json, p.Limits)) }

// ParseYAML reads one YAML or JSON document by the rules of sigs.k8s.io/yaml, but
// numbers keep all their digits, and repeated keys and further documents are
// refused.
func (p Parser) ParseYAML(yaml []byte) (*Doc, error) { return doc(node.ParseYAML(yaml, p.Limits)) }

// FromMap makes a Doc of unstructured content. The map is read, never kept.
func (p Parser) FromMap(m map[string]any) (*Doc, error) { return doc(node.FromMap(m, p.Limits)) }

// FromObject makes a Doc of a value with a JSON form, such as a typed Kubernetes
// object.
func (p Parser) FromObject(obj any) (*Doc, error) { return doc(node.FromObject(obj, p.Limits)) }

func doc(t *node.Tree, err error) (*Doc, error) {
	if err != nil {
		return nil, err
	}
	return &Doc{t}, nil
}

// Parse is [Parser.Parse] with the default limits.
func Parse(json []byte) (*Doc, error) { return Parser{}.Parse(json) }

// ParseYAML is [Parser.ParseYAML] with the default limits.
func ParseYAML(yaml []byte) (*Doc, error) { return Parser{}.ParseYAML(yaml) }

// FromMap is [Parser.FromMap] with the default limits.
func FromMap(m map[string]any) (*Doc, error) { return Parser{}.FromMap(m) }

// FromObject is [Parser.FromObject] with the default limits.
func FromObject(obj any) (*Doc, error) { return Parser{}.FromObject(obj) }

// JSON returns the document as canonical JSON: no space, maps by key in byte
// order, numbers as their author wrote them.
func (d *Doc) JSON() []byte { return d.tree.JSON() }

// Map returns the document as unstructured content that shares nothing with d:
// integers as int64, other numbers as float64, and as json.Number where neither
// has all digits. It is nil if the document is no map.
func (d *Doc) Map() map[string]any { return d.tree.Map() }

// Decode stores the document in the value that obj points to, as encoding/json
// does.
func (d *Doc) Decode(obj any) error { return d.tree.Decode(obj) }

// Equal reports whether two documents have the same value: numbers as decimals,
// maps without regard to the order of their keys.
func (d *Doc) Equal(other *Doc) bool { return node.Equal(d.tree, 0, other.tree, 0) }

// Text returns the string that stands under a chain of fields, if there is one.
func (d *Doc) Text(fields ...string) (string, bool) {
	i := d.tree.Lookup(fields...)
	if i == node.None || d.tree.Kind(i) != node.String {
		return "", false
	}
	return d.tree.Text(i), true
}

// At returns the value that stands under a chain of fields; it is not Present if there is
// none. O(number of fields).
func (d *Doc) At(fields ...string) Value {
	i := d.tree.Lookup(fields...)
	if i == node.None {
		return Value{}
	}
	return Value{d.tree, i, secret.Is(d.tree)}
}

// GVK returns the group, version and kind that the document says it has.
func (d *Doc) GVK() gvk.GroupVersionKind {
	version, _ := d.Text("apiVersion")
	kind, _ := d.Text("kind")
	group := ""
	if i := strings.IndexByte(version, '/'); i >= 0 {
		group, version = version[:i], version[i+1:]
	}
	return gvk.GroupVersionKind{Group: group, Version: version, Kind: kind}
}
