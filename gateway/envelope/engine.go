package envelope

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"milena/gateway/backend"
	"milena/gateway/batch"
	"milena/serde"
)

// Schemas is what Engine needs of a broker: the schemas stored with records.
// backend.Broker has it. It may be called concurrently.
type Schemas interface {
	Schema(ctx context.Context, key backend.Key) (backend.Schema, error)
}

// Options of an Engine. Resolver, Programs and Schemas are required, the zero
// value of everything else means its default.
type Options struct {
	// Resolver asks the registry what an id means; only producing needs it.
	Resolver *serde.Resolver
	// Programs holds compiled schemas; the one that Resolver uses.
	Programs *serde.Programs
	// Schemas is the broker, asked for stored schemas that Programs lost.
	Schemas Schemas
	// Codecs compresses and decompresses; an own one if nil.
	Codecs *batch.Codecs
	// KeyMode and ValueMode apply to topics that don't set theirs; Permissive.
	KeyMode, ValueMode Mode
	// GrowthBytesMax bounds what batches in work, and not released yet, grow to
	// beyond twice their size as produced, over all of them: 128 MiB. One for
	// which nothing is left, or that grows beyond SmallBatchBytes (4 MiB), counts
	// as large. Of those LargeBatchesMax (4) are handled at once, or a single one
	// that grows beyond such a share of BatchBytesMax.
	GrowthBytesMax  int
	SmallBatchBytes int
	LargeBatchesMax int
	// BatchBytesMax is the greatest number of decompressed bytes of a batch,
	// 64 MiB; larger ones are batch.ErrTooLarge. It also bounds the sum of its
	// decoded payloads: what comes after is not decoded (TooLarge).
	BatchBytesMax int
	// UnknownBurst and UnknownPerSecond bound the look-ups of ids that turn out
	// to be unknown, per topic and side: 32 at once, then 4 a second, and one in
	// ten seconds on a side that has never carried an envelope.
	UnknownBurst     int
	UnknownPerSecond float64
	// RejectsMax is how many rejected records of a batch are described; 1,000.
	RejectsMax int
	// TailBytesMax is the size of the tail cache in bytes, 32 MiB; TailOff turns
	// it off, so that everything served is rebuilt.
	TailBytesMax int
	TailOff      bool
	// Clock returns the present time; time.Now if nil.
	Clock func() time.Time
	// Observer is told what happens.
	Observer Observer
}

