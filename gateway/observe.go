package gateway

import "time"

// Observer is told what happens. Functions may be nil; they are called
// concurrently and must not block.
type Observer struct {
	// ConnectionOpened: a client connected to the named listener.
	ConnectionOpened func(listener string)
	// ConnectionClosed: it is gone, and why.
	ConnectionClosed func(listener string, why CloseReason)
	// ConnectionRefused: over ConnectionsMax.
	ConnectionRefused func(listener string)
	// RequestDone: an answer was encoded, or there is none to send.
	RequestDone func(r RequestStats)
}

// RequestStats describes one request. API and Version come from the table of
// APIs, so that they are fit for labels.
type RequestStats struct {
	API           string
	Version       int16
	RequestBytes  int
	ResponseBytes int
	// Duration is from the frame read to the answer encoded.
	Duration time.Duration
}

// CloseReason says why a connection was closed.
type CloseReason string

// Close reasons; the texts are metric labels.
const (
	// ClosedByClient: the client closed, or the network did.
	ClosedByClient CloseReason = "client"
	// ClosedIdle: nothing came for too long.
	ClosedIdle CloseReason = "idle"
	// ClosedGarbage: bytes that are no request.
	ClosedGarbage CloseReason = "garbage"
	// ClosedUnsupported: an API or version that isn't served.
	ClosedUnsupported CloseReason = "unsupported"
	// ClosedHandler: a handler gave up, which for acks=0 is the only answer.
	ClosedHandler CloseReason = "handler"
	// ClosedSlow: the client took no bytes for too long, or writing failed.
	ClosedSlow CloseReason = "write"
	// ClosedShutdown: the gateway stops.
	ClosedShutdown CloseReason = "shutdown"
)

// CloseReasons lists them all, for metrics that start at zero.
func CloseReasons() []CloseReason {
	return []CloseReason{ClosedByClient, ClosedIdle, ClosedGarbage, ClosedUnsupported, ClosedHandler, ClosedSlow, ClosedShutdown}
}

func (o Observer) withDefaults() Observer {
	if o.ConnectionOpened == nil {
		o.ConnectionOpened = func(string) {}
	}
	if o.ConnectionClosed == nil {
		o.ConnectionClosed = func(string, CloseReason) {}
	}
	if o.ConnectionRefused == nil {
		o.ConnectionRefused = func(string) {}
	}
	if o.RequestDone == nil {
		o.RequestDone = func(RequestStats) {}
	}
	return o
}
