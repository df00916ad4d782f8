package gateway_test

import (
	"encoding/binary"
	"io"
	"net"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"milena/gateway"
	"milena/gateway/backend"
	"milena/gateway/batch"
	"milena/gateway/gatewaytest"
)

// TestAnnouncedFramesLockNobodyOut: connections that announce frames of 100 MiB
// and send hardly anything of them take what large requests may take at most.
// Others are answered as if they weren't there, on connections old and new.
func TestAnnouncedFramesLockNobodyOut(t *testing.T) {
	g := gatewaytest.Start(t, gatewaytest.Options{})
	old := dial(t, g.Addr)
	old.ask(9, metadata(true, "t"))
	for range 4 {
		c := dial(t, g.Addr)
		c.ask(3, apiVersions())
		head := request(8, 1, produce(-1, "t"))[:12]
		binary.BigEndian.PutUint32(head, 100<<20)
		c.write(head)
		c.write([]byte{0, 4})
		// The rest drips: a byte each time somebody else was served.
		defer func() { _ = c.conn.Close() }()
		old.ask(9, metadata(false, "t"))
		c.write([]byte("t"))
	}
	for range 20 {
		fresh := dial(t, g.Addr)
		fresh.ask(3, apiVersions())
		fresh.ask(9, metadata(false, "t"))
		fresh.write(request(8, 2, produce(-1, "t")))
		if p := fresh.produced(2)[0].Partitions[0]; p.ErrorCode != 0 {
			t.Fatalf("produce: code %d", p.ErrorCode)
		}
		got := old.ask(11, fetch("t", 0, 0)).(*kmsg.FetchResponse)
		if p := got.Topics[0].Partitions[0]; p.ErrorCode != 0 || len(p.RecordBatches) == 0 {
			t.Fatalf("fetch: code %d, %d bytes", p.ErrorCode, len(p.RecordBatches))
		}
		_ = fresh.conn.Close()
	}
}

// TestSlowConsumersLockNobodyOut: clients that ask for 50 MiB and stop taking
// what they get hold the memory of one bounded answer each.
func TestSlowConsumersLockNobodyOut(t *testing.T) {
	const mib = 1 << 20
	// An answer of 8 MiB takes twice that: what is stored and what is sent.
	g := gatewaytest.Start(t, gatewaytest.Options{Server: func(o *gateway.Options) { o.ResponseBytesMax = 40 * mib }})
	if _, err := g.Broker.CreateTopic(t.Context(), backend.TopicSpec{Name: "t", Partitions: 1}); err != nil {
		t.Fatal(err)
	}
	producer := dial(t, g.Addr)
	for i := range int32(24) {
		req := produce(-1, "t")
		req.Topics[0].Partitions[0].Records = plain(1000 * 1000)
		producer.write(request(8, i, req))
		if p := producer.produced(i)[0].Partitions[0]; p.ErrorCode != 0 {
			t.Fatalf("produce: code %d", p.ErrorCode)
		}
	}
	for range 2 {
		slow := dial(t, g.Addr)
		if err := slow.conn.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
			t.Fatal(err)
		}
		req := fetch("t", 0, 0)
		req.MaxBytes, req.Topics[0].Partitions[0].PartitionMaxBytes = 50*mib, 50*mib
		slow.write(request(11, 1, req))
		// Once its answer begins, its memory is taken.
		var length [4]byte
		if _, err := io.ReadFull(slow.conn, length[:]); err != nil {
			t.Fatalf("slow consumer: %v", err)
		}
		if n := binary.BigEndian.Uint32(length[:]); n > 8*mib || n < 7*mib {
			t.Errorf("an answer of %d bytes", n)
		}
	}
	got := dial(t, g.Addr).ask(11, fetch("t", 3, 0)).(*kmsg.FetchResponse)
	if p := got.Topics[0].Partitions[0]; p.ErrorCode != 0 || len(p.RecordBatches) == 0 {
		t.Fatalf("fetch: code %d, %d bytes", p.ErrorCode, len(p.RecordBatches))
	}
}

// plain is a batch of one value of size bytes.
func plain(size int) []byte {
	b := batch.AppendRecord(batch.Begin(nil), &batch.Record{Value: make([]byte, size)})
	batch.Finish(b, batch.Header{LeaderEpoch: -1, ProducerID: -1, ProducerEpoch: -1, BaseSequence: -1, Count: 1})
	return b
}
