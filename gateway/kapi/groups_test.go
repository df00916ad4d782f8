package kapi

import (
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"milena/gateway/backend"
)

func joinRequest(group, mark string) *kmsg.JoinGroupRequest {
	req := kmsg.NewPtrJoinGroupRequest()
	req.Group, req.ProtocolType = group, "consumer"
	req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = 20_000, 20_000
	req.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range", Metadata: []byte(mark)}}
	return req
}

// join joins in a version, with the round for the member id that v4 needs.
func join(t *testing.T, s *Server, version int16, req *kmsg.JoinGroupRequest) *kmsg.JoinGroupResponse {
	t.Helper()
	resp := ask(t, s, version, req).(*kmsg.JoinGroupResponse)
	roundTrip(t, resp)
	if resp.ErrorCode == 79 {
		if version < 4 || resp.MemberID == "" || resp.Generation != -1 {
			t.Fatalf("v%d: %+v", version, resp)
		}
		req.MemberID = resp.MemberID
		resp = ask(t, s, version, req).(*kmsg.JoinGroupResponse)
		roundTrip(t, resp)
	} else if version >= 4 && req.MemberID == "" && req.InstanceID == nil && resp.ErrorCode == 0 {
		t.Fatalf("v%d: joined without a member id", version)
	}
	return resp
}

func syncRequest(group string, j *kmsg.JoinGroupResponse) *kmsg.SyncGroupRequest {
	req := kmsg.NewPtrSyncGroupRequest()
	req.Group, req.MemberID, req.Generation = group, j.MemberID, j.Generation
	consumer, protocol := "consumer", "range"
	req.ProtocolType, req.Protocol = &consumer, &protocol
	for _, m := range j.Members {
		req.GroupAssignment = append(req.GroupAssignment, kmsg.SyncGroupRequestGroupAssignment{MemberID: m.MemberID, MemberAssignment: []byte("for " + m.MemberID)})
	}
	return req
}

// member makes a Stable group of one member.
func member(t *testing.T, s *Server, group string) *kmsg.JoinGroupResponse {
	t.Helper()
	j := join(t, s, 7, joinRequest(group, "m"))
	code(t, "join", j.ErrorCode, 0)
	code(t, "sync", ask(t, s, 5, syncRequest(group, j)).(*kmsg.SyncGroupResponse).ErrorCode, 0)
	return j
}

func code(t *testing.T, what string, got, want int16) {
	t.Helper()
	if got != want {
		t.Errorf("%s: code %d, want %d", what, got, want)
	}
}

func beat(t *testing.T, s *Server, version int16, group, id string, generation int32) int16 {
	t.Helper()
	req := kmsg.NewPtrHeartbeatRequest()
	req.Group, req.MemberID, req.Generation = group, id, generation
	resp := ask(t, s, version, req).(*kmsg.HeartbeatResponse)
	roundTrip(t, resp)
	return resp.ErrorCode
}

func leaving(group string, members ...kmsg.LeaveGroupRequestMember) *kmsg.LeaveGroupRequest {
	req := kmsg.NewPtrLeaveGroupRequest()
	req.Group, req.Members = group, members
	if len(members) > 0 {
		req.MemberID = members[0].MemberID
	}
	return req
}

// TestGroupCallsInEveryVersion: one member joins, syncs, heartbeats and leaves.
func TestGroupCallsInEveryVersion(t *testing.T) {
	s := newServer(t, Options{})
	for v := int16(0); v <= 9; v++ {
		group := fmt.Sprint("g", v)
		j := join(t, s, v, joinRequest(group, "mark"))
		code(t, "join", j.ErrorCode, 0)
		if j.Generation != 1 || j.LeaderID != j.MemberID || *j.Protocol != "range" || j.SkipAssignment {
			t.Errorf("join v%d: %+v", v, j)
		}
		if len(j.Members) != 1 || string(j.Members[0].ProtocolMetadata) != "mark" || j.Members[0].InstanceID != nil {
			t.Errorf("join v%d: members %+v", v, j.Members)
		}
		sync := ask(t, s, min(v, 5), syncRequest(group, j)).(*kmsg.SyncGroupResponse)
		roundTrip(t, sync)
		code(t, "sync", sync.ErrorCode, 0)
		if string(sync.MemberAssignment) != "for "+j.MemberID {
			t.Errorf("sync v%d: %q", v, sync.MemberAssignment)
		}
		code(t, "heartbeat", beat(t, s, min(v, 4), group, j.MemberID, 1), 0)
		code(t, "heartbeat of another generation", beat(t, s, min(v, 4), group, j.MemberID, 2), 22)
		m := kmsg.NewLeaveGroupRequestMember()
		m.MemberID = j.MemberID
		leave := ask(t, s, min(v, 5), leaving(group, m)).(*kmsg.LeaveGroupResponse)
		roundTrip(t, leave)
		code(t, "leave", leave.ErrorCode, 0)
		if v >= 3 && (len(leave.Members) != 1 || leave.Members[0].ErrorCode != 0 || leave.Members[0].MemberID != j.MemberID) {
			t.Errorf("leave v%d: %+v", v, leave.Members)
		}
		code(t, "heartbeat after leaving", beat(t, s, min(v, 4), group, j.MemberID, 1), 25)
	}
}

