// Package owner knows who owns which positions of an object, by its managedFields.
//
// An API server keeps for each manager the set of fields that it wrote
// (sigs.k8s.io/structured-merge-diff, fieldpath.Set), in the object itself:
//
//	"f:metadata": {"f:labels": {".": {}, "f:app": {}}}     fields; . is the map itself
//	"f:ports": {"k:{\"port\":80,\"protocol\":\"TCP\"}": …}     elements of a keyed list
//	"f:finalizers": {"v:\"a\"": {}}                         elements of a set
//	"f:args": {}                                          a value that counts as one
//
// [Read] finds the managers, and [Owners.Set] the nodes of live that one of them owns: a [Set] of
// IDs, for the object and its managedFields stand in one tree.
//
//   - Positions are those of the schema's structured rules, which the server owns by. Keys are
//     compared by value, and absent ones count as their default.
//   - What live no longer has, or a list that is shaped differently, is owned by nobody.
//   - Elements that share a key are one position to the server. Each of them is a member, and
//     nothing in them is.
//   - managedFields of which a part cannot be understood say nothing: an [Error].
package owner
