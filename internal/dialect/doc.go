// Package dialect writes the script of a walk as a patch, and applies patches to
// trees. A file a dialect; each has two functions that must agree:
//
//	Encode   script → patch      what turns live into the merged object
//	Apply    live, patch → JSON  what an API server would store
//
// For every script s, Apply(s.Live, Encode(s)) is the canonical JSON of the merged
// object. Where a dialect cannot say what a script means at one place, the encoder
// sends the smallest enclosing map or list that can be sent whole; if there is
// none, it returns [ErrInexpressible] with the path.
package dialect
