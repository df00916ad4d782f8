package broker

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"milena/broker/api"
)

func TestLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen []string
		b := openBroker(t, Options{Lease: 10 * time.Second, Observer: Observer{Session: func(holder string, held bool) {
			if !held {
				holder = "-" + holder
			}
			seen = append(seen, holder)
		}}})
		one, err := b.lease.acquire("one", false)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(9 * time.Second)
		if _, err := b.AcquireLease("two"); !errors.Is(err, api.ErrLeaseHeld) {
			t.Fatalf("second holder: %v", err)
		}
		if err := one.Renew(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(9 * time.Second)
		call, err := b.lease.enter(one.ID())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.lease.enter(SessionID{}); !errors.Is(err, api.ErrLeaseLost) {
			t.Fatalf("call of nobody: %v", err)
		}
		// Out of time: the next one gets it, once the running call has ended.
		time.Sleep(2 * time.Second)
		if _, err := b.lease.enter(one.ID()); !errors.Is(err, api.ErrLeaseLost) {
			t.Fatalf("late call: %v", err)
		}
		got := make(chan *Session, 1)
		go func() {
			two, err := b.AcquireLease("two")
			if err != nil {
				t.Errorf("after it ran out: %v", err)
			}
			got <- two
		}()
		synctest.Wait()
		select {
		case <-got:
			t.Fatal("two holders at once")
		case <-one.Ended():
		}
		if err := one.Renew(); !errors.Is(err, api.ErrLeaseLost) {
			t.Fatalf("renewed after the end: %v", err)
		}
		call.leave()
		two := <-got
		// A holder in this process never runs out of time.
		time.Sleep(time.Hour)
		if _, err := b.lease.acquire("three", false); !errors.Is(err, api.ErrLeaseHeld) {
			t.Fatalf("third holder: %v", err)
		}
		two.Release()
		two.Release()
		three, err := b.lease.acquire("three", false)
		if err != nil {
			t.Fatal(err)
		}
		// keep ends it when it runs out of time, and not before.
		began := time.Now()
		go func() {
			time.Sleep(8 * time.Second)
			_ = three.Renew()
		}()
		three.keep(context.Background())
		if took := time.Since(began); took < 18*time.Second || took > 19*time.Second {
			t.Fatalf("kept for %v", took)
		}
		want := []string{"one", "-one", "two", "-two", "three", "-three"}
		if len(seen) != len(want) {
			t.Fatalf("observer saw %v", seen)
		}
		for i := range want {
			if seen[i] != want[i] {
				t.Fatalf("observer saw %v", seen)
			}
		}
	})
}
