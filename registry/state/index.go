package state

// The indexes have a million entries in a large registry, nearly all of them
// of one element, which is why these two are not trees throughout.

// users is the set of versions that use one id: none, one, or a tree.
type users struct {
	one  *Version
	many *tree[row, *Version] // immutable; two elements at least
}

func (u users) len() int {
	switch {
	case u.many != nil:
		return u.many.len()
	case u.one != nil:
		return 1
	default:
		return 0
	}
}

// with returns the set with version in it, in the place of one of the same
// subject and number if there is one.
func (u users) with(e *edit, version *Version) users {
	var t tree[row, *Version]
	switch {
	case u.many != nil:
		t = *u.many
	case u.one == nil || u.one.row() == version.row():
		return users{one: version}
	default:
		t = t.put(e, u.one.row(), u.one)
	}
	t = t.put(e, version.row(), version)
	return users{many: &t}
}

// without returns the set without the version of the same subject and number.
func (u users) without(e *edit, version *Version) users {
	if u.many == nil {
		if u.one != nil && u.one.row() == version.row() {
			return users{}
		}
		return u
	}
	t := u.many.drop(e, version.row())
	if t.len() > 1 {
		return users{many: &t}
	}
	_, last, _ := t.last()
	return users{one: last}
}

// all yields the versions by subject and number.
func (u users) all(yield func(*Version) bool) {
	if u.many == nil {
		if u.one != nil {
			yield(u.one)
		}
		return
	}
	for _, v := range u.many.all() {
		if !yield(v) {
			return
		}
	}
}

// content is what one context knows of one content: its ids, with the number of
// versions that have them. Imports give a content more than one.
type content struct {
	last int                // the id that was written last
	n    int                // versions with that id, if it is the only one
	ids  *tree[number, int] // immutable; nil if last is the only id
}

// written returns the entry after id was written for n more versions.
func (c content) written(e *edit, id, n int) content {
	if c.ids == nil {
		if c.n == 0 || c.last == id {
			return content{last: id, n: c.n + n}
		}
		c.ids = &tree[number, int]{}
		*c.ids = c.ids.put(e, number(c.last), c.n)
	}
	count, _ := c.ids.get(number(id))
	ids := c.ids.put(e, number(id), count+n)
	return content{last: id, ids: &ids}
}

// dropped returns the entry after one version with the id went, and whether any
// is left.
func (c content) dropped(e *edit, id int) (content, bool) {
	if c.ids == nil {
		c.n--
		return c, c.n > 0
	}
	count, _ := c.ids.get(number(id))
	if count > 1 {
		ids := c.ids.put(e, number(id), count-1)
		c.ids = &ids
		return c, true
	}
	ids := c.ids.drop(e, number(id))
	c.ids = &ids
	greatest, n, _ := ids.last()
	if c.last == id {
		c.last = int(greatest)
	}
	if ids.len() == 1 {
		return content{last: int(greatest), n: n}, true
	}
	return c, true
}
