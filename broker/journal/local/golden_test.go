package local_test

import (
	"context"
	"encoding/hex"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"milena/broker/journal"
	"milena/broker/journal/fs"
	"milena/broker/journal/local"
)

// The flag adds files that are missing. Existing ones are never rewritten:
// they stand for data on users' disks.
var addGolden = flag.Bool("add-golden", false, "write golden files that don't exist yet")

var goldenEntries = []journal.Entry{
	{Chunk: []byte("first chunk"), Commit: []byte("first commit")},
	{Commit: []byte("no chunk")},
	{Chunk: []byte{0, 0, 0}, Commit: []byte{0}},
}

// TestGolden: a file of version 1 opens, and is still written like that.
func TestGolden(t *testing.T) {
	const size = 4096
	raw := make([]byte, size)
	j, files := golden(t, nil)
	for _, group := range [][]journal.Entry{goldenEntries[:2], goldenEntries[2:]} {
		if _, err := j.Append(group); err != nil {
			t.Fatal(err)
		}
		if err := j.Sync(); err != nil {
			t.Fatal(err)
		}
	}
	f, err := files.Open(goldenName)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.ReadAt(raw, 0); err != nil {
		t.Fatal(err)
	}
	text := hex.EncodeToString(raw[:j.End()+32])
	path := filepath.Join("testdata", "v1.hex")
	if _, err := os.Stat(path); os.IsNotExist(err) && *addGolden {
		var lines strings.Builder
		for i := 0; i < len(text); i += 64 {
			lines.WriteString(text[i:min(i+64, len(text))] + "\n")
		}
		if err := os.WriteFile(path, []byte(lines.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	frozen := strings.ReplaceAll(string(b), "\n", "")
	if frozen != text {
		t.Errorf("written differently now:\n%s", text)
	}
	if raw, err = hex.DecodeString(frozen); err != nil {
		t.Fatal(err)
	}
	j, _ = golden(t, raw)
	i := 0
	err = j.Replay(context.Background(), 0, func(_ journal.Position, e journal.Entry) error {
		if string(e.Chunk) != string(goldenEntries[i].Chunk) || string(e.Commit) != string(goldenEntries[i].Commit) {
			t.Errorf("entry %d is %q", i, e)
		}
		i++
		return nil
	})
	if err != nil || i != len(goldenEntries) {
		t.Errorf("%d entries, %v", i, err)
	}
}

const goldenName = dir + "/00000000000000000000.journal"

// golden opens a journal whose only file has the bytes of raw, or a new one.
func golden(t testing.TB, raw []byte) (*local.Journal, *fs.Memory) {
	t.Helper()
	files := fs.NewMemory(1)
	if raw != nil {
		f, err := files.Create(goldenName)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteAt(raw, 0); err != nil {
			t.Fatal(err)
		}
	}
	j, err := local.Open(local.Options{Dir: dir, FS: files, SegmentBytes: 4096})
	if err != nil {
		t.Fatal(err)
	}
	return j, files
}
