package coordinator

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/twmb/franz-go/pkg/kerr"

	"milena/gateway/group"
)

func listed(t *testing.T, c *Coordinator) string {
	t.Helper()
	all, err := c.List(t.Context())
	want(t, err, nil)
	var b strings.Builder
	for _, l := range all {
		fmt.Fprintf(&b, "%s/%s/%v ", l.ID, l.ProtocolType, l.State)
	}
	return b.String()
}

func simple(t *testing.T, c *Coordinator, s *store, id string) {
	t.Helper()
	want(t, c.Commit(t.Context(), id, group.MemberRequest{Generation: -1}, s.offset(0, 5)), nil)
}

func TestListIsAllThatIsKnown(t *testing.T) {
	bubble(t, func(t *testing.T, s *store, c *Coordinator) {
		j := one(t, c)
		simple(t, c, s, "offsets")
		const stable = "g/consumer/Stable offsets//Empty "
		if got := listed(t, c); got != stable {
			t.Fatalf("listed %s", got)
		}
		// A coordinator that has loaded nothing lists what is stored.
		if got := listed(t, New(s, quick())); got != stable {
			t.Fatalf("listed %s from what is stored", got)
		}
		// Memory is ahead of what is stored while a rebalance is on.
		waiting := joining(t, c, "")
		synctest.Wait()
		if got := listed(t, c); got != "g/consumer/PreparingRebalance offsets//Empty " {
			t.Fatalf("listed %s during a rebalance", got)
		}
		again := joining(t, c, j.MemberID)
		want(t, (<-waiting).Err, nil)
		want(t, (<-again).Err, nil)
	})
}

func TestDeleteGroup(t *testing.T) {
	bubble(t, func(t *testing.T, s *store, c *Coordinator) {
		want(t, c.Delete(t.Context(), "absent"), kerr.GroupIDNotFound)
		j := one(t, c)
		want(t, c.Delete(t.Context(), "g"), kerr.NonEmptyGroup)
		_, err := c.Leave(t.Context(), "g", []group.LeaveMember{{MemberID: j.MemberID}})
		want(t, err, nil)
		simple(t, c, s, "g")
		want(t, c.Delete(t.Context(), "g"), nil)
		if got := listed(t, c); got != "" {
			t.Fatalf("left is %s", got)
		}
		want(t, c.Delete(t.Context(), "g"), kerr.GroupIDNotFound)
		if again := one(t, c); again.Generation != 1 {
			t.Fatalf("the new group begins with generation %d", again.Generation)
		}
	})
}

// TestJoinDuringDeletion: who joins before the deletion is stored is in a new
// group, which the deletion doesn't take away.
func TestJoinDuringDeletion(t *testing.T) {
	bubble(t, func(t *testing.T, s *store, c *Coordinator) {
		simple(t, c, s, "g")
		synctest.Wait()
		j := one(t, c)
		_, err := c.Leave(t.Context(), "g", []group.LeaveMember{{MemberID: j.MemberID}})
		want(t, err, nil)
		synctest.Wait()
		release := s.hold()
		ctx := t.Context()
		deleted := later(func() error { return c.Delete(ctx, "g") })
		pending(t, deleted)
		joined := joining(t, c, "")
		pending(t, joined)
		release()
		want(t, <-deleted, nil)
		reply := <-joined
		want(t, reply.Err, nil)
		want(t, (<-syncing(t, c, reply)).Err, nil)
		synctest.Wait()
		if got := listed(t, New(s, quick())); got != "g/consumer/Stable " {
			t.Fatalf("stored is %s", got)
		}
	})
}

func TestDeletionFails(t *testing.T) {
	bubble(t, func(t *testing.T, s *store, c *Coordinator) {
		j := one(t, c)
		_, err := c.Leave(t.Context(), "g", []group.LeaveMember{{MemberID: j.MemberID}})
		want(t, err, nil)
		synctest.Wait()
		broken := errors.New("disk on fire")
		s.failWith(broken)
		want(t, c.Delete(t.Context(), "g"), broken)
		s.failWith(nil)
		if got := listed(t, c); got != "g/consumer/Empty " {
			t.Fatalf("left is %s", got)
		}
		want(t, c.Delete(t.Context(), "g"), nil)
	})
}
