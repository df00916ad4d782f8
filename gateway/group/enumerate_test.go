package group

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"
)

// client is one consumer in a history: it remembers what it was told.
type client struct {
	mark       string
	id         string
	generation int32
	leads      bool
	members    []string // at the leader
	join, sync Ticket   // outstanding, 0 for none
}

// history plays clients against one group and checks what they are told.
type history struct {
	*rig
	clients []*client
	// told holds, for each generation, what the join answers said.
	told map[int32]JoinReply
	// assigned holds, for each generation, which member got which token.
	assigned map[int32]map[string]string
	top      int32
	trace    []string
}

func newHistory(t testing.TB, clients int, delay time.Duration) *history {
	h := &history{
		rig:  newRig(t, Config{InitialRebalanceDelay: delay}),
		told: map[int32]JoinReply{}, assigned: map[int32]map[string]string{},
	}
	for i := range clients {
		h.clients = append(h.clients, &client{mark: string(rune('a' + i))})
	}
	return h
}

// moves are what may happen next: the alphabet of histories.
var moves = []string{"join", "change", "id first", "sync", "beat", "leave", "drop"}

// play does one move of one client; time moves have client -1.
func (h *history) play(who int, move string) {
	h.t.Helper()
	h.trace = append(h.trace, fmt.Sprintf("%d %s", who, move))
	if who < 0 {
		d, err := time.ParseDuration(move)
		if err != nil {
			h.t.Fatal(err)
		}
		h.pass(d)
	} else {
		h.move(h.clients[who], move)
	}
	h.digest()
}

func (h *history) move(c *client, move string) {
	switch move {
	case "join", "change", "id first":
		if c.join != 0 {
			return // it waits for the answer
		}
		if move == "change" {
			c.mark += "'"
		}
		req := h.request(c.mark, c.id)
		req.IDFirst = move == "id first"
		c.join = h.send(req)
	case "sync":
		if c.sync != 0 || c.join != 0 || c.id == "" {
			return
		}
		var as []Assignment
		if c.leads {
			for _, id := range c.members {
				as = append(as, Assignment{id, fmt.Appendf(nil, "%d/%s", c.generation, id)})
			}
		}
		c.sync = h.sync(c.id, c.generation, as...)
	case "beat":
		if c.id != "" {
			h.g.Heartbeat(h.now, MemberRequest{MemberID: c.id, Generation: c.generation})
		}
	case "leave":
		if c.id != "" {
			h.leave(c.id)
			c.id = ""
		}
	case "drop":
		for _, tk := range []Ticket{c.join, c.sync} {
			if tk != 0 && !h.given[tk] {
				h.abandon(tk)
			}
		}
		c.join, c.sync = 0, 0
	}
}

// digest hands out the answers of the last step and checks them.
func (h *history) digest() {
	h.t.Helper()
	if h.g.generation < h.top {
		h.fatalf("generation went back from %d to %d", h.top, h.g.generation)
	}
	h.top = h.g.generation
	for _, c := range h.clients {
		if j, ok := h.joins[c.join]; ok {
			c.join = 0
			h.joinAnswer(c, j)
		}
		if s, ok := h.syncs[c.sync]; ok {
			c.sync = 0
			h.syncAnswer(c, s)
		}
	}
}

func (h *history) joinAnswer(c *client, j JoinReply) {
	h.t.Helper()
	if j.Err != nil {
		c.leads, c.members = false, nil
		switch name(j.Err) {
		case "79 MEMBER_ID_REQUIRED":
			c.id = j.MemberID
		case "25 UNKNOWN_MEMBER_ID":
			c.id = ""
		}
		return
	}
	c.id, c.generation, c.leads, c.members = j.MemberID, j.Generation, j.Leader == j.MemberID, nil
	for _, m := range j.Members {
		c.members = append(c.members, m.MemberID)
	}
	if j.Generation > h.g.generation {
		h.fatalf("told of generation %d in %d", j.Generation, h.g.generation)
	}
	if c.leads != (len(j.Members) > 0) {
		h.fatalf("leader %v is shown %d members", c.leads, len(j.Members))
	}
	if first, ok := h.told[j.Generation]; ok {
		if first.Leader != j.Leader || first.Protocol != j.Protocol {
			h.fatalf("generation %d has two stories: %+v and %+v", j.Generation, first, j)
		}
	}
	h.told[j.Generation] = j
}

