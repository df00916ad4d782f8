package local

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	iofs "io/fs"
	"slices"

	"milena/broker/journal"
)

// ReadChunk implements journal.Journal with one pread. It takes the caller's
// word for the length of the chunk; beyond the journal's end it fails with
// journal.ErrCorrupt.
func (j *Journal) ReadChunk(p journal.Position, off, length int, dst []byte) ([]byte, error) {
	s, end, err := j.find(p)
	if err != nil {
		return dst, fmt.Errorf("read chunk at %d: %w", p, err)
	}
	if off < 0 || length < 0 || int64(p)+entryHeader+int64(off)+int64(length) > int64(end) {
		return dst, fmt.Errorf("read chunk at %d: %w: beyond the end", p, journal.ErrCorrupt)
	}
	start := len(dst)
	dst = slices.Grow(dst, length)[:start+length]
	if _, err := s.file.ReadAt(dst[start:], s.offset(p)+entryHeader+int64(off)); err != nil {
		return dst[:start], fmt.Errorf("read chunk at %d: %w", p, j.readError(p, err))
	}
	return dst, nil
}

// readError tells a file that was closed by Trim or Close from other errors.
func (j *Journal) readError(p journal.Position, err error) error {
	if errors.Is(err, iofs.ErrClosed) {
		if _, _, gone := j.find(p); gone != nil {
			return gone
		}
	}
	return err
}

// Replay implements journal.Journal, up to the end as it is when called.
func (j *Journal) Replay(ctx context.Context, from journal.Position, fn func(journal.Position, journal.Entry) error) error {
	last := j.End()
	if from > last {
		return fmt.Errorf("replay from %d: %w: beyond the end", from, journal.ErrCorrupt)
	}
	var buffer []byte
	for p := from; p < last; {
		s, end, err := j.find(p)
		if err != nil {
			return fmt.Errorf("replay at %d: %w", p, err)
		}
		end = min(end, last)
		r := newReader(s, p, end, buffer)
		for r.next() {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := fn(r.header.position, r.entry); err != nil {
				return err
			}
		}
		if r.err != nil {
			return fmt.Errorf("replay at %d: %w", r.position, j.readError(r.position, r.err))
		}
		if r.position != end {
			return fmt.Errorf("replay at %d: %w", r.position, journal.ErrCorrupt)
		}
		p, buffer = end, r.buffer
	}
	return nil
}

// reader reads entries of one segment in order.
type reader struct {
	position journal.Position // of the next entry
	end      journal.Position // nothing is read at or after
	header   header
	entry    journal.Entry
	err      error // from the file; bad entries just end the reading

	in     *bufio.Reader
	buffer []byte
}

func newReader(s *segment, from, end journal.Position, buffer []byte) *reader {
	section := io.NewSectionReader(s.file, s.offset(from), int64(end-from))
	size := min(256<<10, max(int(end-from), entryHeader))
	return &reader{position: from, end: end, in: bufio.NewReaderSize(section, size), buffer: buffer}
}

// next reads an entry and checks it. It returns false where there is no valid
// one; position then is where it would begin.
func (r *reader) next() bool {
	head, err := r.in.Peek(entryHeader)
	if err != nil {
		r.fail(err)
		return false
	}
	h, ok := parseHeader(head, r.position)
	if !ok || h.size() > int64(r.end-r.position) {
		return false
	}
	body := int(h.size())
	r.buffer = slices.Grow(r.buffer[:0], body)[:body]
	if _, err := io.ReadFull(r.in, r.buffer); err != nil {
		r.fail(err)
		return false
	}
	chunk := r.buffer[entryHeader : entryHeader+h.chunk]
	commit := r.buffer[entryHeader+h.chunk : entryHeader+h.chunk+h.commit]
	if crc32.Checksum(chunk, castagnoli) != h.chunkCRC || crc32.Checksum(commit, castagnoli) != h.commitCRC {
		return false
	}
	r.header, r.entry = h, journal.Entry{Chunk: chunk, Commit: commit}
	r.position += journal.Position(h.size())
	return true
}

func (r *reader) fail(err error) {
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		r.err = err
	}
}
