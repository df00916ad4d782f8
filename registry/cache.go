package registry

import (
	"container/list"
	"errors"
	"sync"

	"milena/serde/schema"
)

// parsedCache keeps parsed schemas by content, the least recently used going
// first when all together take more than a number of bytes. Concurrent
// requests for one content parse it once.
type parsedCache struct {
	bytesMax int
	observer *Observer

	mu      sync.Mutex // guards all below
	entries map[parsedKey]*list.Element
	order   *list.List // of *parsedEntry, the most recently used first
	bytes   int
	loading map[parsedKey]*load
}

// parsedKey is content and how strictly it was parsed.
type parsedKey struct {
	key     schema.Key
	lenient bool
}

type parsedEntry struct {
	key    parsedKey
	parsed schema.Parsed
	bytes  int
}

// load is a parse in progress; its fields are set before done is closed.
type load struct {
	done   chan struct{}
	parsed schema.Parsed
	err    error
}

// errUnparsed is for those who wait for a parse that panicked.
var errUnparsed = errors.New("schema could not be parsed")

func newParsedCache(bytesMax int, observer *Observer) *parsedCache {
	return &parsedCache{
		bytesMax: bytesMax,
		observer: observer,
		entries:  map[parsedKey]*list.Element{},
		order:    list.New(),
		loading:  map[parsedKey]*load{},
	}
}

// get returns the parsed form of r. A schema that was parsed strictly also
// answers for the lenient parser, which takes more but reads the same.
func (c *parsedCache) get(r schema.Resolved, lenient bool, parse func() (schema.Parsed, error)) (schema.Parsed, error) {
	key := parsedKey{r.Key(), lenient}
	c.mu.Lock()
	if p := c.find(key); p != nil {
		c.mu.Unlock()
		c.observer.parsed(true)
		return p, nil
	}
	if l := c.loading[key]; l != nil {
		c.mu.Unlock()
		<-l.done
		c.observer.parsed(true)
		return l.parsed, l.err
	}
	l := &load{done: make(chan struct{}), err: errUnparsed}
	c.loading[key] = l
	c.mu.Unlock()

	defer func() {
		c.mu.Lock()
		delete(c.loading, key)
		if l.parsed != nil {
			c.add(key, l.parsed, size(r))
		}
		c.mu.Unlock()
		close(l.done)
	}()
	c.observer.parsed(false)
	l.parsed, l.err = parse()
	return l.parsed, l.err
}

// find is called with mu held.
func (c *parsedCache) find(key parsedKey) schema.Parsed {
	e := c.entries[parsedKey{key: key.key}]
	if e == nil && key.lenient {
		e = c.entries[key]
	}
	if e == nil {
		return nil
	}
	c.order.MoveToFront(e)
	return e.Value.(*parsedEntry).parsed
}

// add is called with mu held. The canonical form of what was parsed is what
// later requests will ask for, so it is found under that too.
func (c *parsedCache) add(key parsedKey, p schema.Parsed, bytes int) {
	c.put(key, p, bytes)
	if canonical := p.Resolved(); canonical.Key() != key.key {
		c.put(parsedKey{canonical.Key(), key.lenient}, p, parsedOverhead) // the same value
	}
	for c.bytes > c.bytesMax && c.order.Len() > 0 {
		last := c.order.Back()
		e := last.Value.(*parsedEntry)
		c.order.Remove(last)
		delete(c.entries, e.key)
		c.bytes -= e.bytes
	}
}

func (c *parsedCache) put(key parsedKey, p schema.Parsed, bytes int) {
	if c.entries[key] != nil {
		return
	}
	c.entries[key] = c.order.PushFront(&parsedEntry{key, p, bytes})
	c.bytes += bytes
}

const (
	// parsedPerByte is how many bytes a parsed schema takes for one of its text,
	// measured over the three formats: 17 for Avro, 20 for JSON, 12 for
	// Protobuf.
	parsedPerByte = 18
	// parsedOverhead is what the smallest one takes.
	parsedOverhead = 2 << 10
)

// size estimates the memory that a parsed schema takes.
func size(r schema.Resolved) int {
	n := len(r.Text)
	for _, d := range r.Dependencies {
		n += len(d.Name) + len(d.Text)
	}
	return n*parsedPerByte + parsedOverhead
}
