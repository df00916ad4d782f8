package broker

import (
	"context"
	"fmt"
)

// producerIDBlock is the number of producer ids that one commit reserves.
// After a restart the rest of a block is skipped.
const producerIDBlock = 1000

// NewProducerID returns a producer id that was never returned before, from 0
// up.
func (b *Broker) NewProducerID(ctx context.Context) (int64, error) {
	op := &newProducerID{broker: b}
	if err := b.do(ctx, op, &op.call); err != nil {
		return 0, fmt.Errorf("new producer id: %w", err)
	}
	return op.id, nil
}

type newProducerID struct {
	call
	broker *Broker
	id     int64
}

func (op *newProducerID) size() int64 { return 64 }

// stage takes the next id. An id of a block that never gets durable is not
// answered and not used again while this process runs; the next process starts
// at the durable end.
func (op *newProducerID) stage(s *staging) {
	b := op.broker
	if b.nextProducerID >= s.producerIDs {
		s.producerIDs = b.nextProducerID + producerIDBlock
		s.record(32).addProducerIDs(s.producerIDs)
	}
	op.id = b.nextProducerID
	b.nextProducerID++
}
