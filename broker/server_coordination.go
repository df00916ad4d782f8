package broker

import (
	"context"
	"errors"
	"io"

	"google.golang.org/grpc"

	"milena/broker/api"
	"milena/broker/brokerpb"
)

func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// withLease runs a call that needs the lease.
func (s *Server) withLease(id []byte, call func(*Session) error) error {
	session, err := sessionID(id)
	if err != nil {
		return err
	}
	held, err := s.broker.lease.enter(session)
	if err != nil {
		return err
	}
	defer held.leave()
	return call(held)
}

// CommitOffsets implements brokerpb.BrokerServer.
func (s *Server) CommitOffsets(ctx context.Context, m *brokerpb.CommitOffsetsRequest) (*brokerpb.CommitOffsetsReply, error) {
	return &brokerpb.CommitOffsetsReply{}, s.withLease(m.Session, func(*Session) error {
		offsets, err := groupOffsets(m.Offsets)
		if err != nil {
			return err
		}
		return s.broker.CommitOffsets(ctx, m.Group, offsets)
	})
}

// offsetsPage is the number of offsets, and of groups, in one page.
const offsetsPage = 1000

// GroupOffsets implements brokerpb.BrokerServer.
func (s *Server) GroupOffsets(m *brokerpb.GroupOffsetsRequest, st grpc.ServerStreamingServer[brokerpb.GroupOffsetsReply]) error {
	offsets, err := s.broker.GroupOffsets(st.Context(), m.Group)
	if err != nil {
		return err
	}
	for len(offsets) > 0 {
		page := offsets[:min(len(offsets), offsetsPage)]
		offsets = offsets[len(page):]
		if err := st.Send(&brokerpb.GroupOffsetsReply{Offsets: groupOffsetMessages(page)}); err != nil {
			return err
		}
	}
	return nil
}

// DeleteOffsets implements brokerpb.BrokerServer.
func (s *Server) DeleteOffsets(ctx context.Context, m *brokerpb.DeleteOffsetsRequest) (*brokerpb.DeleteOffsetsReply, error) {
	return &brokerpb.DeleteOffsetsReply{}, s.withLease(m.Session, func(*Session) error {
		if m.All {
			return s.broker.DeleteGroupOffsets(ctx, m.Group, nil)
		}
		offsets, err := groupOffsets(m.Offsets)
		if err != nil {
			return err
		}
		return s.broker.DeleteGroupOffsets(ctx, m.Group, offsets)
	})
}

// OffsetGroups implements brokerpb.BrokerServer.
func (s *Server) OffsetGroups(_ *brokerpb.OffsetGroupsRequest, st grpc.ServerStreamingServer[brokerpb.OffsetGroupsReply]) error {
	groups, err := s.broker.OffsetGroups(st.Context())
	if err != nil {
		return err
	}
	for len(groups) > 0 {
		page := groups[:min(len(groups), offsetsPage)]
		groups = groups[len(page):]
		if err := st.Send(&brokerpb.OffsetGroupsReply{Groups: page}); err != nil {
			return err
		}
	}
	return nil
}

// AppendRecord implements brokerpb.BrokerServer.
func (s *Server) AppendRecord(ctx context.Context, m *brokerpb.AppendRecordRequest) (*brokerpb.AppendRecordReply, error) {
	out := &brokerpb.AppendRecordReply{}
	err := s.withLease(m.Session, func(*Session) error {
		version, err := s.broker.CompareAndAppend(ctx, m.Key, m.Expected, m.Value)
		out.Version = version
		return err
	})
	return out, err
}

// LoadRecords implements brokerpb.BrokerServer.
func (s *Server) LoadRecords(m *brokerpb.LoadRecordsRequest, st grpc.ServerStreamingServer[brokerpb.LoadRecordsReply]) error {
	var records []api.Record
	var err error
	switch by := m.By.(type) {
	case *brokerpb.LoadRecordsRequest_Key:
		var r api.Record
		if r, err = s.broker.Load(st.Context(), by.Key); err == nil && r.Version > 0 {
			records = []api.Record{r}
		}
	case *brokerpb.LoadRecordsRequest_Prefix:
		records, err = s.broker.LoadPrefix(st.Context(), by.Prefix)
	default:
		err = errField("neither key nor prefix")
	}
	if err != nil {
		return err
	}
	for len(records) > 0 {
		page := &brokerpb.LoadRecordsReply{}
		for bytes := 0; len(records) > 0 && bytes < s.opts.PieceBytes; records = records[1:] {
			r := &records[0]
			page.Records = append(page.Records, &brokerpb.VersionedRecord{Key: r.Key, Version: r.Version, Value: r.Value})
			bytes += len(r.Key) + len(r.Value) + 16
		}
		if err := st.Send(page); err != nil {
			return err
		}
	}
	return nil
}
