package local

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"

	"milena/broker/journal"
)

// Open opens the journal in a folder, or begins one. It fails with
// fs.ErrLocked if another process has it and with journal.ErrCorrupt if
// something that was durable is damaged; then nothing is changed.
func Open(o Options) (*Journal, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	if err := o.FS.MkdirAll(o.Dir); err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	lock, err := o.FS.Lock(filepath.Join(o.Dir, lockName))
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	j := &Journal{options: o, lock: lock}
	err = j.openSegments()
	if err == nil {
		err = j.recoverTail()
	}
	if err != nil {
		return nil, fmt.Errorf("open journal %s: %w", o.Dir, errors.Join(err, j.Close()))
	}
	return j, nil
}

// openSegments opens all files and checks that they follow each other.
func (j *Journal) openSegments() error {
	bases, err := j.listSegments()
	if err != nil {
		return err
	}
	if len(bases) == 0 {
		if j.options.Checkpoint > 0 {
			return fmt.Errorf("%w: no files, but a checkpoint at %d", journal.ErrCorrupt, j.options.Checkpoint)
		}
		first, err := createSegment(j.options, 0, 0)
		if err != nil {
			return err
		}
		j.segments = []*segment{first}
		return publishSegment(j.options, first)
	}
	if c := j.options.Checkpoint; c > 0 && bases[0] > c {
		return fmt.Errorf("%w: begins at %d, after the checkpoint at %d", journal.ErrCorrupt, bases[0], c)
	}
	for i, base := range bases {
		s := &segment{base: base, name: filepath.Join(j.options.Dir, segmentName(base))}
		if s.file, err = j.options.FS.Open(s.name); err != nil {
			return err
		}
		j.segments = append(j.segments, s)
		var head [segmentHeader]byte
		n, err := s.file.ReadAt(head[:], 0)
		if err != nil && n == 0 {
			return fmt.Errorf("read %s: %w: %w", s.name, journal.ErrCorrupt, err)
		}
		if err := checkSegmentHeader(head[:n], base); err != nil {
			return fmt.Errorf("read %s: %w", s.name, err)
		}
		if i+1 == len(bases) {
			return nil
		}
		size, err := s.file.Size()
		if err != nil {
			return err
		}
		if size != s.offset(bases[i+1]) {
			return fmt.Errorf("%w: %s ends at %d, the next file begins at %d",
				journal.ErrCorrupt, s.name, int64(base)+size-segmentHeader, bases[i+1])
		}
	}
	return nil
}

// listSegments returns the bases of all segments, ascending, and removes files
// that were never finished.
func (j *Journal) listSegments() ([]journal.Position, error) {
	names, err := j.options.FS.List(j.options.Dir)
	if err != nil {
		return nil, err
	}
	var bases []journal.Position
	for _, name := range names {
		base, ok := parseSegmentName(name)
		switch {
		case ok:
			bases = append(bases, base)
		case strings.HasSuffix(name, newSuffix):
			if err := j.options.FS.Remove(filepath.Join(j.options.Dir, name)); err != nil {
				return nil, err
			}
		case name != lockName:
			return nil, fmt.Errorf("%s is not a journal file", filepath.Join(j.options.Dir, name))
		}
	}
	slices.Sort(bases)
	return bases, nil
}

