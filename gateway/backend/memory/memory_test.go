package memory_test

import (
	"errors"
	"testing"

	"go.uber.org/goleak"

	"milena/gateway/backend"
	"milena/gateway/backend/backendtest"
	"milena/gateway/backend/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestContract(t *testing.T) {
	backendtest.Run(t, func(*testing.T) backendtest.Fixture {
		return backendtest.Fixture{Broker: memory.New(nil)}
	})
}

// TestFail: a failing broker fails every call with the error given, wakes
// waiting reads, and works again afterwards.
func TestFail(t *testing.T) {
	b := memory.New(nil)
	b.Fail(backend.ErrUnavailable)
	if _, err := b.CreateTopic(t.Context(), backend.TopicSpec{Name: "t", Partitions: 1}); !errors.Is(err, backend.ErrUnavailable) {
		t.Errorf("create topic: %v", err)
	}
	b.Fail(nil)
	topic, err := b.CreateTopic(t.Context(), backend.TopicSpec{Name: "t", Partitions: 1})
	if err != nil {
		t.Fatalf("create topic: %v", err)
	}
	began := make(chan struct{})
	failed := make(chan error, 1)
	go func() {
		close(began)
		_, err := b.Read(t.Context(), backend.Read{
			Partitions: []backend.ReadPartition{{Partition: backend.Partition{Topic: topic.ID}, BytesMax: 1}},
			BytesMin:   1, BytesMax: 1, MaxWait: 1 << 40,
		})
		failed <- err
	}()
	<-began
	b.Fail(backend.ErrUnavailable)
	if err := <-failed; !errors.Is(err, backend.ErrUnavailable) {
		t.Errorf("read: %v", err)
	}
}
