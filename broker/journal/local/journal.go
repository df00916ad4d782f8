package local

import (
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"path/filepath"
	"slices"
	"sort"
	"sync"

	"milena/broker/journal"
	"milena/broker/journal/fs"
)

// Journal is a journal.Journal in files.
type Journal struct {
	options Options
	lock    io.Closer
	// recovered is set by Open only.
	recovered Recovery

	// write guards the fields of the appending side.
	write   sync.Mutex
	stopped error            // why nothing is appended any more
	synced  journal.Position // everything before is durable
	buffer  []byte

	// trim makes calls of Trim come one after the other.
	trim sync.Mutex

	// mu guards the list of segments and the end, which readers need. Only
	// holders of write add segments or move the end, only holders of trim
	// remove segments.
	mu       sync.RWMutex
	segments []*segment // ascending, never empty while open; the last is appended to
	end      journal.Position
	closed   bool
}

// segment is one file. Its fields don't change.
type segment struct {
	base journal.Position
	file fs.File
	name string // path
}

// offset returns the place of p in the file.
func (s *segment) offset(p journal.Position) int64 { return int64(p-s.base) + segmentHeader }

// Recovery is what Open found.
type Recovery struct {
	// SegmentCount is the number of files.
	SegmentCount int
	// CutBytes is the size of the torn tail that was cut.
	CutBytes int64
	// RewrittenBytes is the size of the entries that no later one proved
	// durable, and that were written and synced again.
	RewrittenBytes int64
}

// bufferKept is the capacity up to which the write buffer is kept.
const bufferKept = 8 << 20

// Recovered returns what Open found.
func (j *Journal) Recovered() Recovery { return j.recovered }

// Append implements journal.Journal. All entries of a call go into one file.
func (j *Journal) Append(entries []journal.Entry) ([]journal.Position, error) {
	j.write.Lock()
	defer j.write.Unlock()
	if j.stopped != nil {
		return nil, j.stopped
	}
	size := int64(0)
	for i := range entries {
		e := &entries[i]
		if len(e.Commit) == 0 {
			return nil, errors.New("journal: append: entry without commit record")
		}
		if int64(len(e.Chunk))+int64(len(e.Commit)) > j.options.EntryBytesMax {
			return nil, fmt.Errorf("append %d bytes: %w", len(e.Chunk)+len(e.Commit), journal.ErrTooLarge)
		}
		size += entrySize(int64(len(e.Chunk)), int64(len(e.Commit)))
	}
	if size == 0 {
		return nil, nil
	}
	tail := j.segments[len(j.segments)-1]
	if at := tail.offset(j.end); at > segmentHeader && at+size > j.options.SegmentBytes {
		if err := j.rotate(size); err != nil {
			return nil, err
		}
		tail = j.segments[len(j.segments)-1]
	}
	positions := make([]journal.Position, len(entries))
	j.buffer = slices.Grow(j.buffer[:0], int(size))
	for i := range entries {
		positions[i] = j.end + journal.Position(len(j.buffer))
		j.buffer = appendEntry(j.buffer, positions[i], j.synced, entries[i])
	}
	_, err := tail.file.WriteAt(j.buffer, tail.offset(j.end))
	if cap(j.buffer) > bufferKept {
		j.buffer = nil
	}
	if err != nil {
		return nil, j.failedWrite(tail, err)
	}
	j.moveEnd(j.end + journal.Position(size))
	return positions, nil
}

// failedWrite cuts off what a full disk let through, and stops the journal
// for every other error.
func (j *Journal) failedWrite(tail *segment, err error) error {
	if !fs.IsFull(err) {
		return j.stop("write", err)
	}
	if cut := tail.file.Truncate(tail.offset(j.end)); cut != nil {
		return j.stop("cut partial write", cut)
	}
	// Else whole entries of the failed write could come back after a crash.
	// This sync covers everything before too.
	if cut := tail.file.Sync(); cut != nil {
		return j.stop("sync cut", cut)
	}
	j.synced = j.end
	return fmt.Errorf("append: %w: %w", journal.ErrFull, err)
}

// Sync implements journal.Journal.
func (j *Journal) Sync() error {
	j.write.Lock()
	defer j.write.Unlock()
	if j.stopped != nil {
		return j.stopped
	}
	if j.synced == j.end {
		return nil
	}
	if err := j.segments[len(j.segments)-1].file.Sync(); err != nil {
		return j.stop("sync", err)
	}
	j.synced = j.end
	return nil
}

// stop makes every later Append and Sync fail; write is held.
func (j *Journal) stop(operation string, err error) error {
	j.stopped = fmt.Errorf("%w: %s: %w", journal.ErrStopped, operation, err)
	return j.stopped
}

