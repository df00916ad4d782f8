package fs

import (
	"io"
	iofs "io/fs"
	"syscall"
)

// memoryFile is an open file of a Memory, whose lock guards it.
type memoryFile struct {
	m      *Memory
	n      *node
	name   string
	closed bool
}

// begin locks and checks; the caller unlocks.
func (f *memoryFile) begin(op Op, size int) (int, error) {
	f.m.mu.Lock()
	if f.closed {
		return 0, &iofs.PathError{Op: "use", Path: f.name, Err: iofs.ErrClosed}
	}
	return f.m.check(op, f.name, size)
}

func (f *memoryFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.begin(OpRead, len(p))
	defer f.m.mu.Unlock()
	if off >= int64(len(f.n.data)) {
		if err == nil {
			err = io.EOF
		}
		return 0, err
	}
	copied := copy(p[:n], f.n.data[off:])
	if err == nil && copied < len(p) {
		err = io.EOF
	}
	return copied, err
}

func (f *memoryFile) WriteAt(p []byte, off int64) (int, error) {
	n, err := f.begin(OpWrite, len(p))
	defer f.m.mu.Unlock()
	if grown := off + int64(n) - int64(len(f.n.data)); err == nil && grown > 0 && f.m.space >= 0 {
		if free := max(f.m.space-f.m.used(), 0); grown > free {
			n = max(n-int(grown-free), 0)
			err = &iofs.PathError{Op: "write", Path: f.name, Err: syscall.ENOSPC}
		}
	}
	if n > 0 {
		f.n.write(write{off: off, data: append([]byte{}, p[:n]...)})
	}
	return n, err
}

func (f *memoryFile) Truncate(size int64) error {
	_, err := f.begin(OpTruncate, 0)
	defer f.m.mu.Unlock()
	if err == nil {
		f.n.write(write{off: size})
	}
	return err
}

func (f *memoryFile) Preallocate(size int64) error {
	_, err := f.begin(OpPreallocate, 0)
	defer f.m.mu.Unlock()
	grown := size - int64(len(f.n.data))
	if err != nil || grown <= 0 {
		return err
	}
	if f.m.space >= 0 && grown > f.m.space-f.m.used() {
		return &iofs.PathError{Op: "preallocate", Path: f.name, Err: syscall.ENOSPC}
	}
	f.n.write(write{off: size})
	return nil
}

// Sync makes the writes durable. If it fails, some of them are, some aren't,
// and no later Sync makes up for it: as on Linux, where the pages are clean
// after the error.
func (f *memoryFile) Sync() error {
	_, err := f.begin(OpSync, 0)
	defer f.m.mu.Unlock()
	if f.closed {
		return err
	}
	for _, w := range f.n.pending {
		if err == nil {
			f.n.durable = w.apply(f.n.durable)
		} else {
			f.n.durable = f.m.dice.applySome(f.n.durable, w)
		}
	}
	f.n.pending = nil
	return err
}

func (f *memoryFile) Size() (int64, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if f.closed {
		return 0, &iofs.PathError{Op: "stat", Path: f.name, Err: iofs.ErrClosed}
	}
	return int64(len(f.n.data)), nil
}

func (f *memoryFile) Close() error {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if f.closed {
		return &iofs.PathError{Op: "close", Path: f.name, Err: iofs.ErrClosed}
	}
	f.closed = true
	return nil
}

func (n *node) write(w write) {
	n.data = w.apply(n.data)
	n.pending = append(n.pending, w)
}

// apply returns b after w.
func (w write) apply(b []byte) []byte {
	if w.data == nil {
		return resize(b, w.off)
	}
	if end := w.off + int64(len(w.data)); end > int64(len(b)) {
		b = resize(b, end)
	}
	copy(b[w.off:], w.data)
	return b
}

// resize sets the length of b; new bytes are zero.
func resize(b []byte, size int64) []byte {
	if size <= int64(len(b)) {
		return b[:size]
	}
	return append(b, make([]byte, size-int64(len(b)))...)
}
