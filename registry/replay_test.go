package registry_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"milena/registry"
	"milena/registry/store"
	"milena/registry/store/memory"
)

// TestOddRecordsAreLeftOut starts over a log with records that make no sense:
// each is named in the log, and all others count.
func TestOddRecordsAreLeftOut(t *testing.T) {
	const key = `{"keytype":"SCHEMA","subject":"s","version":1,"magic":1}`
	good := func(subject string, id int) store.Entry {
		e, err := store.Encode(&store.Record{Kind: store.SchemaKind, Subject: subject, Version: 1, Schema: &store.Schema{
			Subject: subject, Version: 1, ID: id, Type: "AVRO", Text: fmt.Sprintf(`{"type":"fixed","name":"F","size":%d}`, id),
		}})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	odd := []store.Entry{
		{},
		{Key: []byte("not a key")},
		{Key: []byte(`"text"`), Value: []byte(`{}`)},
		{Key: []byte(`{"keytype":"SCHEMA","magic":1}`), Value: []byte(`{}`)},
		{Key: []byte(key), Value: []byte(`{"subject":"s","vers`)},
		{Key: []byte(key), Value: []byte(`{"subject":7}`)},
		{Key: []byte(key), Value: []byte("\x00\xff")},
		{Key: []byte(`{"keytype":"CONFIG","subject":"a","magic":0}`), Value: []byte(`{"normalize":"yes"}`)},
		{Key: []byte(`{"keytype":"MODE","subject":"a","magic":0}`), Value: []byte(`[]`)},
	}
	harmless := []store.Entry{
		{Key: []byte(`{"keytype":"DELETE_SUBJECT","subject":"unknown","magic":0}`), Value: []byte(`{"subject":"unknown","version":3}`)},
		{Key: []byte(`{"keytype":"DELETE_SUBJECT","subject":"a","magic":0}`)},
		{Key: []byte(`{"keytype":"SCHEMA","subject":"gone","version":1,"magic":1}`)},
		{Key: []byte(`{"keytype":"NEWER","subject":"a","magic":9}`), Value: []byte(`{}`)},
		{Key: []byte(`{"keytype":"SCHEMA","subject":"a","version":9,"magic":1}`), Value: []byte(`null`)},
	}
	log := memory.New()
	entries := append(append(append([]store.Entry{good("a", 1)}, odd...), harmless...), good("b", 2))
	if _, err := log.Append(t.Context(), 0, entries); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	r := open(t, registry.Options{Log: log, Logger: slog.New(slog.NewTextHandler(&said, nil))})
	for i := range odd {
		if !strings.Contains(said.String(), fmt.Sprintf("position=%d ", i+1)) {
			t.Errorf("nothing is said of the record at %d:\n%s", i+1, &said)
		}
	}
	if n := strings.Count(said.String(), "left out"); n != len(odd) {
		t.Errorf("%d records are left out, want %d:\n%s", n, len(odd), &said)
	}
	wantVersions(t, r, "a", false, 1)
	wantVersions(t, r, "b", false, 1)
	if a := register(t, r, "c", `"int"`); a.ID != 3 {
		t.Errorf("the next id is %d, want 3", a.ID)
	}
}

// TestManyOddRecords bounds what is said of a log that holds something else.
func TestManyOddRecords(t *testing.T) {
	log := memory.New()
	if _, err := log.Append(t.Context(), 0, slicesOf(1_000, store.Entry{Key: []byte("x")})); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	open(t, registry.Options{Log: log, Logger: slog.New(slog.NewTextHandler(&said, nil))})
	if n := strings.Count(said.String(), "\n"); n != 21 {
		t.Errorf("%d lines, want 20 and one more:\n%s", n, &said)
	}
}

func slicesOf[T any](n int, v T) []T {
	list := make([]T, n)
	for i := range list {
		list[i] = v
	}
	return list
}

// TestLargeReplay starts over more texts than stay on the heap and reads some
// of each part back.
func TestLargeReplay(t *testing.T) {
	log := memory.New()
	doc := strings.Repeat("long ", 10_000)
	const schemas = 600 // 30 MB
	var entries []store.Entry
	for i := range schemas {
		name := fmt.Sprint("s", i)
		e, err := store.Encode(&store.Record{Kind: store.SchemaKind, Subject: name, Version: 1, Schema: &store.Schema{
			Subject: name, Version: 1, ID: i + 1, Type: "AVRO", Text: fmt.Sprintf(`{"type":"record","name":"R%d","doc":"%s","fields":[]}`, i, doc),
		}})
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, e)
	}
	if _, err := log.Append(t.Context(), 0, entries); err != nil {
		t.Fatal(err)
	}
	r := open(t, registry.Options{Log: log})
	for i := range schemas {
		s, err := r.Version(t.Context(), fmt.Sprint("s", i), "1", registry.VersionQuery{})
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf(`{"type":"record","name":"R%d","doc":"%s","fields":[]}`, i, doc); s.Schema != want {
			t.Fatalf("text %d is %.40q… (%d bytes), want %d bytes", i, s.Schema, len(s.Schema), len(want))
		}
	}
}
