//go:build race

package merge_test

// The race detector makes sync.Pool drop things at random.
const raceEnabled = true
