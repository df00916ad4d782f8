package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"milena/gateway"
	"milena/gateway/backend"
	"milena/gateway/backend/memory"
	"milena/gateway/coordinator"
	"milena/gateway/gatewaytest"
	"milena/gateway/group"
)

const (
	topic      = "orders"
	partitions = 12
)

// session is short, so that a killed member goes soon.
const session = 3 * time.Second

func groupOptions() coordinator.Options {
	return coordinator.Options{Group: group.Config{
		InitialRebalanceDelay: 100 * time.Millisecond,
		SessionTimeoutMin:     100 * time.Millisecond,
	}}
}

func start(t *testing.T, broker backend.Broker, address string) *gatewaytest.Gateway {
	t.Helper()
	return gatewaytest.Start(t, gatewaytest.Options{
		Broker: broker,
		Groups: groupOptions(),
		Server: func(o *gateway.Options) { o.Listeners[0].Address = address },
	})
}

// cluster is a gateway and the consumers of one group.
type cluster struct {
	t       *testing.T
	addr    string
	mu      sync.Mutex // guards owners, seen and revoked
	owners  map[int32]string
	seen    map[string]int // records by value
	revoked int
}

func newCluster(t *testing.T) (*cluster, *gatewaytest.Gateway, backend.Broker) {
	t.Helper()
	broker := memory.New(nil)
	if _, err := broker.CreateTopic(t.Context(), backend.TopicSpec{Name: topic, Partitions: partitions}); err != nil {
		t.Fatal(err)
	}
	g := start(t, broker, "127.0.0.1:0")
	return &cluster{t: t, addr: g.Addr, owners: map[int32]string{}, seen: map[string]int{}}, g, broker
}

// consumer is one member; all of them have the same client id.
type consumer struct {
	name string
	cl   *kgo.Client
	stop context.CancelFunc
	done chan struct{}

	mu    sync.Mutex // guards conns and dead
	conns []net.Conn
	dead  bool
}

func (c *cluster) consumer(name string, balancer kgo.GroupBalancer) *consumer {
	c.t.Helper()
	k := &consumer{name: name, done: make(chan struct{})}
	cl, err := kgo.NewClient(
		kgo.SeedBrokers(c.addr), kgo.ClientID("same"), kgo.ConsumerGroup("g"), kgo.ConsumeTopics(topic),
		kgo.Balancers(balancer), kgo.SessionTimeout(session), kgo.HeartbeatInterval(100*time.Millisecond),
		kgo.RebalanceTimeout(5*time.Second), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchMaxWait(100*time.Millisecond), kgo.AutoCommitInterval(100*time.Millisecond), kgo.Dialer(k.dial),
		kgo.OnPartitionsAssigned(func(_ context.Context, _ *kgo.Client, ps map[string][]int32) { c.assigned(name, ps[topic]) }),
		kgo.OnPartitionsRevoked(func(ctx context.Context, cl *kgo.Client, ps map[string][]int32) {
			if err := cl.CommitUncommittedOffsets(ctx); err != nil && !k.isDead() && ctx.Err() == nil {
				c.t.Errorf("%s: commit in revoke: %v", name, err)
			}
			c.released(name, ps[topic])
		}),
		kgo.OnPartitionsLost(func(_ context.Context, _ *kgo.Client, ps map[string][]int32) { c.released(name, ps[topic]) }),
	)
	if err != nil {
		c.t.Fatal(err)
	}
	k.cl = cl
	ctx, stop := context.WithCancel(context.Background())
	k.stop = stop
	go k.poll(ctx, c)
	c.t.Cleanup(func() {
		k.kill() // the gateway may be gone
		k.leave()
	})
	return k
}

func (k *consumer) poll(ctx context.Context, c *cluster) {
	defer close(k.done)
	for ctx.Err() == nil {
		fetches := k.cl.PollFetches(ctx)
		fetches.EachRecord(func(r *kgo.Record) {
			c.mu.Lock()
			c.seen[string(r.Value)]++
			c.mu.Unlock()
		})
	}
}

// dial waits while nobody listens, as behind a load balancer: franz-go joins anew of
// its own accord if a heartbeat finds its connection refused.
func (k *consumer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	var d net.Dialer
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	nc, err := d.DialContext(ctx, network, address)
	for errors.Is(err, syscall.ECONNREFUSED) && !k.isDead() && ctx.Err() == nil {
		<-tick.C
		nc, err = d.DialContext(ctx, network, address)
	}
	if err == nil && k.isDead() {
		_ = nc.Close()
		return nil, errors.New("dead")
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if err == nil {
		k.conns = append(k.conns, nc)
	}
	return nc, err
}

func (k *consumer) isDead() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.dead
}

// leave ends the consumer in good order.
func (k *consumer) leave() {
	k.stop()
	<-k.done
	k.cl.Close()
}

// kill cuts its connections for good: it can't say that it leaves.
func (k *consumer) kill() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.dead = true
	for _, nc := range k.conns {
		_ = nc.Close()
	}
}

