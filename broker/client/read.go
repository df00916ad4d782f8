package client

import (
	"context"
	"fmt"
	"time"

	"milena/broker/api"
	"milena/broker/brokerpb"
)

// Read answers each partition, in order; see api.Read for when.
func (c *Client) Read(ctx context.Context, r api.Read) ([]api.ReadResult, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m := &brokerpb.FetchRequest{
		Partitions: make([]*brokerpb.FetchPartition, len(r.Partitions)),
		BytesMin:   r.BytesMin, BytesMax: r.BytesMax,
		// Rounded up: a wait of less than a millisecond is a wait.
		MaxWaitMillis: int64((r.MaxWait + time.Millisecond - 1) / time.Millisecond),
		Isolation:     isolation(r.Isolation),
	}
	for i := range r.Partitions {
		p := &r.Partitions[i]
		m.Partitions[i] = &brokerpb.FetchPartition{
			TopicId: p.Partition.Topic[:], Partition: p.Partition.Index, Offset: p.Offset, BytesMax: p.BytesMax,
		}
	}
	st, err := c.rpc.Fetch(ctx, m)
	var refused error
	a := fetchAssembly{results: make([]api.ReadResult, 0, len(r.Partitions))}
	if err == nil {
		err = receiveAll(st, func(m *brokerpb.FetchReply) error {
			// Meanwhile flow control holds back what follows.
			if m.Bytes > 0 && r.Reserve != nil && refused == nil {
				if refused = r.Reserve(ctx, m.Bytes); refused != nil {
					return refused
				}
			}
			return a.add(m)
		})
	}
	if refused != nil {
		return nil, fmt.Errorf("read: reserve memory: %w", refused)
	}
	if err != nil {
		return nil, callError(ctx, "read", err)
	}
	if len(a.results) != len(r.Partitions) || a.rest != 0 {
		return nil, fmt.Errorf("read: %w: incomplete answer", api.ErrUnavailable)
	}
	return a.results, nil
}

func isolation(i api.Isolation) brokerpb.Isolation {
	if i == api.ReadCommitted {
		return brokerpb.Isolation_READ_COMMITTED
	}
	return brokerpb.Isolation_READ_UNCOMMITTED
}

// fetchAssembly puts the parts of an answer together.
type fetchAssembly struct {
	results []api.ReadResult
	// rest is what the last batch lacks.
	rest int64
}

func (a *fetchAssembly) add(m *brokerpb.FetchReply) error {
	for _, part := range m.Parts {
		switch p := part.GetPart().(type) {
		case *brokerpb.FetchPart_Result:
			if a.rest != 0 || len(a.results) == cap(a.results) {
				return errAnswer("more results than asked for")
			}
			a.results = append(a.results, resultValue(p.Result))
		case *brokerpb.FetchPart_Batch:
			if a.rest != 0 || len(a.results) == 0 {
				return errAnswer("batch out of place")
			}
			if err := a.batch(p.Batch); err != nil {
				return err
			}
		case *brokerpb.FetchPart_More:
			if int64(len(p.More)) > a.rest {
				return errAnswer("more bytes than announced")
			}
			b := a.last()
			b.Bytes = append(b.Bytes, p.More...)
			a.rest -= int64(len(p.More))
		}
	}
	return nil
}

func errAnswer(what string) error { return fmt.Errorf("%w: %s", api.ErrUnavailable, what) }

func (a *fetchAssembly) last() *api.StoredBatch {
	r := &a.results[len(a.results)-1]
	return &r.Batches[len(r.Batches)-1]
}

// pieceMax bounds what is allocated ahead for a batch that comes in pieces.
const pieceMax = 8 << 20

func (a *fetchAssembly) batch(m *brokerpb.FetchBatch) error {
	a.rest = m.Size - int64(len(m.Data))
	if a.rest < 0 {
		return errAnswer("more bytes than announced")
	}
	bytes := m.Data
	if a.rest > 0 {
		bytes = append(make([]byte, 0, min(m.Size, pieceMax)), m.Data...)
	}
	r := &a.results[len(a.results)-1]
	r.Batches = append(r.Batches, api.StoredBatch{
		BaseOffset: m.BaseOffset, LeaderEpoch: m.LeaderEpoch, AppendTime: m.AppendTimeMillis, Bytes: bytes,
	})
	return nil
}

