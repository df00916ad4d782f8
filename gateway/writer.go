package gateway

import (
	"fmt"
	"time"
)

// Sizes of the writer's buffer: it is flushed above flushBytes, written in
// parts of writeBytes, each with its own deadline, and given up above
// keepBytes.
const (
	flushBytes = 256 << 10
	writeBytes = 1 << 20
	keepBytes  = 4 << 20
)

// writer writes a connection's answers in order. All fields belong to the
// goroutine that calls run.
type writer struct {
	conn *conn
	out  []byte
	// encoded are the entries whose answers are in out.
	encoded []*entry
	// broken: nothing can be written any more; entries are only released.
	broken bool
}

// run ends when the queue of entries is closed and empty.
func (w *writer) run() {
	for {
		e, ok := w.next()
		if !ok {
			w.flush()
			return
		}
		select {
		case <-e.done:
		default:
			w.flush()
			<-e.done
		}
		w.take(e)
	}
}

// next takes an entry; what is encoded leaves before it waits for one.
func (w *writer) next() (*entry, bool) {
	select {
	case e, ok := <-w.conn.pending:
		return e, ok
	default:
		w.flush()
		e, ok := <-w.conn.pending
		return e, ok
	}
}

// take encodes an entry that is done.
func (w *writer) take(e *entry) {
	if e.err != nil && !w.broken {
		w.flush()
		w.fail(ClosedHandler, e.err)
	}
	before := len(w.out)
	if e.resp != nil && !w.broken {
		if err := w.encode(e); err != nil {
			w.out = w.out[:before]
			w.flush()
			w.fail(ClosedHandler, err)
		}
	}
	if !w.broken {
		w.conn.server.opts.Observer.RequestDone(RequestStats{
			API: e.api.Name(), Version: min(max(e.head.version, 0), e.api.Max()),
			RequestBytes: int(e.head.size) + 4, ResponseBytes: len(w.out) - before,
			Duration: time.Since(e.arrived),
		})
	}
	e.release()
	w.encoded = append(w.encoded, e)
	if len(w.out) >= flushBytes || w.broken {
		w.flush()
	}
}

// encode appends the answer. Encoding can only panic by a defect in a handler,
// which must cost this connection and no other.
func (w *writer) encode(e *entry) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("encode %s v%d: panic: %v", e.api.Name(), e.head.version, p)
		}
	}()
	w.out = appendResponse(w.out, e.head.correlation, e.resp)
	e.resp = nil
	return nil
}

// flush writes what is encoded and lets the entries go.
func (w *writer) flush() {
	if len(w.out) > 0 && !w.broken {
		if err := w.write(w.out); err != nil {
			w.fail(ClosedSlow, err)
		}
		w.conn.lastWrite.Store(time.Now().UnixNano())
	}
	if w.out = w.out[:0]; cap(w.out) > keepBytes {
		w.out = nil
	}
	for i, e := range w.encoded {
		w.conn.server.responses.release(e.responseHeld)
		close(e.own.written)
		w.conn.inWork.Add(-1)
		w.encoded[i] = nil
	}
	w.encoded = w.encoded[:0]
}

// write writes in parts, so that a slow client has time as long as it takes
// bytes at all.
func (w *writer) write(b []byte) error {
	for len(b) > 0 {
		part := b[:min(len(b), writeBytes)]
		if err := w.conn.nc.SetWriteDeadline(time.Now().Add(w.conn.server.opts.WriteTimeout)); err != nil {
			return fmt.Errorf("write answer: %w", err)
		}
		n, err := w.conn.nc.Write(part)
		if err != nil {
			return fmt.Errorf("write answer: %w", err)
		}
		b = b[n:]
	}
	return nil
}

// fail gives the connection up. What was written before still leaves; the
// socket is closed by serve.
func (w *writer) fail(why CloseReason, err error) {
	w.broken = true
	w.conn.stop(why, err)
}