func (o Options) withDefaults() Options {
	positive := func(v *int, d int) {
		if *v <= 0 {
			*v = d
		}
	}
	if o.Codecs == nil {
		o.Codecs = new(batch.Codecs)
	}
	if o.KeyMode == modeUnset {
		o.KeyMode = Permissive
	}
	if o.ValueMode == modeUnset {
		o.ValueMode = Permissive
	}
	positive(&o.BatchBytesMax, 64<<20)
	positive(&o.GrowthBytesMax, 128<<20)
	positive(&o.SmallBatchBytes, 4<<20)
	positive(&o.LargeBatchesMax, 4)
	positive(&o.UnknownBurst, 32)
	positive(&o.RejectsMax, 1000)
	positive(&o.TailBytesMax, 32<<20)
	if o.UnknownPerSecond <= 0 {
		o.UnknownPerSecond = 4
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	o.Observer = o.Observer.filled()
	return o
}

// Validate reports options that can't work.
func (o Options) Validate() error {
	switch {
	case o.Resolver == nil, o.Programs == nil, o.Schemas == nil:
		return errors.New("envelope: resolver, programs and schemas are required")
	case o.KeyMode != modeUnset && !o.KeyMode.row().served:
		return fmt.Errorf("envelope: default key mode %v: %w", o.KeyMode, ErrMode)
	case o.ValueMode != modeUnset && !o.ValueMode.row().served:
		return fmt.Errorf("envelope: default value mode %v: %w", o.ValueMode, ErrMode)
	}
	return nil
}

// Form says how a record's payload is stored.
type Form uint8

// The forms, by the names of the metric's labels. The form of a record is that
// of its value, or of its key where the value is null, made worse by a decoded
// key that needs its original.
const (
	// Rebuilt: only the RecordValue is stored.
	Rebuilt Form = iota
	// WithOriginal: the RecordValue, and the payload as it came beside it.
	WithOriginal
	// Raw: nothing was decoded.
	Raw
	forms
)

// String returns the label of milena_stored_records_total.
func (f Form) String() string {
	return [...]string{"rebuilt", "with_original", "raw"}[min(f, Raw)]
}

// Reason says why a payload that looked like an envelope was not decoded.
type Reason uint8

// The reasons, by the names of the metric's labels.
const (
	// UnknownID: the registry has no such schema.
	UnknownID Reason = iota
	// NotAsked: the budget of unknown ids was used up.
	NotAsked
	// NoProgram: the schema can't be compiled.
	NoProgram
	// BadPayload: the payload isn't valid under the schema.
	BadPayload
	// BadHeader: a schema id header that is malformed.
	BadHeader
	// TooLarge: the decoded payloads of the batch exceed BatchBytesMax.
	TooLarge
	reasons
)

// String returns the label of the metric.
func (r Reason) String() string {
	return [...]string{"unknown_id", "not_asked", "no_program", "bad_payload", "bad_header", "too_large"}[min(r, TooLarge)]
}

// Observer is told what an Engine does. Functions may be nil, are called by the
// goroutine that does it, at most once per batch and label, and must not block.
type Observer struct {
	// Stored: records of a batch that went into a stored batch, by form.
	Stored func(form Form, records int)
	// Undecoded: payloads of a batch that were not decoded, by reason, in
	// whatever mode. Payloads without envelope don't count.
	Undecoded func(reason Reason, payloads int)
	// Rejected: records for which a batch was refused.
	Rejected func(records int)
	// Mismatch: a stored batch that didn't give back what was produced.
	Mismatch func()
	// Tail: a batch was served from the tail cache, or had to be rebuilt.
	Tail func(hit bool)
}

func (o Observer) filled() Observer {
	if o.Stored == nil {
		o.Stored = func(Form, int) {}
	}
	if o.Undecoded == nil {
		o.Undecoded = func(Reason, int) {}
	}
	if o.Rejected == nil {
		o.Rejected = func(int) {}
	}
	if o.Mismatch == nil {
		o.Mismatch = func() {}
	}
	if o.Tail == nil {
		o.Tail = func(bool) {}
	}
	return o
}

// Engine stores and rebuilds batches. See the package comment for what it
// shares and how.
type Engine struct {
	opts    Options
	growth  *semaphore.Weighted // bytes
	large   *semaphore.Weighted // places
	budgets *budgets
	acked   *acknowledged
	tail    *Tail

	storing    sync.Pool // *storing
	rebuilding sync.Pool // *rebuilding
}

// New returns an Engine.
func New(o Options) (*Engine, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	e := &Engine{
		opts: o, tail: newTail(o),
		growth: semaphore.NewWeighted(int64(o.GrowthBytesMax)), large: semaphore.NewWeighted(int64(o.LargeBatchesMax)),
	}
	var err error
	if e.budgets, err = newBudgets(o); err != nil {
		return nil, err
	}
	if e.acked, err = newAcknowledged(o); err != nil {
		return nil, err
	}
	e.storing.New = func() any { return newStoring(e) }
	e.rebuilding.New = func() any { return &rebuilding{engine: e} }
	return e, nil
}

// Tail returns the tail cache.
func (e *Engine) Tail() *Tail { return e.tail }

// Acknowledge says that the broker has stored these schemas, so that they need
// not go with the next batches.
func (e *Engine) Acknowledge(schemas []backend.Schema) { e.acked.add(schemas) }

// bufferKept is the capacity in bytes up to which working memory goes back to
// its pool.
const bufferKept = 4 << 20

func keep(b []byte) []byte {
	if cap(b) > bufferKept {
		return nil
	}
	return b[:0]
}
