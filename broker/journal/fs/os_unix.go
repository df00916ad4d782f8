//go:build unix && !linux

package fs

// Preallocate only extends the file; the space isn't reserved.
func (f osFile) Preallocate(size int64) error { return f.grow(size) }
