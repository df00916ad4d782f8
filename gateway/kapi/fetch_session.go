package kapi

import (
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"milena/gateway/backend"
)

// Bounds of fetch sessions. Who gets none sends full requests, as if there were no
// sessions at all.
const (
	// fetchSessionsMax is Kafka's max.incremental.fetch.session.cache.slots.
	fetchSessionsMax = 1000
	// fetchSessionPartitionsMax bounds one session, for a request of few bytes
	// makes as much work as all its partitions.
	fetchSessionPartitionsMax = 10_000
	// fetchPartitionsMax bounds all sessions together.
	fetchPartitionsMax = 200_000
	// fetchSessionIdle is how long a session is safe from those that need its
	// place (min.incremental.fetch.session.eviction.ms).
	fetchSessionIdle = 2 * time.Minute
)

// sessionKey names a partition as the client does: by topic name until Fetch 12,
// by id from 13 on.
type sessionKey struct {
	topic string
	id    backend.TopicID
	index int32
}

// sessionPartition is one partition of a session: what is asked, and what the
// client was last told.
type sessionPartition struct {
	key                 sessionKey
	asked               kmsg.FetchRequestTopicPartition
	high, stable, start int64 // -1: tell whatever it is
}

// fetchSession is one session (KIP-227). It belongs to its fetchSessions.
type fetchSession struct {
	id, next int32 // next: the epoch of the next request
	byID     bool  // by topic ids
	used     time.Time
	// parts are in the order in which they are read: those that had data go to
	// the end, so that each gets its turn. index holds the same.
	parts []*sessionPartition
	index map[sessionKey]*sessionPartition
}

// fetchSessions are the sessions of all connections.
type fetchSessions struct {
	mu         sync.Mutex // guards everything below, sessions included
	sessions   map[int32]*fetchSession
	partitions int // of all sessions
}

func newFetchSessions() *fetchSessions {
	return &fetchSessions{sessions: map[int32]*fetchSession{}}
}

