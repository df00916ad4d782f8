package jsondiff

import (
	"context"
	"regexp"

	"milena/evolution/diff"
	"milena/serde/jsonschema"
)

// Options say how two schemas are compared. The zero value means the strict
// policy and the default limits.
type Options struct {
	// Lenient judges by the lenient policy, also where a part of a combined
	// schema is picked because it fits.
	Lenient bool
	Limits  diff.Limits
}

// Compare returns all changes from the schema that data was written with to the
// one that it is read with, also those that break nobody, in the order of the
// reader's schema. Paths begin with '#'. The error wraps diff.ErrTooComplex or
// the context's error.
func Compare(ctx context.Context, table *diff.Table, reader, writer *jsonschema.Schema, o Options) ([]diff.Change, error) {
	w := &walker{
		c:       diff.NewContext(ctx, table, o.Limits),
		table:   table,
		lenient: o.Lenient,
		most:    o.Limits.WithDefaults().ChangesMax,
		failed:  map[pair]known{},
		keys:    map[*jsonschema.Node]string{},
		regexps: map[string]*regexp.Regexp{},
	}
	for {
		w.open, w.assumed = map[pair]bool{}, map[pair]bool{}
		w.seen, w.verdicts = map[pair]known{}, map[pair]bool{}
		r := w.schemas(writer.Root(), reader.Root())
		if err := w.c.Err(); err != nil {
			return nil, err
		}
		if !w.disproved {
			return r.changes, nil
		}
		w.disproved = false
	}
}

// pair is what is compared: a schema of the writer and one of the reader, and
// what the references lead to that they stand in. The reference builds what a
// reference leads to a second time, so that a schema within it is another one
// than the same text met without the reference.
type pair struct {
	original, update *jsonschema.Node
	within           [2]*jsonschema.Node
}

// result is what came of a pair. Breaks also counts changes that are not told.
type result struct {
	changes []diff.Change
	breaks  bool
}

// known is the result of a pair with the place at which it was found, if there
// are changes.
type known struct {
	result
	at string
}

// walker compares the pairs of one comparison. A pair that is met inside itself
// counts as equal, which is what recursive schemas need. If it turns out to
// break readers, all is compared again with the changes found for it in its
// place, until nothing that was assumed is disproved: so no cycle hides a change
// that breaks.
type walker struct {
	c       *diff.Context
	table   *diff.Table
	lenient bool
	most    int // changes kept of one pair

	failed    map[pair]known // pairs met inside themselves that break readers
	disproved bool           // this round found one more

	// Of one round:
	open     map[pair]bool  // pairs around the current one
	assumed  map[pair]bool  // of those, the ones that were met again
	seen     map[pair]known // compared pairs
	verdicts map[pair]bool  // whether a pair breaks readers, where only that was asked

	within  [2]*jsonschema.Node // targets of the last references gone through
	quiet   int                 // above 0, only verdicts are wanted
	keys    map[*jsonschema.Node]string
	regexps map[string]*regexp.Regexp // nil for those that Go doesn't have
}

// schemas compares two schemas that stand at the current place; nil is none.
func (w *walker) schemas(original, update *jsonschema.Node) result {
	var r result
	switch {
	case original == nil && update == nil:
		return r
	case original == nil:
		w.emit(&r, SchemaAdded)
		return r
	case update == nil:
		w.emit(&r, SchemaRemoved)
		return r
	}
	p := pair{original.Target(), update.Target(), w.within}
	if p.original != original {
		p.within[0] = p.original
	}
	if p.update != update {
		p.within[1] = p.update
	}
	if k, ok := w.seen[p]; ok {
		return w.moved(k)
	}
	if breaks, ok := w.verdicts[p]; ok && w.quiet > 0 {
		return result{breaks: breaks}
	}
	if w.open[p] {
		w.assumed[p] = true
		return w.moved(w.failed[p])
	}
	if !w.c.Step(1) {
		return r
	}
	w.open[p] = true
	outer := w.within
	w.within = p.within
	if w.c.Enter() {
		r = w.compare(p)
	}
	w.c.Leave()
	w.within = outer
	delete(w.open, p)
	k := known{result: r}
	if len(r.changes) > 0 {
		k.at = w.path()
	}
	if r.breaks && w.assumed[p] && !w.failed[p].breaks {
		w.failed[p], w.disproved = k, true
	}
	w.verdicts[p] = r.breaks
	if w.quiet == 0 {
		w.seen[p] = k
	}
	return r
}

// at compares two schemas that stand under more steps.
func (w *walker) at(r *result, original, update *jsonschema.Node, steps ...string) {
	w.c.Push(steps...)
	w.merge(r, w.schemas(original, update))
	w.c.Pop(len(steps))
}

// fits reports whether data of one schema can be read with the other. Nothing
// is told of it.
func (w *walker) fits(original, update *jsonschema.Node) bool {
	w.quiet++
	r := w.schemas(original, update)
	w.quiet--
	return !r.breaks && w.c.Err() == nil
}

