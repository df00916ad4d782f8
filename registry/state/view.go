package state

import (
	"iter"
	"strings"

	"milena/registry/store"
)

// View is the state of a registry at one point of its log. It is immutable and
// safe for concurrent use. The zero View is the state of an empty log.
type View struct {
	subjects  tree[text, *Subject]
	contexts  tree[text, *Context]
	guids     tree[GUID, tree[text, struct{}]] // contexts but the default one that have the content
	referrers tree[row, tree[row, *Version]]   // by what is referred to
	configs   tree[text, *store.Config]        // by canonical subject; "" is the default context
	modes     tree[text, *store.Mode]          // the same

	edit *edit // of the builder whose view this is; nil in views that others see

	associations associations
	keyring      keyring
}

// Subject is a subject that has at least one version, soft deleted ones
// included. It is immutable: a change makes another one, so that comparing
// pointers tells whether a subject is as it was.
type Subject struct {
	Name     Name
	versions tree[number, *Version]
	live     int
	owner    *edit // who may change it in place
}

// Version is one version of a subject.
type Version struct {
	Name            Name // of the subject
	Schema          *store.Schema
	GUID            GUID
	TimestampMillis int64 // of the record that wrote it last
	Deleted         bool  // soft deleted
}

// Context is what is known of one context.
type Context struct {
	Name     string
	declared bool // a CONTEXT record says so
	rows     int  // versions in it, soft deleted ones included
	maxID    int
	ids      tree[number, users]
	contents tree[GUID, content]
	owner    *edit // who may change it in place
}

// Subject returns the subject with the name, or nil if it has no versions.
func (v *View) Subject(n Name) *Subject {
	s, _ := v.subjects.get(text(n.String()))
	return s
}

// Subjects yields the subjects whose written name begins with prefix, in the
// order of UTF-16 code units.
func (v *View) Subjects(prefix string) iter.Seq[*Subject] {
	return func(yield func(*Subject) bool) {
		for name, s := range v.subjects.from(text(prefix)) {
			if !strings.HasPrefix(string(name), prefix) || !yield(s) {
				return
			}
		}
	}
}

// Context returns the context with the name (".ctx"), or nil if nothing is
// known of it.
func (v *View) Context(name string) *Context {
	c, _ := v.contexts.get(text(name))
	return c
}

// Contexts yields the names of the contexts that exist, sorted; the default
// context always does.
func (v *View) Contexts() iter.Seq[string] {
	return func(yield func(string) bool) {
		if !yield(DefaultContext) {
			return
		}
		for name, c := range v.contexts.all() {
			if name != DefaultContext && (c.declared || c.rows > 0) && !yield(string(name)) {
				return
			}
		}
	}
}

// HasGUID yields the contexts that have the content, sorted.
func (v *View) HasGUID(g GUID) iter.Seq[*Context] {
	return func(yield func(*Context) bool) {
		c := v.Context(DefaultContext) // sorts before all others
		if _, ok := c.ID(g); ok && !yield(c) {
			return
		}
		in, _ := v.guids.get(g)
		for name := range in.all() {
			if c := v.Context(string(name)); c != nil && !yield(c) {
				return
			}
		}
	}
}

// Referrers yields the versions, soft deleted ones included, that refer to a
// version of a subject.
func (v *View) Referrers(n Name, version int) iter.Seq[*Version] {
	return func(yield func(*Version) bool) {
		t, _ := v.referrers.get(row{text(n.String()), number(version)})
		for _, r := range t.all() {
			if !yield(r) {
				return
			}
		}
	}
}

// Config returns the own config of a subject or context, or nil.
func (v *View) Config(n Name) *store.Config {
	c, _ := v.configs.get(text(n.String()))
	return c
}

// Mode returns the own mode of a subject or context, or nil.
func (v *View) Mode(n Name) *store.Mode {
	m, _ := v.modes.get(text(n.String()))
	return m
}

