package gateway

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"milena/gateway/kapi"
)

// readerBytes is the read buffer of a connection; bodies larger than it are
// read past it.
const readerBytes = 4 << 10

// conn is one client connection. serve runs the reader; it starts the writer
// and the requests' goroutines and returns after all of them ended.
type conn struct {
	server *Server
	nc     net.Conn
	info   *kapi.Conn
	// pending holds entries in the order of requests, from reader to writer.
	pending chan *entry

	// ctx ends when the connection is to be given up at once, waiting also
	// when the client is gone or the server drains: the context of long polls.
	ctx         context.Context
	cancel      context.CancelFunc
	waiting     context.Context
	stopWaiting context.CancelFunc

	// inWork counts entries made and not yet flushed; lastWrite is when the
	// last flush ended, in nanoseconds since the epoch.
	inWork    atomic.Int32
	lastWrite atomic.Int64

	// mu guards the fields below, and read deadlines against being moved after
	// stopReading.
	mu      sync.Mutex
	stopped bool
	why     CloseReason
	err     error
}

func newConn(s *Server, nc net.Conn, info *kapi.Conn) *conn {
	c := &conn{server: s, nc: nc, info: info, pending: make(chan *entry, s.opts.InFlightMax)}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.waiting, c.stopWaiting = context.WithCancel(c.ctx)
	return c
}

// stop has the reader end for the given reason, of which the first counts.
// Answers on their way are still written.
func (c *conn) stop(why CloseReason, err error) {
	c.mu.Lock()
	if c.why == "" {
		c.why, c.err = why, err
	}
	c.stopped = true
	// An error means that the socket is closed, which ends the reader as well.
	_ = c.nc.SetReadDeadline(time.Unix(1, 0))
	c.mu.Unlock()
	c.stopWaiting()
}

// abort is stop without waiting for answers.
func (c *conn) abort(why CloseReason, err error) {
	c.stop(why, err)
	c.cancel()
	_ = c.nc.Close()
}

// setReadDeadline gives the client time to send, unless the reader is to stop.
func (c *conn) setReadDeadline(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.stopped {
		// A closed socket fails the next read.
		_ = c.nc.SetReadDeadline(t)
	}
}

// frameProgress returns what is called before each read of a frame of so many
// bytes: the client has FrameTimeout for the next byte, and for the whole frame
// what a slow client takes for it.
func (c *conn) frameProgress(bytes int32) func() {
	o := &c.server.opts
	whole := float64(bytes) / float64(o.FrameBytesPerSecondMin) * float64(time.Second)
	end := time.Now().Add(o.FrameTimeout + time.Duration(whole))
	return func() {
		next := time.Now().Add(o.FrameTimeout)
		if end.Before(next) {
			next = end
		}
		c.setReadDeadline(next)
	}
}

// serve handles the connection until it is over.
func (c *conn) serve() {
	writerDone := make(chan struct{})
	w := &writer{conn: c}
	go func() {
		defer close(writerDone)
		w.run()
	}()
	why, err := c.read()
	c.stop(why, err)
	close(c.pending)
	<-writerDone
	c.cancel()
	c.mu.Lock()
	why, err = c.why, c.err
	c.mu.Unlock()
	if why != ClosedByClient {
		c.linger()
	}
	_ = c.nc.Close()
	c.report(why, err)
}

// Linger: how long and how many bytes of what the client still sends are read
// after our last answer. Closing with unread bytes would reset the connection,
// and a reset can overtake the answer.
const (
	lingerTime  = 500 * time.Millisecond
	lingerBytes = 1 << 20
)

func (c *conn) linger() {
	half, ok := c.nc.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	if c.nc.SetReadDeadline(time.Now().Add(lingerTime)) != nil {
		return
	}
	// Its end, however it comes, is all that is waited for.
	_, _ = io.CopyN(io.Discard, c.nc, lingerBytes)
}

// report writes the one line about a connection that ended.
func (c *conn) report(why CloseReason, err error) {
	level := slog.LevelDebug
	switch why {
	case ClosedGarbage, ClosedUnsupported, ClosedHandler:
		level = slog.LevelWarn
	case ClosedSlow:
		level = slog.LevelInfo
	}
	software := c.info.Software()
	c.server.log.Log(context.Background(), level, "kafka connection closed",
		"listener", c.info.Listener, "remote", c.info.Remote.String(), "reason", string(why),
		"client_software", software.Name, "client_version", software.Version, "err", err)
	c.server.opts.Observer.ConnectionClosed(c.info.Listener, why)
}

// read cuts frames until the connection ends, and says why it does.
func (c *conn) read() (CloseReason, error) {
	r := bufio.NewReaderSize(c.nc, readerBytes)
	last := over()
	for first := true; ; first = false {
		if err := c.awaitByte(r, first); err != nil {
			return closeReason(err)
		}
		e, err := c.readRequest(r)
		if err != nil {
			return closeReason(err)
		}
		e.prev, e.own = last, newSignals(e.api.Overlaps())
		last = e.own
		c.inWork.Add(1)
		c.pending <- e
		if e.req == nil {
			close(e.own.started)
			go e.finish()
			continue
		}
		go c.handle(e)
	}
}

