package broker

import (
	"fmt"
	"time"

	"milena/broker/api"
	"milena/broker/brokerpb"
)

// Conversions between the API's messages and the values of broker/api; the
// client has the opposite ones.

func topicID(b []byte) (api.TopicID, error) {
	if len(b) != len(api.TopicID{}) {
		return api.TopicID{}, fmt.Errorf("%w: topic id of %d bytes", api.ErrInvalid, len(b))
	}
	return api.TopicID(b), nil
}

func schemaKey(b []byte) (api.Key, error) {
	if len(b) != len(api.Key{}) {
		return api.Key{}, fmt.Errorf("%w: schema key of %d bytes", api.ErrInvalid, len(b))
	}
	return api.Key(b), nil
}

func sessionID(b []byte) (SessionID, error) {
	if len(b) != len(SessionID{}) {
		return SessionID{}, api.ErrLeaseLost
	}
	return SessionID(b), nil
}

func topicMessage(t api.Topic) *brokerpb.Topic {
	return &brokerpb.Topic{
		Id: t.ID[:], Name: t.Name, Partitions: t.Partitions, Configs: t.Configs,
		CreateTimeMillis: t.CreateTime,
	}
}

func readRequest(m *brokerpb.FetchRequest) (api.Read, error) {
	r := api.Read{
		Partitions: make([]api.ReadPartition, len(m.Partitions)),
		BytesMin:   m.BytesMin, BytesMax: m.BytesMax,
		MaxWait:   time.Duration(min(max(m.MaxWaitMillis, 0), maxWaitMillis)) * time.Millisecond,
		Isolation: isolation(m.Isolation),
	}
	for i, p := range m.Partitions {
		id, err := topicID(p.GetTopicId())
		if err != nil {
			return r, err
		}
		r.Partitions[i] = api.ReadPartition{
			Partition: api.Partition{Topic: id, Index: p.Partition}, Offset: p.Offset, BytesMax: p.BytesMax,
		}
	}
	return r, nil
}

// maxWaitMillis bounds the wait of one Fetch: an hour.
const maxWaitMillis = 3_600_000

func isolation(i brokerpb.Isolation) api.Isolation {
	if i == brokerpb.Isolation_READ_COMMITTED {
		return api.ReadCommitted
	}
	return api.ReadUncommitted
}

func offsetQueries(m *brokerpb.ListOffsetsRequest) ([]api.OffsetQuery, error) {
	out := make([]api.OffsetQuery, len(m.Queries))
	for i, q := range m.Queries {
		id, err := topicID(q.GetTopicId())
		if err != nil {
			return nil, err
		}
		out[i] = api.OffsetQuery{
			Partition: api.Partition{Topic: id, Index: q.Partition},
			Timestamp: q.Timestamp, Isolation: isolation(q.Isolation),
		}
	}
	return out, nil
}

func offsetAnswers(answers []api.OffsetAnswer) *brokerpb.ListOffsetsReply {
	out := &brokerpb.ListOffsetsReply{Answers: make([]*brokerpb.OffsetAnswer, len(answers))}
	for i, a := range answers {
		out.Answers[i] = &brokerpb.OffsetAnswer{
			Failure: failure(a.Err), Offset: a.Offset, TimestampMillis: a.Timestamp, LeaderEpoch: a.LeaderEpoch,
		}
	}
	return out
}

func appendedMessages(appended []api.Appended) []*brokerpb.Appended {
	out := make([]*brokerpb.Appended, len(appended))
	for i, a := range appended {
		out[i] = &brokerpb.Appended{
			Failure: failure(a.Err), BaseOffset: a.BaseOffset, LogStart: a.LogStart,
			LeaderEpoch: a.LeaderEpoch, TimestampMillis: a.Timestamp, Duplicate: a.Duplicate,
		}
	}
	return out
}

func groupOffsets(messages []*brokerpb.GroupOffset) ([]api.GroupOffset, error) {
	out := make([]api.GroupOffset, len(messages))
	for i, m := range messages {
		o := api.GroupOffset{
			Topic: m.GetTopic(), Partition: m.GetPartition(), Offset: m.GetOffset(),
			LeaderEpoch: m.GetLeaderEpoch(), Metadata: m.GetMetadata(),
			CommitTime: m.GetCommitTimeMillis(), ExpireTime: m.GetExpireTimeMillis(),
		}
		if len(m.GetTopicId()) > 0 { // else by name
			id, err := topicID(m.TopicId)
			if err != nil {
				return nil, err
			}
			o.TopicID = id
		}
		out[i] = o
	}
	return out, nil
}

func groupOffsetMessages(offsets []api.GroupOffset) []*brokerpb.GroupOffset {
	out := make([]*brokerpb.GroupOffset, len(offsets))
	for i := range offsets {
		o := &offsets[i]
		out[i] = &brokerpb.GroupOffset{
			Topic: o.Topic, TopicId: o.TopicID[:], Partition: o.Partition, Offset: o.Offset,
			LeaderEpoch: o.LeaderEpoch, Metadata: o.Metadata,
			CommitTimeMillis: o.CommitTime, ExpireTimeMillis: o.ExpireTime,
		}
	}
	return out
}

func recordMessage(r *api.DecodedRecord) *brokerpb.Record {
	out := &brokerpb.Record{
		Offset: r.Offset, TimestampMillis: r.Timestamp,
		Key: datumMessage(&r.Key), Value: datumMessage(&r.Value),
		Headers: make([]*brokerpb.Header, len(r.Headers)),
	}
	for i, h := range r.Headers {
		out.Headers[i] = &brokerpb.Header{Key: h.Key, Value: h.Value}
	}
	return out
}

func datumMessage(d *api.Datum) *brokerpb.Datum {
	out := &brokerpb.Datum{
		Null: d.Null, Framing: brokerpb.Framing(d.Framing), SchemaId: d.SchemaID,
		RecordValue: d.RecordValue, Raw: d.Raw,
	}
	if d.Schema != (api.Key{}) {
		out.SchemaKey = d.Schema[:]
	}
	return out
}
