package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"

	"milena/broker/catalog"
)

// Save implements catalog.Store with one transaction.
func (s *Store) Save(ctx context.Context, c catalog.Checkpoint) error {
	if err := c.Check(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return fmt.Errorf("save checkpoint: %w", sql.ErrConnDone)
	}
	if s.damaged != nil {
		if !c.Full {
			return fmt.Errorf("save checkpoint: %w: %w", catalog.ErrDamaged, s.damaged)
		}
		if err := s.replace(ctx); err != nil {
			return err
		}
	}
	err := s.save(ctx, c)
	if isDamage(err) {
		if !c.Full {
			s.damaged = err
			return fmt.Errorf("save checkpoint: %w: %w", catalog.ErrDamaged, err)
		}
		if err := s.replace(ctx); err != nil {
			return err
		}
		err = s.save(ctx, c)
	}
	if err != nil {
		return fmt.Errorf("save checkpoint at %d: %w", c.Position, err)
	}
	return nil
}

func (s *Store) save(ctx context.Context, c catalog.Checkpoint) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after Commit it has nothing to do
	var now saved
	if c.Full {
		if _, err := tx.ExecContext(ctx, "DELETE FROM rows"); err != nil {
			return err
		}
	} else {
		if now, err = loadSaved(ctx, tx); err != nil {
			if errors.Is(err, catalog.ErrNone) {
				return fmt.Errorf("%w: %w", catalog.ErrBase, err)
			}
			return err
		}
		if now.position != c.Base {
			return fmt.Errorf("%w: stored %d, base %d", catalog.ErrBase, now.position, c.Base)
		}
	}
	now.position = c.Position
	if err := saveRows(ctx, tx, &now, c.Rows); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `REPLACE INTO saved (id, position, count, sum, "check") VALUES (1, ?, ?, ?, ?)`,
		now.position, now.count, now.sum, now.hash())
	if err != nil {
		return err
	}
	return tx.Commit()
}

// saveRows writes the rows that differ and adjusts count and sum.
func saveRows(ctx context.Context, tx *sql.Tx, now *saved, rows []catalog.Row) (err error) {
	statements := [3]*sql.Stmt{}
	for i, text := range []string{
		"SELECT hash FROM rows WHERE section = ? AND key = ?",
		"DELETE FROM rows WHERE section = ? AND key = ?",
		"REPLACE INTO rows (section, key, value, hash) VALUES (?, ?, ?, ?)",
	} {
		if statements[i], err = tx.PrepareContext(ctx, text); err != nil {
			return err
		}
		defer statements[i].Close()
	}
	find, remove, put := statements[0], statements[1], statements[2]
	for i := range rows {
		r := &rows[i]
		// Empty, never nil, which would be NULL.
		section, key, value := []byte(r.Section), append([]byte{}, r.Key...), append([]byte{}, r.Value...)
		before := int64(0)
		err := find.QueryRowContext(ctx, section, key).Scan(&before)
		exists := err == nil
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		hash := rowHash(section, key, value)
		if exists {
			if !r.Delete && hash == before {
				continue
			}
			now.count--
			now.sum -= before
		}
		switch {
		case !r.Delete:
			now.count++
			now.sum += hash
			_, err = put.ExecContext(ctx, section, key, value, hash)
		case exists:
			_, err = remove.ExecContext(ctx, section, key)
		default:
			continue
		}
		if err != nil {
			return fmt.Errorf("row of %s: %w", r.Section, err)
		}
	}
	return nil
}

// saved is the row of the table of that name.
type saved struct{ position, count, sum int64 }

func (s saved) hash() int64 {
	var b [25]byte
	b[0] = schemaVersion
	binary.LittleEndian.PutUint64(b[1:], uint64(s.position))
	binary.LittleEndian.PutUint64(b[9:], uint64(s.count))
	binary.LittleEndian.PutUint64(b[17:], uint64(s.sum))
	sum := sha256.Sum256(b[:])
	return int64(binary.LittleEndian.Uint64(sum[:]))
}

// loadSaved returns what is saved; ErrNone, ErrDamaged, or SQLite's errors.
func loadSaved(ctx context.Context, tx *sql.Tx) (saved, error) {
	var s saved
	var check int64
	err := tx.QueryRowContext(ctx, `SELECT position, count, sum, "check" FROM saved`).Scan(&s.position, &s.count, &s.sum, &check)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return saved{}, catalog.ErrNone
	case err != nil:
		return saved{}, err
	case check != s.hash():
		return saved{}, damaged("hash of the checkpoint differs")
	}
	return s, nil
}

// rowHash is the beginning of SHA-256 over the parts with their lengths. It is
// part of the file format.
func rowHash(section, key, value []byte) int64 {
	h := sha256.New()
	var length [8]byte
	for _, part := range [][]byte{section, key, value} {
		binary.LittleEndian.PutUint64(length[:], uint64(len(part)))
		h.Write(length[:])
		h.Write(part)
	}
	var sum [sha256.Size]byte
	return int64(binary.LittleEndian.Uint64(h.Sum(sum[:0])))
}
