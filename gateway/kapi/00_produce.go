package kapi

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
	"golang.org/x/sync/errgroup"

	"milena/gateway/backend"
	"milena/gateway/batch"
	"milena/gateway/envelope"
	"milena/serde/schema"
)

// Produce, versions 3 to 11, listed from 0 (KAFKA-18659).
//
//	v3   record batches of magic 2, transactional id (KIP-98)
//	v5   log start offset
//	v7   zstd (KIP-110); before, such a batch is UNSUPPORTED_COMPRESSION_TYPE
//	v8   record errors and error message (KIP-467)
//	v9   flexible
//	v10  current leader and node endpoints, which are never needed here
//	v11  TRANSACTION_ABORTABLE (KIP-890)
//
// Each partition takes exactly one batch, whole or not at all, whatever happens
// to the others. Batches are checked and decoded before the request's turn comes,
// and stored with one call. The turn passes on as soon as they have their place
// in the order, so that a client with many requests in flight waits for few
// syncs; if an earlier batch is refused, the broker's check of sequence numbers
// refuses those behind it. A batch that grows too much in memory is decoded when
// its turn has come, one at a time. Timeouts bound the wait for a registry; the append
// itself has the server's, since a batch that is on its way can't be called back.
//
// A registry out of reach is NOT_ENOUGH_REPLICAS: retriable, and clients keep
// their metadata; the message says what it is about. A broker that doesn't answer
// in time is REQUEST_TIMED_OUT. Broken compressed bytes are INVALID_RECORD, where Kafka says
// UNKNOWN_SERVER_ERROR.
//
// Transactions aren't served: a transactional batch is answered as for a
// partition that was never added to its transaction.
// Not served: v12 (transactions, version 2), v13 (topic ids).
func (s *Server) produce(ctx context.Context, r *Request) (kmsg.Response, error) {
	req := r.Msg.(*kmsg.ProduceRequest)
	resp := req.ResponseKind().(*kmsg.ProduceResponse)
	p := producing{server: s, req: req, resp: resp}
	p.prepare()
	if req.Acks < -1 || req.Acks > 1 {
		p.failAll(kerr.InvalidRequiredAcks)
		return resp, nil
	}
	defer p.release()
	p.store(ctx)
	if err := r.Turn(ctx); err != nil {
		return nil, err
	}
	p.append(ctx, r.Pass)
	if req.Acks != 0 {
		return resp, nil
	}
	// There is no answer, so closing is the only way to tell the client that
	// something is wrong (Kafka does the same).
	for i := range p.parts {
		if p.parts[i].err != nil {
			return nil, fmt.Errorf("acks=0: partition %s-%d: %w", p.parts[i].topic.Name, p.parts[i].in.Partition, p.parts[i].err)
		}
	}
	return nil, nil
}

// registryWait bounds how long a batch waits for a registry, between a second
// and half a minute, within it the client's timeout.
const (
	registryWaitMin = time.Second
	registryWaitMax = 30 * time.Second
)

// producing is one Produce request at work.
type producing struct {
	server *Server
	req    *kmsg.ProduceRequest
	resp   *kmsg.ProduceResponse
	parts  []producedPart
}

// producedPart is one partition of it. Parts are independent until append.
type producedPart struct {
	topic  backend.Topic
	in     *kmsg.ProduceRequestTopicPartition
	out    *kmsg.ProduceResponseTopicPartition
	policy envelope.Policy
	header batch.Header
	stored envelope.Stored
	// large: it takes one of few places, and is stored by itself.
	large bool
	err   error
}

// prepare lays out the answer, topics and partitions as asked, and finds the
// topics.
func (p *producing) prepare() {
	p.resp.Topics = make([]kmsg.ProduceResponseTopic, len(p.req.Topics))
	for i := range p.req.Topics {
		rt := &p.req.Topics[i]
		out := kmsg.NewProduceResponseTopic()
		out.Topic = rt.Topic
		out.Partitions = make([]kmsg.ProduceResponseTopicPartition, len(rt.Partitions))
		p.resp.Topics[i] = out
		for j := range rt.Partitions {
			op := kmsg.NewProduceResponseTopicPartition()
			op.Partition, op.BaseOffset, op.LogAppendTime, op.LogStartOffset = rt.Partitions[j].Partition, -1, -1, -1
			out.Partitions[j] = op
			p.parts = append(p.parts, producedPart{in: &rt.Partitions[j], out: &out.Partitions[j]})
		}
	}
}

func (p *producing) failAll(err error) {
	for i := range p.parts {
		p.fail(&p.parts[i], err)
	}
}

