package transfer

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
)

// ErrHeader says that a stream does not begin as one, or is of a version that
// this release does not know.
var ErrHeader = errors.New("not an export that this release can read")

// ErrCut says that a stream ended before its last line, or that the last line
// counts another number of lines.
var ErrCut = errors.New("the export is not whole")

// ErrTooLong says that a line is longer than LineBytesMax.
var ErrTooLong = errors.New("the line is too long")

// Item is one line that a source yields: its number from 1 on, and the line or
// why it can't be read. A bad line does not end a source.
type Item struct {
	Number int
	Line   Line
	Err    error
	// Resume, if not empty, is what a later reading of the same source may be
	// told to begin after once this item is dealt with.
	Resume string
}

// Write writes a whole stream: first line, lines, last line. Headers and ends
// among lines are left out.
func Write(w io.Writer, timestampMillis int64, lines iter.Seq[Line]) error {
	var buf []byte
	put := func(l *Line) error {
		var err error
		if buf, err = l.Append(buf[:0]); err != nil {
			return err
		}
		if _, err = w.Write(buf); err != nil {
			return fmt.Errorf("write export: %w", err)
		}
		return nil
	}
	if err := put(&Line{Export: &Header{Format: Format, Version: Version, TimestampMillis: timestampMillis}}); err != nil {
		return err
	}
	count := 0
	for l := range lines {
		if l.Export != nil || l.End != nil {
			continue
		}
		if err := put(&l); err != nil {
			return err
		}
		count++
	}
	return put(&Line{End: &End{Lines: count}})
}

// Read yields what follows the first line of a stream, in order, without the
// last line. An error of the second kind ends the source: the stream is none
// (ErrHeader), it was cut off (ErrCut), or r failed.
func Read(r io.Reader) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		count, begun := 0, false
		for raw, err := range rawLines(r) {
			if err != nil {
				yield(Item{}, err)
				return
			}
			l, err := raw.parse()
			if !begun {
				if err := checkHeader(&l, err); err != nil {
					yield(Item{}, err)
					return
				}
				begun = true
				continue
			}
			if err == nil && l.End != nil {
				if l.End.Lines != count {
					yield(Item{}, fmt.Errorf("%w: it has %d lines, its last line says %d", ErrCut, count, l.End.Lines))
				}
				return
			}
			count++
			if err == nil && l.Export != nil {
				err = fmt.Errorf("%w: a second first line", ErrNoLine)
			}
			if !yield(Item{Number: raw.number, Line: l, Err: err}, nil) {
				return
			}
		}
		switch {
		case !begun:
			yield(Item{}, fmt.Errorf("%w: it is empty", ErrHeader))
		default:
			yield(Item{}, fmt.Errorf("%w: it has no last line", ErrCut))
		}
	}
}

func checkHeader(l *Line, err error) error {
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", ErrHeader, err)
	case l.Export == nil || l.Export.Format != Format:
		return fmt.Errorf("%w: the first line does not name the format %s", ErrHeader, Format)
	case l.Export.Version < 1 || l.Export.Version > Version:
		return fmt.Errorf("%w: it has version %d, this release reads up to %d", ErrHeader, l.Export.Version, Version)
	}
	return nil
}

// rawLine is the text of a line that is not blank, without its line feed. It is
// valid until the next one.
type rawLine struct {
	number  int
	text    []byte
	tooLong bool
}

func (l *rawLine) parse() (Line, error) {
	if l.tooLong {
		return Line{}, ErrTooLong
	}
	return ParseLine(l.text)
}

// rawLines yields the lines of r but for blank ones. Of a line that is too long
// nothing is kept.
func rawLines(r io.Reader) iter.Seq2[rawLine, error] {
	return func(yield func(rawLine, error) bool) {
		in := bufio.NewReaderSize(r, 64<<10)
		var text []byte
		tooLong := false
		for number := 1; ; {
			part, err := in.ReadSlice('\n')
			if len(text)+len(part) > LineBytesMax {
				text, tooLong = text[:0], true
			}
			if !tooLong {
				text = append(text, part...)
			}
			if errors.Is(err, bufio.ErrBufferFull) {
				continue
			}
			if err != nil && !errors.Is(err, io.EOF) {
				yield(rawLine{}, fmt.Errorf("read line %d: %w", number, err))
				return
			}
			trimmed := bytes.TrimSpace(text)
			if number == 1 {
				trimmed = bytes.TrimPrefix(trimmed, []byte("\uFEFF"))
			}
			if (tooLong || len(trimmed) > 0) && !yield(rawLine{number, trimmed, tooLong}, nil) {
				return
			}
			if err != nil {
				return
			}
			number++
			text, tooLong = text[:0], false
		}
	}
}
