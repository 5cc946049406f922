// Package bench measures braid beside the libraries it competes with, side by side
// in one run. Every answer is checked before it is timed: each patch, applied by
// the peer's own applier, gives the same object.
//
//	go test -run '^$' -bench . ./bench
//
// Names are Benchmark<Work>/case=<case>/peer=<peer>, as benchstat's -col wants them.
// Ratios within one run are what counts; absolute times are the machine's.
package bench
