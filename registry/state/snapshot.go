package state

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"

	"milena/registry/store"
)

// The form of a snapshot. Numbers are varints, texts have their length before
// them.
//
//	contexts   count, then name and highest id of each
//	versions   count, then each in the order of subjects and versions:
//	           flags, subject (with newSubject), version, id, time, type, GUID,
//	           subject as the record has it (with ownSubject),
//	           references, metadata and rules as JSON (with extras), text
//	contents   count of those with several ids, then context, GUID, last id
//	records    count, then time, key and value of entries that fold into all the
//	           rest: contexts, configs, modes, associations, keys
const (
	newSubject byte = 1 << iota
	versionDeleted
	schemaDeleted
	hasExtras
	ownSubject
)

// extras is what few schemas have.
type extras struct {
	References []store.Reference `json:"references,omitempty"`
	Metadata   *store.Metadata   `json:"metadata,omitempty"`
	RuleSet    *store.RuleSet    `json:"ruleSet,omitempty"`
}

// snapshotWriter writes the parts of a snapshot and keeps the first error.
type snapshotWriter struct {
	to  *bufio.Writer
	buf [binary.MaxVarintLen64]byte
	err error
}

func (w *snapshotWriter) raw(b []byte) {
	if w.err == nil {
		_, w.err = w.to.Write(b)
	}
}

func (w *snapshotWriter) number(n int64) { w.raw(binary.AppendVarint(w.buf[:0], n)) }

func (w *snapshotWriter) count(n int) { w.number(int64(n)) }

func (w *snapshotWriter) text(s string) {
	w.count(len(s))
	if w.err == nil {
		_, w.err = w.to.WriteString(s)
	}
}

// WriteSnapshot writes the view in a form that ReadSnapshot of the same program
// reads, much faster than a log is folded.
func (v *View) WriteSnapshot(to io.Writer) error {
	w := &snapshotWriter{to: bufio.NewWriterSize(to, 256<<10)}
	w.count(v.contexts.len())
	for name, c := range v.contexts.all() {
		w.text(string(name))
		w.count(c.maxID)
	}
	total := 0
	for _, s := range v.subjects.all() {
		total += s.versions.len()
	}
	w.count(total)
	for name, s := range v.subjects.all() {
		first := true
		for _, version := range s.versions.all() {
			w.version(string(name), version, first)
			first = false
		}
	}
	w.contents(v)
	w.records(v)
	if w.err == nil {
		w.err = w.to.Flush()
	}
	if w.err != nil {
		return fmt.Errorf("write snapshot: %w", w.err)
	}
	return nil
}

func (w *snapshotWriter) version(name string, version *Version, first bool) {
	s := version.Schema
	var flags byte
	var more []byte
	for _, f := range []struct {
		set  bool
		flag byte
	}{
		{first, newSubject},
		{version.Deleted, versionDeleted},
		{s.Deleted, schemaDeleted},
		{s.Subject != name, ownSubject},
		{len(s.References) > 0 || s.Metadata != nil || s.RuleSet != nil, hasExtras},
	} {
		if f.set {
			flags |= f.flag
		}
	}
	if flags&hasExtras != 0 {
		var err error
		if more, err = json.Marshal(extras{s.References, s.Metadata, s.RuleSet}); err != nil && w.err == nil {
			w.err = err
		}
	}
	w.raw([]byte{flags})
	if first {
		w.text(name)
	}
	w.count(s.Version)
	w.count(s.ID)
	w.number(version.TimestampMillis)
	w.text(s.Type)
	w.raw(version.GUID[:])
	if flags&ownSubject != 0 {
		w.text(s.Subject)
	}
	if flags&hasExtras != 0 {
		w.text(string(more))
	}
	w.text(s.Text)
}

// contents writes what the versions don't say: which of several ids of a
// content was written last.
func (w *snapshotWriter) contents(v *View) {
	n := 0
	for _, write := range []bool{false, true} {
		if write {
			w.count(n)
		}
		for name, c := range v.contexts.all() {
			for guid, e := range c.contents.all() {
				switch {
				case e.ids == nil:
				case write:
					w.text(string(name))
					w.raw(guid[:])
					w.count(e.last)
				default:
					n++
				}
			}
		}
	}
}

// records writes everything else as entries.
func (w *snapshotWriter) records(v *View) {
	var records []*store.Record
	for name, c := range v.contexts.all() {
		if c.declared {
			records = append(records, &store.Record{Kind: store.ContextKind, Context: string(name), Exists: true})
		}
	}
	for name, c := range v.configs.all() {
		records = append(records, &store.Record{Kind: store.ConfigKind, Subject: string(name), Config: c})
	}
	for name, m := range v.modes.all() {
		records = append(records, &store.Record{Kind: store.ModeKind, Subject: string(name), Mode: m})
	}
	for _, a := range v.associations.all.all() {
		r := store.Record{Kind: store.AssocKind, Subject: a.Name.String(), Resource: a.Resource(), Association: &a.Association}
		created, updated := r, r
		created.TimestampMillis, updated.TimestampMillis = a.CreateMillis, a.UpdateMillis
		records = append(records, &created, &updated)
	}
	for name, k := range v.keyring.keks.all() {
		r := store.KekRecord(string(name), &k.Kek)
		r.TimestampMillis = k.TimestampMillis
		records = append(records, r)
	}
	for _, d := range v.keyring.deks.all() {
		r := store.DekRecord(&d.Dek)
		r.TimestampMillis = d.TimestampMillis
		records = append(records, r)
	}
	w.count(len(records))
	for _, r := range records {
		e, err := store.Encode(r)
		if err != nil && w.err == nil {
			w.err = err
		}
		w.number(e.TimestampMillis)
		w.text(string(e.Key))
		w.text(string(e.Value))
	}
}
