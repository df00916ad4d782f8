// Package memory is a gateway/backend.Broker that keeps everything in memory,
// for tests of the gateway without a broker. It passes the contract suite in
// gateway/backend/backendtest.
//
// Not here: durability (both durabilities are answered at once), transactions
// (their batches are refused, the last stable offset is the high watermark) and
// retention. A broker that
// keeps its journal in memory is broker with journal/memory, not this.
//
// It starts no goroutine. One mutex guards all state; waiting reads are woken
// by closing a channel. Memory grows with what is appended, without limit.
package memory
