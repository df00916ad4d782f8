// Package backend plugs brokers into the gateway: it adapts what the
// in-process broker and the remote client have in common to
// gateway/backend.Broker. Values are converted one by one; the bytes of batches
// and schemas are passed on, never copied.
//
// It holds no state and starts no goroutine.
package backend
