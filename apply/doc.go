// Package apply applies declared objects to a cluster.
//
// It reaches the cluster through three small interfaces, which any client satisfies in a
// few lines, and of which a caller names only the one it needs:
//
//	Client    get, create, replace, patch, delete      what applying needs
//	Lister    list                                     what pruning needs
//	Watcher   watch                                    what waiting needs
//
// A [Planner] says what applying an object would do and why, and sends nothing. An [Applier]
// reads, plans and sends, and again after a conflict. A [Record] keeps what was last applied in
// an annotation of the object, as kubectl does, or in one of an applier's own where several
// share objects.
//
// A [Reconciler] is the loop of a controller around that: it calls a function for each ID that
// an event, an error or a time makes due.
//
// [ReadFiles] and [ReadManifest] read manifests. A [Set] of their documents stands in an order
// that works; [Set.Plan] says what becomes of each object, and a [SetApplier] carries it out and
// prunes what the set no longer declares, by an [Inventory] in the cluster that is kubectl's
// ApplySet.
//
// [example.com/braid/apply/memory] satisfies all three without a server.
package apply