func resultValue(m *brokerpb.FetchResult) api.ReadResult {
	r := api.ReadResult{
		Err: failureError(m.Failure), HighWatermark: m.HighWatermark,
		LastStableOffset: m.LastStableOffset, LogStart: m.LogStart,
	}
	for _, t := range m.Aborted {
		r.Aborted = append(r.Aborted, api.AbortedTransaction{ProducerID: t.ProducerId, FirstOffset: t.FirstOffset})
	}
	return r
}

// ListOffsets answers each query, in order.
func (c *Client) ListOffsets(ctx context.Context, queries []api.OffsetQuery) ([]api.OffsetAnswer, error) {
	m := &brokerpb.ListOffsetsRequest{Queries: make([]*brokerpb.OffsetQuery, len(queries))}
	for i := range queries {
		q := &queries[i]
		m.Queries[i] = &brokerpb.OffsetQuery{
			TopicId: q.Partition.Topic[:], Partition: q.Partition.Index,
			Timestamp: q.Timestamp, Isolation: isolation(q.Isolation),
		}
	}
	reply, err := c.rpc.ListOffsets(ctx, m)
	if err != nil {
		return nil, callError(ctx, "list offsets", err)
	}
	if len(reply.Answers) != len(queries) {
		return nil, fmt.Errorf("list offsets: %w: %d answers for %d queries", api.ErrUnavailable, len(reply.Answers), len(queries))
	}
	out := make([]api.OffsetAnswer, len(queries))
	for i, a := range reply.Answers {
		out[i] = api.OffsetAnswer{
			Err: failureError(a.Failure), Offset: a.Offset, Timestamp: a.TimestampMillis, LeaderEpoch: a.LeaderEpoch,
		}
	}
	return out, nil
}

// ReadRecords says which records a subscriber wants.
type ReadRecords struct {
	Topic     string
	Partition int32
	Offset    int64
	// RecordsMax ends the read after so many records; 0 means no limit.
	RecordsMax int64
	// Follow waits for more at the end of the log instead of returning.
	Follow bool
}

// ReadRecords calls fn for each record from the offset on, with keys and
// values as RecordValue where their schema is stored, until the end of the
// log, the limit, an error of fn, or the end of ctx.
func (c *Client) ReadRecords(ctx context.Context, r ReadRecords, fn func(api.DecodedRecord) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	st, err := c.rpc.ReadRecords(ctx, &brokerpb.ReadRecordsRequest{
		Topic: r.Topic, Partition: r.Partition, Offset: r.Offset, RecordsMax: r.RecordsMax, Follow: r.Follow,
	})
	if err != nil {
		return callError(ctx, "read records", err)
	}
	var stop error
	err = receiveAll(st, func(m *brokerpb.ReadRecordsReply) error {
		for _, record := range m.Records {
			if stop = fn(recordValue(record)); stop != nil {
				return stop
			}
		}
		return nil
	})
	if stop != nil {
		return stop
	}
	return callError(ctx, "read records", err)
}

func recordValue(m *brokerpb.Record) api.DecodedRecord {
	r := api.DecodedRecord{
		Offset: m.Offset, Timestamp: m.TimestampMillis, Key: datumValue(m.Key), Value: datumValue(m.Value),
	}
	for _, h := range m.Headers {
		r.Headers = append(r.Headers, api.Header{Key: h.Key, Value: h.Value})
	}
	return r
}

func datumValue(m *brokerpb.Datum) api.Datum {
	d := api.Datum{
		Null: m.GetNull(), Framing: api.Framing(m.GetFraming()), SchemaID: m.GetSchemaId(),
		RecordValue: m.GetRecordValue(), Raw: m.GetRaw(),
	}
	copy(d.Schema[:], m.GetSchemaKey())
	return d
}