// killed kills it; whatever it believes to own, it works no more.
func (c *cluster) killed(k *consumer) {
	k.kill()
	c.mu.Lock()
	defer c.mu.Unlock()
	for p, owner := range c.owners {
		if owner == k.name {
			delete(c.owners, p)
		}
	}
}

func (c *cluster) assigned(name string, ps []int32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range ps {
		if o := c.owners[p]; o != "" && o != name {
			c.t.Errorf("partition %d is given to %s and still owned by %s", p, name, o)
		}
		c.owners[p] = name
	}
}

func (c *cluster) released(name string, ps []int32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.revoked++
	for _, p := range ps {
		if c.owners[p] == name {
			delete(c.owners, p)
		}
	}
}

// eventually polls until the condition holds, with the lock held.
func (c *cluster) eventually(what string, condition func() bool) {
	c.t.Helper()
	deadline := time.After(20 * time.Second)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		c.mu.Lock()
		ok, state := condition(), fmt.Sprint(c.owners, " ", len(c.seen))
		c.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			c.t.Fatalf("not reached: %s; %s", what, state)
		}
	}
}

// shared waits until exactly these members own all partitions, evenly.
func (c *cluster) shared(names ...string) {
	c.t.Helper()
	c.eventually(fmt.Sprint("all partitions shared by ", names), func() bool {
		count := map[string]int{}
		for _, name := range c.owners {
			count[name]++
		}
		if len(count) != len(names) {
			return false
		}
		for _, name := range names {
			if count[name] != partitions/len(names) {
				return false
			}
		}
		return true
	})
}

func (c *cluster) produce(from, n int) {
	c.t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(c.addr), kgo.DefaultProduceTopic(topic), kgo.RecordPartitioner(kgo.RoundRobinPartitioner()))
	if err != nil {
		c.t.Fatal(err)
	}
	defer cl.Close()
	var rs []*kgo.Record
	for i := range n {
		rs = append(rs, kgo.StringRecord(fmt.Sprintf("record %d", from+i)))
	}
	if err := cl.ProduceSync(c.t.Context(), rs...).FirstErr(); err != nil {
		c.t.Fatal(err)
	}
}

func (c *cluster) consumed(n int) {
	c.t.Helper()
	c.eventually(fmt.Sprint(n, " records seen"), func() bool { return len(c.seen) == n })
}

func TestFranzGoGroups(t *testing.T) {
	for name, balancer := range map[string]func() kgo.GroupBalancer{
		"range":       kgo.RangeBalancer,
		"cooperative": kgo.CooperativeStickyBalancer,
	} {
		t.Run(name, func(t *testing.T) {
			c, _, broker := newCluster(t)
			c.produce(0, 300)
			c.consumer("a", balancer())
			b := c.consumer("b", balancer())
			c.shared("a", "b")
			third := c.consumer("c", balancer())
			c.shared("a", "b", "c")
			c.produce(300, 300)
			c.consumed(600)

			third.leave()
			c.shared("a", "b")
			c.consumer("d", balancer())
			c.shared("a", "b", "d")
			c.killed(b)
			c.shared("a", "d")
			c.produce(600, 300)
			c.consumed(900)
			c.eventually("all commits", func() bool { return committed(t, broker) == 900 })
			c.mu.Lock()
			defer c.mu.Unlock()
			for value, n := range c.seen {
				// Only what the killed one had read and not committed may come again.
				if n > 2 {
					t.Errorf("%s was seen %d times", value, n)
				}
			}
		})
	}
}

func committed(t *testing.T, broker backend.Broker) (sum int64) {
	offsets, err := broker.GroupOffsets(t.Context(), "g")
	if err != nil {
		t.Error(err)
	}
	for _, o := range offsets {
		sum += o.Offset
	}
	return sum
}

func TestFranzGoStaysThroughARestart(t *testing.T) {
	c, g, broker := newCluster(t)
	a := c.consumer("a", kgo.CooperativeStickyBalancer())
	b := c.consumer("b", kgo.CooperativeStickyBalancer())
	c.shared("a", "b")
	c.produce(0, 120)
	c.consumed(120)
	idA, before := a.cl.GroupMetadata()
	c.mu.Lock()
	revoked := c.revoked
	c.mu.Unlock()

	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := g.Close(ctx); err != nil {
		t.Fatal(err)
	}
	start(t, broker, c.addr)
	c.produce(120, 120)
	c.consumed(240)
	c.eventually("all commits", func() bool { return committed(t, broker) == 240 })

	for name, k := range map[string]*consumer{"a": a, "b": b} {
		if _, generation := k.cl.GroupMetadata(); generation != before {
			t.Errorf("%s: generation %d after the restart, %d before", name, generation, before)
		}
	}
	if id, _ := a.cl.GroupMetadata(); id != idA {
		t.Errorf("member id %s became %s", idA, id)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.revoked != revoked {
		t.Errorf("%d revocations", c.revoked-revoked)
	}
}

func TestFranzGoJoinStorm(t *testing.T) {
	c, _, _ := newCluster(t)
	names := make([]string, partitions)
	for i := range names { // NewClient returns before it joins
		names[i] = fmt.Sprint("m", i)
		c.consumer(names[i], kgo.RangeBalancer())
	}
	c.shared(names...)
}
