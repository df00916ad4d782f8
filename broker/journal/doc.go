// Package journal is the seam between the broker and durable storage: one
// journal shared by all partitions. An entry is a chunk (data of many
// partitions, offsets relative) and the commit record that goes with it (base
// offsets, producer state, new schemas, offset commits, coordinator records):
// both are written with one write and made durable with one fsync, and the
// order of entries is the only order there is.
//
// Implementations: journal/local (files) and journal/memory (--dev, tests).
// Both pass journal/journaltest. The file system under journal/local is a seam
// (FS) of its own, with a memory file system that drops unsynced bytes and
// injects faults, for the crash tests.
package journal
