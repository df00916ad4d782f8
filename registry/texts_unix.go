//go:build unix

package registry

import "syscall"

// allocate returns memory outside Go's heap, or nil if there is none.
func allocate(bytes int) []byte {
	block, err := syscall.Mmap(-1, 0, bytes, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return nil // the caller takes the heap instead
	}
	return block
}
