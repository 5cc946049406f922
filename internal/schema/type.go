package schema

import (
	"sort"

	"example.com/braid/internal/node"
)

// Kind says which JSON values a Type describes and how its scalars compare.
type Kind uint8

const (
	Any         Kind = iota // no knowledge: maps granular, lists atomic
	Map                     // an object: named Fields, other keys under Elem
	List                    // an array of Elem
	String                  // a JSON string
	Bool                    // true or false
	Integer                 // a JSON number without fraction
	Number                  // a JSON number
	Quantity                // resource.Quantity: a string or a number
	IntOrString             // intstr.IntOrString
	Duration                // metav1.Duration
	Time                    // metav1.Time, metav1.MicroTime (RFC 3339)
	Bytes                   // a base64 string
)

// Merge says how the values at one position combine.
type Merge uint8

const (
	Granular Merge = iota // a map, merged field by field
	Atomic                // one value, replaced as a whole
	Keyed                 // a list of maps, merged by key fields
	Set                   // a list of distinct scalars
)

// Rule is how one model merges the values of a Type.
type Rule struct {
	Merge Merge
	// RetainKeys marks a union: a map (or, on a Keyed list, each element) that
	// holds after a change only the fields that desired declares.
	RetainKeys bool
	// Keys are the fields that name an element of a Keyed list, in the order
	// of the source. A strategic rule has exactly one.
	Keys []Key
}

// Key is a key field of a Keyed list. Default is the JSON text of the value
// that an absent field stands for, or "" if absence is absence.
type Key struct {
	Name    string
	Default string
}

// Type is one node of the type graph: a JSON shape and its merge rules. The
// graph may be cyclic. It is immutable once its source has returned it.
//
// Rules belong to the position that refers to a shape, never to the shape
// alone: two fields of one Go type with different patch strategies have two
// Types that share their Fields.
type Type struct {
	Kind Kind
	// Fields are the named fields of a Map, sorted by name, no name twice.
	Fields []Field
	// Elem types the elements of a List and the values under keys of a Map that
	// Fields do not name. A Map with nil Elem knows no other keys.
	Elem *Type

	Strategic  Rule // patchStrategy, patchMergeKey
	Structured Rule // list-type, list-map-keys, map-type

	Nullable        bool // null is a value here
	PreserveUnknown bool // unnamed fields are kept by the server, as Any
	Embedded        bool // a whole Kubernetes object, with its own metadata
	// Union marks a map with one member at a time: a change keeps only the fields that
	// desired declares, though the server's strategic rule has no retainKeys.
	Union bool
	// StringData marks a Secret: its stringData is write-only and folds into data.
	StringData bool
	// Served is the strategic rule that a server goes by, where Strategic is the
	// user's own or a guess; nil if they agree.
	Served  *Rule
	Default string // JSON text of the server's default, or ""
}

// Field is a named field of a Map.
type Field struct {
	Name   string
	Type   *Type
	Prefix uint64 // node.Prefix of Name
	Zero   Zero   // whether it tells its zero value from absence
	Alias  string // the name of a field beside it that says the same, or ""
	// Extra marks a field that only an override names: to a server it is any key of a
	// Go map, under which a strategic merge patch looks nothing up.
	Extra bool
}

// Zero says whether a field can tell its zero value from absence. Zero values are null,
// "", 0, false, an empty list or map, and a map whose fields all hold zero values that
// none of them tells from absence; of a Quantity and a Duration those that are 0, of a
// Time and an IntOrString not "".
//
// What a field that is no pointer in Go is decoded to is the same for both. Whether that
// is then written (omitempty) does not matter.
type Zero uint8

const (
	ZeroTells    Zero = iota // it can, or nobody knows
	ZeroIsAbsent             // it cannot: a server takes both for one value
	ZeroIsAuto               // nor can it, and a server puts a value of its own for both
)

func field(name string, t *Type) Field { return Field{Name: name, Type: t, Prefix: node.Prefix(name)} }

// Model selects which rules of a Type count.
type Model uint8

const (
	Strategic  Model = iota // as kubectl apply merges built-in kinds
	Structured              // as kubectl apply --server-side merges
	Plain                   // maps granular, lists atomic
)

// Rule returns the rule of t under a model. The caller must not change it.
func (t *Type) Rule(m Model) *Rule {
	switch {
	case m == Strategic:
		return &t.Strategic
	case m == Structured:
		return &t.Structured
	case t.Kind == List:
		return &plainList
	}
	return &plainMap
}

var plainMap, plainList = Rule{}, Rule{Merge: Atomic}

// Field returns the named field of a Map, or nil. O(log n).
func (t *Type) Field(key string) *Field {
	i := sort.Search(len(t.Fields), func(i int) bool { return t.Fields[i].Name >= key })
	if i < len(t.Fields) && t.Fields[i].Name == key {
		return &t.Fields[i]
	}
	return nil
}

// Lookup returns the type of the value under a key of a Map, and whether it is a
// named field, to a server too. It is nil if t does not know the key. O(log n).
func (t *Type) Lookup(key string) (child *Type, named bool) {
	if f := t.Field(key); f != nil {
		return f.Type, !f.Extra
	}
	return t.Elem, false
}

// Unknown is the type of positions no schema knows: maps granular, lists atomic.
var Unknown = &Type{Kind: Any}
