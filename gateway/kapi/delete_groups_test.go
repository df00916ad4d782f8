package kapi

import (
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestDeleteGroups(t *testing.T) {
	s := newServer(t, Options{})
	mustCreate(t, s, "t", 1, nil)
	for v := range int16(3) {
		kept, simple := fmt.Sprintf("kept-%d", v), fmt.Sprintf("simple-%d", v)
		commitOne(t, s, kept, "t", 0)
		member(t, s, kept)
		commitOne(t, s, simple, "t", 0)
		req := kmsg.NewPtrDeleteGroupsRequest()
		req.Groups = []string{kept, simple, "absent", "", simple}
		resp := ask(t, s, v, req).(*kmsg.DeleteGroupsResponse)
		roundTrip(t, resp)
		got := ""
		for _, g := range resp.Groups {
			got += fmt.Sprintf("%s=%d ", g.Group, g.ErrorCode)
		}
		if want := fmt.Sprintf("%s=68 %s=0 absent=69 =24 ", kept, simple); got != want {
			t.Errorf("v%d: %s, want %s", v, got, want)
		}
		for group, want := range map[string]int{kept: 1, simple: 0} {
			if offsets, err := s.broker.GroupOffsets(t.Context(), group); err != nil || len(offsets) != want {
				t.Errorf("v%d: %s has offsets %v, %v", v, group, offsets, err)
			}
		}
		if g := describeGroups(t, s, 6, false, kept, simple); g[0].State != "Stable" || g[1].ErrorCode != 69 {
			t.Errorf("v%d: %+v", v, g)
		}
	}
}
