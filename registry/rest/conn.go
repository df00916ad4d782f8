package rest

import (
	"net"
	"sync/atomic"
	"time"
)

// listener wraps what it accepts in a conn.
type listener struct{ net.Listener }

func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c}, nil
}

// conn moves its write deadline at most once a second. net/http sets one for
// each request, minutes ahead, and setting it takes longer than a read by id.
type conn struct {
	net.Conn
	deadline atomic.Int64 // for writes, in ns since the epoch; 0 is none
}

// SetWriteDeadline sets the deadline for writes, or leaves one that is up to a
// second earlier.
func (c *conn) SetWriteDeadline(t time.Time) error {
	if t.IsZero() {
		c.deadline.Store(0)
		return c.Conn.SetWriteDeadline(t)
	}
	at := t.UnixNano()
	if last := c.deadline.Load(); last != 0 && at >= last && at-last < int64(time.Second) {
		return nil
	}
	c.deadline.Store(at)
	return c.Conn.SetWriteDeadline(t)
}
