// Package sqlite is the embedded registry log: one SQLite file in WAL mode with
// synchronous=FULL, so that an append that was answered survives kill -9 and
// loss of power. One append of many entries is one transaction and one sync,
// which is how the registry's writer groups its commits.
//
// Log.mu serialises appends of this process; another process on the same file
// is held off by SQLite's own lock and seen through the expected position. The
// package has no goroutines of its own.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"sync"

	_ "modernc.org/sqlite" // registers the driver "sqlite"

	"milena/registry/store"
)

// formatVersion is the file's PRAGMA user_version. It only grows, and every
// earlier format must still open.
const formatVersion = 1

// applicationID marks the file as a registry log ("MiRg").
const applicationID = 0x4d695267

// Log is a store.Log in a SQLite file.
type Log struct {
	db   *sql.DB
	path string

	mu     sync.Mutex // serialises Append and Close; guards below
	closed bool
}

var _ store.Log = (*Log)(nil)

// Open opens or creates the log at path.
func Open(ctx context.Context, path string) (*Log, error) {
	pragmas := url.Values{"_txlock": {"immediate"}, "_pragma": {
		"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(FULL)", "trusted_schema(OFF)",
	}}
	dsn := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: pragmas.Encode()}
	db, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return nil, fmt.Errorf("open registry log %s: %w", path, err)
	}
	// Two connections: one for the appender, one for a reader beside it.
	db.SetMaxOpenConns(2)
	l := &Log{db: db, path: path}
	if err := l.prepare(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open registry log %s: %w", path, err), db.Close())
	}
	return l, nil
}

// prepare creates the table in a new file and refuses files that are not ours.
func (l *Log) prepare(ctx context.Context) error {
	tx, err := l.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after Commit this does nothing
	var app, version, tables int
	for _, q := range []struct {
		text string
		into *int
	}{
		{"PRAGMA application_id", &app},
		{"PRAGMA user_version", &version},
		{"SELECT count(*) FROM sqlite_schema", &tables},
	} {
		if err := tx.QueryRowContext(ctx, q.text).Scan(q.into); err != nil {
			return err
		}
	}
	switch {
	case app == applicationID && version == formatVersion:
		return nil
	case app == applicationID:
		return fmt.Errorf("format version %d is newer than this program's %d", version, formatVersion)
	case tables > 0:
		return errors.New("file is another program's database")
	}
	for _, q := range []string{
		fmt.Sprintf("PRAGMA application_id = %d", applicationID),
		fmt.Sprintf("PRAGMA user_version = %d", formatVersion),
		"CREATE TABLE log (position INTEGER PRIMARY KEY, ts INTEGER NOT NULL, key BLOB NOT NULL, value BLOB) STRICT",
	} {
		if _, err := tx.ExecContext(ctx, q); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// Append adds entries if the log ends at expected, in one transaction.
func (l *Log) Append(ctx context.Context, expected int64, entries []store.Entry) (int64, error) {
	if err := store.CheckEntries(entries); err != nil {
		return 0, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return 0, store.ErrClosed
	}
	tx, err := l.db.BeginTx(ctx, nil)
	if err != nil {
		return 0, fmt.Errorf("append to registry log: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // after Commit this does nothing
	var end int64
	if err := tx.QueryRowContext(ctx, "SELECT coalesce(max(position)+1, 0) FROM log").Scan(&end); err != nil {
		return 0, fmt.Errorf("append to registry log: %w", err)
	}
	if end != expected {
		return 0, store.ErrConflict
	}
	insert, err := tx.PrepareContext(ctx, "INSERT INTO log (position, ts, key, value) VALUES (?, ?, ?, ?)")
	if err != nil {
		return 0, fmt.Errorf("append to registry log: %w", err)
	}
	defer func() { _ = insert.Close() }() // closed with the transaction anyway
	for _, e := range entries {
		if _, err := insert.ExecContext(ctx, end, e.TimestampMillis, notNil(e.Key), nullable(e.Value)); err != nil {
			return 0, fmt.Errorf("append to registry log: %w", err)
		}
		end++
	}
	if err := tx.Commit(); err != nil {
		return 0, fmt.Errorf("commit to registry log: %w", err)
	}
	return end, nil
}

// notNil keeps an empty key apart from NULL, which the column refuses.
func notNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// nullable keeps a tombstone apart from an empty value.
func nullable(b []byte) any {
	if b == nil {
		return nil
	}
	return b
}

// readBatch is how many entries are read at once, so that a slow consumer
// holds no read transaction open and the WAL can be checkpointed.
const readBatch = 512

// Read yields the entries from position from on.
func (l *Log) Read(ctx context.Context, from int64) iter.Seq2[store.Entry, error] {
	return func(yield func(store.Entry, error) bool) {
		for {
			batch, err := l.readBatch(ctx, from)
			if err != nil {
				yield(store.Entry{}, err)
				return
			}
			for _, e := range batch {
				if !yield(e, nil) {
					return
				}
				from = e.Position + 1
			}
			if len(batch) < readBatch {
				return
			}
		}
	}
}

func (l *Log) readBatch(ctx context.Context, from int64) (batch []store.Entry, err error) {
	l.mu.Lock()
	closed := l.closed
	l.mu.Unlock()
	if closed {
		return nil, store.ErrClosed
	}
	rows, err := l.db.QueryContext(ctx,
		"SELECT position, ts, key, value, value IS NULL FROM log WHERE position >= ? ORDER BY position LIMIT ?", from, readBatch)
	if err != nil {
		return nil, fmt.Errorf("read registry log at %d: %w", from, err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	batch = make([]store.Entry, 0, readBatch)
	block := make([]byte, 64<<10) // holds the bytes of many entries: there may be millions
	keep := func(b sql.RawBytes) []byte {
		if len(block) < len(b) {
			block = make([]byte, max(len(b), 64<<10))
		}
		n := copy(block, b)
		kept := block[:n:n]
		block = block[n:]
		return kept
	}
	for rows.Next() {
		var e store.Entry
		var key, value sql.RawBytes
		var tombstone bool
		if err := rows.Scan(&e.Position, &e.TimestampMillis, &key, &value, &tombstone); err != nil {
			return nil, fmt.Errorf("read registry log at %d: %w", from, err)
		}
		e.Key = keep(key)
		if !tombstone {
			e.Value = keep(value) // not nil: the driver gives that for an empty blob
		}
		batch = append(batch, e)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read registry log at %d: %w", from, err)
	}
	return batch, nil
}

// Close closes the file.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	if err := l.db.Close(); err != nil {
		return fmt.Errorf("close registry log: %w", err)
	}
	return nil
}
