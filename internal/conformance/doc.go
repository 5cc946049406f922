// Package conformance is what a cluster does, as tests: on [example.com/braid/apply/memory],
// and on a real API server behind any client that satisfies the interfaces of package apply.
//
// [Run] makes a namespace and a custom kind of its own and leaves both behind. A case asserts
// only what holds on both, so it needs no controllers and looks at no field that a server
// defaults.
//
// suite.go has Run and the words that cases are written in; the other files are the cases.
package conformance
