//go:build race

package node

const many = 10_000
