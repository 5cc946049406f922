// Package oracle holds package apply to kubectl's own code. It is a module of its own, so
// that braid does not depend on kubectl, and only has tests.
package oracle