func TestJoinRefusals(t *testing.T) {
	s := newServer(t, Options{})
	for name, c := range map[string]struct {
		change func(*kmsg.JoinGroupRequest)
		want   int16
	}{
		"empty group":     {func(r *kmsg.JoinGroupRequest) { r.Group = "" }, 24},
		"short session":   {func(r *kmsg.JoinGroupRequest) { r.SessionTimeoutMillis = 1 }, 26},
		"long session":    {func(r *kmsg.JoinGroupRequest) { r.SessionTimeoutMillis = 1<<31 - 1 }, 26},
		"unknown member":  {func(r *kmsg.JoinGroupRequest) { r.MemberID = "x" }, 25},
		"no protocols":    {func(r *kmsg.JoinGroupRequest) { r.Protocols = nil }, 23},
		"no type":         {func(r *kmsg.JoinGroupRequest) { r.ProtocolType = "" }, 23},
		"session and id":  {func(r *kmsg.JoinGroupRequest) { r.SessionTimeoutMillis, r.MemberID = 1, "x" }, 26},
		"group and more":  {func(r *kmsg.JoinGroupRequest) { r.Group, r.SessionTimeoutMillis = "", 1 }, 24},
		"id and protocol": {func(r *kmsg.JoinGroupRequest) { r.MemberID, r.Protocols = "x", nil }, 25},
	} {
		for v := int16(0); v <= 9; v++ {
			req := joinRequest("g", "m")
			c.change(req)
			resp := join(t, s, v, req)
			code(t, fmt.Sprintf("%s v%d", name, v), resp.ErrorCode, c.want)
			if resp.Generation != -1 || resp.Members == nil || resp.MemberID != req.MemberID {
				t.Errorf("%s v%d: %+v", name, v, resp)
			}
			if resp.ProtocolType != nil || resp.Protocol != nil || resp.LeaderID != "" {
				t.Errorf("%s v%d: %+v", name, v, resp)
			}
		}
	}
}

// TestJoinV0HasNoRebalanceTimeout: the session timeout is used for it; with the
// message's default a rebalance would never wait long enough, or for ever.
func TestJoinV0HasNoRebalanceTimeout(t *testing.T) {
	s := newServer(t, Options{})
	req := joinRequest("g", "m")
	req.RebalanceTimeoutMillis = -1
	code(t, "join", join(t, s, 0, req).ErrorCode, 0)
	d, err := s.groups.Describe(t.Context(), "g")
	if err != nil || d.Members[0].RebalanceTimeout != d.Members[0].SessionTimeout {
		t.Fatalf("%+v, %v", d, err)
	}
	if m := d.Members[0]; m.ClientID != "test" || m.ClientHost != "/10.1.2.3" {
		t.Errorf("client %s %s", m.ClientID, m.ClientHost)
	}
}

