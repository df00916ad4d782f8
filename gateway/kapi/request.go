package kapi

import (
	"context"
	"net"
	"strings"
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Conn describes the connection that a request came in on. All fields are set
// before the first request and not changed, except the client software, which
// is an atomic pointer.
type Conn struct {
	// Listener is the name of the listener ("PLAIN").
	Listener string
	// Local and Remote are the two ends.
	Local, Remote net.Addr
	// AdvertisedHost and AdvertisedPort are what Metadata and FindCoordinator
	// name as this node's address: the listener's advertised address, or else
	// the local address of this connection.
	AdvertisedHost string
	AdvertisedPort int32

	software atomic.Pointer[Software]
}

// Software is the client's name and version from ApiVersions (KIP-511).
type Software struct{ Name, Version string }

// Software returns what the client called itself, empty if it hasn't yet.
func (c *Conn) Software() Software {
	if s := c.software.Load(); s != nil {
		return *s
	}
	return Software{}
}

// ClientHost is the remote host in Kafka's spelling, "/10.1.2.3", as
// DescribeGroups shows it.
func (c *Conn) ClientHost() string {
	if c == nil || c.Remote == nil {
		return "/"
	}
	host, _, err := net.SplitHostPort(c.Remote.String())
	if err != nil {
		host = c.Remote.String()
	}
	if i := strings.IndexByte(host, '%'); i >= 0 {
		host = host[:i]
	}
	return "/" + host
}

// Flow is how a handler tells the connection about the progress of its
// request. The gateway implements it; methods are called by the goroutine that
// runs the handler.
type Flow interface {
	// Park gives the request's memory back and lets the following requests of
	// the connection run, whose answers still wait for this one's.
	Park()
	// Reserve replaces the request's memory by bytes for the answer, waiting
	// for them as long as ctx lasts. It is held until the answer is written.
	Reserve(ctx context.Context, bytes int64) error
	// Turn waits until every earlier request of the connection has finished,
	// parked or passed its turn on.
	Turn(ctx context.Context) error
	// Pass passes the turn on to a following request that overlaps: the effect
	// of this one has its place, though it isn't answered yet. Other requests
	// still wait for its end. Nothing happens before Turn returned nil.
	Pass()
}

// Request is one decoded request.
//
// Byte fields of Msg alias the frame buffer, which is used again after the
// answer has been encoded: copy what must live longer. The answer itself may
// alias Msg.
type Request struct {
	// Msg is the decoded request; its version is one that the table serves.
	Msg kmsg.Request
	// ClientID is the header's client id, empty if null.
	ClientID string
	// Conn is the connection; never nil.
	Conn *Conn
	// Flow may be nil in tests; use the methods below.
	Flow Flow

	release []func()
}

// Version is the version of the request and of its answer.
func (r *Request) Version() int16 { return r.Msg.GetVersion() }

// Park is Flow.Park. An API that waits for other clients calls it before.
func (r *Request) Park() {
	if r.Flow != nil {
		r.Flow.Park()
	}
}

// Reserve is Flow.Reserve.
func (r *Request) Reserve(ctx context.Context, bytes int64) error {
	if r.Flow == nil {
		return nil
	}
	return r.Flow.Reserve(ctx, bytes)
}

// Turn is Flow.Turn. An API that overlaps calls it before its effect, so that
// effects happen in the order in which requests arrived.
func (r *Request) Turn(ctx context.Context) error {
	if r.Flow == nil {
		return nil
	}
	return r.Flow.Turn(ctx)
}

// Pass is Flow.Pass. An API that overlaps calls it as soon as what it does has
// its place in the order.
func (r *Request) Pass() {
	if r.Flow != nil {
		r.Flow.Pass()
	}
}

// OnWritten has fn called once the answer was encoded, or the request given
// up: the place to return pooled buffers that the answer points into.
func (r *Request) OnWritten(fn func()) { r.release = append(r.release, fn) }

// Written calls the functions given to OnWritten, last one first. The gateway
// calls it once.
func (r *Request) Written() {
	for i := len(r.release) - 1; i >= 0; i-- {
		r.release[i]()
	}
	r.release = nil
}
