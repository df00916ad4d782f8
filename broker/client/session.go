package client

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"google.golang.org/grpc"

	"milena/broker/api"
	"milena/broker/brokerpb"
)

// link is a session with its publish stream.
type link struct {
	session []byte
	ttl     time.Duration
	limits  limits
	publish grpc.BidiStreamingClient[brokerpb.PublishRequest, brokerpb.PublishReply]

	// send is held while the messages of one call are sent.
	send sync.Mutex
	// lastCall is guarded by send.
	lastCall uint64

	mu sync.Mutex // guards calls and failed
	// calls that wait for their reply; each channel has room for it.
	calls map[uint64]chan reply
	// failed is set when the link is over.
	failed error
}

// limits are what the broker takes of one call.
type limits struct{ batch, schema, call int64 }

type reply struct {
	appended []api.Appended
	err      error
}

// keepLink makes links, one after the other, until Close.
func (c *Client) keepLink() {
	wait := c.opts.Retry
	for c.ctx.Err() == nil {
		began := time.Now()
		err := c.runLink()
		if c.ctx.Err() != nil {
			err = fmt.Errorf("%w: closed", api.ErrUnavailable)
		}
		c.setLinkError(err)
		if time.Since(began) > c.opts.RetryMax {
			wait = c.opts.Retry
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-c.ctx.Done():
			timer.Stop()
		}
		wait = min(2*wait, c.opts.RetryMax)
	}
}

// runLink makes one link, offers it, and returns why it ended. The streams and
// goroutines of the link have ended then.
func (c *Client) runLink() error {
	ctx, cancel := context.WithCancel(c.ctx)
	defer cancel()
	session, err := c.rpc.Session(ctx)
	if err != nil {
		return callError(c.ctx, "session", err)
	}
	if err := session.Send(&brokerpb.SessionRequest{Holder: c.opts.Holder}); err != nil {
		return callError(c.ctx, "session", endOf(session, err))
	}
	granted, err := session.Recv()
	if err != nil {
		return callError(c.ctx, "session", err)
	}
	l := &link{
		session: granted.Session,
		ttl:     time.Duration(granted.TtlMillis) * time.Millisecond,
		limits:  limits{granted.BatchBytesMax, granted.SchemaBytesMax, granted.CallBytesMax},
		calls:   make(map[uint64]chan reply),
	}
	if l.ttl <= 0 {
		return fmt.Errorf("session: %w: no time to live", api.ErrUnavailable)
	}
	if l.publish, err = c.openPublish(ctx, l.session); err != nil {
		return callError(c.ctx, "publish", err)
	}
	c.link.Store(l)
	c.opts.Logger.Info("broker link is up", "broker", c.opts.Address)

	ended := make(chan error, 3)
	go func() { ended <- renew(ctx, session, l.ttl) }()
	go func() { ended <- receiveAll(session, func(*brokerpb.SessionReply) error { return nil }) }()
	go func() { ended <- l.receive() }()
	why := <-ended
	c.link.Store(nil)
	cancel()
	<-ended
	<-ended
	if why == nil {
		why = errors.New("stream ended")
	}
	err = callError(c.ctx, "broker link", why)
	l.fail(fmt.Errorf("%w: %w", api.ErrUnavailable, err))
	if c.ctx.Err() == nil {
		c.opts.Logger.Warn("broker link is down", "broker", c.opts.Address, "err", err)
	}
	return err
}

// openPublish opens the publish stream and waits until the broker is ready for
// it.
func (c *Client) openPublish(ctx context.Context, session []byte) (grpc.BidiStreamingClient[brokerpb.PublishRequest, brokerpb.PublishReply], error) {
	st, err := c.rpc.Publish(ctx)
	if err != nil {
		return nil, err
	}
	if err := st.Send(&brokerpb.PublishRequest{Session: session}); err != nil {
		return nil, endOf(st, err)
	}
	if _, err := st.Recv(); err != nil {
		return nil, err
	}
	return st, nil
}

// endOf returns why a stream ended where Send says only that it did.
func endOf[Req, Rep any](st grpc.BidiStreamingClient[Req, Rep], err error) error {
	if _, recvErr := st.Recv(); recvErr != nil {
		return recvErr
	}
	return err
}

// renew keeps the lease. It ends with ctx, or when a send fails.
func renew(ctx context.Context, session grpc.BidiStreamingClient[brokerpb.SessionRequest, brokerpb.SessionReply], ttl time.Duration) error {
	ticker := time.NewTicker(max(ttl/3, time.Millisecond))
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			if err := session.Send(&brokerpb.SessionRequest{}); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// receive hands out replies until the stream ends.
func (l *link) receive() error {
	return receiveAll(l.publish, func(m *brokerpb.PublishReply) error {
		l.mu.Lock()
		ch := l.calls[m.Call]
		delete(l.calls, m.Call)
		l.mu.Unlock()
		if ch == nil {
			return fmt.Errorf("%w: reply to no call", api.ErrInvalid)
		}
		ch <- reply{appended: appendedValues(m.Appended), err: failureError(m.Failure)}
		return nil
	})
}

// fail answers every call: it will have no reply.
func (l *link) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failed = err
	for _, ch := range l.calls {
		ch <- reply{err: err}
	}
	clear(l.calls)
}

// register makes room for the reply of a call.
func (l *link) register(call uint64) (<-chan reply, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed != nil {
		return nil, l.failed
	}
	ch := make(chan reply, 1)
	l.calls[call] = ch
	return ch, nil
}
