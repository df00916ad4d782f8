package registry

import (
	"hash/maphash"
	"sync"

	"milena/registry/state"
	"milena/serde/avro"
	"milena/serde/schema"
)

// meanings remembers a digest of what stored versions mean, so that a new
// schema is told from thousands of older ones without reading them again. Two
// schemas of one meaning have one digest; two of one digest are compared.
type meanings struct {
	seed maphash.Seed

	mu         sync.Mutex // guards all below
	young, old map[*state.Version]uint64
}

// meaningsMax bounds each of the two generations, to about 4 MB.
const meaningsMax = 1 << 16

func newMeanings() *meanings {
	return &meanings{seed: maphash.MakeSeed(), young: map[*state.Version]uint64{}}
}

// of returns the digest of a stored version, which read parses if need be. What
// a version with references means may change with them, so it has none.
func (m *meanings) of(version *state.Version, read func() (schema.Parsed, error)) (digest uint64, ok bool, err error) {
	if len(version.Schema.References) > 0 {
		return 0, false, nil
	}
	m.mu.Lock()
	digest, ok = m.young[version]
	if !ok {
		if digest, ok = m.old[version]; ok {
			m.keep(version, digest)
		}
	}
	m.mu.Unlock()
	if ok {
		return digest, true, nil
	}
	p, err := read()
	if err != nil {
		return 0, false, err
	}
	digest = m.digest(p)
	m.mu.Lock()
	m.keep(version, digest)
	m.mu.Unlock()
	return digest, true, nil
}

// keep is called with mu held.
func (m *meanings) keep(version *state.Version, digest uint64) {
	if len(m.young) >= meaningsMax {
		m.old, m.young = m.young, make(map[*state.Version]uint64, meaningsMax)
	}
	m.young[version] = digest
}

// digest covers some of what sameMeaning compares.
func (m *meanings) digest(p schema.Parsed) uint64 {
	if a, ok := p.(*avro.Schema); ok {
		d := avroDigest{seen: map[string]bool{}}
		d.hash.SetSeed(m.seed)
		d.write(a.Root())
		return d.hash.Sum64()
	}
	return maphash.String(m.seed, p.Canonical())
}

// avroDigest walks a schema as avro.Equal does. A type that was met counts by
// its name.
type avroDigest struct {
	hash maphash.Hash
	seen map[string]bool
}

func (d *avroDigest) text(s string) {
	maphash.WriteComparable(&d.hash, len(s))
	d.hash.WriteString(s)
}

func (d *avroDigest) write(t *avro.Type) {
	maphash.WriteComparable(&d.hash, t.Kind)
	if t.Kind.IsNamed() {
		name := t.FullName()
		d.text(name)
		if d.seen[name] {
			return
		}
		d.seen[name] = true
		if t.Doc != nil {
			d.text(*t.Doc)
		}
	}
	maphash.WriteComparable(&d.hash, [3]int{t.Size, len(t.Fields), len(t.Branches)})
	for i := range t.Fields {
		d.text(t.Fields[i].Name)
		d.write(t.Fields[i].Type)
	}
	for _, branch := range t.Branches {
		d.write(branch)
	}
	for _, symbol := range t.Symbols {
		d.text(symbol)
	}
	if t.Items != nil {
		d.write(t.Items)
	}
}
