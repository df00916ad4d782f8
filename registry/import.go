package registry

import (
	"context"
	"errors"
	"iter"
	"time"

	"milena/registry/errcode"
	"milena/registry/state"
	"milena/registry/store"
	"milena/registry/transfer"
)

// ImportOptions say how an import deals with what is there already.
type ImportOptions struct {
	// Overwrite lets lines win over what is there where the two differ in
	// something that may change: config, mode, whether a version is soft
	// deleted, associations and keys. What an id or a version means is never
	// overwritten.
	Overwrite bool
	// DryRun decides about every line and writes nothing.
	DryRun bool
	// Report, if not nil, gets what there is to say about a line, in the order
	// of lines but for warnings about references, which come last.
	Report func(ImportFinding)
}

// ImportOutcome is what became of a line.
type ImportOutcome string

// The outcomes that findings tell of; lines of which there is nothing to tell
// were imported, or were there.
const (
	ImportConflict ImportOutcome = "conflict" // something else is there; the line changed nothing
	ImportRefused  ImportOutcome = "refused"  // the line can't be imported anywhere; it changed nothing
	ImportWarning  ImportOutcome = "warning"  // imported, but with something to know about
)

// ImportFinding is what there is to say about one line.
type ImportFinding struct {
	Line    int
	Outcome ImportOutcome
	What    string // what the line is about, such as "schema s version 3"
	Code    int    // of package errcode, 0 for warnings
	Message string
}

// ImportSummary counts lines by what became of them; every line counts once
// but for warnings, whose lines count as imported too.
type ImportSummary struct {
	Lines     int
	Imported  int
	Unchanged int // it was all there
	Conflicts int
	Refused   int
	Warnings  int
	// ResumeAfter is what a later import from the same source may begin after,
	// for sources that can.
	ResumeAfter string
}

const (
	importLinesPerWrite  = 256
	importBytesPerWrite  = 1 << 20
	importPendingMax     = 10_000
	importQueueFullDelay = 20 * time.Millisecond
)

// Import takes over what a source holds, with ids, versions, times and all,
// line by line: a line is written whole or not at all, and one that can't be
// is named and does not keep the others from it. Importing the same again
// changes nothing, so an import that was cut off is simply repeated.
//
// A line that has something to change fails in a subject or context whose mode
// is READONLY; no mode is needed to import. Texts are taken as they are: one
// that can't be read, or that refers to what is not there when the source has
// ended, is imported with a warning, as the source served it too. Memory is
// bounded, however long the source.
//
// The error is why the import ended early: the source's, or that of a write.
func (r *Registry) Import(ctx context.Context, items iter.Seq2[transfer.Item, error], o ImportOptions) (ImportSummary, error) {
	im := &importer{r: r, o: o}
	if o.DryRun {
		im.trial = r.view.Load()
	}
	for item, err := range items {
		if err != nil {
			err = errors.Join(err, im.flush(ctx))
			im.finish()
			return im.sum, err
		}
		im.sum.Lines++
		im.batch = append(im.batch, item)
		if s := item.Line.Schema; s != nil {
			im.bytes += len(s.Text)
		}
		if len(im.batch) >= importLinesPerWrite || im.bytes >= importBytesPerWrite {
			if err := im.flush(ctx); err != nil {
				im.finish()
				return im.sum, err
			}
		}
	}
	err := im.flush(ctx)
	im.finish()
	return im.sum, err
}

// importer is one import under way; it belongs to one goroutine.
type importer struct {
	r       *Registry
	o       ImportOptions
	sum     ImportSummary
	batch   []transfer.Item
	bytes   int
	trial   *state.View // of a dry run: what there would be
	pending []imported  // whose references were not there yet
}

// imported is a version that an import wrote.
type imported struct {
	line    int
	name    state.Name
	version int
}

// verdict is what is to become of a line.
type verdict struct {
	records []*store.Record // none: nothing to change
	outcome ImportOutcome   // "" unless the line is not imported
	err     *errcode.Error
}

// flush writes the batch.
func (im *importer) flush(ctx context.Context) error {
	if len(im.batch) == 0 {
		return nil
	}
	var verdicts []verdict
	err := im.write(ctx, func(v *state.View) []*store.Record {
		var records []*store.Record
		verdicts, records = im.decideAll(v)
		return records
	})
	if err != nil {
		return err
	}
	for i := range im.batch {
		im.settle(&im.batch[i], &verdicts[i])
	}
	im.batch, im.bytes = im.batch[:0], 0
	return nil
}