func (h *history) syncAnswer(c *client, s SyncReply) {
	h.t.Helper()
	if s.Err != nil {
		if name(s.Err) == "25 UNKNOWN_MEMBER_ID" {
			c.id = ""
		}
		return
	}
	token := string(s.Assignment)
	if token == "" {
		h.fatalf("member %s was left out", c.id)
	}
	if want := fmt.Sprintf("%d/%s", c.generation, c.id); token != want {
		h.fatalf("assignment %q, want %q", token, want)
	}
	owners := h.assigned[c.generation]
	if owners == nil {
		owners = map[string]string{}
		h.assigned[c.generation] = owners
	}
	if owner, ok := owners[token]; ok && owner != c.id {
		h.fatalf("%q is owned by %s and %s", token, owner, c.id)
	}
	owners[token] = c.id
}

// finish falls silent: everyone is answered and the group empties.
func (h *history) finish() {
	h.t.Helper()
	h.trace = append(h.trace, "silence")
	h.restored()
	h.pass(3 * time.Hour)
	h.digest()
	for tk := range h.asked {
		if !h.given[tk] {
			h.fatalf("ticket %d was never answered", tk)
		}
	}
	if h.g.state != Empty {
		h.fatalf("%v in the end", h.g.state)
	}
	if !h.g.Idle() {
		h.fatalf("not idle in the end")
	}
}

// restored checks that a stored state comes back as it was.
func (h *history) restored() {
	h.t.Helper()
	s := h.g.Snapshot()
	if s.State == PreparingRebalance {
		return
	}
	again, err := Restore(Config{}, s, h.now)
	if err != nil {
		h.fatalf("%v", err)
	}
	if got := again.Snapshot(); !reflect.DeepEqual(got, s) {
		h.fatalf("restored %+v, want %+v", got, s)
	}
}

func (h *history) fatalf(format string, args ...any) {
	h.t.Helper()
	h.t.Fatalf("%s\nhistory: %s", fmt.Sprintf(format, args...), strings.Join(h.trace, ", "))
}

type step struct {
	who  int
	move string
}

func alphabet(clients int) []step {
	var steps []step
	for c := range clients {
		for _, m := range moves {
			steps = append(steps, step{c, m})
		}
	}
	for _, d := range []string{"2s", "11s", "61s"} {
		steps = append(steps, step{-1, d})
	}
	return steps
}

// beginnings are where small histories start from.
var beginnings = [][]step{
	nil,
	{{0, "join"}, {1, "join"}},
	{{0, "join"}, {1, "join"}, {-1, "2s"}},
	{{0, "join"}, {1, "join"}, {-1, "2s"}, {1, "sync"}},
	{{0, "join"}, {1, "join"}, {-1, "2s"}, {1, "sync"}, {0, "sync"}},
	{{0, "join"}, {1, "join"}, {-1, "2s"}, {1, "sync"}, {0, "sync"}, {1, "change"}},
}

// TestAllSmallHistories plays every history of three moves by two clients, from
// each beginning.
func TestAllSmallHistories(t *testing.T) {
	const depth = 3
	steps := alphabet(2)
	total := 1
	for range depth {
		total *= len(steps)
	}
	for _, beginning := range beginnings {
		for n := range total {
			h := newHistory(t, 2, time.Second)
			for _, s := range beginning {
				h.play(s.who, s.move)
			}
			for range depth {
				s := steps[n%len(steps)]
				h.play(s.who, s.move)
				n /= len(steps)
			}
			h.finish()
		}
	}
}

// TestLongHistories plays random ones with more clients; a failure names its seed.
func TestLongHistories(t *testing.T) {
	for seed := range uint64(500) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		clients := 2 + rnd.IntN(4)
		steps := alphabet(clients)
		h := newHistory(t, clients, time.Duration(rnd.IntN(3)-1)*time.Second)
		h.trace = append(h.trace, fmt.Sprint("seed ", seed))
		for range 120 {
			s := steps[rnd.IntN(len(steps))]
			if s.who < 0 && rnd.IntN(3) > 0 {
				continue // else time passes so often that nothing becomes stable
			}
			h.play(s.who, s.move)
			h.restored()
		}
		h.finish()
	}
}