func TestSyncRefusals(t *testing.T) {
	s := newServer(t, Options{})
	j := member(t, s, "g")
	for name, c := range map[string]struct {
		change func(*kmsg.SyncGroupRequest)
		want   int16
	}{
		"empty group":       {func(r *kmsg.SyncGroupRequest) { r.Group = "" }, 24},
		"unknown group":     {func(r *kmsg.SyncGroupRequest) { r.Group = "absent" }, 25},
		"unknown member":    {func(r *kmsg.SyncGroupRequest) { r.MemberID = "x" }, 25},
		"wrong generation":  {func(r *kmsg.SyncGroupRequest) { r.Generation++ }, 22},
		"as it should be":   {func(*kmsg.SyncGroupRequest) {}, 0},
		"member before gen": {func(r *kmsg.SyncGroupRequest) { r.Generation++; r.MemberID = "x" }, 25},
	} {
		for v := int16(0); v <= 5; v++ {
			req := syncRequest("g", j)
			c.change(req)
			resp := ask(t, s, v, req).(*kmsg.SyncGroupResponse)
			roundTrip(t, resp)
			code(t, fmt.Sprintf("%s v%d", name, v), resp.ErrorCode, c.want)
		}
	}
	// v5 without protocol type or name: before anything else.
	for _, missing := range []func(*kmsg.SyncGroupRequest){
		func(r *kmsg.SyncGroupRequest) { r.ProtocolType = nil },
		func(r *kmsg.SyncGroupRequest) { r.Protocol = nil },
	} {
		req := syncRequest("absent", j)
		missing(req)
		code(t, "missing", ask(t, s, 5, req).(*kmsg.SyncGroupResponse).ErrorCode, 23)
	}
	other := "sticky"
	req := syncRequest("g", j)
	req.Protocol = &other
	code(t, "another protocol", ask(t, s, 5, req).(*kmsg.SyncGroupResponse).ErrorCode, 23)
}

func TestLeaveErrors(t *testing.T) {
	s := newServer(t, Options{})
	j := member(t, s, "g")
	nobody, known, instance := kmsg.NewLeaveGroupRequestMember(), kmsg.NewLeaveGroupRequestMember(), kmsg.NewLeaveGroupRequestMember()
	nobody.MemberID, known.MemberID = "nobody", j.MemberID
	i := "no-instance"
	instance.InstanceID = &i
	for v := int16(0); v <= 5; v++ {
		for _, group := range []string{"g", "absent"} {
			resp := ask(t, s, v, leaving(group, nobody, instance)).(*kmsg.LeaveGroupResponse)
			roundTrip(t, resp)
			if v < 3 {
				code(t, "unknown member, the answer's", resp.ErrorCode, 25)
				continue
			}
			code(t, "unknown member, the answer's", resp.ErrorCode, 0)
			if len(resp.Members) != 2 || resp.Members[0].ErrorCode != 25 || resp.Members[1].ErrorCode != 25 || *resp.Members[1].InstanceID != i {
				t.Errorf("v%d: %+v", v, resp.Members)
			}
		}
		code(t, "empty group", ask(t, s, v, leaving("", nobody)).(*kmsg.LeaveGroupResponse).ErrorCode, 24)
	}
	resp := ask(t, s, 5, leaving("g", nobody, known)).(*kmsg.LeaveGroupResponse)
	code(t, "unknown", resp.Members[0].ErrorCode, 25)
	code(t, "known", resp.Members[1].ErrorCode, 0)
}

func TestGroupCallsWithoutStorage(t *testing.T) {
	s := newServer(t, Options{})
	failing, ok := s.broker.(interface{ Fail(error) })
	if !ok {
		t.Fatal("the broker in memory can't fail")
	}
	failing.Fail(backend.ErrUnavailable)
	const unavailable = 15 // clients look for the coordinator again and retry
	code(t, "join", join(t, s, 3, joinRequest("g", "m")).ErrorCode, unavailable)
	code(t, "heartbeat", beat(t, s, 4, "g", "x", 1), unavailable)
	code(t, "leave", ask(t, s, 5, leaving("g", kmsg.NewLeaveGroupRequestMember())).(*kmsg.LeaveGroupResponse).ErrorCode, unavailable)
	j := kmsg.NewPtrJoinGroupResponse()
	code(t, "sync", ask(t, s, 5, syncRequest("g", j)).(*kmsg.SyncGroupResponse).ErrorCode, unavailable)
	for v := int16(1); v <= 9; v++ {
		resp := ask(t, s, v, offsetsOfGroup("g", map[string][]int32{"t": {0}})).(*kmsg.OffsetFetchResponse)
		roundTrip(t, resp)
		top, answers := offsetAnswers(resp)
		if v >= 2 {
			code(t, "fetch", top, unavailable)
		}
		code(t, "fetch, partition", answers["t 0"].code, unavailable)
	}
}
