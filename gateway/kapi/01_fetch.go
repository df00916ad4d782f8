package kapi

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"milena/gateway/backend"
	"milena/gateway/envelope"
)

// Fetch, versions 4 to 17.
//
//	v4   isolation level, last stable offset, aborted transactions (KIP-98)
//	v5   log start offset
//	v7   fetch sessions (KIP-227): requests and answers hold only what changed;
//	     see fetch_session.go
//	v9   leader epoch (KIP-320)
//	v10  zstd (KIP-110); before, such batches are rebuilt with another codec,
//	     also on topics whose compression.type it is
//	v11  preferred read replica, never set
//	v12  flexible
//	v13  topic ids instead of names (KIP-516)
//	v15  replica state, v17 directory ids: of followers, ignored
//
// Batches come whole: one that doesn't fit isn't begun, the first of the first
// partition with data comes whatever its size (KIP-74). No answer goes beyond
// fetchBytesMax but for that first batch. Unknown topics and
// partitions don't end a wait as long as there is another partition to wait for.
// A batch that can't be rebuilt is KAFKA_STORAGE_ERROR at its offset; what stands
// before it is served.
// Not served: v18 (high watermark for followers).
func (s *Server) fetch(ctx context.Context, r *Request) (kmsg.Response, error) {
	req := r.Msg.(*kmsg.FetchRequest)
	resp := req.ResponseKind().(*kmsg.FetchResponse)
	resp.Topics = []kmsg.FetchResponseTopic{}
	session, err := s.sessions.begin(req, s.now())
	if err != nil {
		resp.ErrorCode = s.dataCode(err)
		return resp, nil
	}
	f := fetching{server: s, request: r, req: req, resp: resp}
	if session != nil {
		// The request takes little memory, its session's partitions may take
		// much: they are laid out when it is this answer's turn.
		r.Park()
		if err := r.Reserve(ctx, 0); err != nil {
			return nil, err
		}
		whole := *req
		whole.Topics = s.sessions.topics(session)
		f.req = &whole
	}
	f.prepare(ctx)
	if len(f.reads) > 0 {
		r.Park()
		if err := f.read(ctx); err != nil {
			return nil, err
		}
	}
	switch {
	case session != nil:
		resp.SessionID = session.id
		s.sessions.changed(session, resp)
	case req.Version >= 7 && req.SessionEpoch == 0:
		resp.SessionID = s.sessions.create(req, resp, s.now())
	}
	return resp, nil
}

// Bounds of one answer, in bytes, and of one wait, whatever the client asks for.
//
// The first is what fetch.max.bytes is to a Kafka broker, which allows 55 MiB. An
// answer's memory is held until the client has taken it; with clients that ask
// for 50 MiB, as they do by default, a handful of slow ones would hold all there
// is. A smaller answer costs a client that keeps up nothing but more requests.
const (
	fetchBytesMax = 8 << 20
	fetchWaitMax  = 5 * time.Minute
)

// fetching is one Fetch request at work.
type fetching struct {
	server  *Server
	request *Request
	req     *kmsg.FetchRequest
	resp    *kmsg.FetchResponse
	reads   []backend.ReadPartition
	// outs are the answers that reads fill, forms those of their batches, in the
	// same order.
	outs  []*kmsg.FetchResponseTopicPartition
	forms []envelope.Served
	names []string // of their topics
}

// prepare lays out the answer as asked and gathers what the broker is asked for.
func (f *fetching) prepare(ctx context.Context) {
	f.resp.Topics = make([]kmsg.FetchResponseTopic, len(f.req.Topics))
	for i := range f.req.Topics {
		rt := &f.req.Topics[i]
		out := kmsg.NewFetchResponseTopic()
		out.Topic, out.TopicID = rt.Topic, rt.TopicID
		out.Partitions = make([]kmsg.FetchResponseTopicPartition, len(rt.Partitions))
		f.resp.Topics[i] = out
		topic, err := f.find(ctx, rt)
		form := envelope.Served{Compression: f.server.compression(topic), Zstd: f.req.Version >= 10}
		for j := range rt.Partitions {
			rp := &rt.Partitions[j]
			op := &out.Partitions[j]
			*op = kmsg.NewFetchResponseTopicPartition()
			op.Partition = rp.Partition
			partErr := err
			if partErr == nil && (rp.Partition < 0 || rp.Partition >= topic.Partitions) {
				partErr = backend.ErrUnknownTopic
			}
			if partErr == nil {
				partErr = checkLeaderEpoch(rp.CurrentLeaderEpoch)
			}
			if partErr != nil {
				f.fail(op, partErr)
				continue
			}
			f.reads = append(f.reads, backend.ReadPartition{
				Partition: backend.Partition{Topic: topic.ID, Index: rp.Partition}, Offset: rp.FetchOffset,
				BytesMax: max(rp.PartitionMaxBytes, 0), LeaderEpoch: rp.CurrentLeaderEpoch})
			f.outs, f.forms, f.names = append(f.outs, op), append(f.forms, form), append(f.names, topic.Name)
		}
	}
}

// compression is what a topic's batches are compressed with.
func (s *Server) compression(t backend.Topic) envelope.Compression {
	return envelope.CompressionOf(s.topicText(t, "compression.type"))
}

func (f *fetching) find(ctx context.Context, rt *kmsg.FetchRequestTopic) (backend.Topic, error) {
	if f.req.Version < 13 {
		return f.server.broker.TopicByName(ctx, rt.Topic)
	}
	t, err := f.server.broker.TopicByID(ctx, rt.TopicID)
	if errors.Is(err, backend.ErrUnknownTopic) {
		return t, fmt.Errorf("topic id %x: %w", rt.TopicID, kerr.UnknownTopicID)
	}
	return t, err
}

