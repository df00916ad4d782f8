package registry

import (
	"context"
	"strings"
	"sync"

	"milena/registry/api"
	"milena/registry/state"
)

// bodies keeps encoded answers to reads by id. The key is the stored version
// itself, which any change replaces, so that an answer is never out of date.
type bodies struct {
	shards [16]bodyShard
}

// bodyShard holds two generations: what is used moves to the young one, and
// when that is full it becomes the old one, which is dropped.
type bodyShard struct {
	bytesMax int // of both generations

	mu         sync.RWMutex // guards all below
	young, old map[*state.Version][]byte
	bytes      int // of the young generation
}

// bodyOverhead is what an answer is charged beyond its bytes.
const bodyOverhead = 128

func newBodies(bytesMax int) *bodies {
	b := &bodies{}
	for i := range b.shards {
		b.shards[i].bytesMax = bytesMax / len(b.shards)
		b.shards[i].young = map[*state.Version][]byte{}
	}
	return b
}

// get returns the encoded answer of a version, or nil. It must not be changed.
func (b *bodies) get(version *state.Version) []byte {
	s := b.shard(version)
	s.mu.RLock()
	body, young := s.young[version]
	if !young {
		body = s.old[version]
	}
	s.mu.RUnlock()
	if body != nil && !young {
		s.put(version, body)
	}
	return body
}

// put keeps the encoded answer of a version.
func (b *bodies) put(version *state.Version, body []byte) { b.shard(version).put(version, body) }

func (b *bodies) shard(version *state.Version) *bodyShard {
	return &b.shards[uint(version.Schema.ID)%uint(len(b.shards))]
}

func (s *bodyShard) put(version *state.Version, body []byte) {
	size := len(body) + bodyOverhead
	if size > s.bytesMax/2 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.young[version]; known {
		return
	}
	if s.bytes+size > s.bytesMax/2 {
		s.old, s.young, s.bytes = s.young, map[*state.Version][]byte{}, 0
	}
	s.young[version] = body
	s.bytes += size
}

// BodyByID returns what SchemaByID does, as api.Marshal encodes it. Most
// answers come out of a cache; they must not be changed.
func (r *Registry) BodyByID(ctx context.Context, id int, q ByIDQuery) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	v := r.view.Load()
	found := byID(v, id, q.Subject)
	usual := found != nil && q.Format == "" && !q.FetchMaxID && len(q.FindTags) == 0 && !strings.EqualFold(q.ReferenceFormat, "qualified")
	if usual {
		if body := r.bodies.get(found); body != nil {
			return body, nil
		}
	}
	s, err := r.showID(v, found, id, q)
	if err != nil {
		return nil, err
	}
	body, err := api.Marshal(s)
	if err == nil && usual {
		r.bodies.put(found, body)
	}
	return body, err
}
