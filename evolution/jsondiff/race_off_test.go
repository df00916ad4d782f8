//go:build !race

package jsondiff

const slowdown = 1
