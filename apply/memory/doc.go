// Package memory is a cluster in memory: what examples, tests and trials run on where a real
// one would be too much.
//
//	Create Replace Patch Delete ─► interceptor ─► admission ─► commit ─► objects
//	                                    │         your hooks     │
//	                     Get List ◄─────┤                        └─► log of events
//	                        Watch ◄─────┴─────────────────────────────────┘
//
// It answers as kube-apiserver v1.37 does, as far as that can be told from an object's
// metadata: resourceVersion, generation, uid and conflicts; deletion and finalizers; the
// subresource status; three kinds of patches; label selectors; dry runs; and errors with the
// server's codes and reasons. The suite in internal/conformance holds both to the same cases.
//
// What it leaves out: it does not know the fields of kinds, so it neither validates, defaults
// nor prunes what is outside metadata (a [Hook] may), and converts nothing between versions but
// apiVersion. There are no controllers and no garbage collector, so owned objects stay, and
// managedFields are not kept; a server-side apply patch is refused as an unsupported media type.
//
// Built-in kinds are known. A custom kind is known once its CustomResourceDefinition is
// created; until then it is what requests say it is.
//
// # Layout
//
// cluster.go has what is stored and the one place where it changes; log.go and watch.go the
// events; update.go and write.go the steps of a write; object.go the rules about metadata;
// kinds.go what is known of kinds; hooks.go admission and interception.
package memory
