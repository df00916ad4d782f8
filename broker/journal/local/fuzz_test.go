package local_test

import (
	"context"
	"encoding/binary"
	"hash/crc32"
	"testing"

	"milena/broker/journal"
	"milena/broker/journal/fs"
	"milena/broker/journal/local"
)

// FuzzOpen: whatever is in a file behind its header, opening and replaying end
// without panic, and a journal that opened opens again, as it was, and can be
// appended to. Header CRCs are put right at every place that looks like an
// entry, so that the fuzzer gets past them.
func FuzzOpen(f *testing.F) {
	j, files := golden(f, nil)
	for i := range goldenEntries {
		if _, err := j.Append(goldenEntries[i : i+1]); err != nil {
			f.Fatal(err)
		}
	}
	file, err := files.Open(goldenName)
	if err != nil {
		f.Fatal(err)
	}
	raw := make([]byte, 4096)
	if _, err := file.ReadAt(raw, 0); err != nil {
		f.Fatal(err)
	}
	head := raw[:32]
	f.Add(raw[32:400])
	f.Add([]byte{})
	f.Add(make([]byte, 100))
	f.Fuzz(func(t *testing.T, body []byte) {
		body = append(append([]byte{}, head...), body...)
		for i := 32; i+48 <= len(body); i += 8 {
			if string(body[i:i+4]) == "MLNE" {
				binary.LittleEndian.PutUint32(body[i+44:], crc32.Checksum(body[i:i+44], crc32.MakeTable(crc32.Castagnoli)))
			}
		}
		files := fs.NewMemory(1)
		file, err := files.Create(goldenName)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.WriteAt(body, 0); err != nil {
			t.Fatal(err)
		}
		j, err := local.Open(local.Options{Dir: dir, FS: files, SegmentBytes: 4096})
		if err != nil {
			return
		}
		n, err := count(j)
		if err != nil {
			t.Fatalf("opened, but: %v", err)
		}
		if _, err := j.Append(goldenEntries[:1]); err != nil {
			t.Fatal(err)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		again, err := local.Open(local.Options{Dir: dir, FS: files, SegmentBytes: 4096})
		if err != nil {
			t.Fatalf("opened once, then: %v", err)
		}
		last := journal.Entry{}
		m := 0
		err = again.Replay(context.Background(), 0, func(_ journal.Position, e journal.Entry) error {
			last, m = journal.Entry{Chunk: append([]byte{}, e.Chunk...)}, m+1
			return nil
		})
		if err != nil || m != n+1 || string(last.Chunk) != string(goldenEntries[0].Chunk) {
			t.Fatalf("%d entries after %d and one more, %v", m, n, err)
		}
	})
}
