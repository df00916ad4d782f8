package local_test

import (
	"fmt"
	"testing"

	"milena/broker/journal"
	"milena/broker/journal/local"
)

// BenchmarkAppendSync appends and syncs groups of entries of 25 KB, about 100
// records each, on the disk under the temporary folder.
func BenchmarkAppendSync(b *testing.B) {
	for _, group := range []int{1, 10, 40} {
		b.Run(fmt.Sprint("entries=", group), func(b *testing.B) {
			j, err := local.Open(local.Options{Dir: b.TempDir()})
			if err != nil {
				b.Fatal(err)
			}
			defer j.Close()
			entries := make([]journal.Entry, group)
			for i := range entries {
				entries[i] = journal.Entry{Chunk: make([]byte, 25_000), Commit: make([]byte, 100)}
			}
			b.SetBytes(int64(group) * 25_100)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := j.Append(entries); err != nil {
					b.Fatal(err)
				}
				if err := j.Sync(); err != nil {
					b.Fatal(err)
				}
				if j.End()-j.Start() > 1<<28 {
					if err := j.Trim(j.End()); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.N*group)/b.Elapsed().Seconds(), "entries/s")
		})
	}
}

// BenchmarkReadChunk reads batches of 25 KB that are in the page cache.
func BenchmarkReadChunk(b *testing.B) {
	j, err := local.Open(local.Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer j.Close()
	p, err := j.Append([]journal.Entry{{Chunk: make([]byte, 100_000), Commit: make([]byte, 100)}})
	if err != nil {
		b.Fatal(err)
	}
	var buffer []byte
	b.SetBytes(25_000)
	b.ReportAllocs()
	for b.Loop() {
		if buffer, err = j.ReadChunk(p[0], 25_000, 25_000, buffer[:0]); err != nil {
			b.Fatal(err)
		}
	}
}
