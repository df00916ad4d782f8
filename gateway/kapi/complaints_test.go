package kapi

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"milena/gateway/backend"
	"milena/gateway/backend/memory"
)

// TestDamageIsLoggedOnce: however often clients ask, a minute has one line for a
// partition, which says where the damage is.
func TestDamageIsLoggedOnce(t *testing.T) {
	var logged strings.Builder
	now := testClock()
	broker := spoiling{memory.New(testClock), 2}
	s := newServer(t, Options{Clock: func() time.Time { return now }, Broker: broker,
		Logger: slog.New(slog.NewTextHandler(&logged, nil))})
	threeBatches(t, s, "t")
	s.envelope = newEngine(t, broker) // without the tail cache's entries
	for range 3 {
		askFetch(t, s, 12, fetchRequest("t", 2))
	}
	if n := strings.Count(logged.String(), "can't be served"); n != 1 || !strings.Contains(logged.String(), "topic=t partition=0 offset=2 ") {
		t.Errorf("%d lines: %s", n, logged.String())
	}
	now = now.Add(complaintEvery)
	askFetch(t, s, 12, fetchRequest("t", 2))
	if n := strings.Count(logged.String(), "can't be served"); n != 2 {
		t.Errorf("%d lines after a minute", n)
	}
}

func TestComplaintsAreBounded(t *testing.T) {
	var c complaints
	now := testClock()
	for i := range int32(complaintsMax) {
		if !c.due(backend.Partition{Index: i}, now) {
			t.Fatalf("partition %d isn't heard", i)
		}
	}
	more := backend.Partition{Index: complaintsMax}
	if c.due(more, now) || len(c.last) != complaintsMax {
		t.Errorf("%d partitions are told apart", len(c.last))
	}
	if !c.due(more, now.Add(complaintEvery)) || len(c.last) != 1 {
		t.Errorf("%d partitions after a minute", len(c.last))
	}
}
