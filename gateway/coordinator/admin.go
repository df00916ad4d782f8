package coordinator

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"milena/gateway/backend"
	"milena/gateway/group"
)

// consumerProtocol is the protocol type of groups whose members say in Kafka's
// format which topics they subscribe to.
const consumerProtocol = "consumer"

// Describe returns a group's present state; GROUP_ID_NOT_FOUND if there is
// neither a member nor anything stored. A group that has nothing but offsets is
// Empty.
func (c *Coordinator) Describe(ctx context.Context, id string) (group.Snapshot, error) {
	var s group.Snapshot
	known := true
	err := c.with(ctx, id, func(e *entry, _ time.Time) {
		s = e.machine.Snapshot()
		known = e.known()
	})
	if err == nil && !known {
		err = c.hasOffsets(ctx, id)
	}
	return s, err
}

// hasOffsets is GROUP_ID_NOT_FOUND for a group without committed offsets.
func (c *Coordinator) hasOffsets(ctx context.Context, id string) error {
	offsets, err := c.backend.GroupOffsets(ctx, id)
	if err != nil {
		return fmt.Errorf("read offsets: %w", err)
	}
	if len(offsets) == 0 {
		return kerr.GroupIDNotFound
	}
	return nil
}

// known: the group has members, or a record, or will have one.
func (e *entry) known() bool { return e.version > 0 || !e.quiet() }

// Listing is one group of List.
type Listing struct {
	ID           string
	ProtocolType string
	State        group.State
}

// List returns all groups by id: those with a record, those with offsets, and
// those in memory. Groups that aren't in memory are listed as they were stored,
// and Dead if that can't be read.
func (c *Coordinator) List(ctx context.Context) ([]Listing, error) {
	all := map[string]Listing{}
	ids, err := c.backend.OffsetGroups(ctx)
	if err != nil {
		return nil, fmt.Errorf("list groups with offsets: %w", err)
	}
	for _, id := range ids {
		all[id] = Listing{ID: id, State: group.Empty}
	}
	records, err := c.backend.LoadPrefix(ctx, recordPrefix)
	if err != nil {
		return nil, fmt.Errorf("list group records: %w", err)
	}
	for _, r := range records {
		id := strings.TrimPrefix(r.Key, recordPrefix)
		s, err := decodeRecord(r.Value)
		if err != nil {
			c.log.Error("group record can't be read", "group", id, "err", err)
			s.State = group.Dead
		}
		all[id] = Listing{id, s.ProtocolType, s.State}
	}
	for _, e := range c.entries() {
		if l, ok := e.listing(); ok {
			all[l.ID] = l
		}
	}
	out := slices.Collect(maps.Values(all))
	slices.SortFunc(out, func(a, b Listing) int { return strings.Compare(a.ID, b.ID) })
	return out, nil
}

func (c *Coordinator) entries() []*entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Values(c.groups))
}

// listing is the group as List names it, false if it isn't loaded or unknown.
func (e *entry) listing() (Listing, bool) {
	select {
	case <-e.ready:
	default:
		return Listing{}, false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.gone || !e.known() {
		return Listing{}, false
	}
	s := e.machine.Snapshot()
	return Listing{e.id, s.ProtocolType, s.State}, true
}

// Delete deletes a group with its offsets, durably. NON_EMPTY_GROUP if it has
// members, GROUP_ID_NOT_FOUND if there is no such group.
func (c *Coordinator) Delete(ctx context.Context, id string) error {
	if _, err := c.Describe(ctx, id); err != nil {
		return err
	}
	done := make(chan error, 1)
	var refused error
	err := c.with(ctx, id, func(e *entry, _ time.Time) {
		if !e.machine.Vacant() {
			refused = kerr.NonEmptyGroup
			return
		}
		// Who joins from now on joins a new group, whose record comes after.
		e.machine = group.New(c.opts.Group)
		e.kept = true
		e.enqueue(write{deleted: done})
	})
	if err == nil {
		err = refused
	}
	if err != nil {
		return err
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("wait for the deletion: %w", context.Cause(ctx))
	}
}

// DeleteOffsets forgets offsets of a group, durably, and returns an error or nil
// for each, in order: GROUP_SUBSCRIBED_TO_TOPIC if a member is subscribed to the
// topic. For the call as a whole it returns GROUP_ID_NOT_FOUND, or
// NON_EMPTY_GROUP if there are members that don't say what they subscribe to,
// their protocol type being another than Kafka's consumers'.
func (c *Coordinator) DeleteOffsets(ctx context.Context, id string, offsets []backend.GroupOffset) ([]error, error) {
	s, err := c.Describe(ctx, id)
	if err != nil {
		return nil, err
	}
	if len(s.Members) > 0 && s.ProtocolType != consumerProtocol {
		return nil, kerr.NonEmptyGroup
	}
	topics, everything := subscribed(s)
	errs := make([]error, len(offsets))
	var free []backend.GroupOffset
	for i, o := range offsets {
		if everything || topics[o.Topic] {
			errs[i] = kerr.GroupSubscribedToTopic
			continue
		}
		free = append(free, o)
	}
	if len(free) == 0 {
		return errs, nil
	}
	if err := c.backend.DeleteGroupOffsets(ctx, id, free); err != nil {
		return nil, fmt.Errorf("delete offsets: %w", err)
	}
	return errs, nil
}

// subscribed returns the topics that members are subscribed to; everything if one
// of them says nothing that could be read.
func subscribed(s group.Snapshot) (topics map[string]bool, everything bool) {
	topics = map[string]bool{}
	for _, m := range s.Members {
		for _, p := range m.Protocols {
			var sub kmsg.ConsumerMemberMetadata
			if err := sub.ReadFrom(p.Metadata); err != nil {
				return nil, true
			}
			for _, t := range sub.Topics {
				topics[t] = true
			}
		}
	}
	return topics, false
}
