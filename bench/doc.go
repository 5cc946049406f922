// Package bench measures braid beside the libraries it competes with, side by side in
// one run.
//
//	go test -run '^$' -bench . ./bench            strategic merges, prepared documents, typed objects
//	cd bench/peers && go test -run '^$' -bench .  JSON dialects, the structured model, floors
//	go run ./bench/report -run                    both, and the tables and the plot made of them
//
// A [Work] says what is done, a [Case] to which documents, a [Peer] by whom; works_test.go
// is the table of them. Each answer is turned into the object that it stands for and
// compared with the expected one before it is timed. Cases are made by code, once, and
// their expected objects too: no engine has a part in them.
//
// Names are Benchmark<Work>/case=<case>/peer=<peer>, as benchstat's -col wants them. What
// a peer cannot do, or answers otherwise, is printed as a line "unsupported: NAME: reason"
// or "differs: NAME: reason" beside the results.
// Ratios within one run are what counts; absolute times are the machine's.
package bench
