package registry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"math/rand/v2"
	"runtime/debug"
	"time"

	"milena/registry/errcode"
	"milena/registry/state"
	"milena/registry/store"
)

// plan is what a request decided, against the view that it took.
type plan struct {
	// relied reports whether what the request relied on in its view is the
	// same in the view to write to.
	relied func(now *state.View) bool
	// records returns what to append, given the view to write to. It runs in
	// the writer and is cheap; ids are chosen here. An error is the answer.
	records func(now *state.View) ([]*store.Record, error)
	// keepsTimes says that records have the times they are to keep, or zero.
	keepsTimes bool
}

// proposal is a plan on its way through the writer.
type proposal struct {
	plan   *plan
	base   *state.View
	answer chan error // takes one
}

// errStale sends a request back to decide again.
var errStale = errors.New("what the request relied on has changed")

// write runs attempt against the current view and lets the writer append what
// it planned; a nil plan needs nothing appended. If others were faster, it
// starts over. name is what competing requests have in common: from the second
// try on they take turns, so that a crowd on one subject makes progress.
func (r *Registry) write(ctx context.Context, name state.Name, attempt func(v *state.View) (*plan, error)) error {
	for try := range r.opt.Limits.WriteAttemptsMax {
		if try == 1 {
			turn := r.turns[maphash.String(r.seed, name.String())%uint64(len(r.turns))]
			select {
			case turn <- struct{}{}:
				defer func() { <-turn }()
			case <-ctx.Done():
				return interrupted(ctx)
			}
		}
		if try > 1 {
			r.opt.Observer.retried()
			if err := pause(ctx, try); err != nil {
				return err
			}
		}
		err := r.tryWrite(ctx, attempt)
		if !errors.Is(err, errStale) {
			return err
		}
	}
	return unavailable(errStale)
}

// pause waits a moment that grows with the tries, with jitter.
func pause(ctx context.Context, try int) error {
	t := time.NewTimer(rand.N(time.Duration(min(try, 10)) * time.Millisecond))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return interrupted(ctx)
	}
}

// interrupted is the answer to a write whose context ended before it did. It
// may still be written.
func interrupted(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return errcode.OperationTimedOut.New("Register").Because(ctx.Err())
	}
	return fmt.Errorf("wait for the write: %w", ctx.Err())
}

func (r *Registry) tryWrite(ctx context.Context, attempt func(v *state.View) (*plan, error)) error {
	base := r.view.Load()
	pl, err := attempt(base)
	if err != nil || pl == nil {
		return err
	}
	p := &proposal{plan: pl, base: base, answer: make(chan error, 1)}
	select {
	case <-r.closed:
		return unavailable(errClosed)
	default:
	}
	select {
	case r.queue <- p:
	default:
		return errcode.TooManyRequests.New() // a full queue is an answer, not a wait
	}
	// From here on the records may be written; the wait ends with the answer,
	// with the caller, or with the writer.
	select {
	case err := <-p.answer:
		return err
	case <-ctx.Done():
		return interrupted(ctx)
	case <-r.ended:
		select {
		case err := <-p.answer:
			return err
		default:
			return unavailable(errClosed)
		}
	}
}

// writer is the only appender. Its goroutine owns all of its fields.
type writer struct {
	r        *Registry
	log      store.Log
	replayer *replayer
	end      int64 // the position that the next record gets

	snapshots *snapshots

	crowd int           // writes of the last commit and those that waited behind it
	took  time.Duration // that the last append took
}

// start returns the view that the log stands for, and learns its end: by the
// snapshot and what was appended since, or by all of the log.
func (w *writer) start(ctx context.Context) (*state.View, error) {
	texts := newTexts()
	w.replayer.decoder.Keep = texts.keep
	view, from, err := w.snapshots.load(ctx, w.log)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			w.r.opt.Logger.Warn("registry snapshot is left, the whole log is read", "err", err)
		}
		view, from = &state.View{}, 0
	}
	if view, w.end, err = w.replayer.fold(ctx, view, from); err != nil {
		return nil, err
	}
	w.replayer.decoder.Keep = nil // what comes later may go again
	if texts.kept > textsOnHeapMax {
		debug.FreeOSMemory() // what the replay left behind is as much as what it made
	}
	return view, nil
}

func (w *writer) run() {
	defer close(w.r.ended)
	ctx, cancel := context.WithCancel(context.Background())
	defer w.snapshots.work.Wait()
	defer cancel()
	for {
		w.snapshots.offer(ctx, w.r, w.log, w.r.view.Load(), w.end)
		select {
		case p := <-w.r.queue:
			batch := w.gather(p)
			w.commit(ctx, batch)
			w.crowd = len(batch) + len(w.r.queue)
		case <-w.r.closed:
			return // whoever waits sees that the writer has ended
		}
	}
}

// gatherMax bounds how long a write waits for others to share its append.
const gatherMax = 2 * time.Millisecond

// gather takes what has queued up behind first, so that it shares one append.
// If the last commit had a crowd around it, those that were answered are likely
// to come back at once: it waits for as many, up to half the time of an append.
// Else writers that wait for their answers would fall into two halves, each
// appending while the other one decides. A single writer never waits.
func (w *writer) gather(first *proposal) []*proposal {
	batch := []*proposal{first}
	wanted := min(w.crowd, w.r.opt.Limits.WritesPerCommitMax)
	var late <-chan time.Time
	for len(batch) < w.r.opt.Limits.WritesPerCommitMax {
		select {
		case p := <-w.r.queue:
			batch = append(batch, p)
			continue
		default:
		}
		if len(batch) >= wanted {
			return batch
		}
		if late == nil {
			t := time.NewTimer(min(w.took/2, gatherMax))
			defer t.Stop()
			late = t.C
		}
		select {
		case p := <-w.r.queue:
			batch = append(batch, p)
		case <-late:
			return batch
		case <-w.r.closed:
			return batch
		}
	}
	return batch
}

