package client

import (
	"context"
	"fmt"

	"milena/broker/api"
	"milena/broker/brokerpb"
)

// CommitOffsets stores all offsets of a group durably, or none.
func (c *Client) CommitOffsets(ctx context.Context, group string, offsets []api.GroupOffset) error {
	session, err := c.session()
	if err != nil {
		return fmt.Errorf("commit offsets: %w", err)
	}
	_, err = c.rpc.CommitOffsets(ctx, &brokerpb.CommitOffsetsRequest{
		Session: session, Group: group, Offsets: offsetMessages(offsets),
	})
	return callError(ctx, "commit offsets", err)
}

// GroupOffsets returns a group's offsets; none is no error.
func (c *Client) GroupOffsets(ctx context.Context, group string) ([]api.GroupOffset, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	st, err := c.rpc.GroupOffsets(ctx, &brokerpb.GroupOffsetsRequest{Group: group})
	var out []api.GroupOffset
	if err == nil {
		err = receiveAll(st, func(m *brokerpb.GroupOffsetsReply) error {
			for _, o := range m.Offsets {
				out = append(out, offsetValue(o))
			}
			return nil
		})
	}
	if err != nil {
		return nil, callError(ctx, "group offsets", err)
	}
	return out, nil
}

// DeleteGroupOffsets forgets offsets of a group, durably; nil means all.
func (c *Client) DeleteGroupOffsets(ctx context.Context, group string, partitions []api.GroupOffset) error {
	session, err := c.session()
	if err != nil {
		return fmt.Errorf("delete offsets: %w", err)
	}
	_, err = c.rpc.DeleteOffsets(ctx, &brokerpb.DeleteOffsetsRequest{
		Session: session, Group: group, All: partitions == nil, Offsets: offsetMessages(partitions),
	})
	return callError(ctx, "delete offsets", err)
}

// OffsetGroups lists groups with committed offsets, sorted.
func (c *Client) OffsetGroups(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	st, err := c.rpc.OffsetGroups(ctx, &brokerpb.OffsetGroupsRequest{})
	var out []string
	if err == nil {
		err = receiveAll(st, func(m *brokerpb.OffsetGroupsReply) error {
			out = append(out, m.Groups...)
			return nil
		})
	}
	if err != nil {
		return nil, callError(ctx, "offset groups", err)
	}
	return out, nil
}

// CompareAndAppend stores value durably as the next version of key if the
// current version is expected, else it fails with ErrConflict. A nil value
// deletes the record.
func (c *Client) CompareAndAppend(ctx context.Context, key string, expected int64, value []byte) (int64, error) {
	session, err := c.session()
	if err != nil {
		return 0, fmt.Errorf("append record: %w", err)
	}
	m, err := c.rpc.AppendRecord(ctx, &brokerpb.AppendRecordRequest{
		Session: session, Key: key, Expected: expected, Value: value,
	})
	if err != nil {
		return 0, callError(ctx, "append record", err)
	}
	return m.Version, nil
}

// Load returns a record; Version 0 if there is none.
func (c *Client) Load(ctx context.Context, key string) (api.Record, error) {
	out, err := c.load(ctx, &brokerpb.LoadRecordsRequest{By: &brokerpb.LoadRecordsRequest_Key{Key: key}})
	if err != nil {
		return api.Record{}, err
	}
	if len(out) == 0 {
		return api.Record{Key: key}, nil
	}
	return out[0], nil
}

// LoadPrefix returns all records whose key starts with prefix, by key.
func (c *Client) LoadPrefix(ctx context.Context, prefix string) ([]api.Record, error) {
	return c.load(ctx, &brokerpb.LoadRecordsRequest{By: &brokerpb.LoadRecordsRequest_Prefix{Prefix: prefix}})
}

func (c *Client) load(ctx context.Context, r *brokerpb.LoadRecordsRequest) ([]api.Record, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	st, err := c.rpc.LoadRecords(ctx, r)
	var out []api.Record
	if err == nil {
		err = receiveAll(st, func(m *brokerpb.LoadRecordsReply) error {
			for _, rec := range m.Records {
				value := rec.Value
				if value == nil {
					value = []byte{} // an empty record is one
				}
				out = append(out, api.Record{Key: rec.Key, Version: rec.Version, Value: value})
			}
			return nil
		})
	}
	if err != nil {
		return nil, callError(ctx, "load records", err)
	}
	return out, nil
}

func offsetMessages(offsets []api.GroupOffset) []*brokerpb.GroupOffset {
	out := make([]*brokerpb.GroupOffset, len(offsets))
	for i := range offsets {
		o := &offsets[i]
		out[i] = &brokerpb.GroupOffset{
			Topic: o.Topic, Partition: o.Partition, Offset: o.Offset, LeaderEpoch: o.LeaderEpoch,
			Metadata: o.Metadata, CommitTimeMillis: o.CommitTime, ExpireTimeMillis: o.ExpireTime,
		}
		if o.TopicID != (api.TopicID{}) {
			out[i].TopicId = o.TopicID[:]
		}
	}
	return out
}

func offsetValue(m *brokerpb.GroupOffset) api.GroupOffset {
	o := api.GroupOffset{
		Topic: m.Topic, Partition: m.Partition, Offset: m.Offset, LeaderEpoch: m.LeaderEpoch,
		Metadata: m.Metadata, CommitTime: m.CommitTimeMillis, ExpireTime: m.ExpireTimeMillis,
	}
	copy(o.TopicID[:], m.TopicId)
	return o
}
