//go:build !race

package node

const many = 100_000

const raceEnabled = false
