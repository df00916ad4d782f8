package registry_test

import (
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"

	"milena/registry"
	"milena/registry/store"
	"milena/registry/store/sqlite"
)

func openFile(b *testing.B) store.Log {
	log, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "registry.db"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = log.Close() })
	return log
}

// BenchmarkRegister registers new schemas from 64 clients, each durable.
func BenchmarkRegister(b *testing.B) {
	r := open(b, registry.Options{Log: openFile(b)})
	var n atomic.Int64
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			i := n.Add(1)
			register(b, r, fmt.Sprint("s", i), record(fmt.Sprint("R", i), "a:int", "b:string"))
		}
	})
}

// BenchmarkRegisterKnown registers a schema that is there, as producers do when
// they start.
func BenchmarkRegisterKnown(b *testing.B) {
	r := open(b, registry.Options{})
	text := record("R", "a:int", "b:string")
	for b.Loop() {
		register(b, r, "s", text)
	}
}

// BenchmarkOpen replays 20,000 schemas.
func BenchmarkOpen(b *testing.B) {
	log := openFile(b)
	var entries []store.Entry
	for i := range 20_000 {
		name := fmt.Sprint("s", i)
		e, err := store.Encode(&store.Record{Kind: store.SchemaKind, Subject: name, Version: 1, Schema: &store.Schema{
			Subject: name, Version: 1, ID: i + 1, Type: "AVRO", Text: record(name, "a:int", "b:string"),
		}})
		if err != nil {
			b.Fatal(err)
		}
		entries = append(entries, e)
	}
	if _, err := log.Append(b.Context(), 0, entries); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		r, err := registry.Open(b.Context(), registry.Options{Log: log})
		if err != nil {
			b.Fatal(err)
		}
		if err := r.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
