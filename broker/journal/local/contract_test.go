package local_test

import (
	"testing"

	"milena/broker/journal"
	"milena/broker/journal/fs"
	"milena/broker/journal/journaltest"
	"milena/broker/journal/local"
)

func TestContractOnDisk(t *testing.T) {
	journaltest.Run(t, func(t *testing.T) journaltest.Fixture { return fixture(t, fs.OS{}) })
}

func TestContractInMemory(t *testing.T) {
	journaltest.Run(t, func(t *testing.T) journaltest.Fixture { return fixture(t, fs.NewMemory(1)) })
}

func fixture(t *testing.T, files fs.FS) journaltest.Fixture {
	dir := t.TempDir() + "/a/b"
	return journaltest.Fixture{Open: func(t *testing.T) journal.Journal {
		j, err := local.Open(local.Options{Dir: dir, FS: files, SegmentBytes: 16 << 10, EntryBytesMax: journaltest.EntryBytesMax})
		if err != nil {
			t.Fatal(err)
		}
		return j
	}}
}
