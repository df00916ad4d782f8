package gateway_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"milena/gateway"
	"milena/gateway/backend"
	"milena/gateway/backend/memory"
	"milena/gateway/gatewaytest"
)

// record collects what an Observer is told.
type record struct {
	mu       sync.Mutex // guards the fields below
	closed   []gateway.CloseReason
	refused  int
	opened   int
	requests []gateway.RequestStats
}

func (r *record) observer() gateway.Observer {
	return gateway.Observer{
		ConnectionOpened: func(string) { r.add(func() { r.opened++ }) },
		ConnectionClosed: func(_ string, why gateway.CloseReason) { r.add(func() { r.closed = append(r.closed, why) }) },
		ConnectionRefused: func(string) {
			r.add(func() { r.refused++ })
		},
		RequestDone: func(s gateway.RequestStats) { r.add(func() { r.requests = append(r.requests, s) }) },
	}
}

func (r *record) add(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
}

// TestGarbageClosesTheConnection: each kind of damage costs its connection, one
// line in the log and one count, and nobody else.
func TestGarbageClosesTheConnection(t *testing.T) {
	cut := request(1, 1, metadata(false, "topic"))
	cut = append([]byte{0, 0, 0, byte(len(cut) - 4 - 3)}, cut[4:len(cut)-3]...)
	for _, c := range []struct {
		name string
		in   []byte
		why  gateway.CloseReason
	}{
		{"length 0", []byte{0, 0, 0, 0}, gateway.ClosedGarbage},
		{"length -1", []byte{0xff, 0xff, 0xff, 0xff}, gateway.ClosedGarbage},
		{"length 2 GiB", []byte{0x7f, 0xff, 0xff, 0xff, 0, 3}, gateway.ClosedGarbage},
		{"http", []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), gateway.ClosedGarbage},
		{"tls", []byte{0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3}, gateway.ClosedGarbage},
		{"body cut off", cut, gateway.ClosedGarbage},
		{"unknown key", []byte{0, 0, 0, 8, 0x27, 0x0f, 0, 0, 0, 0, 0, 1}, gateway.ClosedUnsupported},
		{"unknown version", []byte{0, 0, 0, 8, 0, 3, 0, 99, 0, 0, 0, 1}, gateway.ClosedUnsupported},
		{"produce v0", []byte{0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 1}, gateway.ClosedUnsupported},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "-"), func(t *testing.T) {
			var r record
			var log bytes.Buffer
			g, err := gatewaytest.New(gatewaytest.Options{Server: func(o *gateway.Options) {
				o.Observer, o.Logger = r.observer(), slog.New(slog.NewTextHandler(&log, nil))
			}})
			if err != nil {
				t.Fatal(err)
			}
			bad, good := dial(t, g.Addr), dial(t, g.Addr)
			// An answer that is due is still given.
			first := apiVersions()
			bad.write(append(request(3, 7, first), c.in...))
			bad.answer(7, first)
			bad.closed()
			good.ask(3, apiVersions())
			if err := errors.Join(good.conn.Close(), g.Close(t.Context())); err != nil {
				t.Fatal(err)
			}
			if len(r.closed) != 2 || !slices.Contains(r.closed, c.why) {
				t.Errorf("closed: %v", r.closed)
			}
			if lines := strings.Count(log.String(), "\n"); lines != 1 || !strings.Contains(log.String(), "reason="+string(c.why)) {
				t.Errorf("log: %s", log.String())
			}
		})
	}
}

// TestAnswersInOrder pipelines requests of different cost, a version of
// ApiVersions that isn't served among them, with one correlation id for all.
func TestAnswersInOrder(t *testing.T) {
	g := gatewaytest.Start(t, gatewaytest.Options{})
	c := dial(t, g.Addr)
	all := make([]kmsg.Request, 0, 500)
	var out []byte
	for i := range cap(all) {
		var req kmsg.Request
		version := int16(3)
		switch i % 4 {
		case 0:
			req = apiVersions()
		case 1:
			req, version = metadata(true, "t"+string(rune('a'+i%26))), 9
		case 2:
			hb := kmsg.NewPtrHeartbeatRequest()
			hb.Group, hb.MemberID = "nobody", "x"
			req = hb
		case 3:
			req, version = apiVersions(), 77
		}
		out = append(out, request(version, 5, req)...)
		if version == 77 {
			req.SetVersion(0)
		}
		all = append(all, req)
	}
	go func() { _, _ = c.conn.Write(out) }() // the answers show what arrived
	for i, req := range all {
		resp := c.answer(5, req)
		if av, ok := resp.(*kmsg.ApiVersionsResponse); ok && (av.ErrorCode == 35) != (i%4 == 3) {
			t.Fatalf("answer %d: code %d", i, av.ErrorCode)
		}
	}
}

