package run

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
)

func TestStopInReverse(t *testing.T) {
	var g Group
	var order []string
	broken := errors.New("disk gone")
	for _, name := range []string{"store", "registry", "gateway"} {
		g.Add(name, func(context.Context) error {
			order = append(order, name)
			if name == "registry" {
				return broken
			}
			return nil
		})
	}
	err := g.Stop(t.Context())
	if got := strings.Join(order, " "); got != "gateway registry store" {
		t.Errorf("stopped in the order %s", got)
	}
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "stop registry") {
		t.Errorf("got %v", err)
	}
	if err := g.Stop(t.Context()); err != nil || len(order) != 3 {
		t.Errorf("a second stop did something: %v, %v", err, order)
	}
}

func TestSignals(t *testing.T) {
	var c chan<- os.Signal
	drain, force, stop := watch(t.Context(), func(given chan<- os.Signal) func() { c = given; return func() {} })
	defer stop()
	c <- syscall.SIGTERM
	<-drain.Done()
	if force.Err() != nil {
		t.Fatal("the first signal forced the stop")
	}
	c <- syscall.SIGTERM
	<-force.Done()
	if !errors.Is(context.Cause(force), ErrForced) {
		t.Errorf("cause %v", context.Cause(force))
	}
}
