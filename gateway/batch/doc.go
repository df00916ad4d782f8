// Package batch is Kafka's record batch, version 2 (KIP-98), as bytes: header,
// checks, codecs, an iterator over records and their headers, and the way back.
//
// It is not for message sets of the old formats (magic 0 and 1), which a broker
// without Produce before version 3 and Fetch before version 4 never meets, and
// it knows nothing of topics, offsets in a log, or envelopes.
//
// Functions work on the caller's bytes and keep none of them; slices in results
// point into the input. Nothing here starts a goroutine. Codecs is the only type
// with shared state: pools of coders, safe for concurrent use.
//
// Limits: a batch is checked against a size in bytes before anything else is
// looked at, decompression stops at a given number of bytes, and a record count
// is compared with the bytes there are before it is believed. No input makes a
// function panic or allocate beyond its limit.
package batch