// TestProducePassesAParkedFetch: on one connection, what comes behind a parked
// request takes effect, and its answer waits.
func TestProducePassesAParkedFetch(t *testing.T) {
	g := gatewaytest.Start(t, gatewaytest.Options{})
	c := dial(t, g.Addr)
	c.ask(9, metadata(true, "t"))
	parked := fetch("t", 0, 60_000)
	c.write(request(11, 1, parked))
	produce := kmsg.NewPtrProduceRequest()
	produce.Acks = -1
	rt := kmsg.NewProduceRequestTopic()
	rt.Topic = "t"
	rp := kmsg.NewProduceRequestTopicPartition()
	rp.Records = goldenBatch()
	rt.Partitions = append(rt.Partitions, rp)
	produce.Topics = append(produce.Topics, rt)
	c.write(request(8, 2, produce))
	got := c.answer(1, parked).(*kmsg.FetchResponse).Topics[0].Partitions[0]
	if got.ErrorCode != 0 || len(got.RecordBatches) == 0 {
		t.Fatalf("fetch: %+v", got)
	}
	if p := c.answer(2, produce).(*kmsg.ProduceResponse).Topics[0].Partitions[0]; p.ErrorCode != 0 {
		t.Fatalf("produce: code %d", p.ErrorCode)
	}
}

func fetch(topic string, offset int64, waitMillis int32) *kmsg.FetchRequest {
	req := kmsg.NewPtrFetchRequest()
	req.MaxWaitMillis, req.MinBytes, req.MaxBytes = waitMillis, 1, 1<<20
	rt := kmsg.NewFetchRequestTopic()
	rt.Topic = topic
	rp := kmsg.NewFetchRequestTopicPartition()
	rp.FetchOffset, rp.PartitionMaxBytes = offset, 1<<20
	rt.Partitions = append(rt.Partitions, rp)
	req.Topics = append(req.Topics, rt)
	return req
}

// reads is a broker that tells when a read began and ended.
type reads struct {
	*memory.Broker
	began, ended chan struct{}
}

func (b reads) Read(ctx context.Context, r backend.Read) ([]backend.ReadResult, error) {
	b.began <- struct{}{}
	defer func() { b.ended <- struct{}{} }()
	return b.Broker.Read(ctx, r)
}

// TestDisconnectEndsALongPoll: a client that goes leaves nothing waiting.
func TestDisconnectEndsALongPoll(t *testing.T) {
	b := reads{memory.New(nil), make(chan struct{}, 1), make(chan struct{}, 1)}
	g := gatewaytest.Start(t, gatewaytest.Options{Broker: b})
	c := dial(t, g.Addr)
	c.ask(9, metadata(true, "t"))
	c.write(request(11, 1, fetch("t", 0, 300_000)))
	<-b.began
	if err := c.conn.Close(); err != nil {
		t.Fatal(err)
	}
	<-b.ended
}

// TestShutdownDrains: a long poll is ended, its connection closed, new ones
// refused, within the time given.
func TestShutdownDrains(t *testing.T) {
	b := reads{memory.New(nil), make(chan struct{}, 1), make(chan struct{}, 1)}
	g, err := gatewaytest.New(gatewaytest.Options{Broker: b})
	if err != nil {
		t.Fatal(err)
	}
	c, idle := dial(t, g.Addr), dial(t, g.Addr)
	c.ask(9, metadata(true, "t"))
	c.write(request(11, 1, fetch("t", 0, 300_000)))
	<-b.began
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := g.Close(ctx); err != nil {
		t.Fatalf("close: %v", err)
	}
	idle.closed()
	// An answer may have been sent; then the end comes.
	if _, err := io.Copy(io.Discard, c.conn); isTimeout(err) {
		t.Errorf("the long poll's connection: %v", err)
	}
	if conn, err := net.Dial("tcp", g.Addr); err == nil {
		_ = conn.Close()
		t.Error("still listening")
	}
	if err := g.Server.Start(); !errors.Is(err, gateway.ErrClosed) {
		t.Errorf("start again: %v", err)
	}
}

