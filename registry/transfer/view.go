package transfer

import (
	"iter"

	"milena/registry/state"
	"milena/registry/store"
)

// Of yields what a view holds, as lines in the order in which a registry can
// take them: contexts, schemas, associations, keys, configs, and modes last, as
// a mode may forbid changes. wanted selects names, nil is all; a config or mode
// of a context goes by the name of the context, keys belong to none and are
// yielded if wanted is nil.
func Of(v *state.View, wanted func(state.Name) bool) iter.Seq[Line] {
	return func(yield func(Line) bool) {
		e := &walk{view: v, wanted: wanted, yield: yield}
		_ = e.contexts() && e.schemas() && e.associations() && e.keys() && e.settings()
	}
}

// walk yields lines until the consumer has enough; its methods then report
// false.
type walk struct {
	view   *state.View
	wanted func(state.Name) bool
	yield  func(Line) bool

	here  *state.Version // whose turn it is
	late  bool           // whether the turn is of versions with the id that counts
	early map[*state.Version]bool
}

func (w *walk) wants(n state.Name) bool { return w.wanted == nil || w.wanted(n) }

func (w *walk) contexts() bool {
	for name := range w.view.Contexts() {
		if !w.wants(state.Name{Context: name}) {
			continue
		}
		if !w.yield(Line{Context: &Context{Name: name, MaxID: w.view.Context(name).MaxID()}}) {
			return false
		}
	}
	return true
}

// schemas yields all versions, each after those that it refers to. Of a content
// with several ids in one context, the id that was written last is what a
// registration gets, so versions with such an id have the second of two turns.
func (w *walk) schemas() bool {
	w.early = map[*state.Version]bool{}
	for _, w.late = range []bool{false, true} {
		for s := range w.view.Subjects("") {
			if !w.wants(s.Name) {
				continue
			}
			for version := range s.Versions() {
				if w.turn(version) != w.late || w.early[version] {
					continue
				}
				w.here = version
				if !w.before(version, 1) || !w.yield(schemaLine(version)) {
					return false
				}
			}
		}
	}
	return true
}

// turn reports whether a version has the later turn.
func (w *walk) turn(version *state.Version) bool {
	last, ok := w.view.Context(version.Name.Context).ID(version.GUID)
	return !ok || last == version.Schema.ID
}

// referenceDepthMax bounds the way along references. Chains that are longer,
// or go around, come in the order of names.
const referenceDepthMax = 256

// before yields what version refers to and was not yielded yet.
func (w *walk) before(version *state.Version, depth int) bool {
	if depth > referenceDepthMax {
		return true
	}
	for _, ref := range version.Schema.References {
		to := w.view.Subject(version.Name.In(ref.Subject)).Version(ref.Version)
		if to == nil || w.early[to] || !w.wants(to.Name) || !w.ahead(to) {
			continue
		}
		w.early[to] = true
		if !w.before(to, depth+1) || !w.yield(schemaLine(to)) {
			return false
		}
	}
	return true
}

// ahead reports whether the turn of a version is still to come.
func (w *walk) ahead(version *state.Version) bool {
	if late := w.turn(version); late != w.late {
		return late
	}
	if c := state.CompareNames(version.Name, w.here.Name); c != 0 {
		return c > 0
	}
	return version.Schema.Version > w.here.Schema.Version
}

func schemaLine(version *state.Version) Line {
	s := *version.Schema
	s.Subject, s.Deleted = version.Name.String(), version.Deleted
	return Line{Schema: &s, TimestampMillis: version.TimestampMillis}
}

func (w *walk) associations() bool {
	for a := range w.view.Associations() {
		if w.wants(a.Name) && !w.yield(associationLine(&a.Association, a.CreateMillis, a.UpdateMillis)) {
			return false
		}
	}
	return true
}

func associationLine(a *store.Association, createMillis, updateMillis int64) Line {
	l := Line{Association: a, TimestampMillis: updateMillis}
	if createMillis != updateMillis {
		l.CreateMillis = createMillis
	}
	return l
}

func (w *walk) keys() bool {
	if w.wanted != nil {
		return true
	}
	for k := range w.view.Keks() {
		if !w.yield(Line{Kek: &k.Kek, TimestampMillis: k.TimestampMillis}) {
			return false
		}
		for d := range w.view.Deks(k.Name) {
			if !w.yield(Line{Dek: &d.Dek, TimestampMillis: d.TimestampMillis}) {
				return false
			}
		}
	}
	return true
}

func (w *walk) settings() bool {
	for n, c := range w.view.Configs() {
		own := *c
		own.Subject = n.String()
		if w.wants(n) && !w.yield(Line{Config: &own}) {
			return false
		}
	}
	for n, m := range w.view.Modes() {
		if w.wants(n) && !w.yield(Line{Mode: &store.Mode{Subject: n.String(), Mode: m.Mode}}) {
			return false
		}
	}
	return true
}
