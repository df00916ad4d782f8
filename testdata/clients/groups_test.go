package clients

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// tally counts what the members of a group have read.
type tally struct {
	mu    sync.Mutex // guards seen
	seen  map[string]int
	total int
}

func (c *tally) add(r *kgo.Record) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen[string(r.Key)]++
	c.total++
}

func (c *tally) distinct() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.seen)
}

// member is one consumer of the group "readers".
type member struct {
	cl     *kgo.Client
	cancel context.CancelFunc
	done   chan struct{}
}

func join(t *testing.T, s *server, c *tally, options ...kgo.Opt) *member {
	t.Helper()
	cl := newClient(t, s, append([]kgo.Opt{kgo.ConsumerGroup("readers"), kgo.ConsumeTopics("shared"), kgo.SessionTimeout(6 * time.Second), kgo.HeartbeatInterval(300 * time.Millisecond), kgo.AutoCommitInterval(100 * time.Millisecond)}, options...)...)
	ctx, cancel := context.WithCancel(t.Context())
	m := &member{cl, cancel, make(chan struct{})}
	go func() {
		defer close(m.done)
		for ctx.Err() == nil {
			cl.PollFetches(ctx).EachRecord(c.add)
		}
	}()
	return m
}

func (m *member) leave() {
	m.cancel()
	<-m.done
	m.cl.Close()
}

// TestGroup runs a group of three whose members leave, join and are killed, two
// of them with the same client id, and wants every record read.
func TestGroup(t *testing.T) {
	s := start(t, append(ports(), "--data-dir", t.TempDir(), "--default-partitions", "6")...)
	c := &tally{seen: map[string]int{}}
	producer := newClient(t, s)
	send := func(from, n int) {
		t.Helper()
		produce(t, producer, "shared", from, n, func(i int) *kgo.Record { return &kgo.Record{Key: fmt.Appendf(nil, "%d", i)} })
	}
	send(0, 600)
	twin := kgo.ClientID("twin")
	one, two := join(t, s, c, twin), join(t, s, c, twin)
	// The third lives in a process of its own, to be killed.
	third := exec.Command(os.Args[0], "-test.run=^TestHelperMember$")
	third.Env = append(os.Environ(), "MEMBER_OF="+s.kafka)
	var out lockedBuffer
	third.Stdout = &out
	if err := third.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, 30*time.Second, "the third member has partitions", func() bool { return strings.Contains(out.String(), "assigned") })
	// read counts what anybody has read: the third may have printed a record and
	// died before it committed it, so that another reads it again.
	read := func() int {
		keys := map[string]bool{}
		for line := range strings.Lines(out.String()) {
			if key, ok := strings.CutPrefix(strings.TrimSpace(line), "read "); ok && strings.HasSuffix(line, "\n") {
				keys[key] = true
			}
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		for key := range c.seen {
			keys[key] = true
		}
		return len(keys)
	}
	arrived := func(n int) {
		t.Helper()
		eventually(t, 40*time.Second, fmt.Sprintf("%d records read", n), func() bool { return read() == n })
	}
	if err := third.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = third.Wait()
	send(600, 600)
	arrived(1200)
	one.leave()
	four := join(t, s, c)
	send(1200, 600)
	arrived(1800)
	two.leave()
	four.leave()

	// The commits are there after a kill: a new member reads only what is new.
	s.kill()
	s.restart()
	c2 := &tally{seen: map[string]int{}}
	producer = newClient(t, s)
	send(1800, 100)
	five := join(t, s, c2)
	eventually(t, 30*time.Second, "100 new records read", func() bool { return c2.distinct() >= 100 })
	five.leave()
	c2.mu.Lock()
	defer c2.mu.Unlock()
	if c2.total != 100 {
		t.Errorf("after a restart the group read %d records, want the 100 new ones", c2.total)
	}
}

// TestHelperMember is the member that TestGroup kills; it does nothing when it
// isn't started by it.
func TestHelperMember(t *testing.T) {
	seed := os.Getenv("MEMBER_OF")
	if seed == "" {
		return
	}
	cl, err := kgo.NewClient(kgo.SeedBrokers(seed), kgo.ConsumerGroup("readers"), kgo.ConsumeTopics("shared"), kgo.SessionTimeout(6*time.Second), kgo.HeartbeatInterval(300*time.Millisecond),
		kgo.DisableAutoCommit(),
		kgo.OnPartitionsAssigned(func(_ context.Context, _ *kgo.Client, m map[string][]int32) {
			if len(m) > 0 {
				fmt.Println("assigned", m)
			}
		}))
	if err != nil {
		t.Fatal(err)
	}
	for {
		// Printed before the commit: what is committed nobody reads again.
		fetches := cl.PollFetches(t.Context())
		fetches.EachRecord(func(r *kgo.Record) { fmt.Printf("read %s\n", r.Key) })
		if err := cl.CommitRecords(t.Context(), fetches.Records()...); err != nil {
			fmt.Println("commit:", err)
		}
	}
}
