package kapi

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func committing(group, topic string, partition int32, offset int64) *kmsg.OffsetCommitRequest {
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.Generation = group, -1
	rt := kmsg.NewOffsetCommitRequestTopic()
	rt.Topic = topic
	rp := kmsg.NewOffsetCommitRequestTopicPartition()
	rp.Partition, rp.Offset, rp.LeaderEpoch = partition, offset, -1
	rt.Partitions = append(rt.Partitions, rp)
	req.Topics = append(req.Topics, rt)
	return req
}

// commit returns the codes, in the order of the request.
func commit(t *testing.T, s *Server, version int16, req *kmsg.OffsetCommitRequest) []int16 {
	t.Helper()
	resp := ask(t, s, version, req).(*kmsg.OffsetCommitResponse)
	roundTrip(t, resp)
	var codes []int16
	for i, rt := range resp.Topics {
		if rt.Topic != req.Topics[i].Topic {
			t.Errorf("topic %q at the place of %q", rt.Topic, req.Topics[i].Topic)
		}
		for j, rp := range rt.Partitions {
			if rp.Partition != req.Topics[i].Partitions[j].Partition {
				t.Errorf("partition %d at the place of %d", rp.Partition, req.Topics[i].Partitions[j].Partition)
			}
			codes = append(codes, rp.ErrorCode)
		}
	}
	return codes
}

// offsetsOfGroup asks for partitions; nil asks for all. Old and new layout are filled.
func offsetsOfGroup(group string, topics map[string][]int32) *kmsg.OffsetFetchRequest {
	req := kmsg.NewPtrOffsetFetchRequest()
	g := kmsg.NewOffsetFetchRequestGroup()
	req.Group, g.Group = group, group
	if topics != nil {
		req.Topics, g.Topics = []kmsg.OffsetFetchRequestTopic{}, []kmsg.OffsetFetchRequestGroupTopic{}
	}
	for name, ps := range topics {
		rt, gt := kmsg.NewOffsetFetchRequestTopic(), kmsg.NewOffsetFetchRequestGroupTopic()
		rt.Topic, rt.Partitions, gt.Topic, gt.Partitions = name, ps, name, ps
		req.Topics, g.Topics = append(req.Topics, rt), append(g.Topics, gt)
	}
	req.Groups = append(req.Groups, g)
	return req
}

type answer struct {
	offset   int64
	epoch    int32
	metadata string
	code     int16
}

// offsetAnswers flattens the answer of any version: "topic partition" to what it
// has, for the first group.
func offsetAnswers(resp *kmsg.OffsetFetchResponse) (int16, map[string]answer) {
	out := map[string]answer{}
	for _, rt := range resp.Topics {
		for _, p := range rt.Partitions {
			out[fmt.Sprint(rt.Topic, " ", p.Partition)] = answer{p.Offset, p.LeaderEpoch, text(p.Metadata), p.ErrorCode}
		}
	}
	top := resp.ErrorCode
	for _, g := range resp.Groups[:min(1, len(resp.Groups))] {
		top = g.ErrorCode
		for _, rt := range g.Topics {
			for _, p := range rt.Partitions {
				out[fmt.Sprint(rt.Topic, " ", p.Partition)] = answer{p.Offset, p.LeaderEpoch, text(p.Metadata), p.ErrorCode}
			}
		}
	}
	return top, out
}

func fetchOffsets(t *testing.T, s *Server, version int16, req *kmsg.OffsetFetchRequest) map[string]answer {
	t.Helper()
	resp := ask(t, s, version, req).(*kmsg.OffsetFetchResponse)
	roundTrip(t, resp)
	top, out := offsetAnswers(resp)
	code(t, fmt.Sprintf("offset fetch v%d", version), top, 0)
	return out
}

