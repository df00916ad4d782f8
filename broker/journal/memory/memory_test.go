package memory_test

import (
	"errors"
	"testing"

	"milena/broker/journal"
	"milena/broker/journal/journaltest"
	"milena/broker/journal/memory"
)

func TestContract(t *testing.T) {
	journaltest.Run(t, func(*testing.T) journaltest.Fixture {
		return journaltest.Fixture{
			Open: func(*testing.T) journal.Journal {
				return memory.New(memory.Options{EntryBytesMax: journaltest.EntryBytesMax})
			},
			Forgets: true,
		}
	})
}

func TestFull(t *testing.T) {
	j := memory.New(memory.Options{BytesMax: 1000})
	entry := []journal.Entry{{Chunk: make([]byte, 500), Commit: []byte{1}}}
	p, err := j.Append(entry)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := j.Append(entry); !errors.Is(err, journal.ErrFull) {
		t.Fatalf("beyond the limit: %v", err)
	}
	if err := j.Trim(j.End()); err != nil || j.Start() <= p[0] {
		t.Fatalf("start %d, %v", j.Start(), err)
	}
	if _, err := j.Append(entry); err != nil {
		t.Fatalf("after trimming: %v", err)
	}
}
