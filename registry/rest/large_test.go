package rest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"milena/registry"
	"milena/registry/store"
	"milena/registry/store/sqlite"
)

const (
	largeServer     = "MILENA_LARGE_SERVER" // the log's file, in the process that serves
	largeSubjects   = 100_000
	largePerSubject = 3
	largeStartMax   = 3 * time.Second
	largeRSSMax     = 600 // MiB
	largeFirstMax   = 50 * time.Millisecond
	largeSlowerMax  = 2 // times the p99 of a read by id with a thousand schemas
)

// TestLargeRegistry starts over 300,000 versions and measures the start, the
// memory, the first byte of a listing, and reads by id beside those of a small
// registry. MILENA_BENCH=1 runs it.
func TestLargeRegistry(t *testing.T) {
	if path := os.Getenv(largeServer); path != "" {
		serveLarge(t, path)
		return
	}
	if os.Getenv("MILENA_BENCH") == "" {
		t.Skip("MILENA_BENCH=1 runs it")
	}
	large, small := filepath.Join(t.TempDir(), "large.db"), filepath.Join(t.TempDir(), "small.db")
	writeLarge(t, large, largeSubjects)
	writeLarge(t, small, 1_000/largePerSubject)
	_, stopFirst := startLarge(t, large, nil) // reads all of it, and leaves a snapshot
	for range 600 {
		if _, err := os.Stat(large + "-snapshot"); err == nil {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	stopFirst()

	var took time.Duration
	var rss int64
	url, stop := startLarge(t, large, func(ready time.Duration, mib int64) { took, rss = ready, mib })
	defer stop()
	smallURL, stopSmall := startLarge(t, small, nil)
	defer stopSmall()

	first := time.Hour
	for range 5 {
		first = min(first, firstByte(t, url+"/subjects"))
	}
	var p99, smallP99 []time.Duration
	for range 7 {
		p99 = append(p99, readsByID(t, url, largeSubjects*largePerSubject))
		smallP99 = append(smallP99, readsByID(t, smallURL, 999))
	}
	slices.Sort(p99)
	slices.Sort(smallP99)
	t.Logf("%d versions: ready after %v with %d MiB, first byte of all subjects after %v, p99 by id %v, of a small registry %v",
		largeSubjects*largePerSubject, took, rss, first, p99[2], smallP99[2])
	if took > largeStartMax || rss > largeRSSMax || first > largeFirstMax || p99[2] > largeSlowerMax*smallP99[2] {
		t.Errorf("want %v, %d MiB, %v and a p99 of at most %d times that of a small registry", largeStartMax, largeRSSMax, largeFirstMax, largeSlowerMax)
	}
}

// writeLarge writes a log of subjects with three versions each.
func writeLarge(t *testing.T, path string, subjects int) {
	log, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	var entries []store.Entry
	end, id := int64(0), 0
	for version := range largePerSubject {
		for i := range subjects {
			id++
			var fields []string
			for field := range 12 + version {
				fields = append(fields, fmt.Sprintf(`{"name":"field_%d","type":["null","string"],"default":null}`, field))
			}
			name := fmt.Sprintf("topic-%d-value", i)
			e, err := store.Encode(&store.Record{Kind: store.SchemaKind, Subject: name, Version: version + 1, TimestampMillis: int64(id), Schema: &store.Schema{
				Subject: name, Version: version + 1, ID: id, Type: "AVRO",
				Text: fmt.Sprintf(`{"type":"record","name":"R","namespace":"load.r%d","fields":[%s]}`, i, strings.Join(fields, ",")),
			}})
			if err != nil {
				t.Fatal(err)
			}
			if entries = append(entries, e); len(entries) == 10_000 || id == subjects*largePerSubject {
				if end, err = log.Append(t.Context(), end, entries); err != nil {
					t.Fatal(err)
				}
				entries = entries[:0]
			}
		}
	}
}

// startLarge serves a log in another process.
func startLarge(t *testing.T, path string, ready func(took time.Duration, mib int64)) (url string, stop func()) {
	server := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestLargeRegistry$")
	server.Env = append(os.Environ(), largeServer+"="+path)
	server.Stderr = os.Stderr
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := server.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	var addr string
	var took time.Duration
	var pages int64
	if _, err := fmt.Fscan(bufio.NewReader(out), &addr, (*int64)(&took), &pages); err != nil {
		t.Fatal(err)
	}
	if ready != nil {
		ready(took, pages*int64(os.Getpagesize())>>20)
	}
	return "http://" + addr, func() { _ = in.Close(); _, _ = io.Copy(io.Discard, out); _ = server.Wait() }
}

// serveLarge serves until its input ends. It says how long it took to be ready,
// and how many pages of memory are resident then.
func serveLarge(t *testing.T, path string) {
	began := time.Now()
	log, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := registry.Open(t.Context(), registry.Options{Log: log})
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(r, Options{})
	if err != nil {
		t.Fatal(err)
	}
	l := anyPort(t)
	go func() { _ = s.Serve(l) }()
	took := time.Since(began)
	var pages, resident int64
	if statm, err := os.ReadFile("/proc/self/statm"); err == nil {
		_, _ = fmt.Sscan(string(statm), &pages, &resident)
	}
	fmt.Println(l.Addr(), int64(took), resident)
	_, _ = io.Copy(io.Discard, os.Stdin)
	_ = s.Shutdown(context.Background())
	_ = r.Close()
	_ = log.Close()
}

// firstByte returns how long the first byte of an answer's body takes.
func firstByte(t *testing.T, url string) time.Duration {
	began := time.Now()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if _, err := io.ReadFull(resp.Body, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	took := time.Since(began)
	if n, err := io.Copy(io.Discard, resp.Body); err != nil || n < 1_000 {
		t.Fatalf("%d bytes, %v", n, err)
	}
	return took
}

// readsByID reads random ids, one after the other, and returns the p99.
func readsByID(t *testing.T, url string, ids int) time.Duration {
	const reads = 2_000
	var all []time.Duration
	for range reads {
		began := time.Now()
		resp, err := http.Get(fmt.Sprintf("%s/schemas/ids/%d", url, rand.IntN(ids)+1))
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s, %v", resp.Status, err)
		}
		all = append(all, time.Since(began))
	}
	slices.Sort(all)
	return all[reads*99/100]
}
