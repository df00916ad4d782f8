// Package tidy holds the rules of the source tree as tests: the order of layers
// (layers.go), sizes of files and functions, banned words and calls. It is not
// part of the binary.
package tidy
