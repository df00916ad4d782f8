package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"milena/registry/store"
)

var _ store.Snapshots = (*Log)(nil)

// snapshotSuffix follows the log's path in that of its snapshot.
const snapshotSuffix = "-snapshot"

// ReadSnapshot opens the file beside the log's.
func (l *Log) ReadSnapshot(context.Context) (io.ReadCloser, int64, error) {
	file, err := os.Open(l.path + snapshotSuffix)
	if err != nil {
		return nil, 0, fmt.Errorf("open registry snapshot: %w", err)
	}
	info, err := file.Stat()
	if err != nil {
		return nil, 0, errors.Join(fmt.Errorf("open registry snapshot: %w", err), file.Close())
	}
	return file, info.Size(), nil
}

// WriteSnapshot writes another file and renames it when it is durable.
func (l *Log) WriteSnapshot(_ context.Context, write func(io.Writer) error) (err error) {
	path := l.path + snapshotSuffix
	file, err := os.Create(path + "-new") // over what a crash may have left
	if err != nil {
		return fmt.Errorf("write registry snapshot: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("write registry snapshot: %w", err), os.Remove(file.Name()))
		}
	}()
	if err := write(file); err != nil {
		return errors.Join(err, file.Close())
	}
	if err := file.Sync(); err != nil {
		return errors.Join(err, file.Close())
	}
	if err := file.Close(); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
