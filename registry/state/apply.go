package state

import (
	"iter"
	"strings"

	"milena/registry/store"
)

// Apply returns the view after one more record. It never fails: records that
// say nothing (no-ops, kinds of other releases, deletions of what is not there)
// leave the view as it is. v itself is not changed.
func (v *View) Apply(r *store.Record) *View {
	next := *v
	switch r.Kind {
	case store.SchemaKind:
		next.applySchema(r)
	case store.ConfigKind:
		next.applyConfig(r)
	case store.ModeKind:
		key := text(Canonical(r.Subject))
		if r.Mode == nil {
			next.modes = next.modes.remove(key)
		} else {
			next.modes = next.modes.set(key, r.Mode)
		}
	case store.ContextKind:
		next.applyContext(r)
	case store.DeleteSubject:
		next.applyDelete(r)
	case store.ClearSubject:
		next.applyClear(r)
	case store.AssocKind:
		next.applyAssociation(r)
	case store.KekKind:
		next.applyKek(r)
	case store.DekKind:
		next.applyDek(r)
	case store.Noop:
	}
	return &next
}

// The methods below change a view that nobody else has seen yet.

func (v *View) applySchema(r *store.Record) {
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
		TimestampMillis: r.TimestampMillis,
		Deleted:         r.Schema.Deleted,
	}
	if r.Schema.Version != r.Version {
		// The key counts, as for every keyed log.
		schema := *r.Schema
		schema.Version = r.Version
		version.Schema = &schema
	}
	version.GUID = GUIDOf(version.Schema)
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
	c := *v.Context(version.Name.Context)
	key := version.row()
	users, _ := c.ids.get(number(version.Schema.ID))
	c.ids = c.ids.set(number(version.Schema.ID), users.set(key, version))
	if !version.Deleted {
		c.contents = c.contents.set(version.GUID, c.content(version.GUID).written(version.Schema.ID, 0))
	}
	v.contexts = v.contexts.set(text(c.Name), &c)
	v.eachReference(version, func(to row) {
		t, _ := v.referrers.get(to)
		v.referrers = v.referrers.set(to, t.set(key, version))
	})
}

func (v *View) addVersion(version *Version) {
	v.setInSubject(nil, version)
	key := version.row()
	c := Context{Name: version.Name.Context}
	if known := v.Context(c.Name); known != nil {
		c = *known
	}
	id := version.Schema.ID
	c.rows++
	c.maxID = max(c.maxID, id)
	users, _ := c.ids.get(number(id))
	c.ids = c.ids.set(number(id), users.set(key, version))
	c.contents = c.contents.set(version.GUID, c.content(version.GUID).written(id, 1))
	v.contexts = v.contexts.set(text(c.Name), &c)
	in, _ := v.guids.get(version.GUID)
	v.guids = v.guids.set(version.GUID, in.set(text(c.Name), struct{}{}))
	v.eachReference(version, func(to row) {
		t, _ := v.referrers.get(to)
		v.referrers = v.referrers.set(to, t.set(key, version))
	})
}

func (v *View) dropVersion(old *Version) {
	v.setInSubject(old, nil)
	key := old.row()
	c := *v.Context(old.Name.Context)
	id := number(old.Schema.ID)
	c.rows--
	if users, _ := c.ids.get(id); users.len() > 1 {
		c.ids = c.ids.set(id, users.remove(key))
	} else {
		c.ids = c.ids.remove(id)
	}
	if left := c.content(old.GUID).dropped(old.Schema.ID); left != nil {
		c.contents = c.contents.set(old.GUID, left)
	} else {
		c.contents = c.contents.remove(old.GUID)
		in, _ := v.guids.get(old.GUID)
		if in = in.remove(text(c.Name)); in.len() > 0 {
			v.guids = v.guids.set(old.GUID, in)
		} else {
			v.guids = v.guids.remove(old.GUID)
		}
	}
	v.contexts = v.contexts.set(text(c.Name), &c)
	v.eachReference(old, func(to row) {
		t, _ := v.referrers.get(to)
		if t = t.remove(key); t.len() > 0 {
			v.referrers = v.referrers.set(to, t)
		} else {
			v.referrers = v.referrers.remove(to)
		}
	})
}

// setInSubject replaces old by version in their subject; either may be nil.
func (v *View) setInSubject(old, version *Version) {
	some := version
	if some == nil {
		some = old
	}
	s := Subject{Name: some.Name}
	if known := v.Subject(some.Name); known != nil {
		s = *known
	}
	if old != nil && !old.Deleted {
		s.live--
	}
	if version != nil {
		if !version.Deleted {
			s.live++
		}
		s.versions = s.versions.set(number(version.Schema.Version), version)
	} else {
		s.versions = s.versions.remove(number(old.Schema.Version))
	}
	key := text(s.Name.String())
	if s.versions.len() == 0 {
		v.subjects = v.subjects.remove(key)
		return
	}
	v.subjects = v.subjects.set(key, &s)
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

// content returns the entry of g, or an empty one.
func (c *Context) content(g GUID) *content {
	if e, ok := c.contents.get(g); ok {
		return e
	}
	return &content{}
}

// written returns the entry after id was written for n more versions.
func (e *content) written(id, n int) *content {
	count, _ := e.ids.get(number(id))
	return &content{last: id, ids: e.ids.set(number(id), count+n)}
}

// dropped returns the entry after one version with the id went, or nil if it
// was the last.
func (e *content) dropped(id int) *content {
	next := *e
	count, _ := e.ids.get(number(id))
	if count > 1 {
		next.ids = e.ids.set(number(id), count-1)
		return &next
	}
	if next.ids = e.ids.remove(number(id)); next.ids.len() == 0 {
		return nil
	}
	if next.last == id {
		last, _, _ := next.ids.last()
		next.last = int(last)
	}
	return &next
}

func (v *View) applyConfig(r *store.Record) {
	key := text(Canonical(r.Subject))
	if r.Config == nil {
		v.configs = v.configs.remove(key)
		return
	}
	v.configs = v.configs.set(key, r.Config)
}

func (v *View) applyContext(r *store.Record) {
	c := Context{Name: r.Context}
	if known := v.Context(r.Context); known != nil {
		c = *known
	}
	c.declared = r.Exists
	v.contexts = v.contexts.set(text(c.Name), &c)
}

// applyDelete soft deletes versions; their time stays that of their own record.
func (v *View) applyDelete(r *store.Record) {
	if r.Delete == nil {
		return
	}
	for old := range v.Subject(ParseName(r.Subject)).Versions() {
		if old.Deleted || old.Schema.Version > r.Delete.Version {
			continue
		}
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