// store checks every partition's batch and makes stored batches of them, as many
// at a time as there are processors.
func (p *producing) store(ctx context.Context) {
	ctx, cancel := p.registryContext(ctx)
	defer cancel()
	p.find(ctx)
	if len(p.parts) == 1 {
		p.storePart(ctx, &p.parts[0])
		return
	}
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range p.parts {
		group.Go(func() error {
			p.storePart(ctx, &p.parts[i])
			return nil
		})
	}
	// Each part keeps its own error.
	_ = group.Wait()
}

// registryContext bounds the wait for a registry.
func (p *producing) registryContext(ctx context.Context) (context.Context, context.CancelFunc) {
	wait := min(max(time.Duration(p.req.TimeoutMillis)*time.Millisecond, registryWaitMin), registryWaitMax)
	return context.WithTimeout(ctx, wait)
}

// release gives back the memory of the stored batches.
func (p *producing) release() {
	for i := range p.parts {
		p.parts[i].stored.Hold.Release()
	}
}

// find looks up each topic once.
func (p *producing) find(ctx context.Context) {
	i := 0
	for _, rt := range p.req.Topics {
		topic, err := p.server.broker.TopicByName(ctx, rt.Topic)
		var policy envelope.Policy
		if err == nil {
			policy, err = p.server.policy(topic)
		}
		if topic.Name == "" {
			topic.Name = rt.Topic
		}
		for range rt.Partitions {
			p.parts[i].topic, p.parts[i].policy = topic, policy
			if err != nil {
				p.fail(&p.parts[i], err)
			}
			i++
		}
	}
}

// policy is what a topic's configs ask of its records.
func (s *Server) policy(t backend.Topic) (envelope.Policy, error) {
	p, err := envelope.PolicyOf(t.Configs)
	if err != nil {
		return p, &configError{err.Error()}
	}
	p.KeyRequired = strings.Contains(s.topicText(t, "cleanup.policy"), "compact")
	p.LogAppendTime = s.topicText(t, "message.timestamp.type") == "LogAppendTime"
	p.TimestampAfterMax = milliseconds(s.topicInt(t, "message.timestamp.after.max.ms"))
	p.TimestampBeforeMax = milliseconds(s.topicInt(t, "message.timestamp.before.max.ms"))
	return p, nil
}

// milliseconds as a duration; what is beyond its range is no bound, which is 0.
func milliseconds(ms int64) time.Duration {
	if ms > math.MaxInt64/int64(time.Millisecond) {
		return 0
	}
	return time.Duration(ms) * time.Millisecond
}

// storePart checks in the order of Kafka: partition, size, damage, codec,
// contents.
func (p *producing) storePart(ctx context.Context, part *producedPart) {
	if part.err != nil {
		return
	}
	if part.in.Partition < 0 || part.in.Partition >= part.topic.Partitions {
		p.fail(part, backend.ErrUnknownTopic)
		return
	}
	// Null records, which Kafka 4.4 never answers, are an empty batch here.
	limit := max(1, int(p.server.topicInt(part.topic, "max.message.bytes"))) // 0 takes nothing
	header, err := batch.Check(part.in.Records, limit)
	switch {
	case err != nil:
	case header.Codec() == batch.Zstd && p.req.Version < 7:
		err = batch.ErrUnsupportedCompression
	case header.Transactional():
		err = p.transactional()
	}
	if err != nil {
		p.fail(part, err)
		return
	}
	part.header = header
	p.decode(ctx, part)
}

// decode makes the stored batch, or finds that it is a large one.
func (p *producing) decode(ctx context.Context, part *producedPart) {
	var err error
	part.stored, err = p.server.envelope.Store(ctx, envelope.Produced{
		Topic: part.topic.ID, TopicName: part.topic.Name, Policy: part.policy,
		Header: part.header, Batch: part.in.Records, Large: part.large})
	switch {
	case errors.Is(err, envelope.ErrLarge):
		part.large = true
	case err != nil:
		p.fail(part, err)
	}
}

// transactional is the refusal of a transactional batch: as no partition can be
// added to a transaction here, it is always to one that wasn't.
func (p *producing) transactional() error {
	switch {
	case p.req.TransactionID == nil:
		return kerr.TransactionalIDAuthorizationFailed
	case p.req.Version >= 11:
		return kerr.TransactionAbortable
	}
	return kerr.InvalidTxnState
}

