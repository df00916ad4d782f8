package state

import (
	"iter"
	"strings"

	"milena/registry/store"
)

// Prepared is a record with what folding it needs computed already.
type Prepared struct {
	Record *store.Record
	guid   GUID // of the record's schema, if it has one
}

// Prepare computes what folding a record needs. It may run in any goroutine.
func Prepare(r *store.Record) Prepared {
	p := Prepared{Record: r}
	if r.Schema != nil {
		p.guid = GUIDOf(r.Schema)
	}
	return p
}

// Builder folds many records into a view without a view between any two, which
// takes a fraction of the time and memory. It belongs to one goroutine.
type Builder struct{ view View }

// NewBuilder returns a builder that goes on from v. v itself is not changed.
func NewBuilder(v *View) *Builder {
	b := &Builder{*v}
	b.view.edit = &edit{}
	return b
}

// Apply folds one more record; see View.Apply.
func (b *Builder) Apply(p Prepared) { b.view.apply(p) }

// Current returns the view after all records so far for a look at it: it must
// not be kept, as what comes next changes it.
func (b *Builder) Current() *View { return &b.view }

// View returns the view after all records so far. The builder may go on; the
// view does not change any more.
func (b *Builder) View() *View {
	v := b.view
	v.edit = nil
	b.view.edit = &edit{}
	return &v
}

// Apply returns the view after one more record. It never fails: records that
// say nothing (no-ops, kinds of other releases, deletions of what is not there)
// leave the view as it is. v itself is not changed.
func (v *View) Apply(r *store.Record) *View {
	next := *v
	next.edit = nil // v may be a look into a builder
	next.apply(Prepare(r))
	return &next
}

// The methods below change a view that nobody else has seen yet.

func (v *View) apply(p Prepared) {
	switch r := p.Record; r.Kind {
	case store.SchemaKind:
		v.applySchema(r, p.guid)
	case store.ConfigKind:
		v.applyConfig(r)
	case store.ModeKind:
		v.applyMode(r)
	case store.ContextKind:
		v.ownContext(r.Context).declared = r.Exists
	case store.DeleteSubject:
		v.applyDelete(r)
	case store.ClearSubject:
		v.applyClear(r)
	case store.AssocKind:
		v.applyAssociation(r)
	case store.KekKind:
		v.applyKek(r)
	case store.DekKind:
		v.applyDek(r)
	case store.Noop:
	}
}

func (v *View) applySchema(r *store.Record, guid GUID) {
	name := ParseName(r.Subject)
	old := v.Subject(name).Version(r.Version)
	if r.Schema == nil {
		if old != nil {
			v.dropVersion(old)
		}
		return
	}
	version := &Version{
		Name:            name,
		Schema:          r.Schema,
		GUID:            guid,
		TimestampMillis: r.TimestampMillis,
		Deleted:         r.Schema.Deleted,
	}
	if r.Schema.Version != r.Version {
		// The key counts, as for every keyed log.
		schema := *r.Schema
		schema.Version = r.Version
		version.Schema = &schema
	}
	if old != nil && old.GUID == version.GUID && old.Schema.ID == version.Schema.ID {
		v.replaceVersion(old, version)
		return
	}
	if old != nil {
		v.dropVersion(old)
	}
	v.addVersion(version)
}

// replaceVersion puts version in old's place; content and id are the same.
func (v *View) replaceVersion(old, version *Version) {
	v.setInSubject(old, version)
	c := v.ownContext(version.Name.Context)
	id := number(version.Schema.ID)
	users, _ := c.ids.get(id)
	c.ids = c.ids.put(v.edit, id, users.with(v.edit, version))
	if !version.Deleted {
		known, _ := c.contents.get(version.GUID)
		c.contents = c.contents.put(v.edit, version.GUID, known.written(v.edit, version.Schema.ID, 0))
	}
	v.eachReference(version, func(to row) {
		t, _ := v.referrers.get(to)
		v.referrers = v.referrers.put(v.edit, to, t.put(v.edit, version.row(), version))
	})
}

func (v *View) addVersion(version *Version) {
	v.setInSubject(nil, version)
	c := v.ownContext(version.Name.Context)
	id := version.Schema.ID
	c.rows++
	c.maxID = max(c.maxID, id)
	users, _ := c.ids.get(number(id))
	c.ids = c.ids.put(v.edit, number(id), users.with(v.edit, version))
	known, had := c.contents.get(version.GUID)
	c.contents = c.contents.put(v.edit, version.GUID, known.written(v.edit, id, 1))
	if !had && c.Name != DefaultContext {
		in, _ := v.guids.get(version.GUID)
		v.guids = v.guids.put(v.edit, version.GUID, in.put(v.edit, text(c.Name), struct{}{}))
	}
	v.eachReference(version, func(to row) {
		t, _ := v.referrers.get(to)
		v.referrers = v.referrers.put(v.edit, to, t.put(v.edit, version.row(), version))
	})
}

