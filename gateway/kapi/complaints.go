package kapi

import (
	"sync"
	"time"

	"milena/gateway/backend"
)

const (
	// complaintEvery is how often one partition's stored batches are logged as
	// not to be served: clients ask again at once.
	complaintEvery = time.Minute
	// complaintsMax bounds how many partitions are told apart.
	complaintsMax = 10_000
)

// complaints remembers when a partition was last complained about. The zero value
// is ready for use.
type complaints struct {
	mu   sync.Mutex // guards last
	last map[backend.Partition]time.Time
}

// due says whether a complaint about p at now is to be logged, and counts it as
// logged. Beyond complaintsMax partitions within complaintEvery there is nothing
// new to say.
func (c *complaints) due(p backend.Partition, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at, ok := c.last[p]; ok && now.Sub(at) < complaintEvery {
		return false
	}
	if len(c.last) >= complaintsMax {
		for other, at := range c.last {
			if now.Sub(at) >= complaintEvery {
				delete(c.last, other)
			}
		}
		if len(c.last) >= complaintsMax {
			return false
		}
	}
	if c.last == nil {
		c.last = make(map[backend.Partition]time.Time)
	}
	c.last[p] = now
	return true
}
