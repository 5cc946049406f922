// Package poison spoils memory that goes back to a pool.
//
// Under the build tag poison, whatever is still read from such memory is garbage that
// tests run into: text of 0xDB bytes, and indexes that are out of range. Without the
// tag the calls compile to nothing.
//
//	go test -tags poison ./...
package poison
