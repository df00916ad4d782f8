package broker

import (
	"context"
	"errors"
	"time"

	"google.golang.org/grpc"

	"milena/broker/api"
	"milena/broker/brokerpb"
)

// ListOffsets implements brokerpb.BrokerServer.
func (s *Server) ListOffsets(ctx context.Context, m *brokerpb.ListOffsetsRequest) (*brokerpb.ListOffsetsReply, error) {
	queries, err := offsetQueries(m)
	if err != nil {
		return nil, err
	}
	answers, err := s.broker.ListOffsets(ctx, queries)
	if err != nil {
		return nil, err
	}
	return offsetAnswers(answers), nil
}

// Fetch implements brokerpb.BrokerServer.
func (s *Server) Fetch(m *brokerpb.FetchRequest, st grpc.ServerStreamingServer[brokerpb.FetchReply]) error {
	r, err := readRequest(m)
	if err != nil {
		return err
	}
	ctx, cancel := s.untilClosing(st.Context())
	defer cancel()
	w := &fetchWriter{stream: st, pieceBytes: s.opts.PieceBytes}
	var held int64
	defer func() { s.fetchBytes.Release(held) }()
	r.Reserve = func(ctx context.Context, bytes int64) error {
		w.reply.Bytes = bytes
		held = min(bytes, s.opts.FetchBytesMax)
		err := s.fetchBytes.Acquire(ctx, held)
		if err != nil {
			held = 0
		}
		return err
	}
	results, err := s.broker.Read(ctx, r)
	if err != nil {
		return s.closedError(err)
	}
	for i := range results {
		if err := w.result(&results[i]); err != nil {
			return err
		}
	}
	return w.flush()
}

// untilClosing returns a context that also ends when the server closes.
func (s *Server) untilClosing(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.closing, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}

// closedError tells a stop of the server from one by the caller.
func (s *Server) closedError(err error) error {
	if s.closing.Err() != nil && errors.Is(err, context.Canceled) {
		return errClosed
	}
	return err
}

// fetchWriter cuts results into replies of about pieceBytes.
type fetchWriter struct {
	stream     grpc.ServerStreamingServer[brokerpb.FetchReply]
	pieceBytes int
	reply      brokerpb.FetchReply
	bytes      int
}

// partOverhead is about what a part costs beside its data.
const partOverhead = 64

func (w *fetchWriter) result(r *api.ReadResult) error {
	m := &brokerpb.FetchResult{
		Failure: failure(r.Err), HighWatermark: r.HighWatermark,
		LastStableOffset: r.LastStableOffset, LogStart: r.LogStart,
		Aborted: make([]*brokerpb.AbortedTransaction, len(r.Aborted)),
	}
	for i, a := range r.Aborted {
		m.Aborted[i] = &brokerpb.AbortedTransaction{ProducerId: a.ProducerID, FirstOffset: a.FirstOffset}
	}
	if err := w.part(&brokerpb.FetchPart{Part: &brokerpb.FetchPart_Result{Result: m}}, len(r.Aborted)*16); err != nil {
		return err
	}
	for i := range r.Batches {
		if err := w.batch(&r.Batches[i]); err != nil {
			return err
		}
	}
	return nil
}

func (w *fetchWriter) batch(b *api.StoredBatch) error {
	data := b.Bytes[:min(len(b.Bytes), w.pieceBytes)]
	rest := b.Bytes[len(data):]
	err := w.part(&brokerpb.FetchPart{Part: &brokerpb.FetchPart_Batch{Batch: &brokerpb.FetchBatch{
		BaseOffset: b.BaseOffset, LeaderEpoch: b.LeaderEpoch, AppendTimeMillis: b.AppendTime,
		Size: int64(len(b.Bytes)), Data: data,
	}}}, len(data))
	for err == nil && len(rest) > 0 {
		data, rest = rest[:min(len(rest), w.pieceBytes)], rest[min(len(rest), w.pieceBytes):]
		err = w.part(&brokerpb.FetchPart{Part: &brokerpb.FetchPart_More{More: data}}, len(data))
	}
	return err
}

func (w *fetchWriter) part(p *brokerpb.FetchPart, bytes int) error {
	w.reply.Parts = append(w.reply.Parts, p)
	w.bytes += bytes + partOverhead
	if w.bytes < w.pieceBytes {
		return nil
	}
	return w.flush()
}

func (w *fetchWriter) flush() error {
	if len(w.reply.Parts) == 0 {
		return nil
	}
	err := w.stream.Send(&w.reply)
	w.reply.Parts, w.reply.Bytes, w.bytes = w.reply.Parts[:0], 0, 0
	return err
}

// followWait is how long one wait of a following ReadRecords lasts; it only
// bounds the wait, nothing is lost at its end.
const followWait = 30 * time.Second

// ReadRecords implements brokerpb.BrokerServer.
func (s *Server) ReadRecords(m *brokerpb.ReadRecordsRequest, st grpc.ServerStreamingServer[brokerpb.ReadRecordsReply]) error {
	ctx, cancel := s.untilClosing(st.Context())
	defer cancel()
	topic, err := s.broker.TopicByName(ctx, m.Topic)
	if err != nil {
		return err
	}
	d := &recordDecoder{broker: s.broker, programs: s.programs}
	next, left := m.Offset, m.RecordsMax
	if left <= 0 {
		left = 1<<63 - 1
	}
	for left > 0 {
		r := api.Read{
			Partitions: []api.ReadPartition{{
				Partition: api.Partition{Topic: topic.ID, Index: m.Partition}, Offset: next, BytesMax: int32(s.opts.PieceBytes),
			}},
			BytesMin: 1, BytesMax: int32(s.opts.PieceBytes), Isolation: api.ReadCommitted,
		}
		if m.Follow {
			r.MaxWait = followWait
		}
		results, err := s.broker.Read(ctx, r)
		if err != nil {
			return s.closedError(err)
		}
		if results[0].Err != nil {
			return results[0].Err
		}
		if len(results[0].Batches) == 0 && !m.Follow {
			return nil
		}
		if next, left, err = s.sendRecords(d, &results[0], next, left, st); err != nil {
			return err
		}
	}
	return nil
}

// sendRecords sends the records of a read from offset next on, and returns
// where to go on and how many are left to send.
func (s *Server) sendRecords(d *recordDecoder, r *api.ReadResult, next, left int64, st grpc.ServerStreamingServer[brokerpb.ReadRecordsReply]) (int64, int64, error) {
	aborted := newAbortedSet(r.Aborted)
	for i := range r.Batches {
		b := &r.Batches[i]
		reply := &brokerpb.ReadRecordsReply{}
		bytes := 0
		end, err := d.batch(b, aborted, func(rec *api.DecodedRecord) error {
			if rec.Offset < next || left == 0 {
				return nil
			}
			left--
			reply.Records = append(reply.Records, recordMessage(rec))
			bytes += decodedBytes(rec)
			if bytes < s.opts.PieceBytes {
				return nil
			}
			err := st.Send(reply)
			reply, bytes = &brokerpb.ReadRecordsReply{}, 0
			return err
		})
		if err != nil {
			return next, left, err
		}
		if len(reply.Records) > 0 {
			if err := st.Send(reply); err != nil {
				return next, left, err
			}
		}
		if next = end; left == 0 {
			break
		}
	}
	return next, left, nil
}
