//go:build !race

package node

const many = 100_000
