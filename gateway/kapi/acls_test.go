package kapi

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestACLsAreDisabled(t *testing.T) {
	s := newServer(t, Options{})
	for v := range int16(4) {
		described := ask(t, s, v, kmsg.NewPtrDescribeACLsRequest()).(*kmsg.DescribeACLsResponse)
		roundTrip(t, described)
		code(t, "describe", described.ErrorCode, 54)
		if described.ErrorMessage == nil {
			t.Errorf("v%d: no message", v)
		}
		creations := kmsg.NewPtrCreateACLsRequest()
		creations.Creations = make([]kmsg.CreateACLsRequestCreation, 2)
		created := ask(t, s, v, creations).(*kmsg.CreateACLsResponse)
		roundTrip(t, created)
		filters := kmsg.NewPtrDeleteACLsRequest()
		filters.Filters = make([]kmsg.DeleteACLsRequestFilter, 2)
		deleted := ask(t, s, v, filters).(*kmsg.DeleteACLsResponse)
		roundTrip(t, deleted)
		if len(created.Results) != 2 || len(deleted.Results) != 2 {
			t.Fatalf("v%d: %d created, %d deleted", v, len(created.Results), len(deleted.Results))
		}
		for i := range 2 {
			code(t, "create", created.Results[i].ErrorCode, 54)
			code(t, "delete", deleted.Results[i].ErrorCode, 54)
		}
	}
}
