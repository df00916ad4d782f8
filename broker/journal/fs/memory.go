package fs

import (
	"fmt"
	"io"
	iofs "io/fs"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
)

// Op is a kind of operation that Memory can let fail.
type Op uint8

// The operations, of files and of the file system.
const (
	OpCreate Op = iota
	OpOpen
	OpRemove
	OpRename
	OpList
	OpSyncDir
	OpRead
	OpWrite
	OpSync
	OpTruncate
	OpPreallocate
)

// Fault decides whether an operation fails: with a nil error it doesn't. size
// is the number of bytes of OpRead and OpWrite, and of those n are read or
// written before the error. It is called with Memory's lock held and must not
// call Memory.
type Fault func(op Op, name string, size int) (n int, err error)

// Memory is a file system in memory that keeps apart what was written and what
// was synced. The zero value is not ready; see NewMemory.
type Memory struct {
	mu sync.Mutex // guards everything below, and all nodes
	// files is what is seen; durable is the names as of the last SyncDir of
	// their folder; changes is what happened to names since, in order.
	files   map[string]*node
	durable map[string]*node
	changes []nameChange
	locks   map[string]bool
	fault   Fault
	space   int64 // bytes that all files together may have; < 0 no limit
	dice    dice
}

// nameChange gives a name to a node; nil removes it. Renaming is one change of
// two names.
type nameChange struct {
	dir   string
	names []string
	nodes []*node
}

// node is a file's content, seen and durable, and the writes that lead from
// the second to the first.
type node struct {
	data    []byte
	durable []byte
	pending []write
}

// write puts data at off, or sets the size if data is nil.
type write struct {
	off  int64
	data []byte
}

// NewMemory returns an empty file system. The seed decides what becomes of
// unsynced bytes after a failed Sync.
func NewMemory(seed uint64) *Memory {
	return &Memory{
		files: map[string]*node{}, durable: map[string]*node{}, locks: map[string]bool{},
		space: -1, dice: newDice(seed),
	}
}

// SetFault installs f, nil for none.
func (m *Memory) SetFault(f Fault) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fault = f
}

// SetSpace limits the bytes that all files together may have; negative means
// no limit. Beyond it, writes are short and end with ENOSPC.
func (m *Memory) SetSpace(bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.space = bytes
}

// Used returns the bytes that all files have together.
func (m *Memory) Used() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.used()
}

func (m *Memory) used() int64 {
	sum := int64(0)
	for _, n := range m.files {
		sum += int64(len(n.data))
	}
	return sum
}

// check asks the fault; the lock is held.
func (m *Memory) check(op Op, name string, size int) (int, error) {
	if m.fault == nil {
		return size, nil
	}
	n, err := m.fault(op, name, size)
	if err != nil {
		return min(max(n, 0), size), &iofs.PathError{Op: fmt.Sprintf("op %d", op), Path: name, Err: err}
	}
	return size, nil
}

// change applies a change of names and remembers it as not durable.
func (m *Memory) change(c nameChange) {
	applyNames(m.files, c)
	m.changes = append(m.changes, c)
}

func applyNames(files map[string]*node, c nameChange) {
	for i, name := range c.names {
		if c.nodes[i] == nil {
			delete(files, name)
		} else {
			files[name] = c.nodes[i]
		}
	}
}

// Create implements FS.
func (m *Memory) Create(name string) (File, error) {
	name = filepath.Clean(name)
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.check(OpCreate, name, 0); err != nil {
		return nil, err
	}
	if m.files[name] != nil {
		return nil, &iofs.PathError{Op: "create", Path: name, Err: iofs.ErrExist}
	}
	n := &node{}
	m.change(nameChange{filepath.Dir(name), []string{name}, []*node{n}})
	return &memoryFile{m: m, n: n, name: name}, nil
}

// Open implements FS.
func (m *Memory) Open(name string) (File, error) {
	name = filepath.Clean(name)
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.check(OpOpen, name, 0); err != nil {
		return nil, err
	}
	n := m.files[name]
	if n == nil {
		return nil, &iofs.PathError{Op: "open", Path: name, Err: iofs.ErrNotExist}
	}
	return &memoryFile{m: m, n: n, name: name}, nil
}

// Remove implements FS.
func (m *Memory) Remove(name string) error {
	name = filepath.Clean(name)
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.check(OpRemove, name, 0); err != nil {
		return err
	}
	if m.files[name] == nil {
		return &iofs.PathError{Op: "remove", Path: name, Err: iofs.ErrNotExist}
	}
	m.change(nameChange{filepath.Dir(name), []string{name}, []*node{nil}})
	return nil
}

// Rename implements FS.
func (m *Memory) Rename(from, to string) error {
	from, to = filepath.Clean(from), filepath.Clean(to)
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.check(OpRename, from, 0); err != nil {
		return err
	}
	n := m.files[from]
	if n == nil {
		return &iofs.PathError{Op: "rename", Path: from, Err: iofs.ErrNotExist}
	}
	if filepath.Dir(from) != filepath.Dir(to) {
		return &iofs.PathError{Op: "rename", Path: to, Err: syscall.EXDEV}
	}
	m.change(nameChange{filepath.Dir(to), []string{from, to}, []*node{nil, n}})
	return nil
}

// List implements FS.
func (m *Memory) List(dir string) ([]string, error) {
	dir = filepath.Clean(dir)
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.check(OpList, dir, 0); err != nil {
		return nil, err
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(m.files)) {
		if filepath.Dir(name) == dir {
			names = append(names, filepath.Base(name))
		}
	}
	return names, nil
}

// MkdirAll implements FS; folders exist as they are named.
func (m *Memory) MkdirAll(string) error { return nil }

// SyncDir implements FS.
func (m *Memory) SyncDir(dir string) error {
	dir = filepath.Clean(dir)
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.check(OpSyncDir, dir, 0); err != nil {
		return err
	}
	m.changes = slices.DeleteFunc(m.changes, func(c nameChange) bool {
		if c.dir != dir {
			return false
		}
		applyNames(m.durable, c)
		return true
	})
	return nil
}

// Lock implements FS.
func (m *Memory) Lock(name string) (io.Closer, error) {
	name = filepath.Clean(name)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.locks[name] {
		return nil, fmt.Errorf("lock %s: %w", name, ErrLocked)
	}
	m.locks[name] = true
	return &memoryLock{m: m, name: name}, nil
}

type memoryLock struct {
	m    *Memory
	name string
	once sync.Once
}

func (l *memoryLock) Close() error {
	l.once.Do(func() {
		l.m.mu.Lock()
		defer l.m.mu.Unlock()
		delete(l.m.locks, l.name)
	})
	return nil
}
