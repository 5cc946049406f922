package diverge

// ServerSide holds every known difference between a merge under the model Structured and
// server-side apply, as structured-merge-diff (v6.4.2, merge.Updater) does it for an API
// server: of the object that comes of last, of what others write and of desired, applied by
// force, and of the conflicts without force against those of the policy Strict.
//
// Most come of what the two know. A server knows who owns a field; we know what was
// declared last. Where others write what last has, or nobody owns what changed, the two
// cannot agree.
var ServerSide = []Divergence{
	{
		Name:   "apply-taken-over",
		Theirs: "What others have changed since we applied it is theirs, and stays when desired no longer declares it.",
		Ours:   "It goes, as with kubectl apply (WeRemoveTheySet); a policy that keeps it says Keep there.",
		Why:    "An update moves ownership to who writes; three documents know what was declared, not who owns it.",
	},
	{
		Name:   "apply-shared",
		Theirs: "What others declare too, with the value that we declared, stays when we give it up.",
		Ours:   "It goes: live is what last declared.",
		Why:    "prune adds back what any other manager owns; last in the place of managers cannot tell.",
	},
	{
		Name:   "apply-struct-of-others",
		Theirs: "Of a struct that desired no longer mentions, fields that others own or nobody does stay.",
		Ours:   "A struct goes whole, for what else it holds is as a rule the server's defaults.",
		Why:    "addBackOwnedItems, addBackDanglingItems.",
	},
	{
		Name:   "apply-entry-goes",
		Theirs: "An entry of a map, or a map or list that is declared empty, goes whole once nobody else declares it, with what others put into it.",
		Ours:   "What others put into a map of any keys, a keyed list or a set stays.",
		Why:    "An entry is owned by itself, and the owner of a part of it does not own it: prune removes it by its path.",
	},
	{
		Name:   "apply-unowned-goes",
		Theirs: "What nobody owns, such as what admission added, goes with the map or list that we no longer declare.",
		Ours:   "It stays, as what others added.",
		Why:    "addBackOwnedItems finds no owner, and addBackDanglingItems sees that the map or list around it was ours.",
	},
	{
		Name:   "apply-key-default",
		Theirs: "If desired no longer spells the default of a key field, it is removed, until the server's defaulting puts it there again.",
		Ours:   "It stays.",
		Why:    "prune does not look at defaults; the element keeps its key all the same.",
	},
	{
		Name:   "apply-emptied",
		Theirs: "A map or list of which nothing is left is null, or gone, though desired declares it empty.",
		Ours:   "It is empty, or gone.",
		Why:    "removeItems returns nil for what it has emptied, and no path stands for an empty list (structured-merge-diff 305, 330). A server's types take the three for one.",
	},
	{
		Name:   "apply-repeats",
		Theirs: "Elements of live that share a key become the one that desired has, with nothing of theirs, or stay if it has none; without force that is a conflict.",
		Ours:   "Paired by occurrence: the first is merged, or goes if last declared it, and the others stay.",
		Why:    "indexListPathElements forgets the values of what repeats.",
	},
	{
		Name:   "apply-order",
		Theirs: "Elements that live alone has stand before desired's new ones.",
		Ours:   "They stand before the first element of desired that follows them in live, as with a strategic patch. Either way desired's stand in desired's order, and live's own in live's.",
		Why:    "visitListItems takes from live until it meets an element that both have.",
	},
	{
		Name:   "apply-defaults-in-atomic",
		Theirs: "An atomic list, map or struct to which others added fields is written as desired has it; without force that is a conflict.",
		Ours:   "If we declare what we declared last, and live is that with only fields added, live stays.",
		Why:    "An atomic value has one owner, and no last.",
	},
	{
		Name:   "apply-null-unsaid",
		Theirs: "A null in desired is left out of an apply configuration, so what others set there stays.",
		Ours:   "It goes: null declares absence.",
		Why:    "A null in the configuration would be stored, and nothing else in it can say that a field of others is to go.",
	},
	{
		Name:   "conflict-absent",
		Theirs: "What others removed is applied again without a conflict.",
		Ours:   "TheyRemove and TheyRemoveWeSet clash under Strict.",
		Why:    "Nobody owns what is not there.",
	},
	{
		Name:   "conflict-removal",
		Theirs: "To give up what others have changed is no conflict: it stays theirs, or goes with the element that holds it.",
		Ours:   "WeRemoveTheySet clashes under Strict.",
		Why:    "Only what is added or modified is held against the owners.",
	},
	{
		Name:   "conflict-unowned",
		Theirs: "What the server itself changed, owned by nobody, is overwritten without a conflict.",
		Ours:   "It clashes under Strict, whoever changed it.",
		Why:    "Three documents do not tell who wrote.",
	},
	{
		Name:   "conflict-other-type",
		Theirs: "A map or list that others applied, and that becomes another type of value, is no conflict.",
		Ours:   "It is one value that both set: a clash.",
		Why:    "What others own is below, and is removed; the position itself is not theirs.",
	},
	{
		Name:   "conflict-shared",
		Theirs: "To change what others declare too, with the value that last has, is a conflict.",
		Ours:   "None: live is what we declared last (WeSet).",
		Why:    "Ownership is shared, which leaves no trace in live.",
	},
}
