package node

import "math"

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

// What spans and the stack can bear: offsets are 32 bits wide, and the extra text is
// at most as long as the document. Larger limits are lowered to it.
const (
	maxBytes = math.MaxInt32
	maxDepth = 100_000
	maxNodes = math.MaxInt32
)

// WithDefaults returns l with DefaultLimits in place of zeros.
func (l Limits) WithDefaults() Limits {
	or := func(n, def, top int) int {
		if n == 0 {
			n = def
		}
		return min(n, top)
	}
	return Limits{
		Bytes: or(l.Bytes, DefaultLimits.Bytes, maxBytes),
		Depth: or(l.Depth, DefaultLimits.Depth, maxDepth),
		Nodes: or(l.Nodes, DefaultLimits.Nodes, maxNodes),
	}
}
