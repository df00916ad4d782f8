// Package group is the logic of a consumer group in Kafka's classic protocol:
// who is a member, which generation it is, who leads, who gets which
// assignment. A Group takes an event and the present time and returns what is
// to be done: answers to requests, and whether the new state must be stored. It
// has no goroutine, timer, lock, IO or randomness; fresh member ids and the
// time come in with the event. Package gateway/coordinator drives it.
//
// Not here: offsets, storage, sockets, API versions, parsing of what members
// tell each other. Metadata and assignments are opaque bytes: Kafka Connect,
// schema registries and Streams use the same calls with bytes of their own, and
// a group that looks into them works for some of them only.
//
// A Group is not safe for concurrent use; its owner serialises events.
//
// # States
//
//	Empty ──join──▶ PreparingRebalance ──all joined, or time is up──▶ CompletingRebalance
//	  ▲                  ▲        │                                        │
//	  └──nobody is left──┼────────┘                              leader's sync │
//	                     └──join, leave, expiry── Stable ◀──────────────────┘
//
// and Dead for an instance that no longer speaks for the group.
//
// # Why it is as it is
//
// Each of these was once got wrong by a server, and clients suffered:
//
//   - A member is its member id, which we give out. A client id is a label that
//     many members share (sarama's default is the same for all), and one
//     connection may carry several members, so a join without an id is always a
//     new member. From JoinGroup 4 on it first gets the id and becomes a member
//     when it returns with it (KIP-394): else each lost answer leaves a ghost
//     that holds up every rebalance until its session ends.
//   - JoinGroup is answered when the join phase is complete, and the generation
//     grows once, at that moment. If it grew when a rebalance starts, members
//     that still heartbeat with the generation they know would be told that it
//     is illegal, which some clients treat as fatal, rather than that a
//     rebalance is in progress.
//   - SyncGroup of a follower is held until the leader's brings the assignment.
//     Answered early and empty, the follower would consume nothing and no one
//     would notice.
//   - Heartbeats get REBALANCE_IN_PROGRESS only in PreparingRebalance. In
//     CompletingRebalance the member has joined already; telling it to join again
//     starts the next rebalance for nothing.
//   - A join during CompletingRebalance starts over: held SyncGroups get
//     REBALANCE_IN_PROGRESS. The leader assigns to the members that it was
//     shown; a late joiner would own nothing until the next rebalance.
//   - A member that joins again keeps its place and its assignment, which belongs
//     to the generation, not to the join.
//   - Each member has its own deadline; a sweep every so often keeps phantoms.
//   - A closed connection does not remove a member: it may come back over
//     another one. Only a member that never learned its id can't.
//
// Cooperative rebalancing needs nothing here: it is two ordinary rebalances, and
// commits are accepted during PreparingRebalance.
//
// # Limits
//
// Config bounds members and promised ids of a group, protocols and bytes of a
// member, and the bytes of all metadata and of all assignments. Session timeouts
// are bounded too, so that a dead member goes within a known time.
package group
