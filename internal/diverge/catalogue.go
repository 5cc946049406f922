package diverge

// Catalogue holds every known difference: of the merged objects, of what is
// refused, of patches that change nothing, of conflicts under overwrite=false,
// and of patches that neither generator writes.
var Catalogue = []Divergence{
	// Merged objects.
	{
		Name:   "directive-stored",
		Theirs: "$retainKeys, $setElementOrder and $patch inside a new list element, or inside a value that is replaced, become fields of the stored object.",
		Ours:   "No directive is ever stored.",
		Why:    "mergeSliceWithoutSpecialElements appends a patch element that live lacks as it is; mergeMapHandler and mergeSliceHandler return the patch value under patchStrategy replace. Only removeDirectives strips, and only $patch (kubernetes 117470).",
	},
	{
		Name:   "null-stored",
		Theirs: "A null in a new list element is stored: one that desired has, or one that the generator wrote to delete a field of an element that live has lost.",
		Ours:   "A null declares absence: it removes the field, and is left out of values that are created.",
		Why:    "discardNullValuesFromPatch runs for new fields, not for new list elements, and the generator deletes by last without looking at live (kubernetes 123304).",
	},
	{
		Name:   "defaults-in-atomic-list",
		Theirs: "A list that is replaced as a whole is sent again on every apply if the server added fields to its elements, which loses them until the server adds them again.",
		Ours:   "If we declare what we declared last, and live is that with only fields added, live stays.",
		Why:    "The delta is live against desired; last is not looked at. volumeClaimTemplates and NetworkPolicy ports are patched for ever (kubernetes 74819, 66450).",
	},
	{
		Name:   "defaults-in-replaced-map",
		Theirs: "A map under patchStrategy replace is sent on every apply, and loses what the server added.",
		Ours:   "As for lists: live stays if it only has more.",
		Why:    "handleMapDiff sends the map under replace without even comparing.",
	},
	{
		Name:   "union-untouched",
		Theirs: "Fields of a retainKeys map that desired does not declare are cleared, even if desired changes nothing in it.",
		Ours:   "A union that we do not change is left alone, with what the server added to it.",
		Why:    "diffMaps writes $retainKeys as soon as live has one more field. The defaulted rollingUpdate of a strategy goes and comes back on every apply.",
	},
	{
		Name:   "union-emptied",
		Theirs: "A retainKeys map of which desired declares no field keeps the fields that others set.",
		Ours:   "It is a choice like any other: what desired does not declare goes, if we change anything.",
		Why:    "diffMaps writes $retainKeys only if there is a key to retain.",
	},
	{
		Name:   "removed-whole",
		Theirs: "If desired no longer mentions a map or list at all, it goes with what others added: everybody's labels, finalizers, sidecars.",
		Ours:   "Of a map of any keys, a keyed list or a set only what last declared goes. Structs go whole, for what else they hold is defaults. A null removes all.",
		Why:    "diffMaps deletes what original has and modified lacks by its key, without looking into it.",
	},
	{
		Name:   "union-unknown",
		Theirs: "Setting one member of a union leaves the other where the type has no retainKeys: rollingUpdate of a DaemonSet that becomes OnDelete, the value of an env that becomes valueFrom. The server then refuses the object.",
		Ours:   "The other member goes, as in a retainKeys map, for the unions that every user meets.",
		Why:    "patchStrategy retainKeys stands on volumes and on the strategy of a Deployment only (kubernetes 24198, 60340).",
	},
	{
		Name:   "alias-alone",
		Theirs: "serviceAccountName changes and its alias serviceAccount stays; or it is removed, and the server takes it back from the alias.",
		Ours:   "Aliases move together, if neither last nor desired names the other.",
		Why:    "The generator knows no aliases.",
	},
	{
		Name:   "order-by-reused-memory",
		Theirs: "If a patch deletes elements and adds new ones, elements that only live has stand before the new ones.",
		Ours:   "New elements stand where desired has them; live's own before the first that follows them in live. Our patch names the whole order where theirs would stray.",
		Why:    "deleteMatchingEntries shifts live's array in place and append fills the freed slots, so that normalizeElementOrder takes new elements for old.",
	},
	{
		Name:   "set-order-unnoticed",
		Theirs: "A set of which desired changes the order is left in live's order, if desired's is alphabetical. With overwrite=false, what they write of an atomic list may have the lists of strings inside it sorted.",
		Ours:   "Desired's order.",
		Why:    "diffListsOfScalars sorts live in place before diffLists compares it with desired.",
	},
	{
		Name:   "repeated-key",
		Theirs: "Elements of one merge key fall together: two in desired become one, deleting one in live deletes all, what is merged into one goes to the first.",
		Ours:   "Paired by key and occurrence; the list is sent whole under $patch: replace where one key cannot tell them apart.",
		Why:    "diffListsOfMaps pairs sorted lists and sends a key for an element; the applier looks for the first element of a key and deletes all (kubernetes 58477, 113482).",
	},
	{
		Name:   "repeated-value",
		Theirs: "A set in which live repeats a value is folded, or not, and its order depends on the capacity of the decoded array. With overwrite=false, an atomic list may be sent with other values: [b b a] inside it becomes [a b a].",
		Ours:   "A value has one place however often it stands there; the repeats go when we change the set.",
		Why:    "deduplicateScalars moves elements inside the array that append has made of live's.",
	},
	{
		Name:   "finer-keys",
		Theirs: "Ports 53/TCP and 53/UDP are one element.",
		Ours:   "Where the merge key repeats, elements are told apart by the structured keys (port and protocol).",
		Why:    "A strategic patch has one merge key; the server's own list-map has two (kubernetes 39188, 105610).",
	},
	{
		Name:   "number-key",
		Theirs: "An element with the key 1.0 is not the one with the key 1: it is added a second time, or stays, or is no conflict where both have changed it.",
		Ours:   "One number, one element. Our patch spells the key as live does.",
		Why:    "The generator compares keys as %v, by which they are equal; the applier compares int64 with float64.",
	},
	// What is refused.
	{
		Name:   "map-of-structs",
		Theirs: "Refuses to compare two maps or lists that a Go map holds, unless they are equal.",
		Ours:   "Merges them by field and sends the map that holds them whole.",
		Why:    "LookupPatchMetadataForStruct knows the fields of structs only: \"data type is not struct\".",
	},
	{
		Name:   "unknown-field",
		Theirs: "Refuses if live and last or desired have different maps or lists in a field that the Go type lacks.",
		Ours:   "Merges it, maps by field and lists whole, with a warning.",
		Why:    "A newer server's field must not stop an older client.",
	},
	{
		Name:   "missing-key",
		Theirs: "An element without its merge key, in live or last, stops every apply.",
		Ours:   "Such elements are paired by occurrence and kept; only desired must have keys.",
		Why:    "validateMergeKeyInLists, findMapInSliceBasedOnKeyValue; no apply can ever repair it (kubernetes 98963, 118715).",
	},
	{
		Name:   "odd-element",
		Theirs: "A list of elements of several types, or of lists, is refused.",
		Ours:   "Whatever live has is merged; the map that holds the list is sent whole where the server could not merge it.",
		Why:    "sliceElementType.",
	},
	{
		Name:   "null-element-panic",
		Theirs: "Panics on a null in a list that merges.",
		Ours:   "As any odd element.",
		Why:    "sliceElementType asks the nil type of null for its kind.",
	},
	{
		Name:   "container-key-panic",
		Theirs: "Panics if merge keys of two elements are maps or lists.",
		Ours:   "As any element without its key.",
		Why:    "findMapInSliceBasedOnKeyValue compares interface values with ==.",
	},
	{
		Name:   "wrong-type",
		Theirs: "A value of desired that the type does not allow (value: true for an env) is sent, and the server refuses the whole patch.",
		Ours:   "An error that names its path, before anything is sent.",
		Why:    "The generator compares JSON and knows no types of scalars.",
	},
	{
		Name:   "odd-list",
		Theirs: "Writes a patch that its own applier refuses, if live has no list where desired and last have one.",
		Ours:   "Desired's list replaces what stands there.",
		Why:    "The deletions come from last against desired and bring $setElementOrder with them; mergePatchIntoOriginal wants a list in live.",
	},
	{
		Name:   "repeats-refused",
		Theirs: "With repeated keys or values, stops in the generator or writes a patch that its own applier refuses.",
		Ours:   "No patch that an applier refuses.",
		Why:    "diffListsOfMaps sends an element for one occurrence and keeps another silent, which contradicts the $setElementOrder that names both (kubectl 684, helm 7999); the deletions and the delta disagree about $retainKeys.",
	},
	// Patches that change nothing. Ours are empty.
	{
		Name:   "noise-order",
		Theirs: "A patch of $setElementOrder only, for ever, if live has one element more than desired.",
		Ours:   "Nothing to do, no patch.",
		Why:    "isOrderSame calls lists of different lengths differently ordered (redpanda 908).",
	},
	{
		Name:   "noise-retain-keys",
		Theirs: "A patch of $retainKeys only.",
		Ours:   "No patch.",
		Why:    "diffMaps on the deletions sees a field that desired has dropped and live has not.",
	},
	{
		Name:   "noise-null",
		Theirs: "Deletes a field that live has not.",
		Ours:   "No patch.",
		Why:    "The deletions are last against desired.",
	},
	{
		Name:   "noise-delete",
		Theirs: "Deletes a list element that live has not.",
		Ours:   "No patch.",
		Why:    "The deletions are last against desired.",
	},
	{
		Name:   "noise-replaced-map",
		Theirs: "Sends a map under patchStrategy replace that is equal in live.",
		Ours:   "No patch.",
		Why:    "handleMapDiff does not compare it.",
	},
	{
		Name:   "number-spelling",
		Theirs: "1 in desired and 1.0 in live differ: a patch, and under overwrite=false a conflict.",
		Ours:   "One number.",
		Why:    "reflect.DeepEqual of an int64 and a float64.",
	},
	// Conflicts, overwrite=false.
	{
		Name:   "strict-set",
		Theirs: "Nothing that others do to a set is a conflict.",
		Ours:   "A value that others removed and we still declare is a conflict, as in a keyed list.",
		Why:    "slicesHaveConflicts: \"merging lists of scalars have no conflicts by definition\".",
	},
	{
		Name:   "strict-atomic-list",
		Theirs: "Two changes of a replaced list are no conflict if the lists have one length and the same scalars in some order, or maps that differ in no field that both have.",
		Ours:   "A conflict, unless they are equal.",
		Why:    "slicesHaveConflicts sorts and folds scalars, and compares maps by the fields they share.",
	},
	{
		Name:   "strict-replaced-map",
		Theirs: "A map under patchStrategy replace never conflicts.",
		Ours:   "It does, as any value.",
		Why:    "mergingMapFieldsHaveConflicts returns before it looks.",
	},
	{
		Name:   "strict-union",
		Theirs: "Clearing the member of a union that others chose is no conflict.",
		Ours:   "It is.",
		Why:    "mapsHaveConflicts skips $retainKeys.",
	},
	{
		Name:   "strict-null",
		Theirs: "We remove a field that others have set to null: no conflict.",
		Ours:   "Null is a value in live: a conflict.",
		Why:    "In both patches the field is null, which means removal.",
	},
	{
		Name:   "strict-order",
		Theirs: "Others' order of a list is undone without a word; and they do not see it as a change of what holds the list.",
		Ours:   "Under a policy that does not undo drift, live's order stands, unless desired changes the order since last.",
		Why:    "Conflicts are searched without $setElementOrder, which is sent all the same.",
	},
	{
		Name:   "strict-set-lookup",
		Theirs: "Fails if both we and others removed values of a set.",
		Ours:   "No conflict, nothing to do.",
		Why:    "mapsHaveConflicts looks $deleteFromPrimitiveList/… up as a field of the type.",
	},
	{
		Name:   "strict-empty-list",
		Theirs: "Fails on two lists of which both are empty.",
		Ours:   "They are equal.",
		Why:    "sliceElementType: \"no elements in any of the given slices\".",
	},
	{
		Name:   "strict-list-panic",
		Theirs: "Panics on replaced lists of one length of which one repeats a value.",
		Ours:   "Compares them.",
		Why:    "slicesHaveConflicts folds the repeats after it has compared the lengths, and then indexes one list by the other.",
	},
	// Patches that people write.
	{
		Name:   "patch-merge",
		Theirs: "$patch: merge is refused, though documented.",
		Ours:   "It says what happens anyway.",
		Why:    "handleDirectiveInMergeMap knows replace and delete; kustomize accepts it.",
	},
	{
		Name:   "list-in-other-field",
		Theirs: "Refuses a list for a field whose Go type is none, if live has a list there too, or with overwrite=false if both have removed one; but not if the type is a pointer.",
		Ours:   "The list replaces live's; an order for it is refused.",
		Why:    "LookupPatchMetadataForSlice. No server stores such an object, and a schema cannot tell pointers.",
	},
	{
		Name:   "prune-of-maps",
		Theirs: "$deleteFromPrimitiveList on a list of maps merges its maps into the list.",
		Ours:   "Refused.",
		Why:    "mergeSlice asks isDeleteList for scalars only. To add what should be deleted serves nobody.",
	},
	{
		Name:   "prune-and-add",
		Theirs: "A value that one patch both adds to a set and deletes from it is in the result, or not, by chance.",
		Ours:   "Deletion comes last.",
		Why:    "mergeMap ranges over the patch, a Go map.",
	},
}
