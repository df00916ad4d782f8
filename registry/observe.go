package registry

import "time"

// Observer gets what happens inside a Registry. Every field may be nil.
// Functions are called in the goroutine that the event happens in and must not
// block.
type Observer struct {
	// Committed is called after an append: how many writes and records went
	// into it, and how long it took.
	Committed func(writes, records int, took time.Duration)
	// CommitFailed is called when an append failed for another reason than a
	// conflict.
	CommitFailed func(err error)
	// Retried is called when a write starts over, because what it relied on
	// has changed.
	Retried func()
	// Registered is called after a registration was answered: with a new
	// version, or with a known one.
	Registered func(created bool)
	// Checked is called after a compatibility check against older versions.
	Checked func(level string, compatible bool, took time.Duration)
	// Parsed is called for every schema that was needed in parsed form.
	Parsed func(cached bool)
}

func (o *Observer) committed(writes, records int, took time.Duration) {
	if o.Committed != nil {
		o.Committed(writes, records, took)
	}
}

func (o *Observer) commitFailed(err error) {
	if o.CommitFailed != nil {
		o.CommitFailed(err)
	}
}

func (o *Observer) retried() {
	if o.Retried != nil {
		o.Retried()
	}
}

func (o *Observer) registered(created bool) {
	if o.Registered != nil {
		o.Registered(created)
	}
}

func (o *Observer) checked(level string, compatible bool, took time.Duration) {
	if o.Checked != nil {
		o.Checked(level, compatible, took)
	}
}

func (o *Observer) parsed(cached bool) {
	if o.Parsed != nil {
		o.Parsed(cached)
	}
}