// errUnsupported: an API or version that isn't served.
var errUnsupported = errors.New("unsupported request")

func closeReason(err error) (CloseReason, error) {
	switch {
	case errors.Is(err, errFrame):
		return ClosedGarbage, err
	case errors.Is(err, errUnsupported):
		return ClosedUnsupported, err
	case errors.Is(err, os.ErrDeadlineExceeded):
		return ClosedIdle, nil
	case errors.Is(err, io.EOF):
		return ClosedByClient, nil
	default:
		return ClosedByClient, err
	}
}

// awaitByte waits for the next frame to begin. A client that waits for an
// answer isn't idle.
func (c *conn) awaitByte(r *bufio.Reader, first bool) error {
	timeout := c.server.opts.IdleTimeout
	if first {
		timeout = c.server.opts.FirstRequestTimeout
	}
	for r.Buffered() == 0 {
		c.setReadDeadline(time.Now().Add(timeout))
		_, err := r.Peek(1)
		if err == nil {
			break
		}
		quiet := time.Since(time.Unix(0, c.lastWrite.Load()))
		busy := c.inWork.Load() > 0 || quiet < timeout
		if !errors.Is(err, os.ErrDeadlineExceeded) || c.isStopped() || !busy {
			return err
		}
	}
	return nil
}

func (c *conn) isStopped() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stopped
}

// readRequest reads one frame into an entry: an answer that is due, or a
// decoded request.
func (c *conn) readRequest(r *bufio.Reader) (*entry, error) {
	c.setReadDeadline(time.Now().Add(c.server.opts.FrameTimeout))
	h, err := readHead(r, c.server.opts.FrameBytesMax)
	if err != nil {
		return nil, err
	}
	e := &entry{head: h, conn: c, done: make(chan struct{})}
	api, verdict := c.server.handlers.Lookup(h.key, h.version)
	e.api = api
	rest := int(h.size) - headBytes
	switch verdict {
	case kapi.Served:
	case kapi.AnswerUnsupported:
		e.resp, e.arrived = c.server.handlers.UnsupportedApiVersions(), time.Now()
		_, err := io.CopyN(io.Discard, progressReader{r, c.frameProgress(h.size)}, int64(rest))
		return e, err
	default:
		return nil, fmt.Errorf("%w: key %d version %d", errUnsupported, h.key, h.version)
	}
	if limit := api.FrameBytesMax(c.server.opts.FrameBytesMax); h.size > limit {
		return nil, fmt.Errorf("%w: %s of %d bytes exceeds %d", errFrame, api.Name(), h.size, limit)
	}
	if e.requestHeld, err = c.server.requests.acquire(c.ctx, api.Memory(int64(h.size))); err != nil {
		return nil, err
	}
	// From here on, as waiting for memory is not the client's fault.
	if err := e.fill(r, rest, c.frameProgress(h.size)); err != nil {
		e.release()
		return nil, err
	}
	return e, nil
}

// progressReader calls progress before each read.
type progressReader struct {
	r        io.Reader
	progress func()
}

func (p progressReader) Read(b []byte) (int, error) {
	p.progress()
	return p.r.Read(b)
}

// fill reads and decodes the request.
func (e *entry) fill(r *bufio.Reader, rest int, progress func()) error {
	var err error
	if e.buf, err = readBody(r, e.conn.server.buffers.get(rest), rest, progress); err != nil {
		return err
	}
	e.arrived = time.Now()
	guard := func(body []byte) error { return e.api.Guard(e.head.version, body) }
	msg, clientID, err := decodeRequest(e.head, e.buf, guard)
	if err != nil {
		return err
	}
	e.req = &kapi.Request{Msg: msg, ClientID: clientID, Conn: e.conn.info, Flow: e}
	return nil
}

// release gives back what the request held; its answer was encoded or there
// will be none.
func (e *entry) release() {
	if e.req != nil {
		e.req.Written()
	}
	e.conn.server.buffers.put(e.buf)
	e.buf = nil
	e.requestHeld.release()
}

// handle runs the request's handler. A panic is a defect of ours that must not
// take others down: the connection is closed and the stack logged.
func (c *conn) handle(e *entry) {
	defer e.finish()
	defer func() {
		if p := recover(); p != nil {
			e.resp, e.err = nil, fmt.Errorf("%s v%d: panic: %v", e.api.Name(), e.head.version, p)
			c.server.log.Error("kafka handler panicked", "api", e.api.Name(), "version", e.head.version,
				"panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		}
	}()
	ctx := c.ctx
	if e.api.MayWait() {
		ctx = c.waiting
	}
	if e.err = e.awaitStart(ctx); e.err != nil {
		return
	}
	e.resp, e.err = c.server.handlers.Handle(ctx, e.api, e.req)
}
