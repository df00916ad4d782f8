package clients

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestGarbageOnEveryPort sends noise, half requests and huge lengths to each
// port; the process answers or hangs up, lives, and keeps its memory.
func TestGarbageOnEveryPort(t *testing.T) {
	s := start(t, append(ports(), "--data-dir", t.TempDir())...)
	before := s.rss()
	noise := rand.New(rand.NewPCG(1, 2))
	random := make([]byte, 64<<10)
	for i := range random {
		random[i] = byte(noise.Uint32())
	}
	huge := binary.BigEndian.AppendUint32(nil, 0x7fffffff)
	for _, address := range []string{strings.TrimPrefix(s.registry, "http://"), s.kafka, s.broker, strings.TrimPrefix(s.admin, "http://")} {
		for _, sent := range [][]byte{random, random[:3], huge, append(huge, random...), {0xff, 0xff, 0xff, 0xff}, make([]byte, 4096), []byte("GET / HTTP/1.1\r\n\r\n"), []byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\xff\xff\x01")} {
			for range 5 {
				c, err := net.DialTimeout("tcp", address, 5*time.Second)
				if err != nil {
					t.Fatalf("%s: %v", address, err)
				}
				_ = c.SetDeadline(time.Now().Add(5 * time.Second))
				_, _ = c.Write(sent)
				if tcp, ok := c.(*net.TCPConn); ok {
					_ = tcp.CloseWrite()
				}
				if _, err := io.Copy(io.Discard, c); errors.Is(err, errTimeout(err)) {
					t.Errorf("%s: still open 5 s after %q", address, sent[:min(8, len(sent))])
				}
				c.Close()
			}
		}
	}
	if after := s.rss(); after > before+128<<20 {
		t.Errorf("memory went from %d to %d MiB", before>>20, after>>20)
	}
	s.stillWorks()
}

func errTimeout(err error) error {
	var ne net.Error
	if errors.As(err, &ne) && ne.Timeout() {
		return err
	}
	return errors.New("no time-out")
}

// stillWorks registers, produces and reads one record.
func (s *server) stillWorks() {
	s.t.Helper()
	o := newOrders(s.t, s.register("alive-value", orderSchema))
	produce(s.t, newClient(s.t, s), "alive", 0, 1, func(i int) *kgo.Record { return &kgo.Record{Value: o.value(s.t, i)} })
	consume(s.t, newClient(s.t, s, kgo.ConsumeTopics("alive")), 1)
	if status, body := s.request(http.MethodGet, s.admin+"/readyz", ""); status != 200 {
		s.t.Errorf("/readyz: %d %s", status, body)
	}
}

// TestHostileSchemasAndData wants an answer, not a crash.
func TestHostileSchemasAndData(t *testing.T) {
	s := start(t, append(ports(), "--data-dir", t.TempDir())...)
	for name, deep := range map[string]string{
		"arrays": strings.Repeat(`{"type":"array","items":`, 100_000) + `"int"` + strings.Repeat("}", 100_000),
		"unions": strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000),
		"types":  strings.Repeat(`{"type":`, 100_000) + `"int"` + strings.Repeat("}", 100_000),
	} {
		body, _ := json.Marshal(map[string]string{"schema": deep})
		began := time.Now()
		if status, answer := s.request(http.MethodPost, s.registry+"/subjects/deep-value/versions", string(body)); status != 422 || !strings.Contains(answer, `"error_code":422`) {
			t.Errorf("a schema of 100,000 levels of %s: %d %s", name, status, tail(answer, 300))
		}
		if d := time.Since(began); d > 5*time.Second {
			t.Errorf("a schema of 100,000 levels of %s took %v", name, d)
		}
	}
	list := s.register("list-value", `{"type":"record","name":"Node","fields":[{"name":"next","type":["null","Node"]}]}`)
	nulls := s.register("nulls-value", `{"type":"array","items":"null"}`)
	bomb := binary.AppendVarint(envelope(nulls), 1<<60)
	values := map[string][]byte{
		"a recursive datum of 5 MB": append(envelope(list), bytes.Repeat([]byte{2}, 5_000_000)...),
		"2^60 nulls":                append(bomb, 0),
		"an unknown id":             append(envelope(1<<30), 1, 2, 3),
		"half an envelope":          {0, 0, 0},
	}
	cl := newClient(t, s, kgo.RecordRetries(1), kgo.ProducerBatchMaxBytes(10<<20))
	createTopic(t, cl, "permissive", "max.message.bytes", "10000000")
	createTopic(t, cl, "strict", "max.message.bytes", "10000000", "milena.value.validation", "strict")
	before := s.rss()
	for name, v := range values {
		produce(t, cl, "permissive", 0, 1, func(int) *kgo.Record { return &kgo.Record{Value: v} })
		if err := cl.ProduceSync(t.Context(), &kgo.Record{Topic: "strict", Value: v}).FirstErr(); !errors.Is(err, kerr.InvalidRecord) {
			t.Errorf("%s on a strict topic: %v, want INVALID_RECORD", name, err)
		}
	}
	got := map[string]bool{}
	for _, r := range consume(t, newClient(t, s, kgo.ConsumeTopics("permissive")), len(values)) {
		got[string(r.Value)] = true
	}
	for name, v := range values {
		if !got[string(v)] {
			t.Errorf("%s did not come back", name)
		}
	}
	if raw := s.metric(`milena_stored_records_total{form="raw"}`); raw != float64(len(values)) {
		t.Errorf("%v records are stored raw, want %d", raw, len(values))
	}
	if after := s.rss(); after > before+200<<20 {
		t.Errorf("memory went from %d to %d MiB", before>>20, after>>20)
	}
	s.stillWorks()
}

