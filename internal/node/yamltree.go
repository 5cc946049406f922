package node

import (
	"cmp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// yamlBuilder makes a tree of a YAML tree. Fields are added in the order of their
// keys, so that nothing of the tree depends on the order in the text.
type yamlBuilder struct {
	builder
	first int                 // line on which the document begins
	open  map[*yaml.Node]bool // anchored maps and lists that are being expanded
}

// value adds the node of n, below parent under key, and all below it.
func (b *yamlBuilder) value(parent ID, key string, n *yaml.Node, depth int) bool {
	b.line = n.Line
	id, ok := b.begin(parent, key)
	if !ok {
		return false
	}
	if n, ok = b.target(id, n); !ok {
		return false
	}
	if n.Kind == yaml.ScalarNode {
		kind, text, problem := resolve(n)
		if problem != "" {
			return b.refuse(id, ruleOf(problem), "%s", problem)
		}
		b.nulls = b.nulls || kind == Null
		return b.put(id, kind, text)
	}
	if depth >= b.lim.Depth {
		return b.refuse(id, ErrLimit, "nested deeper than %d", b.lim.Depth)
	}
	if !b.enter(id, n) {
		return false
	}
	defer delete(b.open, n)
	if n.Kind == yaml.SequenceNode {
		return b.list(id, n, depth+1)
	}
	return b.mapping(id, n, depth+1)
}

func (b *yamlBuilder) list(id ID, n *yaml.Node, depth int) bool {
	b.nodes[id].kind = List
	base := len(b.stack)
	for _, elem := range n.Content {
		b.stack = append(b.stack, ID(len(b.nodes)))
		if !b.value(id, "", elem, depth) {
			return false
		}
	}
	b.close(id, base)
	return true
}

func (b *yamlBuilder) mapping(id ID, n *yaml.Node, depth int) bool {
	b.nodes[id].kind = Map
	m := yamlMap{b: b, id: id, fields: make([]yamlField, 0, len(n.Content)/2)}
	if !m.add(n) {
		return false
	}
	slices.SortStableFunc(m.fields, func(x, y yamlField) int {
		return cmp.Or(strings.Compare(x.key, y.key), cmp.Compare(x.rank, y.rank))
	})
	base := len(b.stack)
	for k, f := range m.fields {
		if k > 0 && m.fields[k-1].key == f.key {
			if m.fields[k-1].rank != f.rank {
				continue // a merge key brought it in, and another source comes first
			}
			b.line = f.line
			b.refuse(id, ErrDuplicateKey, "the map has this key more than once")
			b.err.Path = append(b.err.Path, Step{Field: f.key})
			return false
		}
		b.stack = append(b.stack, ID(len(b.nodes)))
		if !b.value(id, f.key, f.val, depth) {
			return false
		}
	}
	b.close(id, base)
	return true
}

// target returns what an alias stands for, and other nodes as they are.
func (b *yamlBuilder) target(at ID, n *yaml.Node) (*yaml.Node, bool) {
	if n.Kind != yaml.AliasNode {
		return n, true
	}
	if n.Alias.Line < b.first { // the yaml package keeps anchors for the whole text
		return nil, b.refuse(at, ErrYAML, "an alias of an anchor in another document")
	}
	return n.Alias, true
}

// enter notes that the map or list n is being expanded, if aliases can name it.
func (b *yamlBuilder) enter(at ID, n *yaml.Node) bool {
	switch {
	case n.Anchor == "":
		return true
	case b.open[n]:
		return b.refuse(at, ErrYAML, "an alias inside of what it names")
	case b.open == nil:
		b.open = map[*yaml.Node]bool{}
	}
	b.open[n] = true
	return true
}

// yamlMap collects the fields of one map.
type yamlMap struct {
	b      *yamlBuilder
	id     ID
	fields []yamlField
	rank   int // of the map whose fields were begun last
	depth  int // of merge keys in what merge keys bring in
}

// yamlField is a field of a map, or one that a merge key brings in.
type yamlField struct {
	key  string
	val  *yaml.Node
	line int
	rank int // 0 for a field of the map itself; of equal keys the lowest wins
}

// add adds the fields of n: the map itself, or what a merge key names.
func (m *yamlMap) add(n *yaml.Node) bool {
	rank := m.rank
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		m.b.line = k.Line
		if m.b.spent > m.b.lim.Nodes {
			return m.b.refuse(m.id, ErrLimit, "more than %d values", m.b.lim.Nodes)
		}
		if isMerge(k) {
			if !m.merge(v) {
				return false
			}
			continue
		}
		key, ok := m.b.key(m.id, k)
		if !ok {
			return false
		}
		m.fields = append(m.fields, yamlField{key, v, k.Line, rank})
		if rank > 0 {
			m.b.spent++
		}
	}
	return true
}

// merge adds what the value of a merge key names: a map, or maps of which the first
// that has a key wins.
func (m *yamlMap) merge(v *yaml.Node) bool {
	sources := []*yaml.Node{v}
	if v.Kind == yaml.SequenceNode {
		sources = v.Content
	}
	for _, s := range sources {
		m.b.line = s.Line
		n, ok := m.b.target(m.id, s)
		switch {
		case !ok:
			return false
		case n.Kind != yaml.MappingNode:
			return m.b.refuse(m.id, ErrYAML, "a merge key needs a map or a list of maps")
		case m.depth >= m.b.lim.Depth:
			return m.b.refuse(m.id, ErrLimit, "nested deeper than %d", m.b.lim.Depth)
		case !m.b.enter(m.id, n):
			return false
		}
		m.rank++
		m.depth++
		m.b.spent++
		ok = m.add(n)
		m.depth--
		delete(m.b.open, n)
		if !ok {
			return false
		}
	}
	return true
}