// begin takes the changes that a request makes to its session and returns it; nil
// for a full request, which ends the session that it names.
func (f *fetchSessions) begin(req *kmsg.FetchRequest, now time.Time) (*fetchSession, error) {
	if req.Version < 7 {
		return nil, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.sessions[req.SessionID]
	if req.SessionEpoch <= 0 {
		f.drop(s)
		return nil, nil
	}
	switch {
	case s == nil:
		return nil, kerr.FetchSessionIDNotFound
	case req.SessionEpoch != s.next:
		return nil, kerr.InvalidFetchSessionEpoch
	case s.byID != (req.Version >= 13):
		return nil, kerr.FetchSessionTopicIDError
	}
	s.next, s.used = nextEpoch(s.next), now
	before := len(s.parts)
	s.update(req)
	f.partitions += len(s.parts) - before
	if len(s.parts) > fetchSessionPartitionsMax || f.partitions > fetchPartitionsMax {
		f.drop(s)
		return nil, kerr.FetchSessionIDNotFound
	}
	return s, nil
}

// nextEpoch counts on and, after two billion requests, from 1 again.
func nextEpoch(e int32) int32 { return max(e+1, 1) }

// drop forgets a session, if there is one. Called with the lock held.
func (f *fetchSessions) drop(s *fetchSession) {
	if s != nil && f.sessions[s.id] == s {
		delete(f.sessions, s.id)
		f.partitions -= len(s.parts)
	}
}

// update adds, changes and forgets partitions as a request says.
func (s *fetchSession) update(req *kmsg.FetchRequest) {
	for i := range req.Topics {
		t := &req.Topics[i]
		for j := range t.Partitions {
			p := &t.Partitions[j]
			key := sessionKey{t.Topic, t.TopicID, p.Partition}
			part := s.index[key]
			if part == nil {
				part = &sessionPartition{key: key, high: -1, stable: -1, start: -1}
				s.index[key] = part
				s.parts = append(s.parts, part)
			}
			// A copy without tags, which point into the frame.
			part.asked = kmsg.NewFetchRequestTopicPartition()
			part.asked.Partition, part.asked.CurrentLeaderEpoch = p.Partition, p.CurrentLeaderEpoch
			part.asked.FetchOffset, part.asked.PartitionMaxBytes = p.FetchOffset, p.PartitionMaxBytes
		}
	}
	gone := map[sessionKey]bool{}
	for _, t := range req.ForgottenTopics {
		for _, index := range t.Partitions {
			key := sessionKey{t.Topic, t.TopicID, index}
			gone[key] = true
			delete(s.index, key)
		}
	}
	if len(gone) > 0 {
		s.parts = slices.DeleteFunc(s.parts, func(p *sessionPartition) bool { return gone[p.key] })
	}
}

// topics are the session's partitions as a full request asks for them.
func (f *fetchSessions) topics(s *fetchSession) []kmsg.FetchRequestTopic {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := []kmsg.FetchRequestTopic{}
	for _, p := range s.parts {
		n := len(out)
		if n == 0 || out[n-1].Topic != p.key.topic || out[n-1].TopicID != p.key.id {
			t := kmsg.NewFetchRequestTopic()
			t.Topic, t.TopicID = p.key.topic, p.key.id
			out = append(out, t)
			n++
		}
		out[n-1].Partitions = append(out[n-1].Partitions, p.asked)
	}
	return out
}

// create makes a session of a full request that was answered, and returns its id;
// 0 if there is no place for it.
func (f *fetchSessions) create(req *kmsg.FetchRequest, resp *kmsg.FetchResponse, now time.Time) int32 {
	s := &fetchSession{next: 1, byID: req.Version >= 13, used: now, index: map[sessionKey]*sessionPartition{}}
	count := 0
	for i := range req.Topics {
		count += len(req.Topics[i].Partitions)
	}
	if count > fetchSessionPartitionsMax {
		return 0
	}
	s.update(req)
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.room(len(s.parts), now) {
		return 0
	}
	for s.id == 0 || f.sessions[s.id] != nil {
		s.id = rand.Int32() // from 0 on: clients take negative ids for none
	}
	f.sessions[s.id] = s
	f.partitions += len(s.parts)
	s.told(resp)
	return s.id
}

// room makes a place for a session of so many partitions, if it must at the cost
// of the one that was idle longest. Called with the lock held.
func (f *fetchSessions) room(partitions int, now time.Time) bool {
	fits := func() bool {
		return len(f.sessions) < fetchSessionsMax && f.partitions+partitions <= fetchPartitionsMax
	}
	if fits() {
		return true
	}
	var oldest *fetchSession
	for _, s := range f.sessions {
		if oldest == nil || s.used.Before(oldest.used) {
			oldest = s
		}
	}
	if oldest == nil || now.Sub(oldest.used) < fetchSessionIdle {
		return false
	}
	f.drop(oldest)
	return fits()
}

// changed leaves in an answer what the session's client doesn't know: records,
// errors, and offsets that moved.
func (f *fetchSessions) changed(s *fetchSession, resp *kmsg.FetchResponse) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s.told(resp)
}

// told notes what an answer says and takes out of it what was said before. In the
// first answer of a session everything is news.
func (s *fetchSession) told(resp *kmsg.FetchResponse) {
	served := map[*sessionPartition]bool{}
	topics := resp.Topics[:0]
	for _, t := range resp.Topics {
		news := t.Partitions[:0]
		for _, p := range t.Partitions {
			part := s.index[sessionKey{t.Topic, t.TopicID, p.Partition}]
			if part == nil || part.told(&p) {
				news = append(news, p)
			}
			if part != nil && len(p.RecordBatches) > 0 {
				served[part] = true
			}
		}
		if t.Partitions = news; len(news) > 0 {
			topics = append(topics, t)
		}
	}
	resp.Topics = topics
	if len(served) == 0 {
		return
	}
	var last []*sessionPartition
	for _, p := range s.parts {
		if served[p] {
			last = append(last, p)
		}
	}
	s.parts = append(slices.DeleteFunc(s.parts, func(p *sessionPartition) bool { return served[p] }), last...)
}

// told reports whether the client must hear of the answer. After an error it hears
// of the next answer whatever that says.
func (p *sessionPartition) told(out *kmsg.FetchResponseTopicPartition) bool {
	news := len(out.RecordBatches) > 0 || out.ErrorCode != 0 ||
		out.HighWatermark != p.high || out.LastStableOffset != p.stable || out.LogStartOffset != p.start
	p.high, p.stable, p.start = out.HighWatermark, out.LastStableOffset, out.LogStartOffset
	return news
}
