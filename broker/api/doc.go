// Package api holds the values that the broker, its gRPC client and their
// users share: topics, batches to append, batches as read, offsets, versioned
// records, and the sentinel errors. The in-process broker and the remote
// client have the same methods over these types, so one adapter serves both.
//
// It is not an interface: each user declares the methods it needs. It holds no
// state, starts no goroutine and imports nothing of ours.
package api
