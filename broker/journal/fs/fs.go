package fs

import (
	"errors"
	"io"
	"syscall"
)

// ErrLocked: another process (or another holder in this one) has the lock.
var ErrLocked = errors.New("locked by another process")

// FS is a file system. Missing and existing files are reported by errors that
// are io/fs.ErrNotExist and io/fs.ErrExist, a full disk by errors for which
// IsFull is true.
//
// Nothing is durable before it is synced: the content of a file by File.Sync,
// its name (creation, renaming, removal) by SyncDir.
type FS interface {
	// Create creates a file that must not exist yet, for reading and writing.
	Create(name string) (File, error)
	// Open opens an existing file for reading and writing.
	Open(name string) (File, error)
	// Remove removes a file.
	Remove(name string) error
	// Rename renames a file within its folder, replacing one of the new name.
	Rename(from, to string) error
	// List returns the names of the files in a folder, sorted.
	List(dir string) ([]string, error)
	// MkdirAll creates a folder with its parents, durably; an existing one is
	// no error.
	MkdirAll(dir string) error
	// SyncDir makes creations, renamings and removals in dir durable.
	SyncDir(dir string) error
	// Lock takes an exclusive lock on a file, which it creates if needed and
	// leaves behind. The lock ends with Close or with the process. ErrLocked
	// if someone else has it.
	Lock(name string) (io.Closer, error)
}

// File is an open file. All methods may be called concurrently.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	// Sync makes the content and size durable. After an error it is unknown
	// what is durable, also after a later Sync without error.
	Sync() error
	// Truncate sets the size in bytes; new bytes are zero.
	Truncate(size int64) error
	// Preallocate reserves space so that the file has at least size bytes; new
	// ones are zero.
	Preallocate(size int64) error
	// Size returns the size in bytes.
	Size() (int64, error)
}

// IsFull says whether err means that there is no space left (also by quota).
func IsFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
