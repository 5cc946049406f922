package admission

import (
	"fmt"

	"example.com/braid/inject"
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
	Injections []inject.Injection // what is then injected, for the audit log
	Warnings   []string           // for the person who made the request
}

// Inject returns the Mutator that injects templates, with values for their placeholders.
func Inject(in *inject.Injector, given map[string]string) Mutator {
	return func(object *merge.Doc, v inject.Values) (m Mutation, err error) {
		v.Given = given
		r, err := in.Inject(object, v)
		if err != nil {
			return m, err
		}
		return mutation(r)
	}
}

// Uninject returns the Mutator that takes out what was injected. What somebody has changed of
// it since then stays, with a warning.
func Uninject(in *inject.Injector) Mutator {
	return func(object *merge.Doc, _ inject.Values) (m Mutation, err error) {
		r, err := in.Uninject(object)
		if err != nil {
			return m, err
		}
		return mutation(r)
	}
}

func mutation(r *inject.Result) (m Mutation, err error) {
	m.Injections = r.Injections
	for _, c := range r.Conflicts {
		m.Warnings = append(m.Warnings, c.String())
	}
	for _, d := range r.Drift {
		m.Warnings = append(m.Warnings, fmt.Sprintf("%s: was injected, and has been changed since (%s)", d.Path, d.Case))
	}
	for _, w := range r.Warnings {
		m.Warnings = append(m.Warnings, w.String())
	}
	if m.Patch, err = r.Patch(); err == nil {
		m.Object, err = r.Object()
	}
	return m, err
}
