package admission

import (
	"cmp"
	"fmt"

	"example.com/braid/inject"
	"example.com/braid/internal/dialect"
	"example.com/braid/internal/docs"
	"example.com/braid/internal/node"
	"example.com/braid/merge"
)

// Mutator makes the patch for an object that is to be injected into, or to have that taken
// out. It must be safe for concurrent use and must not write anywhere: requests may be dry
// runs, or be denied later. Its errors are logged, and so must hold no values.
type Mutator func(object *merge.Doc, v inject.Values) (Mutation, error)

// Mutation is what a Mutator makes.
type Mutation struct {
	Patch      []byte             // a JSON Patch (RFC 6902); empty or [] if nothing changes
	Object     *merge.Doc         // what the patch must make of the object
	Result     *inject.Result     // which says that if Object is nil
	Injections []inject.Injection // what is then injected, for the audit log
	Warnings   []string           // for the person who made the request
}

// check reports whether the patch makes of an object what it must.
func (m *Mutation) check(object *merge.Doc) (bool, error) {
	patch := m.Patch
	if len(patch) == 0 {
		patch = []byte("[]")
	}
	if m.Object == nil && m.Result != nil {
		return m.Result.Check(object, patch)
	}
	change, err := node.Parse(patch, node.Limits{})
	if err != nil {
		return false, err
	}
	made := cmp.Or(m.Object, object) // without Object, whether the patch applies is told all the same
	gives, err := dialect.JSONPatchGives(docs.Tree(object), change, dialect.Read(docs.Tree(made)), node.Limits{})
	return gives && m.Object != nil, err
}

// Inject returns the Mutator that injects templates, with values for their placeholders. Its
// Mutations have a Result: who changes the Patch of one sets its Object.
func Inject(in *inject.Injector, given map[string]string) Mutator {
	return func(object *merge.Doc, v inject.Values) (Mutation, error) {
		v.Given = given
		r, err := in.Inject(object, v)
		if err != nil {
			return Mutation{}, err
		}
		return mutation(r), nil
	}
}

// Uninject returns the Mutator that takes out what was injected. What somebody has changed of
// it since then stays, with a warning.
func Uninject(in *inject.Injector) Mutator {
	return func(object *merge.Doc, _ inject.Values) (Mutation, error) {
		r, err := in.Uninject(object)
		if err != nil {
			return Mutation{}, err
		}
		return mutation(r), nil
	}
}

func mutation(r *inject.Result) Mutation {
	m := Mutation{Patch: r.Patch(), Injections: r.Injections, Result: r}
	for _, c := range r.Conflicts {
		m.Warnings = append(m.Warnings, c.String())
	}
	for _, d := range r.Drift {
		m.Warnings = append(m.Warnings, fmt.Sprintf("%s: was injected, and has been changed since (%s)", d.Path, d.Case))
	}
	for _, w := range r.Warnings {
		m.Warnings = append(m.Warnings, w.String())
	}
	return m
}
