package local_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"

	"milena/broker/journal"
	"milena/broker/journal/fs"
	"milena/broker/journal/journaltest"
	"milena/broker/journal/local"
)

// history is one seeded life of a journal, with crashes, against a model.
type history struct {
	t     *testing.T
	seed  uint64
	r     *rand.Rand
	files *fs.Memory
	j     *local.Journal
	log   []string

	next   int     // number of the next entry to append
	all    []model // what may be there, in order
	synced int     // of all, how many must be there after power loss
	kept   int     // of all, how many must be there after a killed process
	gone   int     // of all, how many may be trimmed
	faulty bool    // a fault is installed
	dirty  bool    // an append or sync failed: what was not synced may be there or not
}

type model struct {
	number   int
	position journal.Position
	end      journal.Position
}

const dir = "data/journal"

func (h *history) fatal(format string, args ...any) {
	h.t.Helper()
	for _, l := range h.log {
		h.t.Log(l)
	}
	h.t.Fatalf("seed %d: %s", h.seed, fmt.Sprintf(format, args...))
}

func (h *history) note(format string, args ...any) {
	h.log = append(h.log, fmt.Sprintf(format, args...))
}

// checkpoint is a position that is durable.
func (h *history) checkpoint() journal.Position {
	if h.synced == 0 {
		return 0
	}
	i := h.r.IntN(h.synced + 1)
	if i < h.gone {
		i = h.gone
	}
	if i == 0 {
		return 0
	}
	return h.all[i-1].end
}

func (h *history) options() local.Options {
	return local.Options{Dir: dir, FS: h.files, SegmentBytes: 4 << 10, Checkpoint: h.checkpoint()}
}

// open opens and compares with the model: the entries are the first ones of
// what was appended, at least must of them.
func (h *history) open(must int) {
	h.t.Helper()
	j, err := local.Open(h.options())
	if err != nil {
		h.fatal("open: %v", err)
	}
	h.j = j
	i := 0
	for i < len(h.all) && h.all[i].position < j.Start() {
		i++
	}
	if i > h.gone {
		h.fatal("%d entries gone, %d trimmed", i, h.gone)
	}
	err = j.Replay(context.Background(), j.Start(), func(p journal.Position, e journal.Entry) error {
		if i == len(h.all) {
			return errors.New("more than was appended")
		}
		want := journaltest.Entry(h.seed, h.all[i].number, 900)
		if p != h.all[i].position || !bytes.Equal(e.Chunk, want.Chunk) || !bytes.Equal(e.Commit, want.Commit) {
			return fmt.Errorf("entry at %d is not number %d at %d", p, h.all[i].number, h.all[i].position)
		}
		i++
		return nil
	})
	if err != nil {
		h.fatal("replay: %v", err)
	}
	if i < must {
		h.fatal("%d entries, %d were promised", i, must)
	}
	if i > 0 && j.End() != h.all[i-1].end {
		h.fatal("end %d after %d entries up to %d", j.End(), i, h.all[i-1].end)
	}
	h.note("open: %d of %d entries, %d promised, %+v", i, len(h.all), must, j.Recovered())
	h.all = h.all[:i]
	h.synced, h.kept, h.dirty = i, i, false // opening made them durable
}

func (h *history) append() {
	end := h.j.End()
	var entries []journal.Entry
	for i := range 1 + h.r.IntN(3) {
		entries = append(entries, journaltest.Entry(h.seed, h.next+i, 900))
	}
	positions, err := h.j.Append(entries)
	h.note("append %d at %d: %v", len(entries), end, err)
	// Entries of a failed write may be there after a crash if the journal
	// stopped, but never if the disk was full.
	switch {
	case errors.Is(err, journal.ErrFull):
		if h.j.End() != end {
			h.fatal("full, but the end moved")
		}
		h.next += len(entries)
		return
	case errors.Is(err, journal.ErrStopped):
		if h.dirty {
			return
		}
		h.dirty = true
	case err != nil:
		h.fatal("append: %v", err)
	}
	at := end
	for i, e := range entries {
		size := journal.Position(48+len(e.Chunk)+len(e.Commit)+7) &^ 7
		if err == nil && positions[i] != at {
			h.fatal("position %d, want %d", positions[i], at)
		}
		h.all = append(h.all, model{h.next, at, at + size})
		at += size
		h.next++
	}
	if err == nil {
		h.kept = len(h.all)
	}
}

func (h *history) sync() {
	err := h.j.Sync()
	h.note("sync: %v", err)
	switch {
	case err == nil && h.dirty:
		h.fatal("sync after a failure")
	case err == nil:
		h.synced = h.kept
	case errors.Is(err, journal.ErrStopped):
		h.dirty = true
	default:
		h.fatal("sync: %v", err)
	}
}

func (h *history) trim() {
	if h.synced == 0 {
		return
	}
	to := h.r.IntN(h.synced)
	err := h.j.Trim(h.all[to].position)
	h.note("trim to %d: %v", h.all[to].position, err)
	if err != nil && !h.faulty {
		h.fatal("trim: %v", err)
	}
	h.gone = max(h.gone, to)
}

// fault installs a random fault for a while.
func (h *history) fault() {
	op := []fs.Op{fs.OpWrite, fs.OpSync, fs.OpSyncDir, fs.OpRename, fs.OpCreate, fs.OpPreallocate, fs.OpTruncate, fs.OpRemove}[h.r.IntN(8)]
	reason := []error{syscall.EIO, syscall.ENOSPC}[h.r.IntN(2)]
	if op == fs.OpSync || op == fs.OpSyncDir || op == fs.OpTruncate || op == fs.OpRemove {
		reason = syscall.EIO
	}
	after := h.r.IntN(4)
	h.faulty = true
	part := h.r.Float64()
	h.note("fault: op %d, %v, after %d", op, reason, after)
	h.files.SetFault(func(o fs.Op, _ string, size int) (int, error) {
		if o != op {
			return 0, nil
		}
		if after--; after >= 0 {
			return 0, nil
		}
		return int(part * float64(size)), reason
	})
}

func (h *history) heal() {
	h.files.SetFault(nil)
	h.faulty = false
}

func (h *history) run(steps int, faults bool) {
	h.open(0)
	for range steps {
		switch k := h.r.IntN(100); {
		case k < 45:
			h.append()
		case k < 70:
			h.sync()
		case k < 74:
			h.trim()
		case k < 80 && faults:
			h.fault()
		case k < 84 && faults:
			h.heal()
		case k < 88:
			h.note("close")
			h.heal()
			if err := h.j.Close(); err != nil {
				h.fatal("close: %v", err)
			}
			h.open(h.kept)
		case k < 93:
			h.note("kill")
			h.files, h.faulty = h.files.Kill(), false
			h.open(h.kept)
		case k < 100:
			seed := h.r.Uint64()
			h.note("crash %d", seed)
			h.files, h.faulty = h.files.Crash(seed), false
			h.open(h.synced)
		}
	}
}

func histories(t *testing.T, count int, faults bool) {
	for seed := range uint64(count) {
		h := &history{t: t, seed: seed, r: rand.New(rand.NewPCG(seed, 3)), files: fs.NewMemory(seed)}
		h.run(60, faults)
	}
}

// TestCrashes: everything synced is there, in order; whatever is there is a
// prefix of what was appended; what a killed process appended is there.
func TestCrashes(t *testing.T) { histories(t, historyCount, false) }

// TestCrashesWithFaults adds failing writes, syncs, renames and full disks.
func TestCrashesWithFaults(t *testing.T) { histories(t, historyCount, true) }
