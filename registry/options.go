package registry

import (
	"log/slog"
	"time"

	"milena/registry/kms"
	"milena/registry/store"
)

// Options set up a Registry. Log is required; the zero value of everything else
// is usable.
type Options struct {
	// Log holds the records. The Registry appends to it and does not close it.
	Log store.Log
	// Now is the clock behind the time of records; default time.Now.
	Now func() time.Time
	// NewGUID makes the GUIDs of associations; default random ones.
	NewGUID func() string
	// Logger gets what no answer can carry; default nothing.
	Logger *slog.Logger
	// Observer gets counts and durations.
	Observer Observer
	// Limits bound what a peer controls.
	Limits Limits
	// SnapshotEvery is how many records must have been appended, at least, before
	// another snapshot is written, if the log has a place for one: starts then
	// read that and what came after. Default 20,000; negative: none are read or
	// written.
	SnapshotEvery int
	// CompatibilityLevel is the level where no config sets one; default
	// BACKWARD.
	CompatibilityLevel string
	// SkipNewSchemaValidation takes new schemas without checking names and
	// defaults where no config says otherwise.
	SkipNewSchemaValidation bool
	// ValidateFields checks reserved fields where no config says otherwise.
	ValidateFields bool
	// FixedModes refuses every change of a mode.
	FixedModes bool
	// KMS are the key management services behind key encryption keys that are
	// shared with the registry; default kms.Local without a secret of its own.
	KMS kms.Services
	// RejectEmptySubject refuses the subject with the empty name also in named
	// contexts. In the default context it is always refused.
	RejectEmptySubject bool
}

// Limits bound what a peer controls. Zero fields mean the defaults.
type Limits struct {
	SchemaBytesMax        int           // bytes of one schema text; default 1,000,000
	ReferencesMax         int           // references of one schema, direct ones; default 1,000
	ResolvedReferencesMax int           // references of one schema, all of them; default 10,000
	ResolvedBytesMax      int           // bytes of texts behind the references of one schema, repeated ones counting each time; default 32 MiB
	ReferenceDepthMax     int           // length of a chain of references; default 128
	SchemasPageMax        int           // entries of a list of schemas; default 1,000
	ReferencedByPageMax   int           // entries of a list of referrers; default 1,000
	ParsedCacheBytesMax   int           // bytes of memory for parsed schemas, about 18 for one of text; default 48 MiB
	BodyCacheBytesMax     int           // bytes of encoded answers to reads by id that are kept; default 16 MiB
	QueuedWritesMax       int           // writes waiting for the writer; default 1,024
	WritesPerCommitMax    int           // writes put into one append; default 256
	CommitBytesMax        int           // bytes of records put into one append; default 8 MiB
	WriteAttemptsMax      int           // tries of one write against concurrent ones; default 32
	KeysMax               int           // key and data encryption keys, soft deleted ones included; default 20,000
	AssociationsPageMax   int           // entries of a list of associations; default 1,000
	AssociationBatchMax   int           // requests of a batch, and associations of one request; default 1,000
	SearchPageMax         int           // matches of one page of a search; default 1,000
	SearchBytesMax        int           // bytes of texts that one page of a search looks at, parsed ones counting eightfold; default 512 MiB
	CompatibilityTimeout  time.Duration // of one compatibility check; default 10 s
}

func (l Limits) withDefaults() Limits {
	for _, d := range []struct {
		field *int
		value int
	}{
		{&l.SchemaBytesMax, 1_000_000},
		{&l.ReferencesMax, 1_000},
		{&l.ResolvedReferencesMax, 10_000},
		{&l.ResolvedBytesMax, 32 << 20},
		{&l.ReferenceDepthMax, 128},
		{&l.SchemasPageMax, 1_000},
		{&l.ReferencedByPageMax, 1_000},
		{&l.ParsedCacheBytesMax, 48 << 20},
		{&l.BodyCacheBytesMax, 16 << 20},
		{&l.QueuedWritesMax, 1_024},
		{&l.WritesPerCommitMax, 256},
		{&l.CommitBytesMax, 8 << 20},
		{&l.WriteAttemptsMax, 32},
		{&l.KeysMax, 20_000},
		{&l.AssociationsPageMax, 1_000},
		{&l.AssociationBatchMax, 1_000},
		{&l.SearchPageMax, 1_000},
		{&l.SearchBytesMax, 512 << 20},
	} {
		if *d.field <= 0 {
			*d.field = d.value
		}
	}
	if l.CompatibilityTimeout <= 0 {
		l.CompatibilityTimeout = 10 * time.Second
	}
	return l
}

func (o Options) withDefaults() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.NewGUID == nil {
		o.NewGUID = randomGUID
	}
	if o.KMS == nil {
		o.KMS = kms.Services{kms.Local{}}
	}
	if o.SnapshotEvery == 0 {
		o.SnapshotEvery = 20_000
	}
	o.Limits = o.Limits.withDefaults()
	return o
}
