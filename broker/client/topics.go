package client

import (
	"context"
	"sync"
	"time"

	"milena/broker/api"
	"milena/broker/brokerpb"
)

// topicCache is a copy of the broker's topics.
type topicCache struct {
	mu sync.Mutex // guards everything below
	// set is nil while no watch is up.
	set *topicSet
	// gone holds the ids of topics that this client deleted and that a watch
	// may still bring.
	gone map[api.TopicID]bool
}

// topicSet is immutable.
type topicSet struct {
	byName map[string]api.Topic
	byID   map[api.TopicID]api.Topic
}

func (t *topicCache) current() *topicSet {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.set
}

func (t *topicCache) put(topics []api.Topic) {
	t.mu.Lock()
	defer t.mu.Unlock()
	set := &topicSet{byName: make(map[string]api.Topic, len(topics)), byID: make(map[api.TopicID]api.Topic, len(topics))}
	seen := make(map[api.TopicID]bool)
	for _, topic := range topics {
		if t.gone[topic.ID] {
			seen[topic.ID] = true
			continue
		}
		set.byName[topic.Name] = topic
		set.byID[topic.ID] = topic
	}
	t.gone = seen
	t.set = set
}

func (t *topicCache) lose() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.set = nil
}

func (t *topicCache) remove(id api.TopicID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.gone == nil {
		t.gone = make(map[api.TopicID]bool)
	}
	t.gone[id] = true
}

// find returns a topic by name, or by id if the name is empty.
func (t *topicCache) find(name string, id api.TopicID) (api.Topic, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.set == nil {
		return api.Topic{}, false
	}
	topic, ok := t.set.byID[id]
	if name != "" {
		topic, ok = t.set.byName[name]
	}
	return topic, ok && !t.gone[topic.ID]
}

// watchTopics keeps the copy until Close.
func (c *Client) watchTopics() {
	wait := c.opts.Retry
	for c.ctx.Err() == nil {
		if c.watchOnce() {
			wait = c.opts.Retry
		}
		c.topics.lose()
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-c.ctx.Done():
			timer.Stop()
		}
		wait = min(2*wait, c.opts.RetryMax)
	}
}

// watchOnce runs one watch and says whether it brought anything. Why it ended
// is nobody's concern: calls meanwhile ask the broker, and say.
func (c *Client) watchOnce() bool {
	st, err := c.rpc.WatchTopics(c.ctx, &brokerpb.WatchTopicsRequest{})
	if err != nil {
		return false
	}
	var topics []api.Topic
	got := false
	_ = receiveAll(st, func(m *brokerpb.ListTopicsReply) error {
		topics = appendTopics(topics, m.Topics)
		if m.Last {
			c.topics.put(topics)
			topics, got = nil, true
		}
		return nil
	})
	return got
}

// CreateTopic creates a topic, durably.
func (c *Client) CreateTopic(ctx context.Context, spec api.TopicSpec) (api.Topic, error) {
	m, err := c.rpc.CreateTopic(ctx, &brokerpb.CreateTopicRequest{
		Name: spec.Name, Partitions: spec.Partitions, Configs: spec.Configs,
	})
	if err != nil {
		return api.Topic{}, callError(ctx, "create topic", err)
	}
	return topicValue(m.Topic), nil
}

// DeleteTopic deletes a topic with its data and committed offsets, durably.
func (c *Client) DeleteTopic(ctx context.Context, id api.TopicID) error {
	if _, err := c.rpc.DeleteTopic(ctx, &brokerpb.DeleteTopicRequest{Id: id[:]}); err != nil {
		return callError(ctx, "delete topic", err)
	}
	c.topics.remove(id)
	return nil
}

// TopicByName returns a topic; ErrUnknownTopic if there is none.
func (c *Client) TopicByName(ctx context.Context, name string) (api.Topic, error) {
	if t, ok := c.topics.find(name, api.TopicID{}); ok && name != "" {
		return t, nil
	}
	return c.describe(ctx, &brokerpb.DescribeTopicRequest{By: &brokerpb.DescribeTopicRequest_Name{Name: name}})
}

// TopicByID returns a topic; ErrUnknownTopic if there is none.
func (c *Client) TopicByID(ctx context.Context, id api.TopicID) (api.Topic, error) {
	if t, ok := c.topics.find("", id); ok {
		return t, nil
	}
	return c.describe(ctx, &brokerpb.DescribeTopicRequest{By: &brokerpb.DescribeTopicRequest_Id{Id: id[:]}})
}

func (c *Client) describe(ctx context.Context, r *brokerpb.DescribeTopicRequest) (api.Topic, error) {
	m, err := c.rpc.DescribeTopic(ctx, r)
	if err != nil {
		return api.Topic{}, callError(ctx, "describe topic", err)
	}
	return topicValue(m.Topic), nil
}

// ListTopics returns all topics sorted by name.
func (c *Client) ListTopics(ctx context.Context) ([]api.Topic, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	st, err := c.rpc.ListTopics(ctx, &brokerpb.ListTopicsRequest{})
	var topics []api.Topic
	if err == nil {
		err = receiveAll(st, func(m *brokerpb.ListTopicsReply) error {
			topics = appendTopics(topics, m.Topics)
			return nil
		})
	}
	if err != nil {
		return nil, callError(ctx, "list topics", err)
	}
	return topics, nil
}

func appendTopics(topics []api.Topic, messages []*brokerpb.Topic) []api.Topic {
	for _, m := range messages {
		topics = append(topics, topicValue(m))
	}
	return topics
}

func topicValue(m *brokerpb.Topic) api.Topic {
	t := api.Topic{
		Name: m.GetName(), Partitions: m.GetPartitions(), Configs: m.GetConfigs(), CreateTime: m.GetCreateTimeMillis(),
	}
	copy(t.ID[:], m.GetId())
	return t
}
