package state

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"milena/registry/store"
)

// errSnapshot says that a snapshot is not what WriteSnapshot writes.
var errSnapshot = errors.New("snapshot is damaged")

// snapshotReader takes a snapshot apart. After failed nothing it returned
// counts.
type snapshotReader struct {
	rest   []byte
	keep   func([]byte) string
	failed bool
}

func (r *snapshotReader) number() int64 {
	n, size := binary.Varint(r.rest)
	if size <= 0 {
		r.fail()
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

// count reads how many of something follow that take at least bytes each.
func (r *snapshotReader) count(bytes int) int {
	n := r.number()
	if n < 0 || n > int64(len(r.rest)/bytes) {
		r.fail()
		return 0
	}
	return int(n)
}

func (r *snapshotReader) fail() { r.failed, r.rest = true, nil }

func (r *snapshotReader) raw(n int) []byte {
	if n > len(r.rest) {
		r.fail()
		return make([]byte, n)
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *snapshotReader) bytes() []byte { return r.raw(r.count(1)) }

func (r *snapshotReader) guid() GUID { return GUID(r.raw(len(GUID{}))) }

// versionBytesMin is the least that a version takes in a snapshot.
const versionBytesMin = 22

// ReadSnapshot returns the view that WriteSnapshot wrote. keep makes the string
// of a schema's text; it may refer to data, if that never changes. What is
// damaged is an error, but that is no protection against damage that looks like
// a snapshot: the caller has a checksum for that.
func ReadSnapshot(data []byte, keep func([]byte) string) (*View, error) {
	r := &snapshotReader{rest: data, keep: keep}
	l := &loader{contexts: map[string]*loadedContext{}}
	for range r.count(2) {
		name := string(r.bytes())
		l.context(name).maxID = int(r.number())
	}
	if err := l.versions(r); err != nil {
		return nil, err
	}
	v, err := l.view()
	if err != nil {
		return nil, err
	}
	b := NewBuilder(v)
	for range r.count(2) {
		c, guid, last := b.view.ownContext(string(r.bytes())), r.guid(), int(r.number())
		e, _ := c.contents.get(guid)
		if e.ids == nil {
			return nil, errSnapshot
		}
		if _, ok := e.ids.get(number(last)); !ok {
			return nil, errSnapshot
		}
		e.last = last
		c.contents = c.contents.put(b.view.edit, guid, e)
	}
	for range r.count(3) {
		e := store.Entry{TimestampMillis: r.number(), Key: r.bytes(), Value: r.bytes()}
		record, err := store.Decode(e)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errSnapshot, err)
		}
		b.Apply(Prepare(record))
	}
	if r.failed || len(r.rest) > 0 {
		return nil, errSnapshot
	}
	return b.View(), nil
}

// loader puts a view together from versions that come in order.
type loader struct {
	names    []text
	subjects []*Subject
	numbers  []number   // of all versions, in order
	all      []*Version // the same
	starts   []int      // where each subject's begin
	contexts map[string]*loadedContext
}

// loadedContext is what a context is made of.
type loadedContext struct {
	maxID    int
	versions []*Version
}

func (l *loader) context(name string) *loadedContext {
	c := l.contexts[name]
	if c == nil {
		c = &loadedContext{}
		l.contexts[name] = c
	}
	return c
}

// versions reads all versions.
func (l *loader) versions(r *snapshotReader) error {
	n := r.count(versionBytesMin)
	versions, schemas := make([]Version, n), make([]store.Schema, n)
	l.numbers, l.all = make([]number, 0, n), make([]*Version, 0, n)
	var name Name
	var written string
	var c *loadedContext
	for i := range n {
		flags := r.raw(1)[0]
		if flags&newSubject != 0 {
			written = string(r.bytes())
			if name = ParseName(written); name.String() != written || len(l.names) > 0 && l.names[len(l.names)-1].compare(text(written)) >= 0 {
				return errSnapshot
			}
			l.names, l.subjects, l.starts = append(l.names, text(written)), append(l.subjects, &Subject{Name: name}), append(l.starts, i)
			c = l.context(name.Context)
		}
		v, s := &versions[i], &schemas[i]
		if err := r.version(v, s, flags, written); err != nil {
			return err
		}
		v.Name, v.Schema = name, s
		if c == nil || flags&newSubject == 0 && l.numbers[i-1] >= number(s.Version) {
			return errSnapshot
		}
		l.numbers, l.all = append(l.numbers, number(s.Version)), append(l.all, v)
		c.versions = append(c.versions, v)
		if !v.Deleted {
			l.subjects[len(l.subjects)-1].live++
		}
	}
	return nil
}

func (r *snapshotReader) version(v *Version, s *store.Schema, flags byte, name string) error {
	s.Version, s.ID = int(r.number()), int(r.number())
	v.TimestampMillis = r.number()
	s.Type = store.TypeName(r.bytes())
	v.GUID = r.guid()
	v.Deleted, s.Deleted = flags&versionDeleted != 0, flags&schemaDeleted != 0
	s.Subject = name
	if flags&ownSubject != 0 {
		s.Subject = string(r.bytes())
	}
	if flags&hasExtras != 0 {
		var more extras
		if err := json.Unmarshal(r.bytes(), &more); err != nil {
			return fmt.Errorf("%w: %w", errSnapshot, err)
		}
		s.References, s.Metadata, s.RuleSet = more.References, more.Metadata, more.RuleSet
	}
	s.Text = r.keep(r.bytes())
	if r.failed {
		return errSnapshot
	}
	return nil
}

// view builds the indexes.
func (l *loader) view() (*View, error) {
	v := &View{}
	for i, s := range l.subjects {
		end := len(l.all)
		if i+1 < len(l.starts) {
			end = l.starts[i+1]
		}
		from := l.starts[i]
		s.versions = build(l.numbers[from:end:end], l.all[from:end:end])
	}
	v.subjects = build(l.names, l.subjects)
	v.edit = &edit{}
	for name, loaded := range l.contexts {
		c := &Context{Name: name, maxID: loaded.maxID, rows: len(loaded.versions)}
		c.ids = loaded.ids()
		c.contents = loaded.contents()
		v.contexts = v.contexts.put(v.edit, text(name), c)
		if name == DefaultContext {
			continue
		}
		for guid := range c.contents.all() {
			in, _ := v.guids.get(guid)
			v.guids = v.guids.put(v.edit, guid, in.put(v.edit, text(name), struct{}{}))
		}
	}
	for _, version := range l.all {
		v.eachReference(version, func(to row) {
			t, _ := v.referrers.get(to)
			v.referrers = v.referrers.put(v.edit, to, t.put(v.edit, version.row(), version))
		})
	}
	v.edit = nil
	return v, nil
}

// ids returns the index of a context's versions by id.
func (c *loadedContext) ids() tree[number, users] {
	byID := slices.Clone(c.versions)
	slices.SortStableFunc(byID, func(a, b *Version) int { return cmp.Compare(a.Schema.ID, b.Schema.ID) })
	var keys []number
	var values []users
	for from := 0; from < len(byID); {
		id := byID[from].Schema.ID
		to := from + 1
		for to < len(byID) && byID[to].Schema.ID == id {
			to++
		}
		u := users{one: byID[from]}
		if to-from > 1 {
			rows := make([]row, 0, to-from)
			for _, v := range byID[from:to] {
				rows = append(rows, v.row())
			}
			t := build(rows, slices.Clone(byID[from:to]))
			u = users{many: &t}
		}
		keys, values = append(keys, number(id)), append(values, u)
		from = to
	}
	return build(keys, values)
}

// contents returns the index of a context's versions by content. Of several ids
// the greatest counts as the last, until the snapshot says otherwise.
func (c *loadedContext) contents() tree[GUID, content] {
	byGUID := c.versions // in place: nobody needs the order any more
	slices.SortFunc(byGUID, func(a, b *Version) int {
		return cmp.Or(a.GUID.compare(b.GUID), cmp.Compare(a.Schema.ID, b.Schema.ID))
	})
	var keys []GUID
	var values []content
	for _, v := range byGUID {
		if last := len(keys) - 1; last >= 0 && keys[last] == v.GUID {
			values[last] = values[last].written(nil, v.Schema.ID, 1)
			continue
		}
		keys, values = append(keys, v.GUID), append(values, content{}.written(nil, v.Schema.ID, 1))
	}
	return build(keys, values)
}
