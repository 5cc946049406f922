package node

// Limits bounds what a document may cost before it is refused. A zero field
// takes its value from [DefaultLimits].
type Limits struct {
	Bytes int // length of the text
	Depth int // nesting of maps and lists
	Nodes int // maps, lists and scalars
}

// DefaultLimits is far above what an API server stores (1.5 MiB an object) and
// low enough that no document can exhaust the memory or the stack.
var DefaultLimits = Limits{Bytes: 64 << 20, Depth: 1000, Nodes: 4 << 20}

func (l Limits) orDefault() Limits {
	if l.Bytes == 0 {
		l.Bytes = DefaultLimits.Bytes
	}
	if l.Depth == 0 {
		l.Depth = DefaultLimits.Depth
	}
	if l.Nodes == 0 {
		l.Nodes = DefaultLimits.Nodes
	}
	return l
}
