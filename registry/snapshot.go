package registry

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"sync"
	"unsafe"

	"milena/registry/state"
	"milena/registry/store"
)

// A snapshot saves a start from folding all of the log. It is derived, and
// trusted only if everything fits: else the log is folded from its beginning.
// The blob is a head, what state.View.WriteSnapshot writes, and the CRC-32C of
// both. The head is:
//
//	magic         8 bytes
//	program       32 bytes: state.Digest, as another program may fold otherwise
//	end           8 bytes, big-endian: the position after the last record in it
//	last          32 bytes: the digest of the record before end, so that a log
//	              that was replaced is told apart
const snapshotMagic = "MiRgSnap"

const snapshotHeadBytes = len(snapshotMagic) + sha256.Size + 8 + sha256.Size

// snapshotBytesMax is the largest snapshot that is read.
const snapshotBytesMax = 16 << 30

// errNoSnapshot says why a snapshot is not used.
var errNoSnapshot = errors.New("snapshot is not used")

// snapshots writes snapshots beside the writer. The writer owns it, but for
// what its goroutine does.
type snapshots struct {
	store store.Snapshots // nil: none
	every int64           // records between two, at least
	end   int64           // of the last snapshot that was begun or loaded
	work  sync.WaitGroup
	busy  chan struct{} // held by the goroutine
}

func newSnapshots(log store.Log, every int) *snapshots {
	s := &snapshots{every: int64(every), busy: make(chan struct{}, 1)}
	if every > 0 {
		s.store, _ = log.(store.Snapshots)
	}
	return s
}

// load returns the view and end of the log's snapshot.
func (s *snapshots) load(ctx context.Context, log store.Log) (*state.View, int64, error) {
	if s.store == nil {
		return nil, 0, fs.ErrNotExist
	}
	in, size, err := s.store.ReadSnapshot(ctx)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = in.Close() }() // it was only read
	if size < int64(snapshotHeadBytes+crc32.Size) || size > snapshotBytesMax {
		return nil, 0, fmt.Errorf("%w: %d bytes", errNoSnapshot, size)
	}
	data := allocateTexts(int(size))
	if _, err := io.ReadFull(in, data); err != nil {
		return nil, 0, fmt.Errorf("read snapshot: %w", err)
	}
	sum := data[len(data)-crc32.Size:]
	data = data[:len(data)-crc32.Size]
	program := state.Digest()
	head := bytes.NewBuffer(data[:snapshotHeadBytes])
	switch {
	case crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)) != binary.BigEndian.Uint32(sum):
		return nil, 0, fmt.Errorf("%w: checksum differs", errNoSnapshot)
	case string(head.Next(len(snapshotMagic))) != snapshotMagic, !bytes.Equal(head.Next(sha256.Size), program[:]):
		return nil, 0, fmt.Errorf("%w: another program wrote it", errNoSnapshot)
	}
	end := int64(binary.BigEndian.Uint64(head.Next(8)))
	last, err := lastDigest(ctx, log, end)
	if err != nil {
		return nil, 0, err
	}
	if !bytes.Equal(head.Next(sha256.Size), last[:]) {
		return nil, 0, fmt.Errorf("%w: it is of another log", errNoSnapshot)
	}
	v, err := state.ReadSnapshot(data[snapshotHeadBytes:], inPlace)
	if err != nil {
		return nil, 0, err
	}
	s.end = end
	return v, end, nil
}

// inPlace returns a string of bytes that are never written again.
func inPlace(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// lastDigest returns the digest of the record before end.
func lastDigest(ctx context.Context, log store.Log, end int64) (digest [sha256.Size]byte, err error) {
	for e, err := range log.Read(ctx, end-1) {
		if err != nil {
			return digest, fmt.Errorf("read the record before the snapshot: %w", err)
		}
		if e.Position != end-1 {
			break
		}
		b := binary.BigEndian.AppendUint64(nil, uint64(e.TimestampMillis))
		b = binary.BigEndian.AppendUint64(b, uint64(len(e.Key)))
		b = append(append(b, e.Key...), e.Value...)
		return sha256.Sum256(b), nil
	}
	return digest, fmt.Errorf("%w: the log ends before it", errNoSnapshot)
}

// offer writes a snapshot of v, in a goroutine, if enough was appended since the
// last one: the minimum, and a quarter of what there is, so that all writing of
// snapshots is a few times that of the log.
func (s *snapshots) offer(ctx context.Context, r *Registry, log store.Log, v *state.View, end int64) {
	if s.store == nil || end-s.end < s.every || end-s.end < s.end/4 {
		return
	}
	select {
	case s.busy <- struct{}{}:
	default:
		return // the last one is being written
	}
	s.end = end
	s.work.Go(func() {
		defer func() { <-s.busy }()
		if err := s.write(ctx, log, v, end); err != nil && ctx.Err() == nil {
			r.opt.Logger.Warn("registry snapshot was not written", "err", err)
		}
	})
}

func (s *snapshots) write(ctx context.Context, log store.Log, v *state.View, end int64) error {
	last, err := lastDigest(ctx, log, end)
	if err != nil {
		return err
	}
	return s.store.WriteSnapshot(ctx, func(to io.Writer) error {
		sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
		out := &stoppable{ctx, io.MultiWriter(to, sum)}
		program := state.Digest()
		head := append([]byte(snapshotMagic), program[:]...)
		head = binary.BigEndian.AppendUint64(head, uint64(end))
		if _, err := out.Write(append(head, last[:]...)); err != nil {
			return err
		}
		if err := v.WriteSnapshot(out); err != nil {
			return err
		}
		_, err := to.Write(sum.Sum(nil))
		return err
	})
}

// stoppable is a writer that ends with its context.
type stoppable struct {
	ctx context.Context
	to  io.Writer
}

func (w *stoppable) Write(b []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.to.Write(b)
}
