// Package clients has what it takes to drive package apply by the clients of other
// libraries: copy the one you need.
package clients
