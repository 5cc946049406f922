// Package merge computes what must change in a Kubernetes object.
//
// Given what an applier declared the time before (last), what the server holds now
// (live) and what the applier declares now (desired), a [Merger] walks the three
// side by side and returns a [Result]: the merged object, the patch that turns live
// into it, conflicts, and an account of each edit.
//
//	last, live, desired ─► Merger.ThreeWay ─► Result ─► Patch, Merged, Conflicts, Edits
//	       Doc                Options                     each computed when asked for
//
// # Words
//
// A position is a field of a map or an element of a keyed list. At each position
// the three inputs are absent or have a value, and values are equal or not, which
// makes fifteen cases. A [Policy] is a table from the case to an action, and is all
// that tells kubectl apply, kustomize and git apart. A [Model] says which rules of a
// [Schema] count, and with them where positions are.
//
// # What holds
//
//   - Applying the patch to live gives the merged object.
//   - The patch is empty exactly when merged equals live by the rules of the schema, so no
//     controller loops.
//   - A position in neither last nor desired survives: of labels, finalizers or containers
//     that desired no longer mentions, what others added stays.
//   - Every leaf of desired is in merged, and every position in last but not in
//     desired is gone (policy Apply).
//   - The same inputs give the same bytes, whatever the order of their keys.
//   - Inputs are never changed. Docs, Schemas and Mergers are immutable and safe
//     for concurrent use.
//
// A null field of desired declares that the field is absent, unless [Options] say
// otherwise. The null elements of lists are data.
//
// A patch is written in one of four formats ([PatchType]). Where a format has no words for
// a change, the smallest map or list around it is sent whole, or there is an error; never a
// patch that its own applier would refuse or misread.
//
// A Secret's stringData counts as data. A union (env value and valueFrom, the strategy of
// a Deployment, the source of a volume) has one member: a change clears the others. Fields
// that say the same (serviceAccount, serviceAccountName) move together.
//
// # Errors
//
// Every error about an input is an [*Error] that names the document, the path and
// the rule, and never quotes a value. Live never causes one: repeated or missing
// keys and fields that the schema lacks are merged, with a warning.
package merge