// stuck is a broker that answers no list of topics before it is let go.
type stuck struct {
	*memory.Broker
	began, free chan struct{}
}

func (b stuck) ListTopics(ctx context.Context) ([]backend.Topic, error) {
	b.began <- struct{}{}
	select {
	case <-b.free:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return b.Broker.ListTopics(ctx)
}

// TestShutdownWaitsForAnswers, and gives up when its time is over.
func TestShutdownWaitsForAnswers(t *testing.T) {
	all := metadata(false)
	all.Topics = nil
	for _, letGo := range []bool{true, false} {
		b := stuck{memory.New(nil), make(chan struct{}, 1), make(chan struct{})}
		g, err := gatewaytest.New(gatewaytest.Options{Broker: b})
		if err != nil {
			t.Fatal(err)
		}
		c := dial(t, g.Addr)
		c.write(request(9, 1, all))
		<-b.began
		ctx, cancel := context.WithCancel(t.Context())
		closed := make(chan error, 1)
		go func() { closed <- g.Server.Shutdown(ctx) }()
		if letGo {
			close(b.free)
			c.answer(1, all)
		} else {
			cancel()
		}
		c.closed()
		if err := <-closed; (err == nil) != letGo {
			t.Errorf("let go %v: shutdown: %v", letGo, err)
		}
		cancel()
		if err := g.Close(t.Context()); err != nil {
			t.Errorf("close: %v", err)
		}
	}
}

// broken is a broker with a defect.
type broken struct{ *memory.Broker }

func (broken) ListTopics(context.Context) ([]backend.Topic, error) { panic("defect") }

func TestPanicCostsOneConnection(t *testing.T) {
	var r record
	g, err := gatewaytest.New(gatewaytest.Options{
		Broker: broken{memory.New(nil)},
		Server: func(o *gateway.Options) { o.Observer = r.observer() },
	})
	if err != nil {
		t.Fatal(err)
	}
	c, other := dial(t, g.Addr), dial(t, g.Addr)
	all := metadata(false)
	all.Topics = nil
	c.write(request(9, 1, all))
	c.closed()
	other.ask(3, apiVersions())
	if err := g.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := r.reasons(); len(got) != 2 || !slices.Contains(got, gateway.ClosedHandler) {
		t.Errorf("closed: %v", got)
	}
}

func TestConnectionsMax(t *testing.T) {
	var r record
	g := gatewaytest.Start(t, gatewaytest.Options{Server: func(o *gateway.Options) {
		o.ConnectionsMax, o.Observer = 2, r.observer()
	}})
	one, two := dial(t, g.Addr), dial(t, g.Addr)
	one.ask(3, apiVersions())
	two.ask(3, apiVersions())
	dial(t, g.Addr).closed()
	one.ask(3, apiVersions())
	r.add(func() {
		if r.opened != 2 || r.refused != 1 {
			t.Errorf("opened %d, refused %d", r.opened, r.refused)
		}
	})
}

func TestFrameBytesMax(t *testing.T) {
	g := gatewaytest.Start(t, gatewaytest.Options{Server: func(o *gateway.Options) { o.FrameBytesMax = 100 }})
	c := dial(t, g.Addr)
	c.ask(3, apiVersions())
	long := request(9, 1, metadata(false, strings.Repeat("x", 100)))
	c.write(long[:8])
	c.closed()
}

// TestMemoryIsGivenBack runs more requests than the budgets hold at a time,
// over connections that compete, and with one larger than the whole budget.
func TestMemoryIsGivenBack(t *testing.T) {
	g := gatewaytest.Start(t, gatewaytest.Options{Server: func(o *gateway.Options) {
		o.FrameBytesMax, o.RequestBytesMax, o.ResponseBytesMax, o.InFlightMax = 2000, 2000, 1000, 3
	}})
	var wait sync.WaitGroup
	for range 8 {
		c := dial(t, g.Addr)
		wait.Go(func() {
			for i := range 50 {
				name := strings.Repeat("x", 1+i*30%1500)
				c.ask(9, metadata(false, name))
			}
		})
	}
	wait.Wait()
}

// TestTimeouts in a bubble where time passes when everyone waits.
func TestTimeouts(t *testing.T) {
	for _, c := range []struct {
		name string
		send func(t *testing.T, conn net.Conn)
		want time.Duration
		why  gateway.CloseReason
	}{
		{"no first request", func(*testing.T, net.Conn) {}, time.Minute, gateway.ClosedIdle},
		{"idle", func(t *testing.T, conn net.Conn) { exchange(t, conn) }, 10 * time.Minute, gateway.ClosedIdle},
		{"inside a frame", func(t *testing.T, conn net.Conn) {
			if _, err := conn.Write(request(3, 1, apiVersions())[:20]); err != nil {
				t.Errorf("write: %v", err)
			}
		}, 30 * time.Second, gateway.ClosedIdle},
		{"a frame byte by byte", func(t *testing.T, conn net.Conn) {
			// A minute at the least rate, after the time for the first byte.
			frame := binary.BigEndian.AppendUint32(nil, 60*(32<<10))
			frame = append(frame, request(3, 1, apiVersions())[4:12]...)
			if _, err := conn.Write(frame); err != nil {
				t.Errorf("write: %v", err)
			}
			go func() {
				for {
					select {
					case <-time.After(10 * time.Second): // of the bubble's clock
					case <-t.Context().Done():
						return
					}
					if _, err := conn.Write([]byte{0}); err != nil {
						return
					}
				}
			}()
		}, 90 * time.Second, gateway.ClosedIdle},
		{"answer not taken", func(t *testing.T, conn net.Conn) {
			if _, err := conn.Write(request(3, 1, apiVersions())); err != nil {
				t.Errorf("write: %v", err)
			}
		}, 30 * time.Second, gateway.ClosedSlow},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "-"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var r record
				p := newPipes()
				g, err := gatewaytest.New(gatewaytest.Options{Server: func(o *gateway.Options) {
					o.Listen, o.Observer = p.listen, r.observer()
				}})
				if err != nil {
					t.Fatal(err)
				}
				conn := p.dial()
				start := time.Now()
				c.send(t, conn)
				for len(r.reasons()) == 0 {
					time.Sleep(time.Second) // of the bubble's clock
					synctest.Wait()
				}
				took := time.Since(start)
				if took < c.want || took > c.want+time.Second || r.reasons()[0] != c.why {
					t.Errorf("closed after %v as %v, want %v as %v", took, r.reasons(), c.want, c.why)
				}
				if err := errors.Join(g.Close(t.Context()), conn.Close()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func (r *record) reasons() (out []gateway.CloseReason) {
	r.add(func() { out = append(out, r.closed...) })
	return out
}

func exchange(t *testing.T, conn net.Conn) {
	t.Helper()
	if _, err := conn.Write(request(3, 1, apiVersions())); err != nil {
		t.Fatalf("write: %v", err)
	}
	var length [4]byte
	if _, err := io.ReadFull(conn, length[:]); err != nil {
		t.Fatalf("read: %v", err)
	}
	if _, err := io.CopyN(io.Discard, conn, int64(binary.BigEndian.Uint32(length[:]))); err != nil {
		t.Fatalf("read: %v", err)
	}
}

// TestWaitingIsNotIdle: a long poll longer than the idle timeout is answered.
func TestWaitingIsNotIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPipes()
		g, err := gatewaytest.New(gatewaytest.Options{Server: func(o *gateway.Options) {
			o.Listen, o.IdleTimeout = p.listen, time.Second
		}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := g.Broker.CreateTopic(t.Context(), backend.TopicSpec{Name: "t", Partitions: 1}); err != nil {
			t.Fatal(err)
		}
		c := &client{t, p.dial()}
		start := time.Now()
		req := fetch("t", 0, 20_000)
		c.write(request(11, 1, req))
		c.answer(1, req)
		if took := time.Since(start); took != 20*time.Second {
			t.Errorf("answered after %v", took)
		}
		if err := errors.Join(g.Close(t.Context()), c.conn.Close()); err != nil {
			t.Error(err)
		}
	})
}
