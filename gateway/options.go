package gateway

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"milena/gateway/kapi"
)

// Options of a Server. Handlers and Listeners are required.
type Options struct {
	// Handlers answer requests.
	Handlers *kapi.Server
	// Listeners are the addresses to listen on; names are unique.
	Listeners []Listener
	// Listen opens a listener; net.Listen if nil.
	Listen func(network, address string) (net.Listener, error)
	// Logger gets one line per refused or broken connection; discarded if nil.
	Logger *slog.Logger
	// Observer counts.
	Observer Observer

	// ConnectionsMax bounds open connections of all listeners, 10,000 if zero.
	ConnectionsMax int
	// FrameBytesMax is the largest request, 100 MiB if zero, as Kafka's
	// socket.request.max.bytes.
	FrameBytesMax int32
	// InFlightMax bounds the requests of one connection that were read and not
	// answered, 128 if zero. More stay in the socket.
	InFlightMax int
	// RequestBytesMax bounds the memory of requests in work, over all
	// connections, in bytes; 256 MiB if zero. A quarter is kept for requests that
	// take at most 4 MiB, so that large ones that are slow in coming lock nobody
	// out; the rest is never below FrameBytesMax.
	RequestBytesMax int64
	// ResponseBytesMax bounds the memory of large answers, over all
	// connections, in bytes; 256 MiB if zero.
	ResponseBytesMax int64

	// FirstRequestTimeout closes connections that send no request, 1 min if
	// zero.
	FirstRequestTimeout time.Duration
	// IdleTimeout closes connections that send nothing and wait for nothing,
	// 10 min if zero, as Kafka's connections.max.idle.ms.
	IdleTimeout time.Duration
	// FrameTimeout closes connections that send no further byte of a frame
	// begun, 30 s if zero.
	FrameTimeout time.Duration
	// FrameBytesPerSecondMin is how fast a frame has to come, whose memory is
	// taken when it begins: connections whose frame isn't there FrameTimeout and
	// its bytes at this rate later are closed. 32 KiB if zero.
	FrameBytesPerSecondMin int64
	// WriteTimeout closes connections that take no further byte of an answer,
	// 30 s if zero.
	WriteTimeout time.Duration
}

func (o Options) withDefaults() Options {
	if o.Listen == nil {
		o.Listen = net.Listen
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Observer = o.Observer.withDefaults()
	setDefault(&o.ConnectionsMax, 10_000)
	setDefault(&o.FrameBytesMax, 100<<20)
	setDefault(&o.InFlightMax, 128)
	setDefault(&o.RequestBytesMax, 256<<20)
	// What smallShare leaves has room for the largest frame.
	frame := int64(o.FrameBytesMax)
	o.RequestBytesMax = max(o.RequestBytesMax, frame+frame/(smallShare-1))
	setDefault(&o.ResponseBytesMax, 256<<20)
	setDefault(&o.FirstRequestTimeout, time.Minute)
	setDefault(&o.IdleTimeout, 10*time.Minute)
	setDefault(&o.FrameTimeout, 30*time.Second)
	setDefault(&o.FrameBytesPerSecondMin, 32<<10)
	setDefault(&o.WriteTimeout, 30*time.Second)
	return o
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Validate reports options that can't work.
func (o Options) Validate() error {
	if o.Handlers == nil {
		return errors.New("gateway: no handlers")
	}
	if len(o.Listeners) == 0 {
		return errors.New("gateway: no listeners")
	}
	names := map[string]bool{}
	for _, l := range o.Listeners {
		if err := l.validate(); err != nil {
			return fmt.Errorf("gateway: listener %s: %w", l.Name, err)
		}
		if names[l.Name] {
			return fmt.Errorf("gateway: listener name %s is used twice", l.Name)
		}
		names[l.Name] = true
	}
	switch {
	case o.ConnectionsMax < 0:
		return fmt.Errorf("gateway: connections max %d: must not be negative", o.ConnectionsMax)
	case o.FrameBytesMax < 0:
		return fmt.Errorf("gateway: frame bytes max %d: must not be negative", o.FrameBytesMax)
	case o.InFlightMax < 0:
		return fmt.Errorf("gateway: in flight max %d: must not be negative", o.InFlightMax)
	case o.RequestBytesMax < 0 || o.ResponseBytesMax < 0:
		return errors.New("gateway: memory limits must not be negative")
	case o.FrameBytesPerSecondMin < 0:
		return errors.New("gateway: frame bytes per second min: must not be negative")
	case o.FirstRequestTimeout < 0 || o.IdleTimeout < 0 || o.FrameTimeout < 0 || o.WriteTimeout < 0:
		return errors.New("gateway: timeouts must not be negative")
	}
	return nil
}
