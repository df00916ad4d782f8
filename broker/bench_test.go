package broker

import (
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"

	"milena/broker/api"
	"milena/broker/journal/local"
	journalmemory "milena/broker/journal/memory"
	"milena/broker/stored"
)

// benchBatch is a batch of 100 records of 240 bytes, about what Avro records
// of 12 fields take packed.
func benchBatch(b *testing.B) []byte {
	b.Helper()
	var builder stored.Builder
	for i := range int32(100) {
		value := fmt.Appendf(make([]byte, 0, 240), "%0240d", i)
		if err := builder.Add(&stored.Record{
			OffsetDelta: i, Key: stored.Payload{Null: true, Schema: -1},
			Value: stored.Payload{Schema: -1, Raw: value, HasRaw: true}, Headers: []byte{0},
		}); err != nil {
			b.Fatal(err)
		}
	}
	builder.Header = stored.Header{ProducerID: -1, ProducerEpoch: -1, BaseSequence: -1, LastOffsetDelta: 99, EncodedSize: 26_000}
	out, err := builder.Append(nil)
	if err != nil {
		b.Fatal(err)
	}
	return out
}

// BenchmarkAppend has many callers append batches of 100 records, each call
// waiting for its answer.
func BenchmarkAppend(b *testing.B) {
	for _, c := range []struct {
		name string
		open func(b *testing.B) Options
	}{
		{"memory", func(*testing.B) Options {
			return Options{Journal: journalmemory.New(journalmemory.Options{BytesMax: 64 << 30})}
		}},
		{"disk", func(b *testing.B) Options {
			j, err := local.Open(local.Options{Dir: filepath.Join(b.TempDir(), "j")})
			if err != nil {
				b.Fatal(err)
			}
			return Options{Journal: j}
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			br := openBroker(b, c.open(b))
			top, err := br.CreateTopic(context.Background(), api.TopicSpec{Name: "t", Partitions: 8})
			if err != nil {
				b.Fatal(err)
			}
			batch := benchBatch(b)
			b.SetBytes(int64(len(batch)))
			b.SetParallelism(32)
			b.ReportAllocs()
			var next atomic.Int32
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				p := api.Partition{Topic: top.ID, Index: next.Add(1) % 8}
				for pb.Next() {
					out, err := br.Append(context.Background(), api.Synced, []api.Append{{Partition: p, Batch: batch}})
					if err != nil || out[0].Err != nil {
						b.Error(err, out)
						return
					}
				}
			})
			b.ReportMetric(float64(b.N)*100/b.Elapsed().Seconds(), "records/s")
		})
	}
}

// BenchmarkRead reads 1 MiB at a time, from memory and from the journal.
func BenchmarkRead(b *testing.B) {
	for _, tail := range []int64{-1, 64 << 20} {
		b.Run(fmt.Sprint("tail ", tail), func(b *testing.B) {
			j, err := local.Open(local.Options{Dir: filepath.Join(b.TempDir(), "j")})
			if err != nil {
				b.Fatal(err)
			}
			br := openBroker(b, Options{Journal: j, TailBytesMax: tail})
			p := newTestTopic(b, br, "t")
			batch := benchBatch(b)
			for range 200 {
				if out, err := br.Append(context.Background(), api.Synced, []api.Append{{Partition: p, Batch: batch}}); err != nil || out[0].Err != nil {
					b.Fatal(err, out)
				}
			}
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				r := read1(b, br, p, int64(i%150)*100)
				if r.Err != nil || len(r.Batches) == 0 {
					b.Fatal(r.Err)
				}
				b.SetBytes(int64(len(r.Batches) * len(batch)))
			}
		})
	}
}
