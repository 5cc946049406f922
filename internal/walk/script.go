package walk

import (
	"strings"

	"example.com/braid/internal/node"
	"example.com/braid/internal/schema"
)

// Op is what an Edit does to its position.
type Op uint8

const (
	OpKeep     Op = iota // live's list element stays; stands only among Elements
	OpTake               // the value becomes desired's, without its null fields
	OpRemove             // the value goes
	OpClash              // a conflict: live stays as it is, or stays absent
	OpFields             // a map, field by field: the edits of its fields follow, by key
	OpElements           // a list, element by element: all elements of the merged list
	//                      follow in order, then those that go
)

// Flags tell an encoder what to mind.
type Flags uint16

const (
	Changes       Flags = 1 << iota // something in the map or list changes
	LiveRepeats                     // live has two elements of one key or value
	MergedRepeats                   // so has the merged list
	LiveNoKey                       // live has an element without its key, or of the wrong type
	MergedNoKey                     // so has the merged list
	LiveOddElem                     // live has an element that is no map (keyed) or no scalar (set)
	ByStructured                    // elements were told apart by the structured keys
	Reordered                       // elements that live has stand in another order
	LiveIsZero                      // live leaves the choice to the server, which is no value
	ByNull                          // desired says null here, which is absence
	NoLookup                        // the schema of the holding map does not know this position
)

// Edit is one position that differs from live, by the nodes of the three trees.
type Edit struct {
	Op    Op
	Case  Case
	Flags Flags
	Type  *schema.Type

	Last, Live, Desired node.ID // None where absent

	Parent int32 // the edit of the holding map or list; -1 for the root
	End    int32 // the first edit after those of this subtree
}

// Changes reports whether merged differs from live at the position or below.
func (e *Edit) Changes() bool {
	return e.Op == OpTake || e.Op == OpRemove || e.Flags&Changes != 0
}

// Script is the outcome of a walk: in preorder, the edits that turn live into the
// merged object. It refers to the trees and is valid as long as they are. Edit 0
// is the root map; a script that changes nothing and has no conflict has no edits.
type Script struct {
	Last, Live, Desired *node.Tree
	Rules

	Edits     []Edit
	Conflicts int // how many edits are OpClash
	Changes   int // how many positions change; 0 exactly if merged equals live
	Warnings  []Warning
	Work      int // how many positions, elements and keys were looked at: the cost, without a clock
}

// Warning is something odd in live or desired that did not stop the merge.
type Warning struct {
	Doc  string // "live" or "desired"
	Node node.ID
	Text string
}

// Children calls yield with each edit directly below i, in order.
func (s *Script) Children(i int32) func(yield func(int32) bool) {
	return func(yield func(int32) bool) {
		for k := i + 1; k < s.Edits[i].End; k = s.Edits[k].End {
			if !yield(k) {
				return
			}
		}
	}
}

// Key returns the key under which a map holds the position of edit i.
func (s *Script) Key(i int32) string {
	t, id := s.Node(i)
	return t.Key(id)
}

// Node returns the node by which the position of edit i is known: live's, else
// desired's, else last's.
func (s *Script) Node(i int32) (*node.Tree, node.ID) { return s.nodeOf(&s.Edits[i]) }

func (s *Script) nodeOf(e *Edit) (*node.Tree, node.ID) {
	switch {
	case e.Live != node.None:
		return s.Live, e.Live
	case e.Desired != node.None:
		return s.Desired, e.Desired
	}
	return s.Last, e.Last
}

// ListKeys returns the key fields by which the elements of an OpElements edit
// were told apart, or nil for a set.
func (s *Script) ListKeys(i int32) []schema.Key {
	e := &s.Edits[i]
	if e.Flags&ByStructured != 0 {
		return e.Type.Structured.Keys
	}
	return e.Type.Rule(s.Model).Keys
}

// Path returns the way to the position of edit i, elements by their keys. It does
// not refer to the trees.
func (s *Script) Path(i int32) node.Path {
	n := 0
	for j := i; s.Edits[j].Parent >= 0; j = s.Edits[j].Parent {
		n++
	}
	p := make(node.Path, n)
	for j := i; n > 0; j = s.Edits[j].Parent {
		n--
		p[n] = s.step(j)
	}
	return p
}

func (s *Script) step(i int32) node.Step {
	t, id := s.Node(i)
	parent := s.Edits[i].Parent
	if s.Edits[parent].Op == OpFields {
		return node.Step{Field: strings.Clone(t.Key(id))}
	}
	byIndex := t.Path(id)
	step := byIndex[len(byIndex)-1]
	keys := s.ListKeys(parent)
	if len(keys) == 0 && t.Kind(id) < node.List {
		step.Keys = []node.KeyPair{{Value: strings.Clone(t.Text(id))}}
	}
	for _, k := range keys {
		if f := t.Field(id, k.Name); f != node.None && t.Kind(f) < node.List {
			step.Keys = append(step.Keys, node.KeyPair{Name: k.Name, Value: strings.Clone(t.Text(f))})
		}
	}
	return step
}
