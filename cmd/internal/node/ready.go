package node

import (
	"context"
	"time"
)

// connectTime is how long remote parts have to be reached before the log says
// that they aren't: connecting goes on in the background.
const connectTime = time.Second

// warnUnready logs once, soon after the start, what /readyz lacks: listening
// isn't serving while a remote part is missing.
func (n *Node) warnUnready(ctx context.Context) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		wait := time.NewTimer(connectTime)
		defer wait.Stop()
		select {
		case <-wait.C:
		case <-ctx.Done():
			return
		}
		failing := n.admin.Failing(ctx)
		if ctx.Err() != nil {
			return // it isn't ready because it is stopping
		}
		for _, line := range failing {
			n.log.Warn("not ready yet: " + line)
		}
	}()
	n.parts.Add("check at start", func(context.Context) error {
		cancel()
		<-ended
		return nil
	})
}
