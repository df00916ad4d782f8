package kapi

import (
	"context"
	"errors"
	"math"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	groups "milena/gateway/group"
)

// groupOperations are those allowed on groups when there is no authorizer.
const groupOperations = 1<<kmsg.ACLOperationRead | 1<<kmsg.ACLOperationDelete | 1<<kmsg.ACLOperationDescribe | 1<<kmsg.ACLOperationDescribeConfigs | 1<<kmsg.ACLOperationAlterConfigs

// DescribeGroups, versions 0 to 6.
//
//	v1  throttle time
//	v3  authorized operations (KIP-430)
//	v4  group instance ids (KIP-345)
//	v5  flexible
//	v6  GROUP_ID_NOT_FOUND with a message for an unknown group, which is Dead
//	    without an error before (KIP-1043)
//
// Protocol, metadata and assignments are given for Stable groups only, since
// nothing is agreed on before. A group named twice is answered once, so that a
// small request can't ask for a huge answer.
func (s *Server) describeGroups(ctx context.Context, r *Request) (kmsg.Response, error) {
	req := r.Msg.(*kmsg.DescribeGroupsRequest)
	resp := req.ResponseKind().(*kmsg.DescribeGroupsResponse)
	resp.Groups = []kmsg.DescribeGroupsResponseGroup{}
	ctx, cancel := s.backendContext(ctx)
	defer cancel()
	seen := map[string]bool{}
	for _, id := range req.Groups {
		if seen[id] {
			continue
		}
		seen[id] = true
		rg := kmsg.NewDescribeGroupsResponseGroup()
		rg.Group, rg.AuthorizedOperations = id, math.MinInt32
		if req.IncludeAuthorizedOperations {
			rg.AuthorizedOperations = groupOperations
		}
		rg.Members = []kmsg.DescribeGroupsResponseGroupMember{}
		snapshot, err := s.groups.Describe(ctx, id)
		switch {
		case err == nil:
			describeGroup(&rg, snapshot)
		case errors.Is(err, kerr.GroupIDNotFound):
			rg.State = groups.Dead.String()
			if req.Version >= 6 {
				rg.ErrorCode = kerr.GroupIDNotFound.Code
				rg.ErrorMessage = errorMessage(rg.ErrorCode)
			}
		default:
			rg.ErrorCode = s.coordinatorCode(err)
			rg.ErrorMessage = errorMessage(rg.ErrorCode)
		}
		resp.Groups = append(resp.Groups, rg)
	}
	return resp, nil
}

func describeGroup(rg *kmsg.DescribeGroupsResponseGroup, g groups.Snapshot) {
	rg.State, rg.ProtocolType = g.State.String(), g.ProtocolType
	stable := g.State == groups.Stable
	if stable {
		rg.Protocol = g.Protocol
	}
	for _, m := range g.Members {
		rm := kmsg.NewDescribeGroupsResponseGroupMember()
		rm.MemberID, rm.ClientID, rm.ClientHost = m.ID, m.ClientID, m.ClientHost
		if m.InstanceID != "" {
			rm.InstanceID = kmsg.StringPtr(m.InstanceID)
		}
		rm.ProtocolMetadata, rm.MemberAssignment = []byte{}, []byte{}
		if stable {
			for _, p := range m.Protocols {
				if p.Name == g.Protocol {
					rm.ProtocolMetadata = p.Metadata
				}
			}
			rm.MemberAssignment = append(rm.MemberAssignment, m.Assignment...)
		}
		rg.Members = append(rg.Members, rm)
	}
}
