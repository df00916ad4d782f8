package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"

	"milena/broker/api"
	"milena/broker/brokerpb"
)

// Options configure a Client. Zero fields mean their defaults.
type Options struct {
	// Address is HOST:PORT of the broker, or any gRPC target. Required.
	Address string
	// Holder, if not empty, makes the client take the gateway's lease under
	// this name, which Append, offset commits and records need.
	Holder string
	// Credentials of the transport; nil means none.
	Credentials credentials.TransportCredentials
	// MessageBytesMax bounds a gRPC message; as the broker's; default 64 MiB.
	MessageBytesMax int
	// PieceBytes is the size of the pieces in which batches are sent; default
	// 1 MiB.
	PieceBytes int
	// Ping is how long a silent broker is trusted before it is asked; the
	// broker refuses less than half of its own; default 10 s.
	Ping time.Duration
	// Retry is the wait before the first new link after one broke; it doubles
	// up to RetryMax; defaults 50 ms and 2 s.
	Retry, RetryMax time.Duration
	// Logger is told of links that come and go; default slog.Default.
	Logger *slog.Logger
	// DialOptions are added, for tests.
	DialOptions []grpc.DialOption
}

func (o Options) withDefaults() Options {
	if o.Credentials == nil {
		o.Credentials = insecure.NewCredentials()
	}
	if o.MessageBytesMax == 0 {
		o.MessageBytesMax = 64 << 20
	}
	if o.PieceBytes == 0 {
		o.PieceBytes = 1 << 20
	}
	if o.Ping == 0 {
		o.Ping = 10 * time.Second
	}
	if o.Retry == 0 {
		o.Retry = 50 * time.Millisecond
	}
	if o.RetryMax == 0 {
		o.RetryMax = 2 * time.Second
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return o
}

// Client is a remote broker. All methods may be called concurrently. Errors
// wrap those of broker/api or the context's.
type Client struct {
	opts Options
	conn *grpc.ClientConn
	rpc  brokerpb.BrokerClient

	ctx   context.Context // ends with Close
	close context.CancelFunc
	done  sync.WaitGroup // of the goroutines

	// link is the present link, nil while there is none; linkErr says why.
	link    atomic.Pointer[link]
	linkErr atomic.Pointer[error]
	topics  topicCache
}

// New returns a client, which connects in the background: Ready says how that
// went. It fails only if the options can't be meant.
func New(o Options) (*Client, error) {
	o = o.withDefaults()
	if o.Address == "" {
		return nil, errors.New("broker client: no address")
	}
	conn, err := grpc.NewClient(o.Address, append([]grpc.DialOption{
		grpc.WithTransportCredentials(o.Credentials),
		grpc.WithDisableRetry(),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: o.Retry, Multiplier: 2, Jitter: 0.2, MaxDelay: o.RetryMax},
			MinConnectTimeout: 5 * time.Second,
		}),
		grpc.WithDefaultCallOptions(
			grpc.MaxCallRecvMsgSize(o.MessageBytesMax),
			grpc.MaxCallSendMsgSize(o.MessageBytesMax),
		),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{
			Time: o.Ping, Timeout: o.Ping, PermitWithoutStream: true,
		}),
	}, o.DialOptions...)...)
	if err != nil {
		return nil, fmt.Errorf("broker client: %w", err)
	}
	c := &Client{opts: o, conn: conn, rpc: brokerpb.NewBrokerClient(conn)}
	c.ctx, c.close = context.WithCancel(context.Background())
	c.setLinkError(fmt.Errorf("%w: not connected yet", api.ErrUnavailable))
	c.done.Add(1)
	go func() {
		defer c.done.Done()
		c.watchTopics()
	}()
	if o.Holder != "" {
		c.done.Add(1)
		go func() {
			defer c.done.Done()
			c.keepLink()
		}()
	}
	return c, nil
}

// Close ends the link and waits for all goroutines. Calls under way fail with
// ErrUnavailable.
func (c *Client) Close() error {
	c.close()
	err := c.conn.Close()
	c.done.Wait()
	if err != nil {
		return fmt.Errorf("close broker client: %w", err)
	}
	return nil
}

// Ready says why the broker can't be used; nil if it can. With a Holder that
// means that the client has the lease.
func (c *Client) Ready() error {
	if c.opts.Holder == "" {
		if c.topics.current() == nil {
			return fmt.Errorf("%w: not connected", api.ErrUnavailable)
		}
		return nil
	}
	if c.link.Load() != nil {
		return nil
	}
	return *c.linkErr.Load()
}

func (c *Client) setLinkError(err error) { c.linkErr.Store(&err) }

// session returns the session id for a call that needs the lease.
func (c *Client) session() ([]byte, error) {
	l := c.link.Load()
	if l == nil {
		return nil, fmt.Errorf("%w: %w", api.ErrUnavailable, *c.linkErr.Load())
	}
	return l.session, nil
}

// NewProducerID returns a producer id that was never returned before.
func (c *Client) NewProducerID(ctx context.Context) (int64, error) {
	m, err := c.rpc.NewProducerId(ctx, &brokerpb.NewProducerIdRequest{})
	if err != nil {
		return 0, callError(ctx, "new producer id", err)
	}
	return m.ProducerId, nil
}

// Schema returns a stored schema by content key; ErrUnknownSchema if no stored
// record uses it.
func (c *Client) Schema(ctx context.Context, k api.Key) (api.Schema, error) {
	m, err := c.rpc.GetSchema(ctx, &brokerpb.GetSchemaRequest{Key: k[:]})
	if err != nil {
		return api.Schema{}, callError(ctx, "schema", err)
	}
	return api.Schema{Key: k, Encoded: m.Encoded}, nil
}

// receiveAll calls fn for each message of a stream until its end.
func receiveAll[T any](st grpc.ServerStreamingClient[T], fn func(*T) error) error {
	for {
		m, err := st.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = fn(m)
		}
		if err != nil {
			return err
		}
	}
}