// rotate begins a new file that has room for an append of size bytes. The new
// file is complete and durable before it gets its name, and the old one is
// synced before that, so that all files but the last are whole. write is held.
func (j *Journal) rotate(size int64) error {
	next, err := createSegment(j.options, j.end, size)
	if err != nil {
		if fs.IsFull(err) {
			return fmt.Errorf("append: %w: %w", journal.ErrFull, err)
		}
		return j.stop("create file", err)
	}
	tail := j.segments[len(j.segments)-1]
	if err := tail.file.Truncate(tail.offset(j.end)); err != nil {
		return j.stop("finish file", errors.Join(err, next.file.Close()))
	}
	if err := tail.file.Sync(); err != nil {
		return j.stop("sync finished file", errors.Join(err, next.file.Close()))
	}
	j.synced = j.end
	if err := publishSegment(j.options, next); err != nil {
		return j.stop("name file", errors.Join(err, next.file.Close()))
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.segments = append(slices.Clip(j.segments), next)
	return nil
}

// createSegment makes a durable file that has no name of a segment yet.
func createSegment(o Options, base journal.Position, room int64) (*segment, error) {
	s := &segment{base: base, name: filepath.Join(o.Dir, segmentName(base))}
	temporary := filepath.Join(o.Dir, fmt.Sprintf("%020d%s", base, newSuffix))
	f, err := o.FS.Create(temporary)
	if err != nil {
		return nil, err
	}
	s.file = f
	err = f.Preallocate(max(o.SegmentBytes, segmentHeader+room))
	if err == nil {
		_, err = f.WriteAt(appendSegmentHeader(nil, base), 0)
	}
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		return nil, errors.Join(err, f.Close(), o.FS.Remove(temporary))
	}
	return s, nil
}

// publishSegment gives a created file its name.
func publishSegment(o Options, s *segment) error {
	temporary := filepath.Join(o.Dir, fmt.Sprintf("%020d%s", s.base, newSuffix))
	if err := o.FS.Rename(temporary, s.name); err != nil {
		return err
	}
	return o.FS.SyncDir(o.Dir)
}

func (j *Journal) moveEnd(end journal.Position) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.end = end
}

// Start implements journal.Journal.
func (j *Journal) Start() journal.Position {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return j.segments[0].base
}

// End implements journal.Journal.
func (j *Journal) End() journal.Position {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return j.end
}

// Trim implements journal.Journal. It removes the files all of whose entries
// are before p, but never the last file. After an error nothing is lost, and
// trimming may be tried again.
func (j *Journal) Trim(p journal.Position) error {
	j.trim.Lock()
	defer j.trim.Unlock()
	for {
		s := j.trimmable(p)
		if s == nil {
			return nil
		}
		// In order, and each durable before the next, lest a crash or an error
		// leaves a gap. One that a failed attempt removed is no error.
		err := j.options.FS.Remove(s.name)
		if err == nil || errors.Is(err, iofs.ErrNotExist) {
			err = j.options.FS.SyncDir(j.options.Dir)
		}
		if err != nil {
			return fmt.Errorf("trim %s: %w", s.name, err)
		}
		j.dropFirst()
		// A reader that still has the file gets an error from it.
		if err := s.file.Close(); err != nil {
			return fmt.Errorf("trim %s: %w", s.name, err)
		}
	}
}

// trimmable returns the first segment if it ends before or at p.
func (j *Journal) trimmable(p journal.Position) *segment {
	j.mu.RLock()
	defer j.mu.RUnlock()
	if j.closed || len(j.segments) < 2 || j.segments[1].base > p {
		return nil
	}
	return j.segments[0]
}

// dropFirst takes the first segment off the list; trim is held, so that Close
// didn't come in between.
func (j *Journal) dropFirst() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.segments = slices.Clone(j.segments[1:])
}

// Close implements journal.Journal.
func (j *Journal) Close() error {
	j.write.Lock()
	defer j.write.Unlock()
	j.trim.Lock()
	defer j.trim.Unlock()
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return nil
	}
	j.closed = true
	j.stopped = fmt.Errorf("%w: closed", journal.ErrStopped)
	var err error
	for _, s := range j.segments {
		err = errors.Join(err, s.file.Close())
	}
	return errors.Join(err, j.lock.Close())
}

// find returns the segment that holds p, and the end of what may be read of
// it.
func (j *Journal) find(p journal.Position) (*segment, journal.Position, error) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	switch {
	case j.closed:
		return nil, 0, fmt.Errorf("%w: closed", journal.ErrStopped)
	case p < j.segments[0].base:
		return nil, 0, journal.ErrTrimmed
	case p > j.end:
		return nil, 0, fmt.Errorf("%w: beyond the end", journal.ErrCorrupt)
	}
	i := sort.Search(len(j.segments), func(i int) bool { return j.segments[i].base > p }) - 1
	if i+1 < len(j.segments) {
		return j.segments[i], j.segments[i+1].base, nil
	}
	return j.segments[i], j.end, nil
}
