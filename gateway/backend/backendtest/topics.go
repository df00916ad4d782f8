package backendtest

import (
	"errors"
	"maps"
	"strings"

	"milena/gateway/backend"
)

func testTopics(s *suite) {
	configs := map[string]string{"cleanup.policy": "compact", "milena.value.validation": "strict"}
	b, err := s.b.CreateTopic(s.ctx, backend.TopicSpec{Name: "b", Partitions: 3, Configs: configs})
	s.ok(err)
	a := s.topic("a.-_Z9", 1)
	if a.ID == b.ID || a.ID == (backend.TopicID{}) {
		s.Fatalf("ids %x and %x", a.ID, b.ID)
	}
	got, err := s.b.TopicByName(s.ctx, "b")
	s.ok(err)
	byID, err := s.b.TopicByID(s.ctx, b.ID)
	s.ok(err)
	for _, t := range []backend.Topic{b, got, byID} {
		if t.ID != b.ID || t.Name != "b" || t.Partitions != 3 || !maps.Equal(t.Configs, configs) {
			s.Fatalf("topic is %+v", t)
		}
	}
	list, err := s.b.ListTopics(s.ctx)
	s.ok(err)
	if len(list) != 2 || list[0].Name != "a.-_Z9" || list[1].Name != "b" {
		s.Fatalf("list is %+v", list)
	}
	_, err = s.b.TopicByName(s.ctx, "c")
	s.is(err, backend.ErrUnknownTopic)
	_, err = s.b.TopicByID(s.ctx, backend.TopicID{1})
	s.is(err, backend.ErrUnknownTopic)
}

func testBadTopics(s *suite) {
	s.topic("there", 1)
	_, err := s.b.CreateTopic(s.ctx, backend.TopicSpec{Name: "there", Partitions: 2})
	s.is(err, backend.ErrTopicExists)
	for _, spec := range []backend.TopicSpec{
		{Name: "", Partitions: 1},
		{Name: ".", Partitions: 1},
		{Name: "..", Partitions: 1},
		{Name: "a b", Partitions: 1},
		{Name: "é", Partitions: 1},
		{Name: strings.Repeat("x", 250), Partitions: 1},
		{Name: "none", Partitions: 0},
		{Name: "less", Partitions: -1},
		{Name: "many", Partitions: 1 << 30},
	} {
		if _, err := s.b.CreateTopic(s.ctx, spec); !errors.Is(err, backend.ErrInvalid) {
			s.Errorf("%+v: %v", spec, err)
		}
	}
	list, err := s.b.ListTopics(s.ctx)
	s.ok(err)
	if len(list) != 1 {
		s.Fatalf("list is %+v", list)
	}
}

func testDeleteTopics(s *suite) {
	old := s.topic("t", 1)
	p := backend.Partition{Topic: old.ID}
	s.stores(p, &Batch{}, 0)
	s.ok(s.b.CommitOffsets(s.ctx, "g", []backend.GroupOffset{{Topic: "t", TopicID: old.ID, Offset: 1, ExpireTime: -1}}))
	s.ok(s.b.DeleteTopic(s.ctx, old.ID))
	s.is(s.b.DeleteTopic(s.ctx, old.ID), backend.ErrUnknownTopic)
	_, err := s.b.TopicByName(s.ctx, "t")
	s.is(err, backend.ErrUnknownTopic)
	_, err = s.b.TopicByID(s.ctx, old.ID)
	s.is(err, backend.ErrUnknownTopic)
	s.refuses(p, &Batch{}, backend.ErrUnknownTopic)
	s.is(s.read1(p, 0).Err, backend.ErrUnknownTopic)
	offsets, err := s.b.GroupOffsets(s.ctx, "g")
	s.ok(err)
	if len(offsets) != 0 {
		s.Fatalf("offsets of a deleted topic: %+v", offsets)
	}
	renewed := s.topic("t", 1)
	if renewed.ID == old.ID {
		s.Fatal("the id was used again")
	}
	if r := s.read1(backend.Partition{Topic: renewed.ID}, 0); r.Err != nil || r.HighWatermark != 0 {
		s.Fatalf("new topic has %+v", r)
	}
}
