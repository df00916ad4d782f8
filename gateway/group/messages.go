package group

import (
	"bytes"
	"time"
)

// Ticket names a JoinGroup or SyncGroup request that waits for its answer. The
// owner chooses it; a ticket is used once and is never zero. Every ticket is
// answered exactly once, or given back by Abandon.
type Ticket uint64

// Protocol is one way of assigning that a member knows, with what it tells the
// leader about itself in that case.
type Protocol struct {
	Name     string
	Metadata []byte
}

func sameProtocols(a, b []Protocol) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Name != b[i].Name || !bytes.Equal(a[i].Metadata, b[i].Metadata) {
			return false
		}
	}
	return true
}

// JoinRequest is a JoinGroup. Byte slices are copied.
type JoinRequest struct {
	Ticket Ticket
	// MemberID is empty for a newcomer.
	MemberID string
	// InstanceID makes a static member (KIP-345); empty for a dynamic one.
	InstanceID string
	ClientID   string
	ClientHost string
	// SessionTimeout and RebalanceTimeout as asked for.
	SessionTimeout, RebalanceTimeout time.Duration
	ProtocolType                     string
	// Protocols in order of preference.
	Protocols []Protocol
	// FreshID is the member id to give out if one is needed; never used before.
	FreshID string
	// IDFirst: a newcomer gets its id first and joins with it (KIP-394,
	// JoinGroup 4).
	IDFirst bool
	// CanSkipAssignment: the client knows SkipAssignment (KIP-814, JoinGroup 9).
	CanSkipAssignment bool
}

// JoinedMember is a member as the leader sees it.
type JoinedMember struct {
	MemberID   string
	InstanceID string
	// Metadata is that of the chosen protocol.
	Metadata []byte
}

// JoinReply answers a JoinGroup.
type JoinReply struct {
	Ticket Ticket
	// Err is nil or a *kerr.Error.
	Err error
	// MemberID is the member's id, also with MEMBER_ID_REQUIRED.
	MemberID string
	// Generation is -1 with an error.
	Generation   int32
	ProtocolType string
	Protocol     string
	Leader       string
	// SkipAssignment: the leader keeps the assignment as it is (KIP-814).
	SkipAssignment bool
	// Members is only for the leader.
	Members []JoinedMember
}

// Assignment is what the leader gives a member.
type Assignment struct {
	MemberID string
	Bytes    []byte
}

// SyncRequest is a SyncGroup. Byte slices are copied.
type SyncRequest struct {
	Ticket     Ticket
	MemberID   string
	InstanceID string
	Generation int32
	// ProtocolType and Protocol are compared if HasProtocol (KIP-559,
	// SyncGroup 5).
	ProtocolType, Protocol string
	HasProtocol            bool
	Assignments            []Assignment
}

// SyncReply answers a SyncGroup.
type SyncReply struct {
	Ticket Ticket
	// Err is nil or a *kerr.Error.
	Err          error
	ProtocolType string
	Protocol     string
	// Assignment may be empty: more members than partitions.
	Assignment []byte
}

// MemberRequest is a Heartbeat, or the membership part of an OffsetCommit.
type MemberRequest struct {
	MemberID   string
	InstanceID string
	Generation int32
}

// LeaveMember names a member to be removed, by member id, by instance id, or
// both.
type LeaveMember struct {
	MemberID   string
	InstanceID string
}

// Effects are what a step asks its owner to do: first store the state if
// Persist is set, then send the replies. If storing fails, the owner answers all
// tickets itself, forgets this Group and restores the one that is stored.
type Effects struct {
	Joins   []JoinReply
	Syncs   []SyncReply
	Persist bool
}

func (e *Effects) refuseJoin(t Ticket, memberID string, err error) {
	e.Joins = append(e.Joins, JoinReply{Ticket: t, Err: err, MemberID: memberID, Generation: -1})
}

func (e *Effects) refuseSync(t Ticket, err error) {
	e.Syncs = append(e.Syncs, SyncReply{Ticket: t, Err: err})
}
