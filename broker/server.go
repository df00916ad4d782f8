package broker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"golang.org/x/sync/semaphore"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"

	"milena/broker/api"
	"milena/broker/brokerpb"
	"milena/serde"
)

// ServerOptions configure a Server. The zero value means the defaults.
type ServerOptions struct {
	// MessageBytesMax bounds a gRPC message in both directions; clients must
	// allow as much; default 64 MiB.
	MessageBytesMax int
	// PieceBytes is the size of the pieces in which batches are sent; default
	// 1 MiB.
	PieceBytes int
	// StreamsMax bounds the concurrent calls of one connection; default 10,000.
	StreamsMax uint32
	// CallsMax bounds the unanswered calls of a publish stream, CallBytesMax
	// the bytes of one; defaults 256 and 256 MiB.
	CallsMax     int
	CallBytesMax int64
	// FetchBytesMax bounds the batches that all Fetch calls have loaded and not
	// sent, in bytes; further calls wait; default 256 MiB.
	FetchBytesMax int64
	// Idle closes connections without calls; default 10 min. Ping is how long
	// a silent peer is trusted before it is asked; default 10 s.
	Idle, Ping time.Duration
	// Programs caches compiled schemas for ReadRecords; nil makes one.
	Programs *serde.Programs
	// Logger gets what no caller is told; default slog.Default.
	Logger *slog.Logger
}

func (o ServerOptions) withDefaults() ServerOptions {
	setDefault(&o.MessageBytesMax, 64<<20)
	setDefault(&o.PieceBytes, 1<<20)
	setDefault(&o.StreamsMax, 10_000)
	setDefault(&o.CallsMax, 256)
	setDefault(&o.CallBytesMax, 256<<20)
	setDefault(&o.FetchBytesMax, 256<<20)
	setDefault(&o.Idle, 10*time.Minute)
	setDefault(&o.Ping, 10*time.Second)
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return o
}

// Server serves a Broker over gRPC (milena.broker.v1.Broker).
type Server struct {
	brokerpb.UnimplementedBrokerServer

	broker   *Broker
	opts     ServerOptions
	programs *serde.Programs
	grpc     *grpc.Server
	// fetchBytes is the memory of Fetch calls.
	fetchBytes *semaphore.Weighted
	// closing ends the calls that last: sessions, publish streams, watches.
	closing context.Context
	close   context.CancelFunc
}

// NewServer returns a server for b. The caller closes b after the server.
func NewServer(b *Broker, o ServerOptions) (*Server, error) {
	o = o.withDefaults()
	if o.Programs == nil {
		programs, err := serde.NewPrograms(serde.ProgramsOptions{})
		if err != nil {
			return nil, fmt.Errorf("new broker server: %w", err)
		}
		o.Programs = programs
	}
	s := &Server{broker: b, opts: o, programs: o.Programs, fetchBytes: semaphore.NewWeighted(o.FetchBytesMax)}
	s.closing, s.close = context.WithCancel(context.Background())
	s.grpc = grpc.NewServer(
		grpc.MaxRecvMsgSize(o.MessageBytesMax),
		grpc.MaxSendMsgSize(o.MessageBytesMax),
		grpc.MaxConcurrentStreams(o.StreamsMax),
		grpc.KeepaliveParams(keepalive.ServerParameters{
			MaxConnectionIdle: o.Idle, Time: o.Ping, Timeout: o.Ping,
		}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{
			MinTime: o.Ping / 2, PermitWithoutStream: true,
		}),
		grpc.ChainUnaryInterceptor(s.unary),
		grpc.ChainStreamInterceptor(s.stream),
	)
	brokerpb.RegisterBrokerServer(s.grpc, s)
	return s, nil
}

// Serve answers calls on l until Shutdown, and then returns nil. It closes l.
func (s *Server) Serve(l net.Listener) error {
	if err := s.grpc.Serve(l); err != nil && !errors.Is(err, grpc.ErrServerStopped) {
		return fmt.Errorf("serve broker: %w", err)
	}
	return nil
}

// Shutdown ends lasting calls, lets others finish until ctx ends, and then
// cuts them off.
func (s *Server) Shutdown(ctx context.Context) {
	s.close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.grpc.GracefulStop()
	}()
	select {
	case <-done:
	case <-ctx.Done():
		s.grpc.Stop()
		<-done
	}
}

// unary turns errors into statuses and a panic of one call into a failure of
// that call alone.
func (s *Server) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (reply any, err error) {
	defer func() {
		if p := recover(); p != nil {
			s.opts.Logger.Error("panic in a broker call", "api", info.FullMethod, "panic", p)
			reply, err = nil, status.Error(codes.Internal, "internal error")
		}
	}()
	reply, err = next(ctx, req)
	return reply, s.status(info.FullMethod, err)
}

func (s *Server) stream(srv any, st grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) (err error) {
	defer func() {
		if p := recover(); p != nil {
			s.opts.Logger.Error("panic in a broker call", "api", info.FullMethod, "panic", p)
			err = status.Error(codes.Internal, "internal error")
		}
	}()
	return s.status(info.FullMethod, next(srv, st))
}

// status maps an error, and logs the ones whose text stays here.
func (s *Server) status(method string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := status.FromError(err); ok {
		return err // of the transport
	}
	out := statusError(err)
	switch status.Code(out) {
	case codes.Internal, codes.DataLoss:
		s.opts.Logger.Error("broker call", "api", method, "err", err)
	case codes.Unavailable:
		s.opts.Logger.Warn("broker call", "api", method, "err", err)
	}
	return out
}

