package transfer

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"milena/registry/state"
	"milena/registry/store"
)

// dumpLine is one record of a topic as tools write it: kcat -J calls the value
// payload and the time ts.
type dumpLine struct {
	Timestamp *int64  `json:"timestamp"`
	TS        *int64  `json:"ts"`
	Key       *string `json:"key"`
	Value     *string `json:"value"`
	Payload   *string `json:"payload"`
}

func (d *dumpLine) entry() store.Entry {
	e := store.Entry{Key: []byte(*d.Key)}
	for _, ts := range []*int64{d.TS, d.Timestamp} {
		if ts != nil {
			e.TimestampMillis = *ts
		}
	}
	for _, value := range []*string{d.Payload, d.Value} {
		if value != nil {
			e.Value = []byte(*value)
		}
	}
	return e
}

// ReadDump folds a dump of a _schemas topic and yields what it means. The dump
// is JSON Lines, one record each in the order of the topic, with the members
// key and value (or payload), whose values are the JSON texts of the topic or
// null, and timestamp (or ts) in milliseconds. Records that can't be read come
// first, by the number of their line; what they would have said is missing
// from the rest.
func ReadDump(r io.Reader) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		v := &state.View{}
		number := 0
		for raw, err := range rawLines(r) {
			if err != nil {
				yield(Item{}, err)
				return
			}
			number = raw.number
			record, err := raw.record()
			if err == nil {
				v = v.Apply(record)
				continue
			}
			if !yield(Item{Number: raw.number, Err: err}, nil) {
				return
			}
		}
		if number == 0 {
			yield(Item{}, fmt.Errorf("%w: it is empty", ErrHeader))
			return
		}
		for l := range Of(v, nil) {
			number++
			if !yield(Item{Number: number, Line: l}, nil) {
				return
			}
		}
	}
}

func (l *rawLine) record() (*store.Record, error) {
	if l.tooLong {
		return nil, ErrTooLong
	}
	var d dumpLine
	if err := json.Unmarshal(l.text, &d); err != nil {
		return nil, fmt.Errorf("no record of a topic: %w", err)
	}
	if d.Key == nil {
		return nil, errors.New("no record of a topic: it has no key")
	}
	return store.Decode(d.entry())
}

// ReadAny reads a stream or a dump of a topic, whichever r holds.
func ReadAny(r io.Reader) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		member, whole := Sniff(r)
		read := Read
		if member != "" && member != "export" {
			read = ReadDump
		}
		read(whole)(yield)
	}
}

// Sniff returns the name of the first member of the JSON object that r begins
// with, "" if there is none, and what reads all of r.
func Sniff(r io.Reader) (member string, whole io.Reader) {
	in, ok := r.(*bufio.Reader)
	if !ok {
		in = bufio.NewReaderSize(r, 4096)
	}
	// What can't be read here can't be read there, where it is an error.
	start, _ := in.Peek(512)
	return firstMember(start), in
}

// firstMember returns the name of the first member of the JSON object that text
// begins with, or "".
func firstMember(text []byte) string {
	dec := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(text, []byte("\uFEFF"))))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return ""
	}
	t, err := dec.Token()
	if err != nil {
		return ""
	}
	name, _ := t.(string)
	return name
}
