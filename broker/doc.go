// Package broker stores records: topics, offsets, idempotent producers,
// committed group offsets, versioned records of coordinators and the schemas
// that records use, behind one journal. It is compute over "commit these
// batches and say which offsets they got"; what it knows is a fold of commit
// records, so that a restart equals a replay.
//
// It is not a Kafka server and knows no wire protocol of Kafka's (gateway), no
// registry and, but for ReadRecords, no schema: a batch is bytes with a header
// (broker/stored). Group and transaction logic is the gateway's; the broker
// keeps its records.
//
// # A commit
//
// Callers check what needs no state and queue their request. One goroutine,
// the committer (commit.go), takes everything that was queued while the last
// sync ran as one group: it stages each request against the state and what
// came before it in the group (sequence numbers, versions, topics), assigns
// dense offsets, appends chunk and commit record of the group with one write
// (requests that asked for Written are answered here), syncs once, folds the
// commit record into the state, publishes each changed partition's view, wakes
// the reads that wait for it, and answers. The high watermark is the durable
// end: nobody reads what a power cut could take back.
//
// # Owners
//
// The committer owns the state. Others read partitions through an atomic
// pointer to an immutable view, and the tables of topics, schemas, group
// offsets and records under the lock that each names. The tail cache and the
// lease have locks of their own. No lock is held while another is taken, but
// for a session's inside the lease's. Checkpoints are encoded by the committer
// and saved by a goroutine that it starts and waits for.
//
// # Failure
//
// A full disk refuses the group with ErrUnavailable and leaves everything as
// it was; Ready says so until there is room, which the committer tries out from
// time to time. After a failed write or sync no commit is tried again: Ready says
// why, appends fail with ErrUnavailable, reads of durable data go on. A stored
// batch whose CRC differs when read is ErrCorrupt, counted, and never served.
//
// # Limits
//
// Options names them all: queue and group, batch, schema, read, topics,
// partitions, producers, offsets and records. The index takes 48 bytes of
// memory for a batch; schemas, offsets and records are kept in memory whole.
package broker
