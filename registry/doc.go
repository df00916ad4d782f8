// Package registry is the schema registry itself, without HTTP: registration,
// look-up, versions, deletion, compatibility, config, modes and contexts, with
// the semantics of Confluent Schema Registry 8.5; and beyond it dry runs of
// registrations, search, inspection, and export and import of all that it holds
// (registry/transfer).
//
// Its state is a log of records (registry/store) folded by a pure function
// (registry/state). Every request reads one immutable view. A request that
// changes something decides in its own goroutine, against the view it took,
// and names the parts of the view that it relied on; one writer goroutine, the
// only appender, appends its records if those parts are still the same and
// sends the request back otherwise. It puts what has queued up meanwhile into
// one append, so that many requests share one sync. A request is answered when
// its records are durable and published: whoever asks this process next sees
// them.
//
// A start reads the log's snapshot, if the log has a place for one and the
// snapshot is whole, of this log and of this very program, and folds what came
// after it; on any doubt it folds the whole log. A record that can't be decoded
// is logged and left out. Snapshots are written beside the writer, from a view.
//
// Ownership: the writer goroutine owns the log and the next sequence number;
// the current view is an atomic pointer that only the writer stores; the cache
// of parsed schemas has its own lock and holds nothing that the view does not.
//
// Limits (Options.Limits): bytes of a schema, number and depth of references,
// time of a compatibility check, entries of the lists of schemas and of
// referrers, bytes of parsed schemas and of encoded answers in caches, queued writes, writes
// and bytes of one append, tries of a write. The log bounds a record. The
// package never asks the network: schemas are resolved from the view only.
//
// What it is not for: parsing (serde), verdicts (evolution), HTTP (registry/rest).
package registry
