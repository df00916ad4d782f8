package registry

import (
	"hash/maphash"
	"unsafe"
)

const (
	// textsOnHeapMax is how many bytes of replayed texts stay on Go's heap. A
	// small registry needs nothing else.
	textsOnHeapMax = 16 << 20
	// textsBlock is how much memory is taken at once beyond that. A text is at
	// most a log entry, so that one always fits.
	textsBlock = 8 << 20
)

// texts keeps the schema texts that a start reads outside Go's heap: they are
// most of a large registry, hold no pointers and stay, so that the collector,
// which lets the heap grow to twice what is in use, would double them for
// nothing. Its memory is never given back, not by Close either, as nobody knows
// who still holds a string of it: a text that is deleted for good costs its
// bytes until the process ends. Texts that are registered later are on the heap.
//
// A text that many subjects have is kept once, if it was met not long before.
//
// A texts belongs to one goroutine.
type texts struct {
	seed maphash.Seed
	kept int
	free []byte           // the rest of the current block
	met  [textsMet]string // by hash
}

// textsMet is how many texts are remembered, to be shared.
const textsMet = 1 << 12

func newTexts() *texts { return &texts{seed: maphash.MakeSeed()} }

// keep returns a string with the bytes of b.
func (t *texts) keep(b []byte) string {
	met := &t.met[maphash.Bytes(t.seed, b)%textsMet]
	if *met != string(b) {
		*met = t.copy(b)
	}
	return *met
}

func (t *texts) copy(b []byte) string {
	t.kept += len(b)
	if t.kept <= textsOnHeapMax || len(b) == 0 || len(b) > textsBlock {
		return string(b)
	}
	if len(t.free) < len(b) {
		block := allocate(textsBlock)
		if block == nil {
			return string(b)
		}
		t.free = block
	}
	n := copy(t.free, b)
	s := unsafe.String(&t.free[0], n) // these bytes are never written again
	t.free = t.free[n:]
	return s
}

// allocateTexts returns memory for many texts: outside the heap, if it is much.
func allocateTexts(bytes int) []byte {
	if bytes > textsOnHeapMax {
		if block := allocate(bytes); block != nil {
			return block
		}
	}
	return make([]byte, bytes)
}