// Session implements brokerpb.BrokerServer.
func (s *Server) Session(st grpc.BidiStreamingServer[brokerpb.SessionRequest, brokerpb.SessionReply]) error {
	first, err := st.Recv()
	if err != nil {
		return err
	}
	session, err := s.broker.lease.acquire(first.GetHolder(), false)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(st.Context())
	kept := make(chan struct{})
	go func() {
		defer close(kept)
		session.keep(ctx)
	}()
	// The lease ends before this call does, so that the caller may take
	// another at once.
	defer func() {
		cancel()
		<-kept
	}()
	received := receive(ctx, st.Recv)
	for {
		id := session.ID()
		if err := st.Send(&brokerpb.SessionReply{
			Session: id[:], TtlMillis: s.broker.opts.Lease.Milliseconds(),
			BatchBytesMax:  int64(s.broker.opts.BatchBytesMax),
			SchemaBytesMax: int64(s.broker.opts.SchemaBytesMax),
			CallBytesMax:   s.opts.CallBytesMax,
		}); err != nil {
			return err
		}
		select {
		case r := <-received:
			if r.err != nil {
				return ignoreEOF(r.err)
			}
			if err := session.Renew(); err != nil {
				return err
			}
		case <-session.Ended():
			return api.ErrLeaseLost
		case <-s.closing.Done():
			return errClosed
		}
	}
}

// CreateTopic implements brokerpb.BrokerServer.
func (s *Server) CreateTopic(ctx context.Context, m *brokerpb.CreateTopicRequest) (*brokerpb.CreateTopicReply, error) {
	t, err := s.broker.CreateTopic(ctx, api.TopicSpec{Name: m.Name, Partitions: m.Partitions, Configs: m.Configs})
	if err != nil {
		return nil, err
	}
	return &brokerpb.CreateTopicReply{Topic: topicMessage(t)}, nil
}

// DeleteTopic implements brokerpb.BrokerServer.
func (s *Server) DeleteTopic(ctx context.Context, m *brokerpb.DeleteTopicRequest) (*brokerpb.DeleteTopicReply, error) {
	id, err := topicID(m.Id)
	if err != nil {
		return nil, err
	}
	return &brokerpb.DeleteTopicReply{}, s.broker.DeleteTopic(ctx, id)
}

// DescribeTopic implements brokerpb.BrokerServer.
func (s *Server) DescribeTopic(ctx context.Context, m *brokerpb.DescribeTopicRequest) (*brokerpb.DescribeTopicReply, error) {
	var t api.Topic
	var err error
	switch by := m.By.(type) {
	case *brokerpb.DescribeTopicRequest_Name:
		t, err = s.broker.TopicByName(ctx, by.Name)
	case *brokerpb.DescribeTopicRequest_Id:
		var id api.TopicID
		if id, err = topicID(by.Id); err == nil {
			t, err = s.broker.TopicByID(ctx, id)
		}
	default:
		err = errField("neither name nor id")
	}
	if err != nil {
		return nil, err
	}
	return &brokerpb.DescribeTopicReply{Topic: topicMessage(t)}, nil
}

// topicsPage is the number of topics in one page of a list.
const topicsPage = 500

// ListTopics implements brokerpb.BrokerServer.
func (s *Server) ListTopics(_ *brokerpb.ListTopicsRequest, st grpc.ServerStreamingServer[brokerpb.ListTopicsReply]) error {
	topics, _, _ := s.broker.state.topics.list()
	return sendTopics(topics, st)
}

// WatchTopics implements brokerpb.BrokerServer.
func (s *Server) WatchTopics(_ *brokerpb.WatchTopicsRequest, st grpc.ServerStreamingServer[brokerpb.ListTopicsReply]) error {
	for {
		topics, _, changed := s.broker.state.topics.list()
		if err := sendTopics(topics, st); err != nil {
			return err
		}
		select {
		case <-changed:
		case <-st.Context().Done():
			return st.Context().Err()
		case <-s.closing.Done():
			return errClosed
		}
	}
}

func sendTopics(topics []api.Topic, st grpc.ServerStreamingServer[brokerpb.ListTopicsReply]) error {
	for {
		page := topics[:min(len(topics), topicsPage)]
		topics = topics[len(page):]
		m := &brokerpb.ListTopicsReply{Topics: make([]*brokerpb.Topic, len(page)), Last: len(topics) == 0}
		for i := range page {
			m.Topics[i] = topicMessage(page[i])
		}
		if err := st.Send(m); err != nil || m.Last {
			return err
		}
	}
}

// NewProducerId implements brokerpb.BrokerServer.
func (s *Server) NewProducerId(ctx context.Context, _ *brokerpb.NewProducerIdRequest) (*brokerpb.NewProducerIdReply, error) {
	id, err := s.broker.NewProducerID(ctx)
	if err != nil {
		return nil, err
	}
	return &brokerpb.NewProducerIdReply{ProducerId: id}, nil
}

// GetSchema implements brokerpb.BrokerServer.
func (s *Server) GetSchema(ctx context.Context, m *brokerpb.GetSchemaRequest) (*brokerpb.GetSchemaReply, error) {
	k, err := schemaKey(m.Key)
	if err != nil {
		return nil, err
	}
	sc, err := s.broker.Schema(ctx, k)
	if err != nil {
		return nil, err
	}
	return &brokerpb.GetSchemaReply{Encoded: sc.Encoded}, nil
}

// received is one message or what ended the stream.
type received[T any] struct {
	message *T
	err     error
}

// receive passes messages on until the stream ends, which it does when its
// handler returns: so the goroutine ends with the call.
func receive[T any](ctx context.Context, recv func() (*T, error)) <-chan received[T] {
	out := make(chan received[T])
	go func() {
		for {
			m, err := recv()
			select {
			case out <- received[T]{m, err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return out
}
