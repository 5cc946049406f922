// Package walk is the engine: one walk over last, live and desired, which finds the
// positions at which the merged object differs from live.
//
//	Walk ─► fields ─► field ─┬─► position ─► classify ─► act      one value
//	          ▲              ├─► maps ─► fields                   a granular map
//	          │              └─► lists                            a keyed list or set
//	          │                    align     pair the elements by key
//	          │                    decide    which of them stay
//	          │                    arrange   in what order
//	          └──────────────────  elements  merge each pair
//
// What it finds is a [Script]: edits in preorder that name nodes of the three trees
// and hold no values. The dialects, the merged object, the conflicts and the report
// are consumers of the script.
//
// # Rules
//
//  1. A position has one of fifteen cases, and the [Policy] says what to do in each.
//     Nothing else tells the tools of the field apart.
//  2. Where live and desired both hold a granular map, a keyed list or a set, what
//     is inside is merged position by position, whatever last held there. Every
//     other position counts as one value.
//  3. Where desired no longer mentions a map of any keys, a keyed list or a set, and
//     the policy takes that, only what last declared of it goes. Structs go whole, for
//     what else they hold is as a rule the server's defaults.
//  4. A null field of desired declares that the field is absent, unless [Nulls] says
//     otherwise. Nulls in last and live are values, and so are nulls in lists.
//  5. Values are equal by their type ([Semantic]) or as JSON ([Exact]). Semantically a
//     field that cannot tell its zero value from absence has neither; one in which the
//     server then chooses a value declares nothing. What is equal keeps live's spelling.
//  6. An atomic value that we did not change since last, and to which live only
//     adds fields, is unchanged: servers fill in defaults.
//  7. Elements are paired by key and, among elements of one key, by occurrence. A
//     set has each value once. Where a strategic key repeats, the finer structured
//     keys tell elements apart. Under the model Structured the default of a key field
//     stands in for it, and desired that leaves it out does not remove it. Elements of an
//     atomic type are one value each.
//  8. The elements of desired stand in desired's order. Elements that only live has
//     stand before the first element of desired that stands behind them in live.
//     If a list changes, elements of one key stand together, as the server puts
//     them. Order is a value too: a policy that keeps drift keeps live's.
//  9. A union (retainKeys, or a fact of the type) that changes keeps no field that only
//     live has. A field that only live has and that says the same as another follows it.
//  10. Positions that are ignored stay as live has them; those that are handed over are
//     not removed.
//  11. What was made by hand and neither last nor desired has is warned of. If it is to go, it
//     counts as if last had declared what live has; maps, lists and elements around it stay.
//  12. Whatever is wrong in live is kept and warned about. Whatever is wrong in
//     desired is an error with its path.
package walk
