package serde

import (
	"fmt"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/sync/singleflight"

	"milena/serde/format"
	"milena/serde/schema"
)

// Compiled is a schema with its program. It is immutable and shared.
type Compiled struct {
	// Key is the content key.
	Key schema.Key
	// Type is the format.
	Type schema.Type
	// Encoded is the schema as it is stored (schema.Resolved.AppendBinary). It
	// must not be changed.
	Encoded []byte
	// Program is nil where Err says why the schema can't be compiled: the
	// registry has schemas that no program can be made of, and their records
	// stay as they are.
	Program format.Program
	Err     error
}

// ProgramsOptions bound a Programs. The zero value means the defaults.
type ProgramsOptions struct {
	// EntriesMax is the greatest number of schemas kept; default 4,096.
	EntriesMax int
	// TextBytesMax is the greatest sum of encoded sizes kept, in bytes; default
	// 64 MiB. One schema larger than that is compiled each time it is needed.
	TextBytesMax int
}

func (o ProgramsOptions) withDefaults() ProgramsOptions {
	if o.EntriesMax <= 0 {
		o.EntriesMax = 4096
	}
	if o.TextBytesMax <= 0 {
		o.TextBytesMax = 64 << 20
	}
	return o
}

// Programs is a bounded cache of compiled schemas by content key, least recently
// used out first. mu guards lru and bytes.
type Programs struct {
	opts   ProgramsOptions
	flight singleflight.Group

	mu    sync.Mutex
	lru   *simplelru.LRU[schema.Key, *Compiled]
	bytes int
}

// NewPrograms returns an empty cache.
func NewPrograms(o ProgramsOptions) (*Programs, error) {
	p := &Programs{opts: o.withDefaults()}
	lru, err := simplelru.NewLRU(p.opts.EntriesMax, func(_ schema.Key, c *Compiled) { p.bytes -= len(c.Encoded) })
	if err != nil {
		return nil, fmt.Errorf("new program cache: %w", err)
	}
	p.lru = lru
	return p, nil
}

// Get returns the compiled schema if it is cached.
func (p *Programs) Get(key schema.Key) (*Compiled, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lru.Get(key)
}

// Load returns the compiled schema and compiles it if it isn't cached. It never
// fails: a schema that can't be compiled is a Compiled with Err.
func (p *Programs) Load(r schema.Resolved) *Compiled {
	return p.load(r.Key(), r.AppendBinary(nil), r)
}

// LoadEncoded is Load for a stored schema. The error says that encoded is no
// schema or not the one of that key.
func (p *Programs) LoadEncoded(key schema.Key, encoded []byte) (*Compiled, error) {
	if c, ok := p.Get(key); ok {
		return c, nil
	}
	r, err := schema.ParseBinary(encoded)
	if err != nil {
		return nil, fmt.Errorf("read stored schema %s: %w", key, err)
	}
	if got := r.Key(); got != key {
		return nil, fmt.Errorf("read stored schema %s: its content has the key %s", key, got)
	}
	return p.load(key, r.AppendBinary(nil), r), nil
}

func (p *Programs) load(key schema.Key, encoded []byte, r schema.Resolved) *Compiled {
	if c, ok := p.Get(key); ok {
		return c
	}
	v, _, _ := p.flight.Do(string(key[:]), func() (any, error) {
		if c, ok := p.Get(key); ok {
			return c, nil
		}
		c := &Compiled{Key: key, Type: r.Type, Encoded: encoded}
		c.Program, c.Err = format.Compile(r)
		p.add(c)
		return c, nil
	})
	return v.(*Compiled)
}

func (p *Programs) add(c *Compiled) {
	if len(c.Encoded) > p.opts.TextBytesMax {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lru.Contains(c.Key) {
		return
	}
	p.lru.Add(c.Key, c)
	p.bytes += len(c.Encoded)
	for p.bytes > p.opts.TextBytesMax {
		p.lru.RemoveOldest()
	}
}
