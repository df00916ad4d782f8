package sqlite_test

import (
	"context"
	"database/sql"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"milena/registry/store"
	"milena/registry/store/sqlite"
	"milena/registry/store/storetest"
)

func TestContract(t *testing.T) {
	paths := map[store.Log]string{}
	open := func(t *testing.T, path string) store.Log {
		l, err := sqlite.Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		paths[l] = path
		return l
	}
	storetest.Run(t, storetest.Store{
		Open: func(t *testing.T) store.Log {
			return open(t, filepath.Join(t.TempDir(), "a b?c#%.db"))
		},
		Reopen: func(t *testing.T, old store.Log) store.Log { return open(t, paths[old]) },
	})
}

func TestForeignFilesAreRefused(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text.db")
	if err := os.WriteFile(text, []byte(strings.Repeat("not a database\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(dir, "foreign.db")
	exec1(t, foreign, "CREATE TABLE other (x)")
	newer := filepath.Join(dir, "newer.db")
	if l, err := sqlite.Open(t.Context(), newer); err != nil {
		t.Fatal(err)
	} else if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	exec1(t, newer, "PRAGMA user_version = 99")
	for _, path := range []string{text, foreign, newer, filepath.Join(dir, "missing", "x.db")} {
		if l, err := sqlite.Open(t.Context(), path); err == nil {
			t.Errorf("%s opened", path)
			_ = l.Close()
		} else if !strings.Contains(err.Error(), path) {
			t.Errorf("error %q does not name the file", err)
		}
	}
}

func exec1(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.Exec(statement); err != nil {
		t.Fatal(err)
	}
}

// TestSurvivesKill appends in a child process that is killed with SIGKILL while
// it goes on, and expects every position that it reported.
func TestSurvivesKill(t *testing.T) {
	if path := os.Getenv("MILENA_TEST_KILL"); path != "" {
		appendForever(path)
	}
	path := filepath.Join(t.TempDir(), "log.db")
	child := exec.Command(os.Args[0], "-test.run=^TestSurvivesKill$")
	child.Env = append(os.Environ(), "MILENA_TEST_KILL="+path)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	// One byte is one answered append.
	acked := 0
	buf := make([]byte, 64)
	for acked < 200 {
		n, err := out.Read(buf)
		if err != nil {
			t.Fatalf("child ended early: %v", err)
		}
		acked += n
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // reports the kill
	l, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	next := int64(0)
	for e, err := range l.Read(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Position != next || e.TimestampMillis != next {
			t.Fatalf("entry at %d has position %d and time %d", next, e.Position, e.TimestampMillis)
		}
		next++
	}
	if next < int64(acked) {
		t.Fatalf("%d entries after the kill, %d were answered", next, acked)
	}
}

func appendForever(path string) {
	// A child that nobody kills ends by itself.
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	l, err := sqlite.Open(ctx, path)
	if err != nil {
		os.Exit(3)
	}
	for end := int64(0); ; {
		end, err = l.Append(ctx, end, []store.Entry{{TimestampMillis: end, Key: []byte("k"), Value: []byte("v")}})
		if err != nil {
			os.Exit(4)
		}
		if _, err := os.Stdout.Write([]byte{'.'}); err != nil {
			os.Exit(5)
		}
	}
}
