package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"milena/broker/catalog"
)

// Load implements catalog.Store.
func (s *Store) Load(ctx context.Context, fn func(catalog.Row) error) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0, fmt.Errorf("load checkpoint: %w", sql.ErrConnDone)
	}
	if s.damaged != nil {
		return 0, fmt.Errorf("load checkpoint: %w: %w", catalog.ErrDamaged, s.damaged)
	}
	position, err := s.load(ctx, fn)
	if isDamage(err) {
		s.damaged = err
		return 0, fmt.Errorf("load checkpoint: %w: %w", catalog.ErrDamaged, err)
	}
	if err != nil {
		return 0, fmt.Errorf("load checkpoint: %w", err)
	}
	return position, nil
}

func (s *Store) load(ctx context.Context, fn func(catalog.Row) error) (int64, error) {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback() //nolint:errcheck // it only read
	want, err := loadSaved(ctx, tx)
	if err != nil {
		return 0, err
	}
	rows, err := tx.QueryContext(ctx, "SELECT section, key, value FROM rows ORDER BY section, key")
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	var got saved
	var refused error // by fn; it may be damage that it stumbled over
	for rows.Next() {
		var section, key, value sql.RawBytes
		if err := rows.Scan(&section, &key, &value); err != nil {
			return 0, err
		}
		got.count++
		got.sum += rowHash(section, key, value)
		if refused == nil {
			refused = fn(catalog.Row{Section: string(section), Key: key, Value: value})
		}
	}
	if err := rows.Err(); err != nil {
		return 0, err
	}
	if got.count != want.count || got.sum != want.sum {
		return 0, damaged(fmt.Sprintf("%d rows where %d were saved, or with other content", got.count, want.count))
	}
	return want.position, refused
}
