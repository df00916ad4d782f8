package broker

import (
	"time"

	"milena/broker/api"
)

// Observer gets what happens in a broker, through functions that may be nil.
// They are called on the broker's own paths: they must not block and must not
// call the broker.
type Observer struct {
	// Committed is called by the committer after each group commit.
	Committed func(Commit)
	// Stopped is called once when a write or sync failed and the broker takes
	// no more appends.
	Stopped func(err error)
	// Full is called when the disk begins (true) and ends to be full.
	Full func(full bool)
	// Corrupt is called when a batch that was read fails its CRC.
	Corrupt func(p api.Partition, baseOffset int64)
	// TailRead is called for each batch read, with whether it came from memory.
	TailRead func(hit bool)
	// Checkpointed is called after each checkpoint.
	Checkpointed func(Checkpointed)
	// Session is called when a gateway gets (true) or ends (false) its lease.
	Session func(holder string, held bool)
}

// Commit describes one group commit.
type Commit struct {
	Requests int
	Batches  int
	Records  int64
	Bytes    int64 // chunk bytes
	Append   time.Duration
	Sync     time.Duration
}

// Checkpointed describes one checkpoint.
type Checkpointed struct {
	Rows     int
	Duration time.Duration
	Err      error
}

func (o *Observer) committed(c Commit) {
	if o.Committed != nil {
		o.Committed(c)
	}
}

func (o *Observer) stopped(err error) {
	if o.Stopped != nil {
		o.Stopped(err)
	}
}

func (o *Observer) full(full bool) {
	if o.Full != nil {
		o.Full(full)
	}
}

func (o *Observer) corrupt(p api.Partition, base int64) {
	if o.Corrupt != nil {
		o.Corrupt(p, base)
	}
}

func (o *Observer) tailRead(hit bool) {
	if o.TailRead != nil {
		o.TailRead(hit)
	}
}

func (o *Observer) checkpointed(c Checkpointed) {
	if o.Checkpointed != nil {
		o.Checkpointed(c)
	}
}

func (o *Observer) session(holder string, held bool) {
	if o.Session != nil {
		o.Session(holder, held)
	}
}
