package group

import "time"

// Config holds limits and times of a group. The zero value means Kafka's
// defaults where Kafka has one.
type Config struct {
	// InitialRebalanceDelay is how long the first join phase of an empty group
	// waits for more members, 3 s if zero, none if negative
	// (group.initial.rebalance.delay.ms).
	InitialRebalanceDelay time.Duration
	// SessionTimeoutMin and SessionTimeoutMax bound what a member may ask for,
	// 6 s and 30 min if zero (group.min.session.timeout.ms,
	// group.max.session.timeout.ms).
	SessionTimeoutMin, SessionTimeoutMax time.Duration
	// RebalanceTimeoutMax cuts longer rebalance timeouts, 24 h if zero: it is
	// how long one stuck member may hold up the others.
	RebalanceTimeoutMax time.Duration
	// MembersMax bounds the members of a group, and apart from them the ids
	// promised to future ones, 4,096 if zero (group.max.size).
	MembersMax int
	// ProtocolsMax bounds the protocols that a member lists, 64 if zero.
	ProtocolsMax int
	// MetadataBytesMax bounds the protocol names and metadata of all members
	// together, 2 MiB if zero. Kafka's bound is that of the group's record.
	MetadataBytesMax int
	// AssignmentBytesMax bounds the assignments of all members together, 1 MiB
	// if zero.
	AssignmentBytesMax int
}

func (c Config) withDefaults() Config {
	if c.InitialRebalanceDelay == 0 {
		c.InitialRebalanceDelay = 3 * time.Second
	}
	if c.SessionTimeoutMin == 0 {
		c.SessionTimeoutMin = 6 * time.Second
	}
	if c.SessionTimeoutMax == 0 {
		c.SessionTimeoutMax = 30 * time.Minute
	}
	if c.RebalanceTimeoutMax == 0 {
		c.RebalanceTimeoutMax = 24 * time.Hour
	}
	if c.MembersMax == 0 {
		c.MembersMax = 4096
	}
	if c.ProtocolsMax == 0 {
		c.ProtocolsMax = 64
	}
	if c.MetadataBytesMax == 0 {
		c.MetadataBytesMax = 2 << 20
	}
	if c.AssignmentBytesMax == 0 {
		c.AssignmentBytesMax = 1 << 20
	}
	return c
}
