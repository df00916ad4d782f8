package kapi

import (
	"context"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// classicGroup is the type of all groups here (KIP-848).
const classicGroup = "classic"

// ListGroups, versions 0 to 5.
//
//	v1  throttle time
//	v3  flexible
//	v4  states, and a filter by them (KIP-518)
//	v5  types, and a filter by them (KIP-848)
//
// All groups that have members or anything stored, by name. Filters don't look at
// case, and values that nothing has match nothing.
func (s *Server) listGroups(ctx context.Context, r *Request) (kmsg.Response, error) {
	req := r.Msg.(*kmsg.ListGroupsRequest)
	resp := req.ResponseKind().(*kmsg.ListGroupsResponse)
	resp.Groups = []kmsg.ListGroupsResponseGroup{}
	ctx, cancel := s.backendContext(ctx)
	defer cancel()
	all, err := s.groups.List(ctx)
	if resp.ErrorCode = s.coordinatorCode(err); err != nil {
		return resp, nil
	}
	for _, g := range all {
		rg := kmsg.NewListGroupsResponseGroup()
		rg.Group, rg.ProtocolType = g.ID, g.ProtocolType
		rg.GroupState, rg.GroupType = g.State.String(), classicGroup
		if matches(req.StatesFilter, rg.GroupState) && matches(req.TypesFilter, rg.GroupType) {
			resp.Groups = append(resp.Groups, rg)
		}
	}
	return resp, nil
}

// matches: no filter, or one that names the value.
func matches(filter []string, value string) bool {
	return len(filter) == 0 || slices.ContainsFunc(filter, func(f string) bool { return strings.EqualFold(f, value) })
}
