package broker

import (
	"fmt"
	"log/slog"
	"time"

	"milena/broker/catalog"
	"milena/broker/journal"
)

// Options configure a Broker. A journal is required; every other zero field
// means its default.
type Options struct {
	// Journal holds all data and commit records. The broker is its only user,
	// and closes it. OpenJournal, in its place, opens it once it is known from
	// which position on it is to be replayed. One of the two is required.
	Journal     journal.Journal
	OpenJournal func(from journal.Position) (journal.Journal, error)
	// Catalog holds checkpoints; nil means none, so that every start replays
	// the whole journal. The broker is its only user, and closes it.
	Catalog catalog.Store
	// Now returns the wall clock; default time.Now. Append times are those of
	// the commit and never go backwards.
	Now func() time.Time
	// Logger gets what no caller is told; default slog.Default.
	Logger *slog.Logger
	// Observer gets counts and durations.
	Observer Observer
	// Lease is the time after which a silent gateway loses its lease;
	// default 10 s.
	Lease time.Duration

	// QueueBytesMax bounds the bytes of requests that wait for a commit;
	// further ones wait for room as long as their context allows; default
	// 64 MiB.
	QueueBytesMax int64
	// GroupBytesMax and GroupRequestsMax bound one group commit; defaults
	// 8 MiB and 4096. One larger request still commits, alone.
	GroupBytesMax    int
	GroupRequestsMax int
	// BatchBytesMax bounds one stored batch; default 64 MiB.
	BatchBytesMax int
	// SchemaBytesMax bounds one encoded schema, SchemasBytesMax all of them
	// together, since they are kept in memory; defaults 32 MiB and 512 MiB.
	SchemaBytesMax  int
	SchemasBytesMax int64
	// ReadBytesMax bounds the bytes of one read, encoded and as they are stored,
	// whatever it asks for; default 64 MiB.
	ReadBytesMax int32
	// TailBytesMax bounds the recent batches that are kept in memory, so that
	// fresh reads don't touch the disk; default 32 MiB, negative for none.
	TailBytesMax int64
	// TopicsMax and PartitionsMax bound topics, and partitions over all
	// topics; defaults 20,000 and 200,000.
	TopicsMax     int
	PartitionsMax int
	// ProducersMax bounds the idempotent producers remembered for each
	// partition, ProducerExpiry the time they are remembered without a batch;
	// defaults 10,000 and 24 h.
	ProducersMax   int
	ProducerExpiry time.Duration
	// OffsetMetadataBytesMax bounds the metadata of one committed offset,
	// OffsetsMax the committed offsets over all groups; defaults 4096 and
	// 2,000,000.
	OffsetMetadataBytesMax int
	OffsetsMax             int
	// RecordBytesMax bounds one coordinator record, RecordsBytesMax all of
	// them together; defaults 16 MiB and 512 MiB.
	RecordBytesMax  int
	RecordsBytesMax int64

	// CheckpointInterval and CheckpointBytes say when a checkpoint is taken: so
	// long after the last one, or after so many bytes; defaults 30 s and
	// 256 MiB.
	CheckpointInterval time.Duration
	CheckpointBytes    int64
}

// withDefaults returns o with zero fields replaced.
func (o Options) withDefaults() Options {
	setDefault(&o.Lease, 10*time.Second)
	setDefault(&o.QueueBytesMax, 64<<20)
	setDefault(&o.GroupBytesMax, 8<<20)
	setDefault(&o.GroupRequestsMax, 4096)
	setDefault(&o.BatchBytesMax, 64<<20)
	setDefault(&o.SchemaBytesMax, 32<<20)
	setDefault(&o.SchemasBytesMax, 512<<20)
	setDefault(&o.ReadBytesMax, 64<<20)
	setDefault(&o.TailBytesMax, 32<<20)
	setDefault(&o.TopicsMax, 20_000)
	setDefault(&o.PartitionsMax, 200_000)
	setDefault(&o.ProducersMax, 10_000)
	setDefault(&o.ProducerExpiry, 24*time.Hour)
	setDefault(&o.OffsetMetadataBytesMax, 4096)
	setDefault(&o.OffsetsMax, 2_000_000)
	setDefault(&o.RecordBytesMax, 16<<20)
	setDefault(&o.RecordsBytesMax, 512<<20)
	setDefault(&o.CheckpointInterval, 30*time.Second)
	setDefault(&o.CheckpointBytes, 256<<20)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return o
}

// Validate says which option can't be meant.
func (o Options) Validate() error {
	if (o.Journal == nil) == (o.OpenJournal == nil) {
		return fmt.Errorf("broker options: one of Journal and OpenJournal is required")
	}
	for _, limit := range []struct {
		name  string
		value int64
	}{
		{"Lease", int64(o.Lease)},
		{"QueueBytesMax", o.QueueBytesMax},
		{"GroupBytesMax", int64(o.GroupBytesMax)},
		{"GroupRequestsMax", int64(o.GroupRequestsMax)},
		{"BatchBytesMax", int64(o.BatchBytesMax)},
		{"SchemaBytesMax", int64(o.SchemaBytesMax)},
		{"SchemasBytesMax", o.SchemasBytesMax},
		{"ReadBytesMax", int64(o.ReadBytesMax)},
		{"TopicsMax", int64(o.TopicsMax)},
		{"PartitionsMax", int64(o.PartitionsMax)},
		{"ProducersMax", int64(o.ProducersMax)},
		{"ProducerExpiry", int64(o.ProducerExpiry)},
		{"OffsetMetadataBytesMax", int64(o.OffsetMetadataBytesMax)},
		{"OffsetsMax", int64(o.OffsetsMax)},
		{"RecordBytesMax", int64(o.RecordBytesMax)},
		{"RecordsBytesMax", o.RecordsBytesMax},
		{"CheckpointInterval", int64(o.CheckpointInterval)},
		{"CheckpointBytes", o.CheckpointBytes},
	} {
		if limit.value < 0 {
			return fmt.Errorf("broker options: %s is negative", limit.name)
		}
	}
	return nil
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
