//go:build race

package jsondiff

// slowdown is how much slower the race detector makes things, roughly.
const slowdown = 10
