//go:build race

package node

const many = 10_000

// The race detector makes sync.Pool drop things at random.
const raceEnabled = true
