package broker

import (
	"context"
	"fmt"
	"sync"

	"google.golang.org/grpc"

	"milena/broker/api"
	"milena/broker/brokerpb"
)

// publisher is one publish stream. A session has one at a time: the next one
// starts after this one is closed and all its calls are answered, so that no
// batch of an old stream can come in behind one of a new stream.
type publisher struct {
	cancel context.CancelFunc
	done   chan struct{}
}

// takePublish makes p the session's publish stream after ending the present
// one.
func (s *Session) takePublish(p *publisher) error {
	for {
		s.mu.Lock()
		old := s.publish
		if s.over {
			s.mu.Unlock()
			return api.ErrLeaseLost
		}
		if old == nil {
			s.publish = p
			s.mu.Unlock()
			return nil
		}
		s.mu.Unlock()
		old.cancel()
		<-old.done
	}
}

func (s *Session) endPublish(p *publisher) {
	s.mu.Lock()
	s.publish = nil
	s.mu.Unlock()
	close(p.done)
}

// Publish implements brokerpb.BrokerServer.
func (s *Server) Publish(st grpc.BidiStreamingServer[brokerpb.PublishRequest, brokerpb.PublishReply]) error {
	first, err := st.Recv()
	if err != nil {
		return err
	}
	return s.withLease(first.GetSession(), func(session *Session) error {
		ctx, cancel := context.WithCancel(st.Context())
		defer cancel()
		p := &publisher{cancel: cancel, done: make(chan struct{})}
		if err := session.takePublish(p); err != nil {
			return err
		}
		defer session.endPublish(p)
		if err := st.Send(&brokerpb.PublishReply{}); err != nil {
			return err
		}
		return s.publish(ctx, session, st)
	})
}

// publishStream is the state of one publish stream. Its handler goroutine
// reads the stream; the broker's committer answers calls into replies, and a
// sender goroutine writes them.
type publishStream struct {
	server  *Server
	call    callAssembly
	replies chan *brokerpb.PublishReply
	// slots bounds the unanswered calls, so that replies never blocks the
	// committer: a slot is free again when its reply was sent.
	slots chan struct{}
	// open counts calls whose done function was not called yet.
	open sync.WaitGroup
}

// publish reads calls and appends them until the stream, the session or the
// server ends, and returns when every call that was taken is answered.
func (s *Server) publish(ctx context.Context, session *Session, st grpc.BidiStreamingServer[brokerpb.PublishRequest, brokerpb.PublishReply]) error {
	ps := &publishStream{
		server:  s,
		call:    callAssembly{opts: &s.opts, broker: &s.broker.opts},
		replies: make(chan *brokerpb.PublishReply, s.opts.CallsMax),
		slots:   make(chan struct{}, s.opts.CallsMax),
	}
	sent := make(chan error, 1)
	go func() { sent <- ps.send(st) }()
	received := receive(ctx, st.Recv)
	err := ps.receive(ctx, s.closing, session, received)
	ps.open.Wait()
	close(ps.replies)
	if sendErr := <-sent; err == nil {
		err = sendErr
	}
	return err
}

func (ps *publishStream) receive(ctx, closing context.Context, session *Session, in <-chan received[brokerpb.PublishRequest]) error {
	for {
		select {
		case r := <-in:
			if r.err != nil {
				return ignoreEOF(r.err)
			}
			if err := ps.message(ctx, r.message); err != nil {
				return err
			}
		case <-ctx.Done():
			return fmt.Errorf("%w: publish stream was replaced or ended", api.ErrLeaseLost)
		case <-session.Ended():
			return api.ErrLeaseLost
		case <-closing.Done():
			return errClosed
		}
	}
}

// send writes replies until there are no more. After an error it only empties
// the channel.
func (ps *publishStream) send(st grpc.BidiStreamingServer[brokerpb.PublishRequest, brokerpb.PublishReply]) error {
	var failed error
	for r := range ps.replies {
		if failed == nil {
			failed = st.Send(r)
		}
		<-ps.slots
	}
	return failed
}

