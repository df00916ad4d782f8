package state

import (
	"cmp"
	"iter"

	"milena/registry/store"
)

// Kek is a key encryption key, soft deleted or not. It is immutable.
type Kek struct {
	store.Kek
	TimestampMillis int64 // milliseconds since the epoch, of the record that wrote it last
}

// Dek is one version of a data encryption key of a subject, soft deleted or
// not. It is immutable.
type Dek struct {
	store.Dek
	TimestampMillis int64 // milliseconds since the epoch, of the record that wrote it last
}

// dekName is the key of a data encryption key.
type dekName struct {
	kek, subject, algorithm text
	version                 number
}

func (a dekName) compare(b dekName) int {
	return cmp.Or(
		a.kek.compare(b.kek), a.subject.compare(b.subject),
		a.algorithm.compare(b.algorithm), a.version.compare(b.version),
	)
}

// keyring holds all keys.
type keyring struct {
	keks tree[text, *Kek]
	deks tree[dekName, *Dek]
}

// applyKek folds a KEK record.
func (v *View) applyKek(r *store.Record) {
	key := text(r.Key.Kek)
	if r.Kek == nil {
		v.keyring.keks = v.keyring.keks.remove(key)
		return
	}
	k := &Kek{*r.Kek, r.TimestampMillis}
	k.Name = r.Key.Kek
	v.keyring.keks = v.keyring.keks.set(key, k)
}

// applyDek folds a DEK record.
func (v *View) applyDek(r *store.Record) {
	subject := Canonical(r.Subject)
	key := dekName{text(r.Key.Kek), text(subject), text(r.Key.Algorithm), number(r.Version)}
	if r.Dek == nil {
		v.keyring.deks = v.keyring.deks.remove(key)
		return
	}
	d := &Dek{*r.Dek, r.TimestampMillis}
	d.KekName, d.Subject, d.Algorithm, d.Version = r.Key.Kek, subject, r.Key.Algorithm, r.Version
	v.keyring.deks = v.keyring.deks.set(key, d)
}

// Kek returns the key encryption key with a name, soft deleted or not, or nil.
func (v *View) Kek(name string) *Kek {
	k, _ := v.keyring.keks.get(text(name))
	return k
}

// Keks yields the key encryption keys by name.
func (v *View) Keks() iter.Seq[*Kek] {
	return func(yield func(*Kek) bool) {
		for _, k := range v.keyring.keks.all() {
			if !yield(k) {
				return
			}
		}
	}
}

// Dek returns one version of a data encryption key, soft deleted or not, or nil.
func (v *View) Dek(kek string, subject Name, algorithm string, version int) *Dek {
	d, _ := v.keyring.deks.get(dekName{text(kek), text(subject.String()), text(algorithm), number(version)})
	return d
}

// Deks yields the data encryption keys below a key encryption key, by subject,
// algorithm and version.
func (v *View) Deks(kek string) iter.Seq[*Dek] {
	return v.deksFrom(dekName{kek: text(kek), version: minVersion}, func(key dekName) bool { return string(key.kek) == kek })
}

// DekVersions yields the versions of a data encryption key, ascending.
func (v *View) DekVersions(kek string, subject Name, algorithm string) iter.Seq[*Dek] {
	first := dekName{text(kek), text(subject.String()), text(algorithm), minVersion}
	return v.deksFrom(first, func(key dekName) bool {
		key.version = minVersion
		return key == first
	})
}

// minVersion comes before every version; those of keys are the clients' choice.
const minVersion number = -1 << 31

func (v *View) deksFrom(first dekName, in func(dekName) bool) iter.Seq[*Dek] {
	return func(yield func(*Dek) bool) {
		for key, d := range v.keyring.deks.from(first) {
			if !in(key) || !yield(d) {
				return
			}
		}
	}
}

// KeyCount returns how many keys there are, soft deleted ones included.
func (v *View) KeyCount() int { return v.keyring.keks.len() + v.keyring.deks.len() }
