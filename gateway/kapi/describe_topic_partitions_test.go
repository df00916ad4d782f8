package kapi

import (
	"fmt"
	"math"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func topicPartitions(t *testing.T, s *Server, limit int32, cursor *kmsg.DescribeTopicPartitionsRequestCursor, names ...string) (string, *kmsg.DescribeTopicPartitionsResponseNextCursor) {
	t.Helper()
	req := kmsg.NewPtrDescribeTopicPartitionsRequest()
	for _, name := range names {
		req.Topics = append(req.Topics, kmsg.DescribeTopicPartitionsRequestTopic{Topic: name})
	}
	req.ResponsePartitionLimit, req.Cursor = limit, cursor
	resp := ask(t, s, 0, req).(*kmsg.DescribeTopicPartitionsResponse)
	roundTrip(t, resp)
	out := ""
	for _, rt := range resp.Topics {
		out += fmt.Sprintf("%s/%d", *rt.Topic, rt.ErrorCode)
		for _, p := range rt.Partitions {
			out += fmt.Sprintf(",%d", p.Partition)
		}
		out += " "
	}
	return out, resp.NextCursor
}

func TestDescribeTopicPartitions(t *testing.T) {
	s := newServer(t, Options{})
	mustCreate(t, s, "b", 3, nil)
	mustCreate(t, s, "a", 1, nil)
	mustCreate(t, s, "c", 2, nil)
	tests := []struct {
		limit int32
		names []string
		pages []string
	}{
		{2000, nil, []string{"a/0,0 b/0,0,1,2 c/0,0,1 "}},
		{math.MaxInt32, []string{"c", "absent", "a", "c", "in valid"}, []string{"a/0,0 absent/3 c/0,0,1 in valid/17 "}},
		{2, nil, []string{"a/0,0 b/0,0 ", "b/0,1,2 ", "c/0,0,1 "}},
		{4, nil, []string{"a/0,0 b/0,0,1,2 ", "c/0,0,1 "}},
		{-5, []string{"c"}, []string{"c/0,0 ", "c/0,1 "}},
		{1, []string{"x", "y"}, []string{"x/3 ", "y/3 "}},
	}
	for _, tt := range tests {
		var pages []string
		var cursor *kmsg.DescribeTopicPartitionsRequestCursor
		for len(pages) < 10 {
			page, next := topicPartitions(t, s, tt.limit, cursor, tt.names...)
			pages = append(pages, page)
			if next == nil {
				break
			}
			c := kmsg.NewDescribeTopicPartitionsRequestCursor()
			c.Topic, c.Partition = next.Topic, next.Partition
			cursor = &c
		}
		if fmt.Sprintf("%q", pages) != fmt.Sprintf("%q", tt.pages) {
			t.Errorf("limit %d of %v: %q, want %q", tt.limit, tt.names, pages, tt.pages)
		}
	}
	req := kmsg.NewPtrDescribeTopicPartitionsRequest()
	c := kmsg.NewDescribeTopicPartitionsRequestCursor()
	c.Partition = -1
	req.Cursor = &c
	if _, err := tryAsk(s, 0, req); err == nil {
		t.Error("a negative cursor is answered")
	}
}