// message takes one request; a complete call is appended.
func (ps *publishStream) message(ctx context.Context, m *brokerpb.PublishRequest) error {
	complete, err := ps.call.add(m)
	if err != nil || !complete {
		return err
	}
	call, durability, batches := m.Call, ps.call.durability, ps.call.batches
	ps.call.reset()
	select {
	case ps.slots <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	ps.open.Add(1)
	err = ps.server.broker.AppendAsync(ctx, durability, batches, func(out []api.Appended) {
		ps.replies <- &brokerpb.PublishReply{Call: call, Appended: appendedMessages(out)}
		ps.open.Done()
	})
	if err != nil {
		ps.replies <- &brokerpb.PublishReply{Call: call, Failure: failure(err)}
		ps.open.Done()
	}
	return nil
}

// callAssembly puts the parts of one call together, within limits.
type callAssembly struct {
	opts   *ServerOptions
	broker *Options

	started    bool
	call       uint64
	durability api.Durability
	batches    []api.Append
	bytes      int64
	// rest is what the last batch or schema lacks; target is where it goes.
	rest   int64
	target *[]byte
}

func (c *callAssembly) reset() {
	*c = callAssembly{opts: c.opts, broker: c.broker}
}

// add takes a message and says whether the call is complete.
func (c *callAssembly) add(m *brokerpb.PublishRequest) (bool, error) {
	if !c.started {
		c.started, c.call = true, m.Call
		if m.Durability == brokerpb.Durability_WRITTEN {
			c.durability = api.Written
		}
	}
	if m.Call != c.call {
		return false, errField("a call inside another")
	}
	for _, part := range m.Parts {
		if err := c.part(part); err != nil {
			return false, err
		}
	}
	if m.Last && (c.rest != 0 || len(c.batches) == 0) {
		return false, errField("incomplete call")
	}
	return m.Last, nil
}

func (c *callAssembly) part(part *brokerpb.PublishPart) error {
	switch p := part.GetPart().(type) {
	case *brokerpb.PublishPart_More:
		return c.more(p.More)
	case *brokerpb.PublishPart_Batch:
		id, err := topicID(p.Batch.GetTopicId())
		if err != nil {
			return err
		}
		c.batches = append(c.batches, api.Append{Partition: api.Partition{Topic: id, Index: p.Batch.Partition}})
		return c.begin(&c.batches[len(c.batches)-1].Batch, p.Batch.Size, p.Batch.Data, c.broker.BatchBytesMax)
	case *brokerpb.PublishPart_Schema:
		key, err := schemaKey(p.Schema.GetKey())
		if err != nil {
			return err
		}
		if len(c.batches) == 0 {
			return errField("schema without batch")
		}
		b := &c.batches[len(c.batches)-1]
		b.Schemas = append(b.Schemas, api.Schema{Key: key})
		return c.begin(&b.Schemas[len(b.Schemas)-1].Encoded, p.Schema.Size, p.Schema.Data, c.broker.SchemaBytesMax)
	}
	return errField("empty part")
}

// partBytes is what a part costs beside its data.
const partBytes = 256

// begin starts a batch or schema of size bytes. Memory grows with what comes,
// not with what is announced.
func (c *callAssembly) begin(target *[]byte, size int64, data []byte, limit int) error {
	if c.rest != 0 {
		return errField("part inside another")
	}
	if size < 0 || size > int64(limit) {
		return fmt.Errorf("part of %d bytes: %w", size, api.ErrTooLarge)
	}
	if c.bytes += size + partBytes; c.bytes > c.opts.CallBytesMax {
		return fmt.Errorf("call of %d bytes: %w", c.bytes, api.ErrTooLarge)
	}
	c.target, c.rest = target, size
	if int64(len(data)) == size {
		*target, c.rest = data, 0 // the message's own bytes: no copy
		return nil
	}
	return c.more(data)
}

func (c *callAssembly) more(data []byte) error {
	if int64(len(data)) > c.rest {
		return errField("more data than announced")
	}
	*c.target = append(*c.target, data...)
	c.rest -= int64(len(data))
	return nil
}
