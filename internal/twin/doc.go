// Package twin holds the naive twin of the engine, and random objects to hold the
// two against each other. Only tests import it.
//
// [Merge] is the merge of package walk written the obvious way: on Go maps, by
// recursion, with a loop wherever the engine has an index. Where the two differ,
// one of them is wrong.
package twin
