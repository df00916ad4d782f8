// Package run stops what was started: in reverse order, with one deadline for
// all, and at once at the second signal. It knows nothing of the parts.
package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// Group is the parts of a process in the order of their start. It is used by
// one goroutine.
type Group struct{ parts []part }

type part struct {
	name string
	stop func(context.Context) error
}

// Add says how a started part is stopped. Stop returns when the part has ended
// or, with the context's error, when ctx is done.
func (g *Group) Add(name string, stop func(context.Context) error) {
	g.parts = append(g.parts, part{name, stop})
}

// Stop stops all parts, the last started first, and returns their errors
// joined. A part that fails to stop doesn't keep the others from it.
func (g *Group) Stop(ctx context.Context) error {
	var errs []error
	for i := len(g.parts) - 1; i >= 0; i-- {
		if err := g.parts[i].stop(ctx); err != nil {
			errs = append(errs, fmt.Errorf("stop %s: %w", g.parts[i].name, err))
		}
	}
	g.parts = nil
	return errors.Join(errs...)
}

// ErrForced is the cause of a context that ended with the second signal.
var ErrForced = errors.New("stopped by a second signal")

// Signals returns a context that ends with the first SIGTERM or interrupt, and
// a second one, for the time of draining, that ends with the next. Call stop to
// give the signals back.
func Signals(parent context.Context) (drain, force context.Context, stop func()) {
	return watch(parent, func(c chan<- os.Signal) func() {
		signal.Notify(c, syscall.SIGTERM, os.Interrupt)
		return func() { signal.Stop(chan<- os.Signal(c)) }
	})
}

func watch(parent context.Context, notify func(chan<- os.Signal) func()) (drain, force context.Context, stop func()) {
	drain, cancelDrain := context.WithCancel(parent)
	force, cancelForce := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 2)
	release := notify(signals)
	done := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for seen := 0; ; {
			select {
			case <-signals:
				if seen++; seen == 1 {
					cancelDrain()
				} else {
					cancelForce(ErrForced)
				}
			case <-done:
				return
			}
		}
	}()
	return drain, force, func() {
		release()
		close(done)
		<-ended
		cancelDrain()
		cancelForce(nil)
	}
}
