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
//  3. A null field of desired declares that the field is absent. Nulls in last and
//     live are values, and so are nulls in lists.
//  4. An atomic value that we did not change since last, and to which live only
//     adds fields, is unchanged: servers fill in defaults.
//  5. Elements are paired by key and, among elements of one key, by occurrence. A
//     set has each value once. Where a strategic key repeats, the finer structured
//     keys tell elements apart.
//  6. The elements of desired stand in desired's order. Elements that only live has
//     stand before the first element of desired that stands behind them in live.
//     If a list changes, elements of one key stand together, as the server puts
//     them. Order is a value too: a policy that keeps drift keeps live's.
//  7. A union (retainKeys) that changes keeps no field that only live has.
//  8. Whatever is wrong in live is kept and warned about. Whatever is wrong in
//     desired is an error with its path.
package walk