// createTopic creates a topic of one partition with configs, name and value in
// turn.
func createTopic(t *testing.T, cl *kgo.Client, name string, configs ...string) {
	t.Helper()
	req := kmsg.NewPtrCreateTopicsRequest()
	rt := kmsg.NewCreateTopicsRequestTopic()
	rt.Topic, rt.NumPartitions, rt.ReplicationFactor = name, 1, 1
	for i := 0; i < len(configs); i += 2 {
		c := kmsg.NewCreateTopicsRequestTopicConfig()
		c.Name, c.Value = configs[i], &configs[i+1]
		rt.Configs = append(rt.Configs, c)
	}
	req.Topics = append(req.Topics, rt)
	resp, err := req.RequestWith(t.Context(), cl)
	if err != nil || resp.Topics[0].ErrorCode != 0 {
		t.Fatalf("create topic %s: %v, %+v", name, err, resp)
	}
}

// TestManyFetchesAtOnce: one client that asks for far more than it takes costs
// the memory of an answer or two, and hinders nobody.
func TestManyFetchesAtOnce(t *testing.T) {
	s := start(t, append(ports(), "--data-dir", t.TempDir(), "--tail-cache-bytes", "0")...)
	cl := newClient(t, s, kgo.ProducerBatchCompression(kgo.NoCompression()))
	produce(t, cl, "large", 0, 80, func(i int) *kgo.Record { return &kgo.Record{Value: bytes.Repeat([]byte{byte(i)}, 900_000)} })
	before := s.rss()
	req := kmsg.NewPtrFetchRequest()
	req.Version, req.MaxBytes, req.MinBytes = 4, 50<<20, 1
	rt, rp := kmsg.NewFetchRequestTopic(), kmsg.NewFetchRequestTopicPartition()
	rt.Topic, rp.PartitionMaxBytes = "large", 50<<20
	rt.Partitions = append(rt.Partitions, rp)
	req.Topics = append(req.Topics, rt)
	frame := kmsg.NewRequestFormatter(kmsg.FormatterClientID("greedy")).AppendRequest(nil, req, 1)
	c, err := net.Dial("tcp", s.kafka)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for range 100 {
		if _, err := c.Write(frame); err != nil {
			t.Fatal(err)
		}
	}
	var most int64
	stop := time.After(3 * time.Second)
	for watching := true; watching; {
		select {
		case <-stop:
			watching = false
		case <-time.After(20 * time.Millisecond):
			most = max(most, s.rss())
		}
	}
	if most > before+400<<20 {
		t.Errorf("memory went from %d to %d MiB", before>>20, most>>20)
	}
	s.stillWorks()
}

// TestStrictTopic wants bad records refused with INVALID_RECORD, and nothing of
// their batch stored.
func TestStrictTopic(t *testing.T) {
	s := start(t, append(ports(), "--data-dir", t.TempDir(), "--validation", "strict")...)
	o := newOrders(t, s.register("checked-value", orderSchema))
	cl := newClient(t, s, kgo.DisableIdempotentWrite(), kgo.ProducerLinger(50*time.Millisecond))
	good := func(i int) *kgo.Record { return &kgo.Record{Topic: "checked", Value: o.value(t, i)} }
	if err := cl.ProduceSync(t.Context(), good(1), good(2)).FirstErr(); err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string][]byte{
		"truncated":     o.value(t, 3)[:8],
		"unknown id":    append(envelope(4711), 1),
		"no envelope":   []byte("plain"),
		"trailing byte": append(o.value(t, 3), 0),
	} {
		err := cl.ProduceSync(t.Context(), good(3), &kgo.Record{Topic: "checked", Value: v}).FirstErr()
		if !errors.Is(err, kerr.InvalidRecord) {
			t.Errorf("%s: %v, want INVALID_RECORD", name, err)
		}
	}
	if err := cl.ProduceSync(t.Context(), good(4), &kgo.Record{Topic: "checked", Key: []byte("tombstone")}).FirstErr(); err != nil {
		t.Errorf("a tombstone: %v", err)
	}
	records := consume(t, newClient(t, s, kgo.ConsumeTopics("checked")), 4)
	for i, want := range []int{1, 2, 4} {
		if string(records[i].Value) != string(o.value(t, want)) || records[i].Offset != int64(i) {
			t.Errorf("record %d at offset %d is not order %d", i, records[i].Offset, want)
		}
	}
}