// ModesIn yields the names with an own mode in a context, the context itself
// included.
func (v *View) ModesIn(context string) iter.Seq[Name] {
	return func(yield func(Name) bool) {
		prefix := Name{Context: context}.Prefix()
		for name := range v.modes.from(text(prefix)) {
			if !strings.HasPrefix(string(name), prefix) {
				return
			}
			if n := ParseName(string(name)); n.Context == context && !yield(n) {
				return
			}
		}
	}
}

// Aliases yields the subjects whose written name begins with prefix and whose
// config redirects to another subject, with that subject as written there. A
// context's config redirects nothing.
func (v *View) Aliases(prefix string) iter.Seq2[Name, string] {
	return func(yield func(Name, string) bool) {
		for name, c := range v.configs.from(text(prefix)) {
			if !strings.HasPrefix(string(name), prefix) {
				return
			}
			if c.Alias == nil || *c.Alias == "" {
				continue
			}
			if n := ParseName(string(name)); !n.IsContext() && !yield(n, *c.Alias) {
				return
			}
		}
	}
}

// SameReferrers reports whether a version has the same referrers in both views.
func (v *View) SameReferrers(o *View, n Name, version int) bool {
	key := row{text(n.String()), number(version)}
	a, _ := v.referrers.get(key)
	b, _ := o.referrers.get(key)
	return a.root == b.root
}

// Version returns a version, soft deleted or not, or nil.
func (s *Subject) Version(n int) *Version {
	if s == nil {
		return nil
	}
	v, _ := s.versions.get(number(n))
	return v
}

// Versions yields all versions, ascending.
func (s *Subject) Versions() iter.Seq[*Version] {
	return func(yield func(*Version) bool) {
		if s == nil {
			return
		}
		for _, v := range s.versions.all() {
			if !yield(v) {
				return
			}
		}
	}
}

// NewestFirst yields all versions, descending.
func (s *Subject) NewestFirst() iter.Seq[*Version] {
	return func(yield func(*Version) bool) {
		if s == nil {
			return
		}
		for _, v := range s.versions.down() {
			if !yield(v) {
				return
			}
		}
	}
}

// Latest returns the highest live version, or nil.
func (s *Subject) Latest() *Version {
	if s.Live() == 0 {
		return nil
	}
	for _, v := range s.versions.down() {
		if !v.Deleted {
			return v
		}
	}
	return nil
}

// Highest returns the highest version, soft deleted or not. Every subject has
// one.
func (s *Subject) Highest() *Version {
	if s == nil {
		return nil
	}
	_, v, _ := s.versions.last()
	return v
}

// Live returns how many versions are not soft deleted.
func (s *Subject) Live() int {
	if s == nil {
		return 0
	}
	return s.live
}

// Len returns how many versions there are, soft deleted ones included.
func (s *Subject) Len() int {
	if s == nil {
		return 0
	}
	return s.versions.len()
}

// MaxID returns the highest id that the context ever had, 0 if none.
func (c *Context) MaxID() int {
	if c == nil {
		return 0
	}
	return c.maxID
}

// Empty reports whether the context has no version, soft deleted ones included.
func (c *Context) Empty() bool { return c == nil || c.rows == 0 }

// Declared reports whether a CONTEXT record names the context.
func (c *Context) Declared() bool { return c != nil && c.declared }

// ID returns the id that the context has for a content; of several, the one
// that was written last.
func (c *Context) ID(g GUID) (id int, ok bool) {
	if c == nil {
		return 0, false
	}
	e, ok := c.contents.get(g)
	if !ok {
		return 0, false
	}
	return e.last, true
}

// Users yields the versions that use an id, by subject and version, soft
// deleted ones included.
func (c *Context) Users(id int) iter.Seq[*Version] {
	return func(yield func(*Version) bool) {
		if c == nil {
			return
		}
		u, _ := c.ids.get(number(id))
		u.all(yield)
	}
}

// First returns some version that uses the id, a live one if there is one, or
// nil.
func (c *Context) First(id int) *Version {
	if c == nil {
		return nil
	}
	u, _ := c.ids.get(number(id))
	if u.many == nil {
		return u.one
	}
	var first *Version
	for v := range c.Users(id) {
		if !v.Deleted {
			return v
		}
		if first == nil {
			first = v
		}
	}
	return first
}
