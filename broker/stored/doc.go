// Package stored is the stored batch, version 1: one produced batch is one
// stored batch is one rebuilt batch. The gateway builds it from what a producer
// sent and rebuilds the record batch from it; the broker reads its header for
// offsets, producer state and time index, and keeps the bytes as they are.
//
// The layout is drawn in layout.go and frozen by golden files under testdata;
// a change takes the next version number, and every earlier one must open.
package stored
