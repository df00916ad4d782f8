package fs

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Sync uses fdatasync(2), which writes the size too if it changed, but not the
// times.
func (f osFile) Sync() error {
	return control(f.File, unix.Fdatasync)
}

// Preallocate uses fallocate(2) where the file system has it.
func (f osFile) Preallocate(size int64) error {
	err := control(f.File, func(fd int) error { return unix.Fallocate(fd, 0, 0, size) })
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
		return f.grow(size)
	}
	return err
}