func wantOffsets(t *testing.T, what string, got, want map[string]answer) {
	t.Helper()
	if !maps.Equal(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func TestCommitAndFetchInEveryVersion(t *testing.T) {
	s := newServer(t, Options{})
	mustCreate(t, s, "t", 2, nil)
	for v := int16(2); v <= 9; v++ {
		group := fmt.Sprint("g", v)
		req := committing(group, "t", 1, 40)
		note := "note é"
		req.Topics[0].Partitions[0].LeaderEpoch, req.Topics[0].Partitions[0].Metadata = 7, &note
		code(t, "commit", commit(t, s, v, req)[0], 0)
		for f := int16(1); f <= 9; f++ {
			stored, none := answer{40, 7, note, 0}, answer{-1, -1, "", 0}
			got := fetchOffsets(t, s, f, offsetsOfGroup(group, map[string][]int32{"t": {1, 0, 9}, "absent": {3}}))
			wantOffsets(t, fmt.Sprint("v", f), got, map[string]answer{"t 1": stored, "t 0": none, "t 9": none, "absent 3": none})
			if f >= 2 {
				wantOffsets(t, fmt.Sprint("all, v", f), fetchOffsets(t, s, f, offsetsOfGroup(group, nil)), map[string]answer{"t 1": stored})
			}
			wantOffsets(t, "none asked", fetchOffsets(t, s, f, offsetsOfGroup(group, map[string][]int32{})), map[string]answer{})
			wantOffsets(t, "unknown group", fetchOffsets(t, s, f, offsetsOfGroup("absent", map[string][]int32{"t": {0}})), map[string]answer{"t 0": none})
		}
	}
}

// TestFetchOfOneGroupManyTimes: the answer doesn't grow beyond what is stored.
func TestFetchOfOneGroupManyTimes(t *testing.T) {
	s := newServer(t, Options{})
	mustCreate(t, s, "t", 3, nil)
	for i := range int32(3) {
		code(t, "commit", commit(t, s, 9, committing("g", "t", i, int64(i)))[0], 0)
	}
	req := offsetsOfGroup("g", map[string][]int32{"t": {1}})
	for range 1000 {
		req.Groups = append(req.Groups, offsetsOfGroup("g", nil).Groups[0])
	}
	resp := ask(t, s, 8, req).(*kmsg.OffsetFetchResponse)
	if len(resp.Groups) != 2 || len(resp.Groups[0].Topics[0].Partitions) != 1 || len(resp.Groups[1].Topics[0].Partitions) != 3 {
		t.Errorf("%d groups answered: %+v", len(resp.Groups), resp.Groups[:min(3, len(resp.Groups))])
	}
}

func TestFetchOfManyGroups(t *testing.T) {
	s := newServer(t, Options{})
	mustCreate(t, s, "b", 2, nil)
	mustCreate(t, s, "a", 1, nil)
	code(t, "commit", commit(t, s, 9, committing("g1", "b", 1, 1))[0], 0)
	code(t, "commit", commit(t, s, 9, committing("g1", "b", 0, 2))[0], 0)
	code(t, "commit", commit(t, s, 9, committing("g1", "a", 0, 3))[0], 0)
	req := offsetsOfGroup("g1", nil)
	req.Groups = append(req.Groups, offsetsOfGroup("absent", map[string][]int32{"b": {1}}).Groups[0], offsetsOfGroup("absent", nil).Groups[0])
	for v := int16(8); v <= 9; v++ {
		resp := ask(t, s, v, req).(*kmsg.OffsetFetchResponse)
		roundTrip(t, resp)
		if len(resp.Groups) != 3 {
			t.Fatalf("%d groups", len(resp.Groups))
		}
		g := resp.Groups[0]
		if g.Group != "g1" || len(g.Topics) != 2 || g.Topics[0].Topic != "a" || g.Topics[1].Partitions[0].Offset != 2 || g.Topics[1].Partitions[1].Offset != 1 {
			t.Errorf("g1: %+v", g)
		}
		if p := resp.Groups[1].Topics[0].Partitions[0]; p.Offset != -1 || p.ErrorCode != 0 {
			t.Errorf("absent group: %+v", p)
		}
		if n := len(resp.Groups[2].Topics); n != 0 {
			t.Errorf("all of an absent group: %d topics", n)
		}
	}
}

func TestCommitErrors(t *testing.T) {
	s := newServer(t, Options{})
	mustCreate(t, s, "t", 2, nil)
	j := member(t, s, "g")
	as := func(id string, generation int32, topic string) *kmsg.OffsetCommitRequest {
		req := committing("g", topic, 0, 1)
		req.MemberID, req.Generation = id, generation
		return req
	}
	long, longest := strings.Repeat("m", 4097), strings.Repeat("m", 4096)
	for v := int16(2); v <= 9; v++ {
		code(t, "member", commit(t, s, v, as(j.MemberID, j.Generation, "t"))[0], 0)
		code(t, "unknown member", commit(t, s, v, as("x", j.Generation, "t"))[0], 25)
		code(t, "other generation", commit(t, s, v, as(j.MemberID, j.Generation+1, "t"))[0], 22)
		code(t, "simple, group has members", commit(t, s, v, committing("g", "t", 0, 1))[0], 25)
		// The topic is looked at before the group.
		code(t, "unknown topic, unknown member", commit(t, s, v, as("x", j.Generation, "absent"))[0], 3)
		absent := as("x", 5, "t")
		absent.Group = "absent"
		want := int16(22)
		if v >= 9 {
			want = 69
		}
		code(t, fmt.Sprintf("generation of no group v%d", v), commit(t, s, v, absent)[0], want)

		mixed := committing("simple", "t", 0, 5)
		mixed.Topics[0].Partitions[0].Metadata = &longest
		for _, p := range []int32{1, 2, -1} {
			rp := kmsg.NewOffsetCommitRequestTopicPartition()
			rp.Partition, rp.Offset, rp.Metadata = p, 6, &long
			mixed.Topics[0].Partitions = append(mixed.Topics[0].Partitions, rp)
		}
		mixed.Topics = append(mixed.Topics, committing("", "absent", 0, 1).Topics...)
		if got, want := fmt.Sprint(commit(t, s, v, mixed)), "[0 12 3 3 3]"; got != want {
			t.Errorf("v%d: %s, want %s", v, got, want)
		}
		got := fetchOffsets(t, s, 9, offsetsOfGroup("simple", map[string][]int32{"t": {0, 1}}))
		wantOffsets(t, "after the mixed commit", got, map[string]answer{"t 0": {5, -1, longest, 0}, "t 1": {-1, -1, "", 0}})
		// A member's fault goes before that of the metadata.
		long12 := as("x", j.Generation, "t")
		long12.Topics[0].Partitions[0].Metadata = &long
		code(t, "unknown member, long metadata", commit(t, s, v, long12)[0], 25)
		long12.MemberID = j.MemberID
		code(t, "long metadata alone", commit(t, s, v, long12)[0], 12)
	}
	code(t, "negative offset", commit(t, s, 9, committing("neg", "t", 0, -5))[0], 0)
	code(t, "empty group id", commit(t, s, 9, committing("", "t", 0, 3))[0], 0)
	code(t, "backwards", commit(t, s, 9, committing("simple", "t", 0, 2))[0], 0)
	got := fetchOffsets(t, s, 9, offsetsOfGroup("simple", map[string][]int32{"t": {0}}))
	wantOffsets(t, "backwards", got, map[string]answer{"t 0": {2, -1, "", 0}})
}
