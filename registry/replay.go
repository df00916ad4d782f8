package registry

import (
	"context"
	"fmt"
	"log/slog"

	"milena/registry/state"
	"milena/registry/store"
)

// replayer folds the log into views. It belongs to the goroutine that starts
// the registry, then to the writer.
type replayer struct {
	log     store.Log
	logger  *slog.Logger
	decoder store.Decoder
	odd     int // records left out so far
}

const (
	replayChunk = 256 // entries handed from one stage to the next
	replayAhead = 8   // chunks between two stages
	oddLogMax   = 20  // odd records that are logged one by one
)

// fold folds the records from position from on into v and returns the view with
// the log's end. Reading, decoding and folding run side by side: in a start
// each takes a third of the time.
func (p *replayer) fold(ctx context.Context, v *state.View, from int64) (*state.View, int64, error) {
	ctx, cancel := context.WithCancel(ctx)
	read := make(chan []store.Entry, replayAhead)
	decoded := make(chan []state.Prepared, replayAhead)
	end, failed := from, error(nil) // set by the reader before it closes read
	go func() {
		defer close(read)
		end, failed = p.read(ctx, from, read)
	}()
	go func() {
		defer close(decoded)
		for entries := range read {
			decoded <- p.decode(entries)
		}
	}()
	b := state.NewBuilder(v)
	for records := range decoded {
		for _, r := range records {
			b.Apply(r)
		}
	}
	cancel()
	if failed != nil {
		return nil, from, fmt.Errorf("replay: %w", failed)
	}
	return b.View(), end, nil
}

// read sends the log's entries in chunks and returns its end.
func (p *replayer) read(ctx context.Context, from int64, to chan<- []store.Entry) (int64, error) {
	var chunk []store.Entry
	for e, err := range p.log.Read(ctx, from) {
		if err != nil {
			return from, err
		}
		from = e.Position + 1
		if chunk = append(chunk, e); len(chunk) == replayChunk {
			to <- chunk // the other stages always go on to the end
			chunk = make([]store.Entry, 0, replayChunk)
		}
	}
	to <- chunk
	return from, nil
}

// decode returns the records of entries. What can't be decoded is left out, as
// the reference does: one odd record must not keep a registry from starting.
func (p *replayer) decode(entries []store.Entry) []state.Prepared {
	records := make([]state.Prepared, 0, len(entries))
	for _, e := range entries {
		r, err := p.decoder.Decode(e)
		if err != nil {
			p.leaveOut(e, err)
			continue
		}
		records = append(records, state.Prepare(r))
	}
	return records
}

// leaveOut says which record is left out, and of very many that there are more.
func (p *replayer) leaveOut(e store.Entry, err error) {
	p.odd++
	switch {
	case p.odd <= oddLogMax:
		key := e.Key[:min(len(e.Key), 256)]
		p.logger.Error("record of the registry log is left out", "position", e.Position, "key", string(key), "err", err)
	case p.odd == oddLogMax+1:
		p.logger.Error("more records of the registry log are left out; they are not logged one by one", "position", e.Position)
	}
}
