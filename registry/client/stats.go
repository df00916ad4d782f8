package client

import (
	"slices"
	"sync"
	"time"
)

// CacheStats are the counts of one cache since the Client was made, and its
// present size.
type CacheStats struct {
	Name        string
	Hits        int64
	UnknownHits int64 // answered with a kept "there is none"
	Misses      int64
	Evictions   int64 // entries dropped for lack of room
	Entries     int
	Bytes       int // as estimated for the limit
}

// Stats are the counts of a Client since it was made.
type Stats struct {
	Requests int64 // HTTP requests, repeated ones included
	Retries  int64 // of those, repeated ones
	Failures int64 // of those, without an answer or with 408, 429 or 5xx
	Caches   []CacheStats
}

// Stats returns the counts. Those of different caches are not of one moment.
func (c *Client) Stats() Stats {
	return Stats{
		Requests: c.asked.Load(), Retries: c.retried.Load(), Failures: c.failed.Load(),
		Caches: []CacheStats{
			c.references.stats(), c.ids.stats(), c.versions.stats(), c.latest.stats(), c.subjects.stats(),
		},
	}
}

// Flush empties all caches. Questions at work are answered but not kept.
func (c *Client) Flush() {
	c.ids.flush()
	c.outdated()
}

// outdated empties what a change may have outdated; a schema keeps its id.
func (c *Client) outdated() {
	c.references.flush()
	c.versions.flush()
	c.latest.flush()
	c.subjects.flush()
	c.ids.forgetUnknown()
}

// added drops what a new version outdates: latest versions, and that something
// is not there.
func (c *Client) added() {
	c.latest.flush()
	c.versions.forgetUnknown()
	c.subjects.forgetUnknown()
	c.ids.forgetUnknown()
}

// URLHealth is what is known of one URL from the requests that were sent to it.
type URLHealth struct {
	URL         string        // without credentials
	Current     bool          // the next request goes there first
	LastSuccess time.Time     // of the last answer other than 408, 429 and 5xx; zero if none
	LastFailure time.Time     // zero if none
	Failures    int           // since the last success
	Err         error         // of the last request, nil if it succeeded
	Took        time.Duration // the last request
}

// Health says how the registry answered so far. It sends nothing: Ready asks.
type Health struct {
	// Healthy is false while the last request to every URL failed.
	Healthy bool
	URLs    []URLHealth
}

// health holds what Health reports; mu guards it.
type health struct {
	mu   sync.Mutex
	urls []URLHealth
}

// Health returns what is known of each URL.
func (c *Client) Health() Health {
	c.health.mu.Lock()
	defer c.health.mu.Unlock()
	h := Health{URLs: slices.Clone(c.health.urls)}
	h.URLs[c.current.Load()].Current = true
	h.Healthy = slices.ContainsFunc(h.URLs, func(u URLHealth) bool { return u.Err == nil })
	return h
}

// observe notes one attempt.
func (c *Client) observe(index, status int, at time.Time, took time.Duration, err error) {
	failed := err != nil && passes(err)
	c.asked.Add(1)
	if failed {
		c.failed.Add(1)
	}
	c.health.mu.Lock()
	u := &c.health.urls[index]
	u.Took = took
	if failed {
		u.LastFailure, u.Err = at, err
		u.Failures++
	} else {
		u.LastSuccess, u.Err, u.Failures = at, nil, 0
	}
	c.health.mu.Unlock()
	if c.opt.Observer.Asked != nil {
		c.opt.Observer.Asked(status, took)
	}
}