// write appends what decide says of the view to write to. decide is called in
// the writer, and again if others were faster; the last call counts.
func (im *importer) write(ctx context.Context, decide func(*state.View) []*store.Record) error {
	if im.o.DryRun {
		for _, record := range decide(im.trial) {
			im.trial = im.trial.Apply(record)
		}
		return nil
	}
	for {
		err := im.r.write(ctx, state.Name{}, func(*state.View) (*plan, error) {
			return &plan{
				keepsTimes: true,
				relied:     func(*state.View) bool { return true }, // records looks for itself
				records:    func(now *state.View) ([]*store.Record, error) { return decide(now), nil },
			}, nil
		})
		if !errors.Is(err, errcode.TooManyRequests) {
			return err
		}
		// Nobody waits for this write but the import itself.
		select {
		case <-ctx.Done():
			return interrupted(ctx)
		case <-time.After(importQueueFullDelay):
		}
	}
}

// decideAll decides about the lines of the batch, each on top of those before.
func (im *importer) decideAll(v *state.View) ([]verdict, []*store.Record) {
	verdicts := make([]verdict, len(im.batch))
	var all []*store.Record
	there := state.NewBuilder(v)
	for i := range im.batch {
		d := &verdicts[i]
		if err := im.batch[i].Err; err != nil {
			d.outcome, d.err = ImportRefused, errcode.BadRequest.Text(err.Error())
			continue
		}
		*d = im.decide(there.Current(), &im.batch[i].Line)
		if len(d.records) > 0 {
			d.check(im.batch[i].Line.TimestampMillis)
		}
		for _, record := range d.records {
			there.Apply(state.Prepare(record))
		}
		all = append(all, d.records...)
	}
	return verdicts, all
}

// check gives records that have none the time of their line, and refuses the line if the log would not take
// one of them.
func (d *verdict) check(timestampMillis int64) {
	for _, record := range d.records {
		if record.TimestampMillis == 0 {
			record.TimestampMillis = max(timestampMillis, 0)
		}
		e, err := store.Encode(record)
		if err == nil {
			err = store.CheckEntries([]store.Entry{e})
		}
		if err != nil {
			*d = verdict{outcome: ImportRefused, err: errcode.SchemaTooLarge.New().Because(err)}
			return
		}
	}
}

// settle counts a line and tells of it.
func (im *importer) settle(item *transfer.Item, d *verdict) {
	if item.Resume != "" {
		im.sum.ResumeAfter = item.Resume
	}
	switch {
	case d.outcome == ImportConflict:
		im.sum.Conflicts++
	case d.outcome == ImportRefused:
		im.sum.Refused++
	case len(d.records) == 0:
		im.sum.Unchanged++
		return
	default:
		im.sum.Imported++
		if s := item.Line.Schema; s != nil {
			im.look(imported{item.Number, parseSubject(s.Subject), s.Version}, false)
		}
		return
	}
	im.report(ImportFinding{
		Line: item.Number, Outcome: d.outcome, What: describeLine(&item.Line), Code: d.err.Row.Code, Message: d.err.Message,
	})
}

func (im *importer) report(f ImportFinding) {
	if im.o.Report != nil {
		im.o.Report(f)
	}
}

// look warns of a version that can't be read. While lines are still to come,
// missing references may be among them.
func (im *importer) look(w imported, last bool) {
	v := im.trial
	if v == nil {
		v = im.r.view.Load()
	}
	version := v.Subject(w.name).Version(w.version)
	if version == nil || version.Schema.Text == "" {
		return // deleted meanwhile; or what IMPORT mode takes
	}
	s, _, err := im.r.resolved(v, version.Schema, version.Name, false)
	var missing refusal
	if errors.As(err, &missing) && !last && len(im.pending) < importPendingMax {
		im.pending = append(im.pending, w)
		return
	}
	if err == nil {
		_, err = im.r.parseStored(s)
	}
	if err != nil {
		im.sum.Warnings++
		im.report(ImportFinding{
			Line: w.line, Outcome: ImportWarning, What: describeSchema(w.name, w.version), Message: err.Error(),
		})
	}
}

// finish looks at what waited for the end.
func (im *importer) finish() {
	for _, w := range im.pending {
		im.look(w, true)
	}
	im.pending = nil
}
