package apply

import (
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"example.com/braid/merge"
)

// Live is what planning a set asks of a cluster.
type Live struct {
	// Get returns an object, or nil if there is none. nil says that there is nothing.
	Get func(ID) (*merge.Doc, error)
	// Members are the objects that the cluster says are in the set: those with its label. nil is
	// none: nothing is pruned.
	Members iter.Seq2[*merge.Doc, error]
}

// Step is what a set does with one object.
type Step struct {
	Number, Total int // 1 of 10,000; objects to prune are counted when they are known
	ID            ID
	Place         Place    // of the document; none where an object is pruned
	Plan          *Plan    // nil where an object is pruned, and after most errors
	Prune         *Prune   // nil where an object is applied
	Outcome       *Outcome // of applying it; nil if it was only planned or is pruned
	Err           error
}

// Prune is a member of a set that the set no longer declares.
type Prune struct {
	UID  types.UID // of what is to be deleted, and of nothing else by that name
	Kept string    // why it is not deleted; "" if it is
}

// WriteReport writes the step for a person, as [Plan.WriteReport] does.
func (s Step) WriteReport(w io.Writer, color bool) error {
	var err error
	switch {
	case s.Plan != nil:
		err = s.Plan.WriteReport(w, color)
	case s.Prune != nil && s.Prune.Kept != "":
		_, err = fmt.Fprintf(w, "%s: kept: %s\n", s.ID, s.Prune.Kept)
	case s.Prune != nil:
		_, err = fmt.Fprintf(w, "%s: Prune\n", s.ID)
	}
	if s.Err != nil && err == nil {
		_, err = fmt.Fprintf(w, "%s: %v\n", s.ID, s.Err)
	}
	return err
}

// Counts tells steps by what they do.
type Counts struct{ None, Create, Patch, Replace, Prune, Keep, Fail int }

// Add counts a step.
func (c *Counts) Add(s Step) {
	operation := None
	switch {
	case s.Outcome != nil:
		operation = s.Outcome.Operation
	case s.Plan != nil:
		operation = s.Plan.Operation
	}
	switch {
	case s.Err != nil:
		c.Fail++
	case s.Prune != nil && s.Prune.Kept != "":
		c.Keep++
	case s.Prune != nil:
		c.Prune++
	default:
		*[...]*int{None: &c.None, Create: &c.Create, Patch: &c.Patch, Replace: &c.Replace}[operation]++
	}
}

// Changes returns the number of objects that are made, changed or pruned.
func (c Counts) Changes() int { return c.Create + c.Patch + c.Replace + c.Prune }

// String returns "2 Create, 1 Prune, 5 None", without what there is none of.
func (c Counts) String() string {
	var parts []string
	for _, p := range [...]struct {
		n    int
		what string
	}{
		{c.Create, "Create"}, {c.Patch, "Patch"}, {c.Replace, "Replace"}, {c.Prune, "Prune"},
		{c.Keep, "kept"}, {c.None, "None"}, {c.Fail, "failed"},
	} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	if len(parts) == 0 {
		return "no objects"
	}
	return strings.Join(parts, ", ")
}

// Plan plans the set, one object after the other as the caller asks for it: first what is
// declared, in order, then what is to be pruned, in the reverse order. Nothing is sent. Neither
// plans nor live objects are kept.
//
// Nothing is pruned if any object before could not be planned or read, and nothing that the set
// declares, its parent and no Namespace ever. An object that is a member of another set is an
// error ([ErrOtherSet]).
func (s *Set) Plan(p *Planner, live Live) iter.Seq[Step] {
	return func(yield func(Step) bool) {
		failed := false
		for i, m := range s.members {
			step := Step{Number: i + 1, Total: len(s.members), ID: m.id, Place: m.place}
			step.Plan, step.Err = s.plan(p, live, m)
			failed = failed || step.Err != nil
			if !yield(step) {
				return
			}
		}
		if live.Members == nil || failed {
			return
		}
		prunes, err := s.prunes(live.Members)
		if err != nil {
			yield(Step{Number: len(s.members) + 1, Total: len(s.members) + 1, ID: s.inventory.Parent, Err: err})
			return
		}
		for _, step := range prunes {
			if !yield(step) {
				return
			}
		}
	}
}

func (s *Set) plan(p *Planner, live Live, m member) (*Plan, error) {
	desired, err := m.doc()
	if err != nil {
		return nil, err
	}
	var has *merge.Doc
	if live.Get != nil {
		if has, err = live.Get(m.id); err != nil {
			return nil, err
		}
	}
	if has != nil {
		label, _ := has.Text("metadata", "labels", PartOfLabel)
		if err := s.mine(label); err != nil {
			return nil, err
		}
	}
	return p.Plan(has, desired)
}

// mine refuses what is labelled as a member of another set.
func (s *Set) mine(label string) error {
	if own := s.inventory.label(); own != "" && label != "" && label != own {
		return fmt.Errorf("%w: %s", ErrOtherSet, label)
	}
	return nil
}

// prunes returns the steps of members that the set does not declare.
func (s *Set) prunes(members iter.Seq2[*merge.Doc, error]) ([]Step, error) {
	var steps []Step
	for d, err := range members {
		if err != nil {
			return nil, err
		}
		if d == nil {
			continue
		}
		id := idOf(d)
		label, _ := d.Text("metadata", "labels", PartOfLabel)
		if s.Has(id) || label != s.inventory.label() || label == "" || id.object() == s.inventory.Parent.object() {
			continue
		}
		uid, _ := d.Text("metadata", "uid")
		prune := &Prune{UID: types.UID(uid)}
		if id.GVK.Group == "" && id.GVK.Kind == "Namespace" {
			prune.Kept = "a namespace goes with all that is in it; delete it by hand"
		}
		steps = append(steps, Step{ID: compactID(id), Prune: prune})
	}
	slices.SortStableFunc(steps, func(a, b Step) int { return CompareKinds(b.ID.GVK.GroupKind(), a.ID.GVK.GroupKind()) })
	for i := range steps {
		steps[i].Number, steps[i].Total = len(s.members)+i+1, len(s.members)+len(steps)
	}
	return steps, nil
}