// moved returns a known result as seen from the current place.
func (w *walker) moved(k known) result {
	r := result{breaks: k.breaks}
	if w.quiet > 0 || len(k.changes) == 0 || !w.c.Step(1+len(k.changes)/4) {
		return r
	}
	here := w.path()
	if here == k.at || w.c.Err() != nil {
		return k.result
	}
	r.changes = make([]diff.Change, len(k.changes))
	for i, c := range k.changes {
		if !w.c.PathBytes(len(here) + len(c.Path) - len(k.at)) {
			break
		}
		c.Path = join(here, c.Path[len(k.at):])
		r.changes[i] = c
	}
	return r
}

// path returns the current place as the reference writes it: '#' and a pointer,
// the root being "#/".
func (w *walker) path(more ...string) string { return "#" + w.c.Path(more...) }

// join puts the rest of a path behind a place. Only the root ends in a slash.
func join(place, rest string) string {
	switch {
	case rest == "":
		return place
	case place == "#/":
		return "#/" + trimSlash(rest)
	default:
		return place + "/" + trimSlash(rest)
	}
}

func trimSlash(s string) string {
	if s != "" && s[0] == '/' {
		return s[1:]
	}
	return s
}

// emit adds a change at the current place or under more steps.
func (w *walker) emit(r *result, kind diff.Kind, steps ...string) {
	r.breaks = r.breaks || w.table.Breaks(kind, w.lenient)
	if w.quiet > 0 {
		return
	}
	w.merge(r, result{changes: []diff.Change{{Kind: kind, Path: w.path(steps...)}}, breaks: r.breaks})
}

// merge adds the changes of another result. Beyond the limit it drops them, the
// harmless ones first; the verdict stays.
func (w *walker) merge(r *result, more result) {
	r.breaks = r.breaks || more.breaks
	for _, c := range more.changes {
		if len(r.changes) >= w.most && !w.table.Breaks(c.Kind, w.lenient) || len(r.changes) >= 2*w.most {
			continue
		}
		r.changes = append(r.changes, c)
	}
}

// compare compares a pair that is not known yet.
func (w *walker) compare(p pair) result {
	if r, ok := w.lifted(p); ok {
		return r
	}
	var r result
	original, update := p.original, p.update
	if original.Kind != update.Kind {
		if original.Kind != jsonschema.KindFalse && update.Kind != jsonschema.KindEmpty && !(original.ConnectBytes && update.ConnectBytes) {
			w.emit(&r, TypeChanged)
		}
		return r
	}
	w.annotations(&r, original, update)
	switch original.Kind {
	case jsonschema.KindString:
		w.strings(&r, original.String, update.String)
	case jsonschema.KindNumber:
		w.numbers(&r, original.Number, update.Number)
	case jsonschema.KindObject:
		w.objects(&r, original.Object, update.Object)
	case jsonschema.KindArray:
		w.arrays(&r, original.Array, update.Array)
	case jsonschema.KindEnum:
		w.enums(&r, original.Values, update.Values)
	case jsonschema.KindConst:
		if !original.Values[0].Equal(update.Values[0]) {
			w.emit(&r, EnumArrayChanged, "const")
		}
	case jsonschema.KindNot:
		w.not(&r, original.Inner, update.Inner)
	case jsonschema.KindCombined:
		w.combined(&r, original, update)
	}
	return r
}

// annotations compares what asserts nothing. Defaults that are arrays or
// objects always count as changed: the reference compares them by identity.
func (w *walker) annotations(r *result, original, update *jsonschema.Node) {
	if w.quiet > 0 {
		return
	}
	for _, a := range []struct {
		kind             diff.Kind
		original, update *string
	}{
		{IDChanged, original.ID, update.ID},
		{TitleChanged, original.Title, update.Title},
		{DescriptionChanged, original.Description, update.Description},
	} {
		if (a.original == nil) != (a.update == nil) || a.original != nil && *a.original != *a.update {
			w.emit(r, a.kind)
		}
	}
	o, u := original.Default, update.Default
	if (o == nil) != (u == nil) || o != nil && (o.IsContainer() || !o.Equal(u)) {
		w.emit(r, DefaultChanged)
	}
}

// not compares what is excluded, which goes the other way round.
func (w *walker) not(r *result, original, update *jsonschema.Node) {
	kind := NotTypeExtended
	if w.fits(update, original) {
		kind = NotTypeNarrowed
	}
	w.emit(r, kind, "not")
}

// enums compares two lists of values as sets.
func (w *walker) enums(r *result, original, update []*jsonschema.Value) {
	if !w.c.Step(len(original) + len(update)) {
		return
	}
	was, is := texts(original), texts(update)
	added, removed := missing(is, was), missing(was, is)
	switch {
	case added && removed:
		w.emit(r, EnumArrayChanged, "enum")
	case added:
		w.emit(r, EnumArrayExtended, "enum")
	case removed:
		w.emit(r, EnumArrayNarrowed, "enum")
	}
}

func texts(values []*jsonschema.Value) map[string]bool {
	set := make(map[string]bool, len(values))
	for _, v := range values {
		set[v.SortedJSON()] = true
	}
	return set
}

// missing reports whether a has members that b lacks.
func missing(a, b map[string]bool) bool {
	for t := range a {
		if !b[t] {
			return true
		}
	}
	return false
}
