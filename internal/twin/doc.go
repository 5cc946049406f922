// Package twin holds the naive twin of the engine, the laws that every merge must
// obey, and random objects to hold both against. Only tests import it.
//
// [Merge] is the merge of package walk written the obvious way: on Go maps, by
// recursion, with a loop wherever the engine has an index. Where the two differ,
// one of them is wrong. [Laws] says which promises of DESIGN.md a merge breaks, and
// of what merge.Options say of Ignore, HandOver, InferKeys and Unowned. What was made
// by hand both are told by package owner.
//
// The tests of this package hold the engine, its strategic patches and its applier
// against apimachinery's: every difference is explained at its place by an entry
// of package diverge, or shown as small as it gets. So is the model Structured against
// structured-merge-diff, by which a server does server-side apply, over random objects of a
// made-up kind and those of all built-in ones. More triples and other ones:
//
//	go test ./internal/twin -triples 200000 -seed 1000000
package twin
