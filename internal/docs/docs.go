// Package docs gives the packages beside merge the tree of a *merge.Doc, and a *merge.Doc of
// a tree, which costs nothing. It is no part of merge's interface, for trees are not: merge
// puts its functions here, and nothing else does.
package docs

import "example.com/braid/internal/node"

var (
	Tree func(doc any) *node.Tree // of a *merge.Doc that is not nil
	Of   func(t *node.Tree) any   // a *merge.Doc, which shares t
)
