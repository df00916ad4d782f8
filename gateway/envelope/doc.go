// Package envelope turns produced record batches into stored batches and back.
// On the way in every enveloped key and value is decoded by its schema's program,
// which validates it, and only what a program can't rebuild byte for byte is kept
// as it came; on the way out the program of the stored schema rebuilds the
// payload, the envelope is put around it, and a checksum over all keys, values
// and headers says whether the result is what was produced.
//
// It is not a store (gateway/backend), doesn't speak the protocol
// (gateway/kapi), and asks a registry only in the direction of produce: stored
// data needs none.
//
// Engine is the whole of it. It is safe for concurrent use and starts no
// goroutine. Its mutable parts, each with its own lock: the tail cache (Tail),
// the budgets of unknown ids (budgets), the keys of schemas that the broker is
// known to have (acknowledged); two counted semaphores bound what batches grow to
// (allowance); working memory comes from sync.Pools, one scratch per running call.
//
// Limits: bytes of a decompressed batch and of what is decoded of it, the same
// over all batches in work, how many large batches are open at once, look-ups of unknown ids per topic and side, bytes of the tail cache,
// rejected records that are described one by one. All are Options.
//
// Invariants that matter:
//   - A payload that isn't certainly an envelope of a known schema is stored as it
//     is. In permissive mode nothing that a producer sends is refused because of
//     its content.
//   - An id counts as unknown only after the registry was asked past every cache.
//     A registry that can't be reached is never "unknown".
//   - What is served is what was produced, or nothing: the content CRC is checked
//     after every rebuild, and the tail cache is tied to the stored batch by it.
package envelope
