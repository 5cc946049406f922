// Package initializer injects templates into what a cluster holds: a loop that finds objects
// as they come and change, decides, injects and sends a patch.
//
//	events of Kinds ─┐                           no ──► Skipped, or Removed what was injected
//	namespaces ──────┼──► ID ──► read ──► decide ┤
//	Reload ──────────┘            ▲              yes ─► inject ──► nothing to do: Unchanged
//	                              │                       │
//	                              └── not as it was read ─┴─► PATCH: Injected, or Refused
//
// It is for workloads (Deployments and their like, whose pods then come with what is injected)
// and for what was there before it. An API server changes nothing but images in the spec of a
// pod, and nothing in the template of a Job: inject into those as they are made, by package
// admission. Both may run: they go by the same record.
//
// # What holds
//
// However many loops, webhooks and people write at the same time:
//
//   - No patch meets another state of an object than the one it was made for. It is read again
//     after a conflict, so nothing is injected twice and nothing that others write is lost.
//   - What is decided is decided again whenever the object, the labels of its namespace or the
//     templates change, and every write whose answer was lost is found by the next read.
//   - An object that has all that it should have is not written.
//
// Loops with other templates than each other undo each other's work for ever: of those that
// run at once all have the same, or one at a time leads.
package initializer
