// Package braid is the front page of a library for declarative three-way merging of
// Kubernetes objects. It has nothing to import; package merge has.
//
// Every declarative tool answers one question: given what I said last, what is
// there now, and what I say now, what must change? braid answers it once:
//
//	JSON bytes ─┐
//	YAML ───────┤         schema: built-in kinds │ CRD │ OpenAPI v3 │ Go struct tags │ none
//	maps ───────┼─► node tree ×3          │ compiled once, immutable, an argument
//	typed ──────┘  last live desired      ▼
//	                     └──────► one walk, one policy table ──► script of edits
//	                                                               │
//	    merged object · strategic merge patch · JSON merge patch · JSON Patch · apply configuration
//	                          · conflicts with paths · human report
//
// # Words
//
//   - last: what this applier declared the time before (last-applied)
//   - live: what the server holds now
//   - desired: what this applier declares now
//   - position: a field of a map, or an element of a keyed list
//   - granular, atomic: merged by position, or as one value
//   - keyed list, set list: a list whose elements are told apart by key fields, or
//     are distinct scalars
//   - model: which rules of the schema count (Strategic, Structured, Plain)
//   - dialect: a patch format
//   - policy: what to do in each of the fifteen cases
//
// # The fifteen cases
//
// At one position each of the three inputs is absent or has a value, and values
// are equal or not. That gives exactly fifteen patterns. A policy is a table from
// the pattern to an action, and the four that come with package merge are what the
// field's tools do:
//
//	case             last live desired  Apply  Strict  Update  Branch
//	Absent             –    –    –      Keep   Keep    Keep    Keep
//	WeAdd              –    –    x      Take   Take    Take    Take
//	TheyAdd            –    x    –      Keep   Keep    Keep    Keep
//	BothAddSame        –    x    x      Keep   Keep    Keep    Keep
//	BothAddOther       –    x    y      Take   Clash   Take    Clash
//	BothRemove         x    –    –      Keep   Keep    Keep    Keep
//	TheyRemove         x    –    x      Take   Clash   Keep    Keep
//	TheyRemoveWeSet    x    –    y      Take   Clash   Take    Clash
//	WeRemove           x    x    –      Take   Take    Take    Take
//	Unchanged          x    x    x      Keep   Keep    Keep    Keep
//	WeSet              x    x    y      Take   Take    Take    Take
//	WeRemoveTheySet    x    y    –      Take   Clash   Take    Clash
//	TheySet            x    y    x      Take   Clash   Keep    Keep
//	BothSetSame        x    y    y      Keep   Keep    Keep    Keep
//	BothSetOther       x    y    z      Take   Clash   Take    Clash
package braid
