package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"

	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"milena/broker/catalog"
)

// Store is a catalog.Store in an SQLite file.
type Store struct {
	path string

	mu      sync.Mutex // guards everything below
	db      *sql.DB    // nil while the file is damaged, and once closed
	damaged error      // why only a full checkpoint may be saved
	closed  bool
}

// schemaVersion is SQLite's user_version of the file; 0 is a new file.
const schemaVersion = 1

// schema of version 1. saved has one row: check is the hash of its other
// columns, sum adds up the hashes of all rows, wrapping around.
const schema = `
CREATE TABLE saved (
	id       INTEGER PRIMARY KEY CHECK (id = 1),
	position INTEGER NOT NULL,
	count    INTEGER NOT NULL,
	sum      INTEGER NOT NULL,
	"check"  INTEGER NOT NULL
) STRICT;
CREATE TABLE rows (
	section BLOB NOT NULL,
	key     BLOB NOT NULL,
	value   BLOB NOT NULL,
	hash    INTEGER NOT NULL,
	PRIMARY KEY (section, key)
) STRICT, WITHOUT ROWID;
PRAGMA user_version = 1;
`

// Open opens the checkpoints in a file, which is made if it isn't there. A
// damaged file is no error here: Load tells.
func Open(ctx context.Context, path string) (*Store, error) {
	s := &Store{path: path}
	err := s.open(ctx)
	if isDamage(err) {
		s.damaged = err
		return s, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open checkpoints %s: %w", path, err)
	}
	return s, nil
}

// open sets db.
func (s *Store) open(ctx context.Context) error {
	absolute, err := filepath.Abs(s.path)
	if err != nil {
		return err
	}
	name := "file:" + (&url.URL{Path: absolute}).EscapedPath() + "?_pragma=busy_timeout(5000)" +
		"&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_txlock=immediate"
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1) // the lock allows one user anyway
	if err := prepare(ctx, db); err != nil {
		return errors.Join(err, db.Close())
	}
	if err := syncDir(filepath.Dir(absolute)); err != nil {
		return errors.Join(err, db.Close())
	}
	s.db = db
	return nil
}

// prepare makes the tables of a new file.
func prepare(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after Commit it has nothing to do
	version := 0
	if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	switch version {
	case schemaVersion:
		return nil
	case 0:
	default:
		return fmt.Errorf("file has version %d, this build knows %d", version, schemaVersion)
	}
	if _, err := tx.ExecContext(ctx, schema); err != nil {
		return err
	}
	return tx.Commit()
}

// Close implements catalog.Store.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	db := s.db
	s.db = nil
	if db == nil {
		return nil
	}
	return db.Close()
}

// replace sets a damaged file aside and begins a new one; mu is held.
func (s *Store) replace(ctx context.Context) error {
	if s.db != nil {
		// Closing fails to tidy up what is damaged; there is nothing to keep.
		_ = s.db.Close()
		s.db = nil
	}
	for _, suffix := range []string{"-wal", "-shm", ""} {
		err := os.Rename(s.path+suffix, s.path+".damaged"+suffix)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("set damaged checkpoints aside: %w", err)
		}
	}
	if err := s.open(ctx); err != nil {
		return fmt.Errorf("open checkpoints %s: %w", s.path, err)
	}
	s.damaged = nil
	return nil
}

// isDamage says whether err is SQLite's way to say that the file is damaged.
func isDamage(err error) bool {
	var e *driver.Error
	if !errors.As(err, &e) {
		return errors.Is(err, catalog.ErrDamaged)
	}
	primary := e.Code() & 0xff
	return primary == lib.SQLITE_CORRUPT || primary == lib.SQLITE_NOTADB
}

// syncDir makes the names of new files durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func damaged(reason string) error { return fmt.Errorf("%w: %s", catalog.ErrDamaged, reason) }
