package transfer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestOrdered: items come in the order of jobs, however long each takes, and no
// more jobs run than may.
func TestOrdered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running, most atomic.Int64
		const jobs, parallel = 20, 4
		job := func(ctx context.Context, i int, emit func(Item) bool) error {
			most.Store(max(most.Load(), running.Add(1)))
			defer running.Add(-1)
			time.Sleep(time.Duration(jobs-i) * time.Second)
			for j := range i {
				if !emit(Item{Number: i*100 + j}) {
					return errEnough
				}
			}
			return nil
		}
		var got, want []int
		for item, err := range ordered(t.Context(), jobs, parallel, job) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, item.Number)
		}
		for i := range jobs {
			for j := range i {
				want = append(want, i*100+j)
			}
		}
		if !slices.Equal(got, want) || most.Load() != parallel {
			t.Errorf("%v, %d at the same time", got, most.Load())
		}
	})
}

// TestOrderedEnds: nothing runs any more when the sequence has ended, by an
// error, by a consumer that has enough, or by the context.
func TestOrderedEnds(t *testing.T) {
	broken := errors.New("broken")
	for what, c := range map[string]struct {
		enough int // items after which the consumer stops
		cancel int // items after which the context is cancelled
		want   error
	}{
		"error":   {1000, 1000, broken},
		"enough":  {5, 1000, nil},
		"context": {1000, 5, context.Canceled},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var running atomic.Int64
			count := 0
			var ended error
			for _, err := range ordered(ctx, 100, 8, func(ctx context.Context, i int, emit func(Item) bool) error {
				running.Add(1)
				defer running.Add(-1)
				for range 30 {
					if i == 3 {
						return fmt.Errorf("job %d: %w", i, broken)
					}
					if !emit(Item{}) {
						return ctx.Err()
					}
				}
				return nil
			}) {
				if ended = err; err != nil {
					break
				}
				if count++; count == c.enough {
					break
				}
				if count == c.cancel {
					cancel()
				}
			}
			if running.Load() != 0 || !errors.Is(ended, c.want) {
				t.Errorf("%s: %d jobs run, %v", what, running.Load(), ended)
			}
		})
	}
}
