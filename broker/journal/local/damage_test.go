package local_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"milena/broker/journal"
	"milena/broker/journal/fs"
	"milena/broker/journal/local"
)

// written is a journal of a few files with n entries, each of its own group,
// of 100 bytes.
func written(t *testing.T, n int) (*fs.Memory, []journal.Position) {
	t.Helper()
	files := fs.NewMemory(1)
	j, err := local.Open(local.Options{Dir: dir, FS: files, SegmentBytes: 4 << 10})
	if err != nil {
		t.Fatal(err)
	}
	var positions []journal.Position
	for i := range n {
		p, err := j.Append([]journal.Entry{{Chunk: bytes.Repeat([]byte{byte(i)}, 400), Commit: fmt.Appendf(nil, "commit %2d", i)}})
		if err == nil {
			err = j.Sync()
		}
		if err != nil {
			t.Fatal(err)
		}
		positions = append(positions, p[0])
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	return files, positions
}

// entryBytes is the size of an entry of written.
const entryBytes = 464

// change changes bytes of the file that holds p, in place.
func change(t *testing.T, files *fs.Memory, p journal.Position, at int64, b []byte) {
	t.Helper()
	names, err := files.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	name, base := "", int64(0)
	for _, n := range names {
		var first int64
		if _, err := fmt.Sscanf(n, "%d.journal", &first); err == nil && first <= int64(p) {
			name, base = n, first
		}
	}
	f, err := files.Open(dir + "/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(b, int64(p)-base+32+at); err != nil {
		t.Fatal(err)
	}
}

func count(j *local.Journal) (int, error) {
	n := 0
	err := j.Replay(context.Background(), j.Start(), func(journal.Position, journal.Entry) error { n++; return nil })
	return n, err
}

// TestDamage damages one entry of 20 in three files of 8, at every kind of
// place.
func TestDamage(t *testing.T) {
	places := map[string]int64{"magic": 0, "version": 4, "position": 9, "synced": 17, "length": 25, "CRC": 33, "header CRC": 45, "chunk": 60, "commit": 450}
	for name, at := range places {
		for i := range 20 {
			files, positions := written(t, 20)
			change(t, files, positions[i], at, []byte{0xA5})
			j, err := local.Open(local.Options{Dir: dir, FS: files, SegmentBytes: 4 << 10})
			switch {
			case i < 16: // in a finished file, which only replay reads
				if err != nil {
					t.Fatalf("%s of entry %d: open: %v", name, i, err)
				}
				if n, err := count(j); n != i || !errors.Is(err, journal.ErrCorrupt) {
					t.Fatalf("%s of entry %d: replayed %d, %v", name, i, n, err)
				}
			case i < 19: // an entry behind it says that it was durable
				if !errors.Is(err, journal.ErrCorrupt) {
					t.Fatalf("%s of entry %d: open: %v", name, i, err)
				}
				if !errors.Is(reopenError(files), journal.ErrCorrupt) {
					t.Fatalf("%s of entry %d: a second open repaired it", name, i)
				}
				continue
			default: // not to be told from a torn tail
				if err != nil {
					t.Fatalf("%s of entry %d: open: %v", name, i, err)
				}
				if n, err := count(j); n != 19 || err != nil || j.Recovered().CutBytes == 0 || j.End() != positions[19] {
					t.Fatalf("%s of entry %d: %d entries, %v, %+v", name, i, n, err, j.Recovered())
				}
			}
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func reopenError(files *fs.Memory) error {
	j, err := local.Open(local.Options{Dir: dir, FS: files, SegmentBytes: 4 << 10})
	if err == nil {
		err = j.Close()
	}
	return err
}

// TestCheckpoint: damage before a checkpoint is never taken for a torn tail.
func TestCheckpoint(t *testing.T) {
	open := func(files *fs.Memory, checkpoint journal.Position) error {
		j, err := local.Open(local.Options{Dir: dir, FS: files, SegmentBytes: 4 << 10, Checkpoint: checkpoint})
		if err == nil {
			err = j.Close()
		}
		return err
	}
	files, positions := written(t, 20)
	end := positions[19] + entryBytes
	for _, c := range []journal.Position{0, positions[3], positions[19], end} {
		if err := open(files, c); err != nil {
			t.Errorf("checkpoint %d: %v", c, err)
		}
	}
	if err := open(files, end+8); !errors.Is(err, journal.ErrCorrupt) {
		t.Errorf("checkpoint behind the end: %v", err)
	}
	change(t, files, positions[19], 100, []byte{0xA5})
	if err := open(files, end); !errors.Is(err, journal.ErrCorrupt) {
		t.Errorf("damaged before the checkpoint: %v", err)
	}
	if err := open(files, positions[19]); err != nil {
		t.Errorf("damaged after the checkpoint: %v", err)
	}
	if err := open(fs.NewMemory(1), 8); !errors.Is(err, journal.ErrCorrupt) {
		t.Errorf("no files, but a checkpoint: %v", err)
	}
}

// TestStaleEntry: a valid entry that belongs elsewhere is not one.
func TestStaleEntry(t *testing.T) {
	files, positions := written(t, 20)
	last := make([]byte, entryBytes)
	f, err := files.Open(dir + "/" + fmt.Sprintf("%020d.journal", positions[16]))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.ReadAt(last, int64(positions[18]-positions[16])+32); err != nil {
		t.Fatal(err)
	}
	change(t, files, positions[19]+entryBytes, 0, last)
	j, err := local.Open(local.Options{Dir: dir, FS: files, SegmentBytes: 4 << 10})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if n, err := count(j); n != 20 || err != nil || j.Recovered().CutBytes == 0 {
		t.Errorf("%d entries, %v, %+v", n, err, j.Recovered())
	}
}

// TestFiles: files that are missing, strange or of another version.
func TestFiles(t *testing.T) {
	files, positions := written(t, 20)
	names, err := files.List(dir)
	if err != nil || len(names) != 3 {
		t.Fatal(names, err)
	}
	cases := []struct {
		name   string
		damage func(m *fs.Memory) error
		want   string
	}{
		{"first file missing", func(m *fs.Memory) error { return m.Remove(dir + "/" + names[0]) }, ""},
		{"middle file missing", func(m *fs.Memory) error { return m.Remove(dir + "/" + names[1]) }, "the next file begins"},
		{"unfinished new file", func(m *fs.Memory) error { return create(m, "00000000000000099999.journal.new") }, ""},
		{"empty file", func(m *fs.Memory) error { return create(m, "00000000000000009280.journal") }, "corrupt"},
		{"strange file", func(m *fs.Memory) error { return create(m, "notes.txt") }, "not a journal file"},
		{"strange number", func(m *fs.Memory) error { return create(m, "00000000000000000001.journal") }, "not a journal file"},
		{"file magic", func(m *fs.Memory) error { change(t, m, positions[16], -32, []byte{0}); return nil }, "not a journal file"},
		{"file version", func(m *fs.Memory) error { change(t, m, positions[16], -24, []byte{2}); return nil }, "CRC"},
		{"file base", func(m *fs.Memory) error { change(t, m, positions[16], -16, []byte{9}); return nil }, "CRC"},
		{"file renamed", func(m *fs.Memory) error {
			return m.Rename(dir+"/"+names[2], dir+"/"+fmt.Sprintf("%020d.journal", positions[16]+8))
		}, "corrupt"},
	}
	for _, c := range cases {
		m := files.Kill()
		if err := c.damage(m); err != nil {
			t.Fatal(err)
		}
		err := reopenError(m)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func create(m *fs.Memory, name string) error {
	f, err := m.Create(dir + "/" + name)
	if err != nil {
		return err
	}
	return f.Close()
}

func TestOptions(t *testing.T) {
	for name, o := range map[string]local.Options{
		"no folder": {}, "segment": {Dir: "x", SegmentBytes: 100},
		"entry": {Dir: "x", EntryBytesMax: 1 << 40}, "checkpoint": {Dir: "x", Checkpoint: -1},
	} {
		o.FS = fs.NewMemory(1)
		if _, err := local.Open(o); err == nil || o.Validate() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
