// Package coordinator runs consumer groups: it drives one state machine of
// package group per group, holds JoinGroup and SyncGroup requests until they can
// be answered, fires deadlines, stores what must survive a restart, and orders
// offset commits with the generations that they belong to.
//
// Not here: the rules of the protocol (gateway/group), API versions and message
// layouts (gateway/kapi), where offsets and records live (gateway/backend).
//
// # Ownership
//
// Each loaded group is an entry with a lock of its own, entry.mu, held for the
// microseconds of a step and never during IO. Coordinator.mu guards the map of
// entries and is a leaf: it may be taken with an entry's lock held, not the other
// way round. Goroutines: one short-lived loader for an entry, one writer for an
// entry while it has something to write, and timer calls; Close waits for all.
// Time comes from package time alone, so a testing/synctest bubble controls it.
//
// # Storage
//
// A group is one versioned record "group/<id>" (layout in codec.go), stored when
// a join phase completes, when an assignment arrives, when the last member has
// gone and when a static member is replaced. Answers that tell of a new state are
// held until the record is durable. Writes of a group, records and commits alike,
// go out one at a time in the order of the steps that made them; commits that wait
// are joined into one call. So a member that has learned of a new generation finds
// every commit that was accepted before it.
//
// Deleting a group takes its place among the group's writes; who joins after it is
// in a new group. Lists are put together from records, offsets and what is loaded.
//
// If a record can't be stored, everyone who waits gets a retriable error and the
// entry is forgotten; the next request restores what is stored. After a restart
// groups are restored when first asked for: members keep ids, generation and
// assignment, and their sessions start anew. A record of another writer shows as a
// version conflict and is handled in the same way.
//
// # Limits
//
// Options bounds loaded groups, waiting commits of a group and the time of one
// storage call; group.Config bounds a group. A group without members is forgotten
// after a while (its record stays), one that was never stored at once.
package coordinator