func (v *View) dropVersion(old *Version) {
	v.setInSubject(old, nil)
	c := v.ownContext(old.Name.Context)
	id := number(old.Schema.ID)
	c.rows--
	users, _ := c.ids.get(id)
	if users = users.without(v.edit, old); users.len() > 0 {
		c.ids = c.ids.put(v.edit, id, users)
	} else {
		c.ids = c.ids.drop(v.edit, id)
	}
	known, _ := c.contents.get(old.GUID)
	if left, ok := known.dropped(v.edit, old.Schema.ID); ok {
		c.contents = c.contents.put(v.edit, old.GUID, left)
	} else {
		c.contents = c.contents.drop(v.edit, old.GUID)
		in, _ := v.guids.get(old.GUID)
		if in = in.drop(v.edit, text(c.Name)); in.len() > 0 {
			v.guids = v.guids.put(v.edit, old.GUID, in)
		} else {
			v.guids = v.guids.drop(v.edit, old.GUID)
		}
	}
	v.eachReference(old, func(to row) {
		t, _ := v.referrers.get(to)
		if t = t.drop(v.edit, old.row()); t.len() > 0 {
			v.referrers = v.referrers.put(v.edit, to, t)
		} else {
			v.referrers = v.referrers.drop(v.edit, to)
		}
	})
}

// ownContext returns the context with the name, put into the view as one that
// may be changed.
func (v *View) ownContext(name string) *Context {
	c := &Context{Name: name}
	if known := v.Context(name); known != nil {
		if v.edit != nil && known.owner == v.edit {
			return known
		}
		*c = *known
	}
	c.owner = v.edit
	v.contexts = v.contexts.put(v.edit, text(name), c)
	return c
}

// ownSubject is ownContext for subjects.
func (v *View) ownSubject(n Name) *Subject {
	s := &Subject{Name: n}
	if known := v.Subject(n); known != nil {
		if v.edit != nil && known.owner == v.edit {
			return known
		}
		*s = *known
	}
	s.owner = v.edit
	v.subjects = v.subjects.put(v.edit, text(n.String()), s)
	return s
}

// setInSubject replaces old by version in their subject; either may be nil.
func (v *View) setInSubject(old, version *Version) {
	some := version
	if some == nil {
		some = old
	}
	s := v.ownSubject(some.Name)
	if old != nil && !old.Deleted {
		s.live--
	}
	if version == nil {
		s.versions = s.versions.drop(v.edit, number(old.Schema.Version))
		if s.versions.len() == 0 {
			v.subjects = v.subjects.drop(v.edit, text(s.Name.String()))
		}
		return
	}
	if !version.Deleted {
		s.live++
	}
	s.versions = s.versions.put(v.edit, number(version.Schema.Version), version)
}

// eachReference calls f with every version that from refers to.
func (v *View) eachReference(from *Version, f func(row)) {
	for _, r := range from.Schema.References {
		f(row{text(from.Name.In(r.Subject).String()), number(r.Version)})
	}
}

func (version *Version) row() row {
	return row{text(version.Name.String()), number(version.Schema.Version)}
}

func (v *View) applyConfig(r *store.Record) {
	key := text(Canonical(r.Subject))
	if r.Config == nil {
		v.configs = v.configs.drop(v.edit, key)
		return
	}
	v.configs = v.configs.put(v.edit, key, r.Config)
}

func (v *View) applyMode(r *store.Record) {
	key := text(Canonical(r.Subject))
	if r.Mode == nil {
		v.modes = v.modes.drop(v.edit, key)
		return
	}
	v.modes = v.modes.put(v.edit, key, r.Mode)
}

// applyDelete soft deletes versions; their time stays that of their own record.
func (v *View) applyDelete(r *store.Record) {
	if r.Delete == nil {
		return
	}
	var drop []*Version // apart, as the subject changes meanwhile
	for old := range v.Subject(ParseName(r.Subject)).Versions() {
		if !old.Deleted && old.Schema.Version <= r.Delete.Version {
			drop = append(drop, old)
		}
	}
	for _, old := range drop {
		version := *old
		version.Deleted = true
		v.replaceVersion(old, &version)
	}
}

// applyClear drops the soft deleted versions in a scope.
func (v *View) applyClear(r *store.Record) {
	if !r.Exists {
		return
	}
	var drop []*Version
	for s := range v.Scope(ParseName(r.Subject)) {
		for version := range s.Versions() {
			if version.Deleted {
				drop = append(drop, version)
			}
		}
	}
	for _, version := range drop {
		v.dropVersion(version)
	}
}

// Scope yields the subjects that a mode covers when it is set on n: the subject
// itself, or every subject of a context. The default context stands for all
// contexts, as in the reference.
func (v *View) Scope(n Name) iter.Seq[*Subject] {
	return func(yield func(*Subject) bool) {
		if !n.IsContext() {
			if s := v.Subject(n); s != nil {
				yield(s)
			}
			return
		}
		prefix := n.Prefix()
		for name, s := range v.subjects.from(text(prefix)) {
			if !strings.HasPrefix(string(name), prefix) || !yield(s) {
				return
			}
		}
	}
}
