package kapi

import (
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func listGroups(t *testing.T, s *Server, version int16, states, types []string) string {
	t.Helper()
	req := kmsg.NewPtrListGroupsRequest()
	req.StatesFilter, req.TypesFilter = states, types
	resp := ask(t, s, version, req).(*kmsg.ListGroupsResponse)
	roundTrip(t, resp)
	code(t, "list", resp.ErrorCode, 0)
	out := ""
	for _, g := range resp.Groups {
		out += fmt.Sprintf("%s/%s/%s/%s ", g.Group, g.ProtocolType, g.GroupState, g.GroupType)
	}
	return out
}

func TestListGroups(t *testing.T) {
	s := newServer(t, Options{})
	mustCreate(t, s, "t", 1, nil)
	member(t, s, "stable")
	commitOne(t, s, "simple", "t", 0)
	const stable, simple = "stable/consumer/Stable/classic ", "simple//Empty/classic "
	tests := []struct {
		version       int16
		states, types []string
		want          string
	}{
		{0, nil, nil, simple + stable},
		{3, nil, nil, simple + stable},
		{4, []string{"stable"}, nil, stable},
		{4, []string{"Empty", "Dead"}, nil, simple},
		{5, nil, []string{"Classic"}, simple + stable},
		{5, nil, []string{"share"}, ""},
		{5, []string{"Stable"}, []string{"classic"}, stable},
		{5, []string{"Unheard"}, nil, ""},
	}
	for _, tt := range tests {
		if got := listGroups(t, s, tt.version, tt.states, tt.types); got != tt.want {
			t.Errorf("v%d %v %v: %s, want %s", tt.version, tt.states, tt.types, got, tt.want)
		}
	}
}
