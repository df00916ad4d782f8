package local_test

import (
	"errors"
	"syscall"
	"testing"

	"milena/broker/journal/fs"
	"milena/broker/journal/local"
)

// TestTrimFails: a trim that fails half-way leaves no gap, whatever is trimmed
// later.
func TestTrimFails(t *testing.T) {
	for _, failing := range []fs.Op{fs.OpRemove, fs.OpSyncDir} {
		files, positions := written(t, 40)
		j, err := local.Open(local.Options{Dir: dir, FS: files, SegmentBytes: 4 << 10})
		if err != nil {
			t.Fatal(err)
		}
		calls := 0
		files.SetFault(func(op fs.Op, _ string, _ int) (int, error) {
			if op != failing {
				return 0, nil
			}
			if calls++; calls == 2 || calls == 4 {
				return 0, syscall.EIO
			}
			return 0, nil
		})
		for range 2 {
			if err := j.Trim(positions[36]); !errors.Is(err, syscall.EIO) {
				t.Fatalf("op %d: %v", failing, err)
			}
			if j.Start() == positions[36] {
				t.Fatalf("op %d: trimmed in spite of the error", failing)
			}
			for seed := range uint64(20) {
				if err := reopenError(files.Crash(seed)); err != nil {
					t.Fatalf("op %d, crash %d: %v", failing, seed, err)
				}
			}
		}
		if err := j.Trim(positions[36]); err != nil {
			t.Fatalf("op %d: %v", failing, err)
		}
		if n, err := count(j); n != 8 || err != nil {
			t.Errorf("op %d: %d entries left, %v", failing, n, err)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
