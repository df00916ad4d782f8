package kapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"milena/gateway/backend"
	"milena/gateway/coordinator"
	"milena/gateway/envelope"
)

// Options of a Server. Only Broker is required.
type Options struct {
	// Broker stores records, topics, offsets and coordinator records.
	Broker backend.Broker
	// Groups coordinates consumer groups. Its owner closes it, which answers
	// requests that wait. Without it the group APIs aren't served.
	Groups *coordinator.Coordinator
	// Envelope turns record batches into stored ones and back. Without it
	// Produce and Fetch aren't served.
	Envelope *envelope.Engine
	// Clock returns the present time; time.Now if nil.
	Clock func() time.Time
	// Logger gets what no client can be told; discarded if nil.
	Logger *slog.Logger

	// NodeID is this node's id in Metadata, 1 if zero: some clients take 0 for
	// "none".
	NodeID int32
	// ClusterID is any stable text, "milena" if empty.
	ClusterID string
	// AutoCreateOff refuses to create topics on Metadata requests. Kafka's
	// setting auto.create.topics.enable, reversed so that zero is its default.
	AutoCreateOff bool
	// DefaultPartitions is the partition count of topics that don't ask for
	// one, 1 if zero (num.partitions).
	DefaultPartitions int32
	// PartitionsMax bounds the partition count of one topic, 10,000 if zero.
	PartitionsMax int32
	// MessageBytesMax is the default of max.message.bytes, 1,048,588 if zero
	// as in Kafka (message.max.bytes).
	MessageBytesMax int32
	// KeyMode and ValueMode are the modes of topics that don't set theirs, as
	// given to the Envelope: DescribeConfigs shows them.
	KeyMode, ValueMode envelope.Mode
	// BackendTimeout bounds calls to the broker that carry no limit of the
	// client's, 30 s if zero.
	BackendTimeout time.Duration
}

func (o Options) withDefaults() Options {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.NodeID == 0 {
		o.NodeID = 1
	}
	if o.ClusterID == "" {
		o.ClusterID = "milena"
	}
	if o.DefaultPartitions == 0 {
		o.DefaultPartitions = 1
	}
	if o.PartitionsMax == 0 {
		o.PartitionsMax = 10_000
	}
	if o.MessageBytesMax == 0 {
		o.MessageBytesMax = 1_048_588
	}
	if o.BackendTimeout == 0 {
		o.BackendTimeout = 30 * time.Second
	}
	return o
}

// Validate reports options that can't work.
func (o Options) Validate() error {
	o = o.withDefaults()
	switch {
	case o.Broker == nil:
		return errors.New("kapi: no broker")
	case o.NodeID < 1:
		return fmt.Errorf("kapi: node id %d: must be 1 or more", o.NodeID)
	case o.PartitionsMax < 1:
		return fmt.Errorf("kapi: partitions max %d: must be 1 or more", o.PartitionsMax)
	case o.DefaultPartitions < 1 || o.DefaultPartitions > o.PartitionsMax:
		return fmt.Errorf("kapi: default partitions %d: must be 1 to %d", o.DefaultPartitions, o.PartitionsMax)
	case o.MessageBytesMax < 1:
		return fmt.Errorf("kapi: message bytes max %d: must be 1 or more", o.MessageBytesMax)
	case o.BackendTimeout < 0:
		return fmt.Errorf("kapi: backend timeout %v: must not be negative", o.BackendTimeout)
	}
	return nil
}

// Server answers requests. It is immutable after New, but for its fetch sessions
// and complaints, and safe for concurrent use.
type Server struct {
	opts     Options
	broker   backend.Broker
	groups   *coordinator.Coordinator
	envelope *envelope.Engine
	// fetchBuffers is a pool; it keeps nothing that an answer depends on.
	fetchBuffers fetchBuffers
	sessions     *fetchSessions
	complaints   complaints
	log          *slog.Logger
	now          func() time.Time

	apis    [kmsg.MaxKey + 1]*API
	ordered []*API
	// listed is the ApiVersions reply's list.
	listed []kmsg.ApiVersionsResponseApiKey
	// configs is the table of topic configs with this server's defaults.
	configs configTable
}