// fail answers one partition with an error.
func (p *producing) fail(part *producedPart, err error) {
	part.err = err
	part.out.ErrorCode = p.server.produceCode(err)
	var rejected *envelope.Rejected
	var damaged *batch.Error
	switch {
	case errors.As(err, &rejected):
		for _, rec := range rejected.Records {
			e := kmsg.NewProduceResponseTopicPartitionErrorRecord()
			e.RelativeOffset = rec.Index
			e.ErrorMessage = &rec.Message
			part.out.ErrorRecords = append(part.out.ErrorRecords, e)
		}
		text := rejected.Error()
		part.out.ErrorMessage = &text
	case errors.As(err, &damaged):
		text := damaged.Error()
		part.out.ErrorMessage = &text
	case errors.Is(err, schema.ErrUnavailable):
		// Its code speaks of replicas, which nobody would look for in a registry.
		text := registryMessage(err)
		part.out.ErrorMessage = &text
		return // it is retried, and would fill the log
	default:
		part.out.ErrorMessage = errorMessage(part.out.ErrorCode)
		return
	}
	if p.req.Version < 8 || p.req.Acks == 0 {
		// The client gets no more than the code.
		p.server.log.Info("produce refused", "topic", part.topic.Name, "partition", part.in.Partition,
			"version", p.req.Version, "err", err)
	}
}

// append stores what is left, with one call and one more for each large batch,
// and fills in the answers. It calls placed once all have their place in the
// order, or there are none.
func (p *producing) append(ctx context.Context, placed func()) {
	var calls []produceCall
	var together produceCall
	for i := range p.parts {
		if part := &p.parts[i]; part.err == nil && !part.large {
			together.add(part)
		}
	}
	if len(together.parts) > 0 {
		calls = append(calls, p.enqueue(ctx, together))
	}
	for i := range p.parts {
		if part := &p.parts[i]; part.err == nil && part.large {
			if call, ok := p.enqueueLarge(ctx, part); ok {
				calls = append(calls, call)
			}
		}
	}
	placed()
	for i := range calls {
		p.await(ctx, &calls[i])
	}
}

// produceCall is one call to the broker.
type produceCall struct {
	parts   []*producedPart
	batches []backend.Append
	pending backend.Pending
	err     error // why there is no pending
}

func (c *produceCall) add(part *producedPart) {
	c.parts = append(c.parts, part)
	c.batches = append(c.batches, backend.Append{
		Partition: backend.Partition{Topic: part.topic.ID, Index: part.in.Partition},
		Batch:     part.stored.Batch, Schemas: part.stored.Schemas})
}

func (p *producing) enqueue(ctx context.Context, c produceCall) produceCall {
	ctx, cancel := p.server.backendContext(ctx)
	defer cancel()
	durability := backend.Written
	if p.req.Acks == -1 {
		durability = backend.Synced
	}
	c.pending, c.err = p.server.broker.Enqueue(ctx, durability, c.batches)
	return c
}

// enqueueLarge decodes a large batch and hands it over. It holds its place no
// longer than that.
func (p *producing) enqueueLarge(ctx context.Context, part *producedPart) (produceCall, bool) {
	decodeCtx, cancel := p.registryContext(ctx)
	defer cancel()
	defer part.stored.Hold.Release()
	if p.decode(decodeCtx, part); part.err != nil {
		return produceCall{}, false
	}
	var c produceCall
	c.add(part)
	return p.enqueue(ctx, c), true
}

// await fills in the answers of a call's parts.
func (p *producing) await(ctx context.Context, c *produceCall) {
	ctx, cancel := p.server.backendContext(ctx)
	defer cancel()
	var answers []backend.Appended
	err := c.err
	if err == nil {
		answers, err = c.pending.Wait(ctx)
	}
	for i, part := range c.parts {
		partErr := err
		if partErr == nil {
			partErr = answers[i].Err
		}
		if partErr != nil {
			p.fail(part, partErr)
			continue
		}
		p.appended(part, c.batches[i].Partition, answers[i])
	}
}

func (p *producing) appended(part *producedPart, where backend.Partition, a backend.Appended) {
	part.out.BaseOffset, part.out.LogAppendTime, part.out.LogStartOffset = a.BaseOffset, -1, a.LogStart
	if part.policy.LogAppendTime {
		part.out.LogAppendTime = a.Timestamp
	}
	s := p.server
	s.envelope.Acknowledge(part.stored.Schemas)
	if a.Duplicate || !s.compression(part.topic).Keeps(part.header.Codec()) {
		return
	}
	s.envelope.Tail().Put(where, part.in.Records, batch.Stamp{
		BaseOffset: a.BaseOffset, LeaderEpoch: a.LeaderEpoch, LogAppendTime: part.policy.LogAppendTime,
		AppendTime: a.Timestamp, MaxTimestamp: part.stored.MaxTimestamp,
	}, part.stored, part.header.Count)
}