// commit appends the records of a batch and answers its proposals.
func (w *writer) commit(ctx context.Context, batch []*proposal) {
	if w.r.trouble.Load() != nil {
		if err := w.catchUp(ctx); err != nil {
			answer(batch, errcode.StoreFailed.Text("Error while writing to the log").Because(err))
			return
		}
	}
	published := w.r.view.Load()
	building := state.NewBuilder(published)
	var entries []store.Entry
	var accepted []*proposal
	size := 0
	for _, p := range batch {
		if size > w.r.opt.Limits.CommitBytesMax {
			// The rest decides again, and so comes with the next append.
			p.answer <- errStale
			continue
		}
		if (published != p.base || len(accepted) > 0) && !p.plan.relied(building.Current()) {
			p.answer <- errStale
			continue
		}
		more, err := w.stage(building, p)
		if err != nil {
			p.answer <- err
			continue
		}
		for _, e := range more {
			size += len(e.Key) + len(e.Value)
		}
		entries = append(entries, more...)
		accepted = append(accepted, p)
	}
	if len(entries) == 0 {
		answer(accepted, nil)
		return
	}
	answer(accepted, w.append(ctx, entries, building.View(), len(accepted)))
}

// stage folds the records of one proposal, all or none, and returns their
// entries.
func (w *writer) stage(building *state.Builder, p *proposal) ([]store.Entry, error) {
	records, err := p.plan.records(building.Current())
	if err != nil {
		return nil, err
	}
	now := w.r.opt.Now().UnixMilli()
	entries := make([]store.Entry, len(records))
	folded := make([]state.Prepared, len(records))
	for i, record := range records {
		if !p.plan.keepsTimes || record.TimestampMillis == 0 {
			record.TimestampMillis = now
		}
		if entries[i], err = store.Encode(record); err != nil {
			return nil, errcode.Internal.New().Because(err)
		}
		// What is folded is what a replay would read.
		read, err := w.replayer.decoder.Decode(entries[i])
		if err != nil {
			return nil, errcode.Internal.New().Because(err)
		}
		folded[i] = state.Prepare(read)
	}
	if err := store.CheckEntries(entries); err != nil {
		return nil, errcode.SchemaTooLarge.New().Because(err)
	}
	for _, r := range folded {
		shareText(building.Current(), r.Record)
		building.Apply(r)
	}
	return entries, nil
}

// shareText lets all versions with one id hold one copy of the text: thousands
// of subjects may have the same large schema.
func shareText(view *state.View, record *store.Record) {
	if record.Schema == nil {
		return
	}
	known := view.Context(state.ParseName(record.Subject).Context).First(record.Schema.ID)
	if known != nil && known.Schema.Text == record.Schema.Text {
		record.Schema.Text = known.Schema.Text
	}
}

// append makes entries durable and publishes view. The error is the answer of
// every proposal behind the entries.
func (w *writer) append(ctx context.Context, entries []store.Entry, view *state.View, writes int) error {
	start := time.Now()
	end, err := w.log.Append(ctx, w.end, entries)
	w.took = time.Since(start)
	switch {
	case err == nil:
		w.end = end
		w.r.view.Store(view)
		w.r.opt.Observer.committed(writes, len(entries), w.took)
		return nil
	case errors.Is(err, store.ErrConflict):
		if err := w.catchUp(ctx); err != nil {
			return errcode.StoreFailed.Text("Error while reading the log").Because(err)
		}
		return errStale
	}
	w.r.opt.Observer.commitFailed(err)
	w.r.opt.Logger.Error("append to the registry log failed", "err", err)
	// The log says whether the entries were written all the same.
	from := w.end
	written, catchErr := w.written(ctx, from, entries)
	if catchErr == nil {
		catchErr = w.catchUp(ctx)
	}
	if catchErr == nil && written {
		return nil
	}
	return errcode.StoreFailed.Text("Error while writing to the log").Because(errors.Join(err, catchErr))
}

// written reports whether the log holds entries from position from on.
func (w *writer) written(ctx context.Context, from int64, entries []store.Entry) (bool, error) {
	i := 0
	for e, err := range w.log.Read(ctx, from) {
		if err != nil {
			w.fail(err)
			return false, err
		}
		want := entries[i]
		if e.TimestampMillis != want.TimestampMillis || !bytes.Equal(e.Key, want.Key) ||
			!bytes.Equal(e.Value, want.Value) || (e.Value == nil) != (want.Value == nil) {
			return false, nil
		}
		if i++; i == len(entries) {
			return true, nil
		}
	}
	return false, nil
}

// catchUp folds and publishes what others appended.
func (w *writer) catchUp(ctx context.Context) error {
	view, end, err := w.replayer.fold(ctx, w.r.view.Load(), w.end)
	if err != nil {
		w.fail(err)
		return err
	}
	w.end = end
	w.r.view.Store(view)
	w.r.trouble.Store(nil)
	return nil
}

// fail notes that the log's content is unknown until a read of it succeeds.
func (w *writer) fail(err error) { w.r.trouble.Store(&err) }

func answer(batch []*proposal, err error) {
	for _, p := range batch {
		p.answer <- err
	}
}
