package node

import (
	"context"
	"errors"
	"fmt"
	"net"
)

// serve runs a listener's loop until shutdown. A loop that ends before shows in
// /readyz: the process is up, but nobody can reach the part.
func (n *Node) serve(name string, l net.Listener, loop func(net.Listener) error, shutdown func(context.Context) error) {
	var err error // of loop; read after ended is closed
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		err = loop(l)
	}()
	n.admin.AddCheck(name, func(context.Context) error {
		select {
		case <-ended:
			return errors.Join(fmt.Errorf("no longer listening on %s", l.Addr()), err)
		default:
			return nil
		}
	})
	n.parts.Add(name, func(ctx context.Context) error {
		stopped := shutdown(ctx)
		<-ended
		return errors.Join(stopped, err)
	})
}
