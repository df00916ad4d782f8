package transfer

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"

	"milena/registry/state"
	"milena/registry/store"
)

// TopicLine is a record of a _schemas topic in a dump.
type TopicLine struct {
	TimestampMillis int64   `json:"timestamp,omitempty"` // milliseconds since the epoch; 0 is unknown
	Key             string  `json:"key"`
	Value           *string `json:"value"` // nil is a tombstone
}

// WriteTopic writes lines as a dump of a _schemas topic, which ReadDump reads
// and from which a topic of Confluent Schema Registry can be filled. Keys have
// no place there, as the reference keeps them in a topic of their own, and are
// left out, as are the highest ids.
func WriteTopic(w io.Writer, lines iter.Seq[Line]) error {
	out := bufio.NewWriter(w)
	for l := range lines {
		for _, r := range l.topicRecords() {
			e, err := store.Encode(r)
			if err != nil {
				return fmt.Errorf("write topic: %w", err)
			}
			if err := writeEntry(out, e); err != nil {
				return err
			}
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write topic: %w", err)
	}
	return nil
}

func writeEntry(w io.Writer, e store.Entry) error {
	d := TopicLine{TimestampMillis: e.TimestampMillis, Key: string(e.Key)}
	if e.Value != nil {
		value := string(e.Value)
		d.Value = &value
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(&d); err != nil {
		return fmt.Errorf("write topic: %w", err)
	}
	if _, err := w.Write(buf.Bytes()); err != nil {
		return fmt.Errorf("write topic: %w", err)
	}
	return nil
}

// topicRecords returns what a line is in the topic.
func (l *Line) topicRecords() []*store.Record {
	at := func(r *store.Record, millis int64) *store.Record {
		r.TimestampMillis = millis
		return r
	}
	switch {
	case l.Context != nil && l.Context.Name != state.DefaultContext:
		return []*store.Record{at(&store.Record{Kind: store.ContextKind, Context: l.Context.Name, Exists: true}, l.TimestampMillis)}
	case l.Schema != nil:
		return []*store.Record{at(&store.Record{
			Kind: store.SchemaKind, Subject: l.Schema.Subject, Version: l.Schema.Version, Schema: l.Schema,
		}, l.TimestampMillis)}
	case l.Config != nil:
		return []*store.Record{at(&store.Record{Kind: store.ConfigKind, Subject: l.Config.Subject, Config: l.Config}, l.TimestampMillis)}
	case l.Mode != nil:
		return []*store.Record{at(&store.Record{Kind: store.ModeKind, Subject: l.Mode.Subject, Mode: l.Mode}, l.TimestampMillis)}
	case l.Association != nil:
		last := at(store.NewAssociation(*l.Association), l.TimestampMillis)
		if l.CreateMillis == 0 {
			return []*store.Record{last}
		}
		return []*store.Record{at(store.NewAssociation(*l.Association), l.CreateMillis), last}
	default:
		return nil
	}
}
