package schema

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ReadKinds compiles the kinds of an OpenAPI v3 document, such as an API server gives
// of one group and version under /openapi/v3. Kinds share the types of the components
// that they refer to. A component that is malformed spoils only the kinds that reach
// it: they are left out, and the error joins one for each, as of ReadOpenAPI, that names
// the kind. If the document is none, there are no kinds. O(n), as ReadOpenAPI.
func ReadKinds(document []byte) (map[GVK]*Schema, error) {
	r, err := readComponents(document)
	if err != nil {
		return nil, err
	}
	r.spoil()
	kinds := make(map[GVK]*Schema, len(r.out.Kinds))
	var errs []error
	for _, k := range slices.SortedFunc(maps.Keys(r.out.Kinds), compareGVK) {
		name := r.out.Kinds[k]
		if err := r.bad[component(name).name]; err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", k, err))
			continue
		}
		kinds[k] = &Schema{Name: k.String(), Root: r.out.Types[name], Custom: !builtinComponent(name)}
	}
	return kinds, errors.Join(errs...)
}

// spoil gives components that reach a malformed one its error.
func (r *reader) spoil() {
	for queue := slices.Sorted(maps.Keys(r.bad)); len(queue) > 0; queue = queue[1:] {
		name, _ := strings.CutPrefix(queue[0], component("").name)
		for _, user := range r.uses[name] {
			if r.bad[user] == nil {
				r.bad[user] = r.bad[queue[0]]
				queue = append(queue, user)
			}
		}
	}
}

// builtinComponent reports whether a component is of a kind that the API server knows
// by a Go type. Those of aggregated API servers are not: nobody knows what they take.
func builtinComponent(name string) bool {
	for _, module := range []string{"api", "apimachinery", "apiextensions-apiserver", "kube-aggregator"} {
		if strings.HasPrefix(name, "io.k8s."+module+".") {
			return true
		}
	}
	return false
}
