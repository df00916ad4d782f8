package transfer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"milena/registry/store"
)

// Format is what the first line of a stream calls itself.
const Format = "milena-registry"

// Version is the version of the stream that is written. All versions up to it
// are read.
const Version = 1

// LineBytesMax bounds one line, in bytes: an entry of the log at its greatest,
// with every byte escaped.
const LineBytesMax = 6*store.EntryBytesMax + 4096

// Line is one line of a stream. Exactly one of its pointers is set.
type Line struct {
	Export      *Header            `json:"export,omitempty"`
	Context     *Context           `json:"context,omitempty"`
	Schema      *store.Schema      `json:"schema,omitempty"`
	Config      *store.Config      `json:"config,omitempty"`
	Mode        *store.Mode        `json:"mode,omitempty"`
	Association *store.Association `json:"association,omitempty"`
	Kek         *store.Kek         `json:"kek,omitempty"`
	Dek         *store.Dek         `json:"dek,omitempty"`
	End         *End               `json:"end,omitempty"`

	// TimestampMillis is when the registry wrote what the line says, in
	// milliseconds since the epoch; 0 is unknown.
	TimestampMillis int64 `json:"ts,omitempty"`
	// CreateMillis is when it wrote an association first, if that is another
	// time.
	CreateMillis int64 `json:"createTs,omitempty"`
}

// Header is the first line of a stream.
type Header struct {
	Format          string `json:"format"`
	Version         int    `json:"version"`
	TimestampMillis int64  `json:"ts,omitempty"` // of the export, milliseconds since the epoch
}

// Context is a context that exists, with the highest id that it ever gave out,
// 0 if unknown. The default context is ".".
type Context struct {
	Name  string `json:"name"`
	MaxID int    `json:"maxId,omitempty"`
}

// End is the last line of a stream.
type End struct {
	Lines int `json:"lines"` // between the first line and this one
}

// ErrNoLine says that a text is no line of a stream.
var ErrNoLine = errors.New("no line of an export")

// Append appends l as one line, with its line feed.
func (l *Line) Append(dst []byte) ([]byte, error) {
	buf := bytes.NewBuffer(dst)
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(l); err != nil {
		return dst, fmt.Errorf("write export line: %w", err)
	}
	return buf.Bytes(), nil
}

// ParseLine reads one line. Unknown members are ignored: a later release may
// add some without changing what the others mean. The error wraps ErrNoLine.
func ParseLine(text []byte) (Line, error) {
	var l Line
	if err := json.Unmarshal(text, &l); err != nil {
		return Line{}, fmt.Errorf("%w: %w", ErrNoLine, err)
	}
	n := 0
	for _, set := range [...]bool{
		l.Export != nil, l.Context != nil, l.Schema != nil, l.Config != nil, l.Mode != nil,
		l.Association != nil, l.Kek != nil, l.Dek != nil, l.End != nil,
	} {
		if set {
			n++
		}
	}
	if n != 1 {
		return Line{}, fmt.Errorf("%w: it says %d things, not one", ErrNoLine, n)
	}
	if l.Schema != nil && l.Schema.Type == "" {
		l.Schema.Type = "AVRO" // as in old topics
	}
	return l, nil
}
