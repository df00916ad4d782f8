package sqlite_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"milena/broker/catalog"
	"milena/broker/catalog/catalogtest"
	"milena/broker/catalog/sqlite"
)

func open(t testing.TB, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestContract(t *testing.T) {
	catalogtest.Run(t, func(t *testing.T) catalogtest.Fixture {
		path := filepath.Join(t.TempDir(), "a%20name?with=all #sorts", "check points.db")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		return catalogtest.Fixture{Open: func(t *testing.T) catalog.Store { return open(t, path) }}
	})
}

func nothing(catalog.Row) error { return nil }

func some(n int) catalog.Checkpoint {
	c := catalog.Checkpoint{Position: 10, Full: true}
	for i := range n {
		c.Rows = append(c.Rows, catalog.Row{Section: "s", Key: fmt.Append(nil, "key ", i), Value: bytes.Repeat([]byte{byte(i)}, 100)})
	}
	return c
}

// damaged makes a file with a checkpoint, lets damage at it, and checks that
// it is noticed, that changes are refused, and that a full checkpoint repairs
// it.
func damaged(t *testing.T, damage func(t *testing.T, path string)) {
	t.Helper()
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "checkpoints.db")
	s := open(t, path)
	if err := s.Save(ctx, some(500)); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	damage(t, path)
	s = open(t, path)
	defer s.Close()
	picky := func(catalog.Row) error { return errors.New("no such row can be") }
	for _, fn := range []func(catalog.Row) error{picky, nothing, picky} {
		if _, err := s.Load(ctx, fn); !errors.Is(err, catalog.ErrDamaged) {
			t.Fatalf("load: %v", err)
		}
		if err := s.Save(ctx, catalog.Checkpoint{Position: 11, Base: 10}); !errors.Is(err, catalog.ErrDamaged) {
			t.Fatalf("save of changes: %v", err)
		}
	}
	if err := s.Save(ctx, some(3)); err != nil {
		t.Fatalf("full save: %v", err)
	}
	if p, err := s.Load(ctx, nothing); p != 10 || err != nil {
		t.Fatalf("after a full save: %d, %v", p, err)
	}
	if _, err := os.Stat(path + ".damaged"); err != nil {
		t.Errorf("the damaged file: %v", err)
	}
}

func TestDamagedFile(t *testing.T) {
	write := func(t *testing.T, path string, change func(b []byte) []byte) {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, change(b), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cases := map[string]func(b []byte) []byte{
		"no database": func([]byte) []byte { return bytes.Repeat([]byte("no database"), 1000) },
		"header":      func(b []byte) []byte { b[3] ^= 1; return b },
		"cut":         func(b []byte) []byte { return b[:len(b)/2] },
		"zero page":   func(b []byte) []byte { clear(b[5*4096 : 6*4096]); return b },
		"flipped bit": func(b []byte) []byte {
			i := bytes.LastIndex(b, bytes.Repeat([]byte{77}, 100))
			b[i+50] ^= 4
			return b
		},
	}
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			damaged(t, func(t *testing.T, path string) { write(t, path, change) })
		})
	}
}

func TestDamagedContent(t *testing.T) {
	for _, statement := range []string{
		"DELETE FROM rows WHERE key = CAST('key 7' AS BLOB)",
		"UPDATE rows SET value = x'00' WHERE key = CAST('key 7' AS BLOB)",
		"UPDATE saved SET position = 9",
		"UPDATE saved SET count = 499",
		"UPDATE saved SET sum = sum + 1",
	} {
		t.Run(statement, func(t *testing.T) {
			damaged(t, func(t *testing.T, path string) {
				db, err := sql.Open("sqlite", path)
				if err != nil {
					t.Fatal(err)
				}
				defer db.Close()
				if r, err := db.Exec(statement); err != nil {
					t.Fatal(err)
				} else if n, err := r.RowsAffected(); err != nil || n != 1 {
					t.Fatal(n, err)
				}
			})
		})
	}
}

func TestOpenErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "missing", "checkpoints.db")
	if _, err := sqlite.Open(context.Background(), path); err == nil || errors.Is(err, catalog.ErrDamaged) {
		t.Errorf("in a folder that isn't there: %v", err)
	}
	path = filepath.Join(t.TempDir(), "checkpoints.db")
	if err := open(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("PRAGMA user_version = 2"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Open(context.Background(), path); err == nil || errors.Is(err, catalog.ErrDamaged) {
		t.Errorf("of a later version: %v", err)
	}
}

func TestClosed(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "checkpoints.db"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Save(context.Background(), some(1)); err == nil {
		t.Error("saved after close")
	}
	if _, err := s.Load(context.Background(), nothing); err == nil {
		t.Error("loaded after close")
	}
}

// BenchmarkSave saves 100 changed rows of 10,000.
func BenchmarkSave(b *testing.B) {
	ctx := context.Background()
	s := open(b, filepath.Join(b.TempDir(), "checkpoints.db"))
	defer s.Close()
	c := some(10_000)
	if err := s.Save(ctx, c); err != nil {
		b.Fatal(err)
	}
	changes := catalog.Checkpoint{Position: 10, Base: 10, Rows: c.Rows[:100]}
	for i := 0; b.Loop(); i++ {
		for k := range changes.Rows {
			changes.Rows[k].Value = fmt.Append(nil, i)
		}
		if err := s.Save(ctx, changes); err != nil {
			b.Fatal(err)
		}
	}
}
