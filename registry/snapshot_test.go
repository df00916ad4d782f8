package registry_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"milena/registry"
	"milena/registry/store"
	"milena/registry/store/sqlite"
)

// snapshotRig is a registry in a file that writes a snapshot after every 30
// records.
type snapshotRig struct {
	t    *testing.T
	path string
	said bytes.Buffer
}

// start opens log and registry; stop closes both.
func (g *snapshotRig) start() (r *registry.Registry, stop func()) {
	g.t.Helper()
	g.said.Reset()
	log, err := sqlite.Open(g.t.Context(), g.path)
	if err != nil {
		g.t.Fatal(err)
	}
	r, err = registry.Open(g.t.Context(), registry.Options{
		Log: log, SnapshotEvery: 30, Logger: slog.New(slog.NewTextHandler(&g.said, nil)),
	})
	if err != nil {
		g.t.Fatal(err)
	}
	return r, func() {
		g.t.Helper()
		if err := errors.Join(r.Close(), log.Close()); err != nil {
			g.t.Fatal(err)
		}
	}
}

// fill registers n subjects and waits until a snapshot of them is there.
func (g *snapshotRig) fill(r *registry.Registry, prefix string, n int) {
	g.t.Helper()
	before, _ := os.Stat(g.path + "-snapshot")
	for i := range n {
		register(g.t, r, fmt.Sprint(prefix, i), record(fmt.Sprint(prefix, "R", i), "a:int"))
	}
	for range 2_000 { // of two in a row the second may have the inode of the one before
		if now, err := os.Stat(g.path + "-snapshot"); err == nil && (before == nil || !os.SameFile(before, now) || !now.ModTime().Equal(before.ModTime())) {
			return
		}
		time.Sleep(5 * time.Millisecond) // it is written beside everything else
	}
	g.t.Fatal("no snapshot was written")
}

func newSnapshotRig(t *testing.T) *snapshotRig {
	return &snapshotRig{t: t, path: filepath.Join(t.TempDir(), "registry.db")}
}

// TestStartFromSnapshot starts from a snapshot and what came after it, again
// and again, and compares with what was live.
func TestStartFromSnapshot(t *testing.T) {
	g := newSnapshotRig(t)
	for round := range 4 {
		r, stop := g.start()
		g.fill(r, fmt.Sprint("r", round, "x"), 40*(round+1))
		register(t, r, ":.c:after", record("R", fmt.Sprintf("f%d:int=0", round)))
		if _, err := r.DeleteVersion(t.Context(), fmt.Sprintf("r%dx1", round), "1", false); err != nil {
			t.Fatal(err)
		}
		live := dump(t, r)
		stop()
		r, stop = g.start()
		if replayed := dump(t, r); replayed != live {
			t.Fatalf("round %d: started with\n%s\nwant\n%s", round, replayed, live)
		}
		if strings.Contains(g.said.String(), "snapshot") {
			t.Errorf("round %d: the snapshot was not used: %s", round, &g.said)
		}
		stop()
	}
}

// TestDoubtfulSnapshots starts with snapshots that must not be trusted.
func TestDoubtfulSnapshots(t *testing.T) {
	g := newSnapshotRig(t)
	r, stop := g.start()
	g.fill(r, "s", 40)
	live := dump(t, r)
	stop()
	good, err := os.ReadFile(g.path + "-snapshot")
	if err != nil {
		t.Fatal(err)
	}
	changed := func(at int) []byte {
		b := bytes.Clone(good)
		b[at] ^= 1
		return b
	}
	for name, data := range map[string][]byte{
		"empty":            {},
		"of zeros":         make([]byte, len(good)),
		"cut":              good[:len(good)-1],
		"cut short":        good[:10],
		"longer":           append(bytes.Clone(good), 0),
		"of another magic": changed(0),
		"of a program":     changed(9),
		"of an end":        changed(47),
		"of a record":      changed(50),
		"of a version":     changed(len(good) / 2),
		"of a checksum":    changed(len(good) - 1),
	} {
		if err := os.WriteFile(g.path+"-snapshot", data, 0o600); err != nil {
			t.Fatal(err)
		}
		r, stop := g.start()
		if got := dump(t, r); got != live {
			t.Errorf("%s: started with\n%s\nwant\n%s", name, got, live)
		}
		if !strings.Contains(g.said.String(), "snapshot") {
			t.Errorf("%s: nothing is said of the snapshot", name)
		}
		stop()
	}
}

// TestSnapshotOfAnotherLog puts a good snapshot beside logs that it is not of:
// an older state of the same log, and one with another history.
func TestSnapshotOfAnotherLog(t *testing.T) {
	g := newSnapshotRig(t)
	r, stop := g.start()
	g.fill(r, "s", 40)
	stop()
	snapshot, err := os.ReadFile(g.path + "-snapshot")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{3, 60} {
		other := newSnapshotRig(t)
		log, err := sqlite.Open(t.Context(), other.path)
		if err != nil {
			t.Fatal(err)
		}
		var entries []store.Entry
		for i := range n {
			e, err := store.Encode(&store.Record{Kind: store.SchemaKind, Subject: "other", Version: i + 1, Schema: &store.Schema{
				Subject: "other", Version: i + 1, ID: i + 1, Type: "AVRO", Text: record(fmt.Sprint("R", i), "a:int"),
			}})
			if err != nil {
				t.Fatal(err)
			}
			entries = append(entries, e)
		}
		if _, err := log.Append(t.Context(), 0, entries); err != nil {
			t.Fatal(err)
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(other.path+"-snapshot", snapshot, 0o600); err != nil {
			t.Fatal(err)
		}
		r, stop := other.start()
		if got := versions(t, r, "other", false); len(got) != n {
			t.Errorf("%d versions, want %d", len(got), n)
		}
		if _, err := r.Versions(t.Context(), "s1", registry.VersionsQuery{}); err == nil {
			t.Error("a subject of the other log is there")
		}
		stop()
	}
}

// TestNoSnapshots neither reads nor writes any.
func TestNoSnapshots(t *testing.T) {
	path := filepath.Join(t.TempDir(), "registry.db")
	log, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	r := open(t, registry.Options{Log: log, SnapshotEvery: -1})
	for i := range 50 {
		register(t, r, fmt.Sprint("s", i), record(fmt.Sprint("R", i), "a:int"))
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path + "-snapshot"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a snapshot is there: %v", err)
	}
}
