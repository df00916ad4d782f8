package kapi

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	groups "milena/gateway/group"
)

// JoinGroup, versions 0 to 9.
//
//	v1  rebalance timeout; v0 uses the session timeout for it (KIP-62)
//	v2  throttle time
//	v4  a newcomer gets its member id first and joins with it (KIP-394)
//	v5  group instance id: static members (KIP-345)
//	v6  flexible
//	v7  protocol type in the answer, protocol nullable (KIP-559)
//	v8  reason, ignored (KIP-800)
//	v9  skip assignment for a static leader that restarted (KIP-814)
//
// A long poll: the answer comes when the join phase is complete. v0 and v1 stay
// because librdkafka before 2.11 turns groups off without them (KAFKA-19444).
func (s *Server) joinGroup(ctx context.Context, r *Request) (kmsg.Response, error) {
	req := r.Msg.(*kmsg.JoinGroupRequest)
	resp := req.ResponseKind().(*kmsg.JoinGroupResponse)
	join := groups.JoinRequest{
		MemberID:          req.MemberID,
		InstanceID:        text(req.InstanceID),
		ClientID:          r.ClientID,
		ClientHost:        r.Conn.ClientHost(),
		SessionTimeout:    time.Duration(req.SessionTimeoutMillis) * time.Millisecond,
		RebalanceTimeout:  time.Duration(req.RebalanceTimeoutMillis) * time.Millisecond,
		ProtocolType:      req.ProtocolType,
		IDFirst:           req.Version >= 4,
		CanSkipAssignment: req.Version >= 9,
	}
	if req.Version < 1 {
		join.RebalanceTimeout = join.SessionTimeout
	}
	for _, p := range req.Protocols {
		join.Protocols = append(join.Protocols, groups.Protocol{Name: p.Name, Metadata: p.Metadata})
	}
	reply := s.groups.Join(ctx, req.Group, join, r.Park)
	resp.ErrorCode = s.coordinatorCode(reply.Err)
	resp.MemberID, resp.Generation = reply.MemberID, reply.Generation
	resp.Members = []kmsg.JoinGroupResponseMember{}
	if reply.Err != nil {
		return resp, nil
	}
	resp.ProtocolType, resp.Protocol = &reply.ProtocolType, &reply.Protocol
	resp.LeaderID, resp.SkipAssignment = reply.Leader, reply.SkipAssignment
	for _, m := range reply.Members {
		rm := kmsg.NewJoinGroupResponseMember()
		rm.MemberID, rm.InstanceID, rm.ProtocolMetadata = m.MemberID, nullable(m.InstanceID), m.Metadata
		resp.Members = append(resp.Members, rm)
	}
	return resp, nil
}

// text is the string, empty for null.
func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// nullable is the reverse of text: null for an empty string.
func nullable(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
