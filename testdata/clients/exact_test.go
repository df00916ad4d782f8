package clients

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// TestEveryByteComesBack produces what is likely to be changed on the way and
// compares every byte, from memory and, after a restart, rebuilt from disk with
// the tail cache off.
func TestEveryByteComesBack(t *testing.T) {
	s := start(t, append(ports(), "--data-dir", t.TempDir(), "--tail-cache-bytes", "0")...)
	o := newOrders(t, s.register("exact-value", orderSchema))
	at := time.UnixMilli(1_700_000_000_123)
	odd := []*kgo.Record{
		{Key: []byte("k"), Value: nil},
		{Key: nil, Value: []byte{}},
		{Key: []byte{}, Value: o.value(t, 5)},
		{Key: []byte("headers"), Value: o.value(t, 6), Headers: []kgo.RecordHeader{{Key: "a", Value: []byte("1")}, {Key: "a", Value: nil}, {Key: "", Value: []byte{}}}},
		{Key: []byte{0, 0, 0, 0, 9}, Value: []byte{0, 0, 0, 0, 200, 1, 2, 3}},
		{Key: []byte("long"), Value: []byte{0, 0, 0, 0, 0, 0, 0, 7}},
		{Key: []byte("cut"), Value: o.value(t, 7)[:9]},
		{Key: []byte("more"), Value: append(o.value(t, 8), 1)},
		{Key: []byte("short"), Value: []byte{0, 0, 0}},
		{Key: []byte("json"), Value: []byte(`{"a": 1}`)},
	}
	all := []*kgo.Record{}
	for i := range 500 {
		all = append(all, &kgo.Record{Key: fmt.Appendf(nil, "key-%d", i), Value: o.value(t, i)})
		if i%50 == 0 {
			r := *odd[i/50]
			all = append(all, &r)
		}
	}
	for i, r := range all {
		r.Timestamp = at.Add(time.Duration(i%7) * time.Second)
	}
	for _, codec := range []kgo.CompressionCodec{kgo.NoCompression(), kgo.GzipCompression(), kgo.SnappyCompression(), kgo.Lz4Compression(), kgo.ZstdCompression()} {
		cl := newClient(t, s, kgo.ProducerBatchCompression(codec))
		produce(t, cl, "exact", 0, len(all), func(i int) *kgo.Record { r := *all[i]; return &r })
	}
	check := func() {
		t.Helper()
		cl := newClient(t, s, kgo.ConsumeTopics("exact"))
		for i, got := range consume(t, cl, 5*len(all)) {
			if err := sameRecord(got, all[i%len(all)]); err != nil {
				t.Fatalf("record %d: %v", i, err)
			}
			if got.Offset != int64(i) {
				t.Fatalf("record %d has offset %d", i, got.Offset)
			}
		}
	}
	check()
	rebuilt := s.metric(`milena_stored_records_total{form="rebuilt"}`)
	if want := float64(5 * 500); rebuilt < want {
		t.Errorf("%v records are stored to be rebuilt, want at least %v", rebuilt, want)
	}
	s.kill()
	s.restart()
	check()
}

// TestStoredDataNeedsNoRegistry reads back every byte with the subject
// permanently deleted and the registry gone, also after a restart.
func TestStoredDataNeedsNoRegistry(t *testing.T) {
	registry := start(t, "--roles", "registry", "--registry-listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--data-dir", t.TempDir())
	args := []string{"--roles", "gateway,broker", "--kafka-listen", "127.0.0.1:0", "--broker-listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0",
		"--registry-url", registry.registry, "--data-dir", t.TempDir(), "--tail-cache-bytes", "0"}
	s := start(t, args...)
	o := newOrders(t, registerAt(registry, registry.registry, "orders-value", orderSchema))
	produce(t, newClient(t, s), "orders", 0, 1000, func(i int) *kgo.Record { return &kgo.Record{Value: o.value(t, i)} })
	if got := s.metric(`milena_stored_records_total{form="rebuilt"}`); got != 1000 {
		t.Fatalf("%v records are stored to be rebuilt, want 1000", got)
	}
	for _, path := range []string{"/subjects/orders-value", "/subjects/orders-value?permanent=true"} {
		if status, body := registry.request(http.MethodDelete, registry.registry+path, ""); status != 200 {
			t.Fatalf("DELETE %s: %d %s", path, status, body)
		}
	}
	registry.kill()
	check := func() {
		t.Helper()
		for i, got := range consume(t, newClient(t, s, kgo.ConsumeTopics("orders")), 1000) {
			if err := sameRecord(got, &kgo.Record{Value: o.value(t, i)}); err != nil {
				t.Fatalf("record %d: %v", i, err)
			}
		}
	}
	check()
	s.kill()
	s.args = append(s.args, "--tail-cache-bytes", "0")
	s.restart()
	check()
}
