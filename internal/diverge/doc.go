// Package diverge is the catalogue of the places where we part from apimachinery's
// strategicpatch (k8s.io/apimachinery v0.37.2, pkg/util/strategicpatch/patch.go): its
// generator CreateThreeWayMergePatch, which kubectl apply calls, and its applier
// StrategicMergePatch, which the API server calls. A second list, [ServerSide], is of
// server-side apply.
//
// An entry is a kind of difference. The tests of package twin hold both sides
// against each other on random objects and patches; each difference must be
// explained by one entry, at its place, and each entry must explain some.
package diverge

// Divergence is one kind of difference. Names are stable.
type Divergence struct {
	Name   string
	Theirs string // what strategicpatch does, or structured-merge-diff
	Ours   string
	Why    string // the cause in their code, and why we do otherwise
}

// Find returns the entry of a name.
func Find(name string) (Divergence, bool) {
	for _, list := range [][]Divergence{Catalogue, ServerSide} {
		for _, d := range list {
			if d.Name == name {
				return d, true
			}
		}
	}
	return Divergence{}, false
}