// recoverTail finds the end of the last file, cuts what is torn, and makes the
// rest durable.
func (j *Journal) recoverTail() error {
	tail := j.segments[len(j.segments)-1]
	size, err := tail.file.Size()
	if err != nil {
		return err
	}
	fileEnd := tail.base + journal.Position(size-segmentHeader)
	durable := max(tail.base, j.options.Checkpoint)
	r := newReader(tail, tail.base, fileEnd, nil)
	for r.next() {
		durable = max(durable, r.header.synced)
	}
	if r.err != nil {
		return fmt.Errorf("scan %s: %w", tail.name, r.err)
	}
	j.end = r.position
	if j.end < j.options.Checkpoint {
		return fmt.Errorf("%w: %s ends at %d, before the checkpoint at %d",
			journal.ErrCorrupt, tail.name, j.end, j.options.Checkpoint)
	}
	rest, err := scanRest(tail, j.end, fileEnd)
	if err != nil {
		return fmt.Errorf("scan %s: %w", tail.name, err)
	}
	if rest.entry >= 0 {
		return fmt.Errorf("%w: %s is damaged at %d, before a durable entry at %d",
			journal.ErrCorrupt, tail.name, j.end, rest.entry)
	}
	if err := j.cutTail(tail, rest.end); err != nil {
		return fmt.Errorf("cut %s: %w", tail.name, err)
	}
	if err := j.rewrite(tail, durable); err != nil {
		return fmt.Errorf("write %s again: %w", tail.name, err)
	}
	if err := j.options.FS.SyncDir(j.options.Dir); err != nil {
		return err
	}
	j.synced = j.end
	j.recovered.SegmentCount = len(j.segments)
	// Failing to reserve space is no reason not to open: data is to be read,
	// and an append will say so again.
	if err := tail.file.Preallocate(j.options.SegmentBytes); err != nil {
		j.options.Logger.Warn("journal space not reserved", slog.String("file", tail.name), slog.Any("err", err))
	}
	return nil
}

// cutTail removes what follows the last entry, if that isn't all zero already;
// end is where the zeros begin.
func (j *Journal) cutTail(tail *segment, end journal.Position) error {
	if end <= j.end {
		return nil
	}
	j.recovered.CutBytes = int64(end - j.end)
	j.options.Logger.Warn("journal tail cut", slog.String("file", tail.name),
		slog.Int64("position", int64(j.end)), slog.Int64("bytes", j.recovered.CutBytes))
	return tail.file.Truncate(tail.offset(j.end))
}

// rewrite writes the bytes from from to the end once more and syncs the file.
// That sync is also needed for cutTail: parts of the old tail could come back
// behind new entries otherwise.
func (j *Journal) rewrite(tail *segment, from journal.Position) error {
	j.recovered.RewrittenBytes = int64(j.end - from)
	buffer := make([]byte, min(1<<20, int64(j.end-from)))
	for p := from; p < j.end; p += journal.Position(len(buffer)) {
		buffer = buffer[:min(int64(len(buffer)), int64(j.end-p))]
		if _, err := tail.file.ReadAt(buffer, tail.offset(p)); err != nil {
			return err
		}
		if _, err := tail.file.WriteAt(buffer, tail.offset(p)); err != nil {
			return err
		}
	}
	return tail.file.Sync()
}

// rest is what lies behind the last valid entry.
type rest struct {
	// end is where the bytes that aren't zero end.
	end journal.Position
	// entry is the position of an entry that says that the journal was durable
	// beyond the damage, -1 if there is none.
	entry journal.Position
}

// scanRest looks for traces of entries from from on.
func scanRest(tail *segment, from, end journal.Position) (rest, error) {
	const step = 1 << 20
	found := rest{end: from, entry: -1}
	buffer := make([]byte, min(step+entryHeader, int64(end-from)))
	for p := from; p < end; p += step {
		b := buffer[:min(int64(len(buffer)), int64(end-p))]
		if _, err := tail.file.ReadAt(b, tail.offset(p)); err != nil {
			return found, err
		}
		if b[0] == 0 && bytes.Equal(b[1:], b[:len(b)-1]) {
			continue // all zero, as nearly everything is
		}
		found.end = p + journal.Position(len(bytes.TrimRight(b, "\x00")))
		for at := 0; ; at++ {
			i := bytes.Index(b[at:], []byte(entryMagic))
			if i < 0 {
				break
			}
			at += i
			if h, ok := parseHeader(b[at:], p+journal.Position(at)); ok && h.synced > from {
				found.entry = h.position
				return found, nil
			}
		}
	}
	return found, nil
}
