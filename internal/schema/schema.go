package schema

// Schema is a compiled type graph with the name of its root. Immutable.
type Schema struct {
	// Name is the group/version, kind of a Kubernetes object, the name of a Go
	// type, or "" for None.
	Name string
	Root *Type
	// Custom marks a kind that the server does not know by a Go type: it takes no
	// strategic merge patch for it.
	Custom bool
}

// None is the schema of objects nobody knows: maps granular, lists atomic.
var None = &Schema{Root: Unknown}