// fail answers a partition with an error. Offsets are then -1 and records empty,
// never null, which librdkafka takes for a broken answer.
func (f *fetching) fail(out *kmsg.FetchResponseTopicPartition, err error) {
	out.ErrorCode = f.server.dataCode(err)
	out.HighWatermark, out.LastStableOffset, out.LogStartOffset = -1, -1, -1
	out.RecordBatches = []byte{}
	out.AbortedTransactions = f.aborted(nil)
}

// aborted is null for read_uncommitted and never null for read_committed.
func (f *fetching) aborted(in []backend.AbortedTransaction) []kmsg.FetchResponseTopicPartitionAbortedTransaction {
	if f.req.IsolationLevel == 0 {
		return nil
	}
	out := make([]kmsg.FetchResponseTopicPartitionAbortedTransaction, 0, len(in))
	for _, a := range in {
		t := kmsg.NewFetchResponseTopicPartitionAbortedTransaction()
		t.ProducerID, t.FirstOffset = a.ProducerID, a.FirstOffset
		out = append(out, t)
	}
	return out
}

// read asks the broker, which waits as the request says, and fills in the
// answers.
func (f *fetching) read(ctx context.Context) error {
	bytesMax := min(f.req.MaxBytes, fetchBytesMax)
	isolation := backend.ReadUncommitted
	if f.req.IsolationLevel == 1 {
		isolation = backend.ReadCommitted
	}
	wait := min(max(time.Duration(f.req.MaxWaitMillis)*time.Millisecond, 0), fetchWaitMax)
	// A client that sends many fetches at once gets one answer after the other:
	// what it hasn't taken yet is not loaded.
	if err := f.request.Reserve(ctx, 0); err != nil {
		return err
	}
	readCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	limit := time.AfterFunc(wait+f.server.opts.BackendTimeout, cancel)
	defer limit.Stop()
	results, err := f.server.broker.Read(readCtx, backend.Read{
		Partitions: f.reads, BytesMin: max(min(f.req.MinBytes, bytesMax), 0), BytesMax: max(bytesMax, 0),
		MaxWait: wait, Isolation: isolation,
		Reserve: func(_ context.Context, bytes int64) error {
			// Memory may be long in coming, which is not the broker's fault.
			limit.Stop()
			defer limit.Reset(f.server.opts.BackendTimeout)
			return f.request.Reserve(ctx, bytes)
		}})
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err() // nobody waits for the answer any more
		}
		for _, out := range f.outs {
			f.fail(out, err)
		}
		return nil
	}
	size := 0
	for i := range results {
		for _, b := range results[i].Batches {
			size += envelope.Size(b)
		}
	}
	f.fill(ctx, results, size)
	return nil
}

// fill rebuilds the batches into one pooled buffer, which goes back once the
// answer was encoded. Parts of it are taken at the end, as it may move before.
func (f *fetching) fill(ctx context.Context, results []backend.ReadResult, size int) {
	s := f.server
	buf := s.fetchBuffers.get(size)
	ends := make([]int, len(results))
	for i := range results {
		res, out := &results[i], f.outs[i]
		start := len(buf)
		err, offset := res.Err, f.reads[i].Offset
		for _, b := range res.Batches {
			if err != nil {
				break
			}
			offset = b.BaseOffset
			buf, err = s.envelope.Serve(ctx, buf, f.reads[i].Partition, b, f.forms[i])
		}
		if ends[i] = len(buf); err != nil && len(buf) > start {
			// Served up to here; the next fetch begins where the trouble is.
			f.complain("stored batch left out of an answer", i, offset, err)
			err = nil
		}
		if err != nil {
			if errors.Is(err, backend.ErrCorrupt) {
				f.complain("stored batch can't be served", i, offset, err)
			}
			f.fail(out, err)
			continue
		}
		out.HighWatermark, out.LastStableOffset, out.LogStartOffset = res.HighWatermark, res.LastStableOffset, res.LogStart
		out.AbortedTransactions = f.aborted(res.Aborted)
	}
	start := 0
	for i, end := range ends {
		if f.outs[i].ErrorCode == 0 {
			f.outs[i].RecordBatches = buf[start:end:end]
			if start == end {
				f.outs[i].RecordBatches = []byte{}
			}
		}
		start = end
	}
	f.request.OnWritten(func() { s.fetchBuffers.put(buf) })
}

// complain logs what is wrong with a stored batch of the i-th read.
func (f *fetching) complain(what string, i int, offset int64, err error) {
	if p := f.reads[i].Partition; f.server.complaints.due(p, f.server.now()) {
		f.server.log.Error(what, "topic", f.names[i], "partition", p.Index, "offset", offset, "err", err)
	}
}

// fetchBufferKept is the capacity in bytes up to which an answer's buffer is
// used again.
const fetchBufferKept = 4 << 20

// fetchBuffers is a pool of answers' buffers, safe for concurrent use.
type fetchBuffers struct{ pool sync.Pool }

func (p *fetchBuffers) get(size int) []byte {
	if b, ok := p.pool.Get().(*[]byte); ok && cap(*b) >= size {
		return (*b)[:0]
	}
	return make([]byte, 0, size)
}

func (p *fetchBuffers) put(b []byte) {
	if cap(b) > 0 && cap(b) <= fetchBufferKept {
		p.pool.Put(&b)
	}
}
