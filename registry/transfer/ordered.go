package transfer

import (
	"context"
	"errors"
	"iter"
	"sync"
)

// aheadMax is how many items of one job may wait for their turn.
const aheadMax = 16

// ordered runs n jobs, at most parallel of them at the same time, and yields
// what they emit in the order of the jobs. emit reports false when nobody wants
// more; a job then returns. An error of a job ends the sequence after what came
// before it. No job runs any more when the sequence has ended.
func ordered(ctx context.Context, n, parallel int, job func(ctx context.Context, i int, emit func(Item) bool) error) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		var running sync.WaitGroup
		defer running.Wait()
		defer cancel()

		type stream struct {
			items chan Item
			err   error // set before items is closed
		}
		start := func(i int) *stream {
			s := &stream{items: make(chan Item, aheadMax)}
			running.Go(func() {
				defer close(s.items)
				s.err = job(ctx, i, func(item Item) bool {
					select {
					case s.items <- item:
						return true
					case <-ctx.Done():
						return false
					}
				})
			})
			return s
		}
		var window []*stream
		for i := range n {
			for next := i + len(window); len(window) < parallel && next < n; next++ {
				window = append(window, start(next))
			}
			s := window[0]
			window = window[1:]
			for item := range s.items {
				if !yield(item, nil) {
					return
				}
			}
			if s.err != nil && !errors.Is(s.err, errEnough) {
				yield(Item{}, s.err)
				return
			}
			if err := ctx.Err(); err != nil {
				yield(Item{}, err)
				return
			}
		}
	}
}
