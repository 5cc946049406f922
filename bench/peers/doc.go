// Package peers holds braid's appliers of JSON Patch (RFC 6902) and JSON merge patch
// (RFC 7396) against github.com/evanphx/json-patch/v5, which API servers use, on random
// documents and patches: both refuse, or both give the same value,
//
//	go test ./... -patches 1000000
//
// It holds the patches of package inject to the objects they should give, by the same library,
// and it measures braid beside the libraries that the root module does not require, as
// package bench does beside the others:
//
//	go test -run '^$' -bench .
//
// A difference of the appliers must have a row in a table of differences_test.go, whose
// condition looks at the one operation that the two first disagree about. It is a module
// of its own so that braid does not require its peers.
package peers