// New returns a Server.
func New(o Options) (*Server, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	s := &Server{
		opts: o, broker: o.Broker, groups: o.Groups, envelope: o.Envelope,
		log: o.Logger, now: o.Clock, configs: newConfigTable(o), sessions: newFetchSessions(),
	}
	for _, e := range table() {
		if e.flags&needsGroups != 0 && o.Groups == nil || e.flags&needsEnvelope != 0 && o.Envelope == nil {
			continue
		}
		api := &API{entry: e}
		s.apis[e.key] = api
		s.ordered = append(s.ordered, api)
		s.listed = append(s.listed, api.listed())
	}
	return s, nil
}

// APIs returns the rows of the table, by key: for documentation and metrics.
func (s *Server) APIs() []*API { return s.ordered }

// Verdict says what to do with a key and version.
type Verdict uint8

// Verdicts.
const (
	// Served: decode and handle.
	Served Verdict = iota
	// UnknownKey: no such API here; the connection is closed, since there is
	// no error body that every client could read.
	UnknownKey
	// UnknownVersion: the API exists, the version isn't served; closed too.
	UnknownVersion
	// AnswerUnsupported: ApiVersions in a version not served is answered with
	// UnsupportedApiVersions, its body not parsed (KIP-511).
	AnswerUnsupported
)

// Lookup finds the API. The API is nil only for UnknownKey.
func (s *Server) Lookup(key, version int16) (*API, Verdict) {
	if key < 0 || int(key) >= len(s.apis) || s.apis[key] == nil {
		return nil, UnknownKey
	}
	api := s.apis[key]
	if version >= api.min && version <= api.max {
		return api, Served
	}
	if api.key == kmsg.ApiVersions {
		return api, AnswerUnsupported
	}
	return api, UnknownVersion
}

// Handle runs the handler. No response and no error means that the request
// gets no answer (acks=0); an error means that the connection is closed, and
// is for the log.
func (s *Server) Handle(ctx context.Context, api *API, req *Request) (kmsg.Response, error) {
	resp, err := api.handle(s, ctx, req)
	if err != nil {
		return nil, fmt.Errorf("%s v%d: %w", api.Name(), req.Version(), err)
	}
	if resp != nil {
		resp.SetVersion(req.Version())
	}
	return resp, nil
}

// backendContext bounds a call to the broker.
func (s *Server) backendContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, s.opts.BackendTimeout)
}

// API is a row of the table as others may see it. It is immutable.
type API struct{ entry }

// Name is Kafka's name, such as "OffsetCommit".
func (a *API) Name() string { return a.key.Name() }

// Key is the API key.
func (a *API) Key() int16 { return int16(a.key) }

// Min and Max are the first and last version served.
func (a *API) Min() int16 { return a.min }

// Max is the last version served.
func (a *API) Max() int16 { return a.max }

// PreAuth: may be asked before authentication.
func (a *API) PreAuth() bool { return a.flags&preAuth != 0 }

// MayWait: a long poll.
func (a *API) MayWait() bool { return a.flags&mayWait != 0 }

// Overlaps: may start while earlier such requests of the connection run.
func (a *API) Overlaps() bool { return a.flags&overlaps != 0 }

// Memory estimates the bytes that decoding a frame of that size takes.
func (a *API) Memory(frameBytes int64) int64 { return a.memory(frameBytes) }

// smallFrameBytesMax bounds frames without records: a hundred thousand topics
// or partitions.
const smallFrameBytesMax = 4 << 20

// FrameBytesMax is the largest frame of this API in bytes, where the gateway
// allows limit at all.
func (a *API) FrameBytesMax(limit int32) int32 {
	if a.flags&largeFrames != 0 {
		return limit
	}
	return min(limit, smallFrameBytesMax)
}

// Sources names the KIPs that the API's versions come from.
func (a *API) Sources() string { return a.sources }

// Resource names what the caller needs permission for, "" if nothing.
func (a *API) Resource() string {
	switch a.authz {
	case cluster:
		return "cluster"
	case topic:
		return "topic"
	case group:
		return "group"
	case transactionalID:
		return "transactional id"
	default:
		return ""
	}
}

// listed is the row as ApiVersions names it.
func (a *API) listed() kmsg.ApiVersionsResponseApiKey {
	k := kmsg.NewApiVersionsResponseApiKey()
	k.ApiKey, k.MinVersion, k.MaxVersion = int16(a.key), a.min, a.max
	if a.flags&listedFromZero != 0 {
		k.MinVersion = 0
	}
	return k
}
