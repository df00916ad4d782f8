package protodiff

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"milena/evolution/diff"
	"milena/serde/protobuf"
)

// Compare returns the changes between what was written with schema writer and
// what reads with schema reader, also the harmless ones. The error wraps
// diff.ErrTooComplex or the context's error.
func Compare(ctx context.Context, table *diff.Table, reader, writer *protobuf.Schema, limits diff.Limits) ([]diff.Change, error) {
	w := &walker{c: diff.NewContext(ctx, table, limits), reader: reader, writer: writer}
	var changes []diff.Change
	r, o := reader.File(), writer.File()
	if r.Package != o.Package {
		changes = append(changes, w.change(PackageChanged, o.Package))
	}
	changes = w.c.Merge(changes, w.types(
		types{r.Messages, r.Enums, r.Package}, types{o.Messages, o.Enums, o.Package}))
	if err := w.c.Err(); err != nil {
		return nil, err
	}
	return changes, nil
}

type walker struct {
	c              *diff.Context
	reader, writer *protobuf.Schema
	pairs          diff.Pairs[*protobuf.Message] // of messages from different files
	comparing      map[[2]*protobuf.Message]bool
}

// change returns a change at the current place.
func (w *walker) change(kind diff.Kind, info string, more ...string) diff.Change {
	return diff.Change{Kind: kind, Path: "#" + w.c.Path(more...), Info: info}
}

// types are the types of one level, with the scope that their own names stand
// in.
type types struct {
	messages []*protobuf.Message
	enums    []*protobuf.Enum
	scope    string
}

func join(scope, name string) string {
	if scope == "" {
		return name
	}
	return scope + "." + name
}

// types compares what stands on one level. Messages and enums are matched by
// name.
func (w *walker) types(reader, writer types) []diff.Change {
	if !w.c.Step(len(reader.messages) + len(writer.messages) + len(reader.enums) + len(writer.enums)) {
		return nil
	}
	changes := w.c.Merge(nil, w.messages(reader, writer))
	now, before := enumsByName(reader.enums), enumsByName(writer.enums)
	for _, name := range sortedKeys(now, before) {
		r, o := now[name], before[name]
		var found []diff.Change
		switch {
		case r == nil:
			found = []diff.Change{w.change(EnumRemoved, name, name)}
		case o == nil:
			found = []diff.Change{w.change(EnumAdded, name, name)}
		default:
			w.c.Push(name)
			found = w.enum(r, o)
			w.c.Pop(1)
		}
		changes = w.c.Merge(changes, found)
	}
	return changes
}

// place is a message with its index on its level.
type place struct {
	message *protobuf.Message
	index   int
}

func messagesByName(list []*protobuf.Message) map[string]place {
	out := make(map[string]place, len(list))
	for i, m := range list {
		out[m.Name] = place{m, i}
	}
	return out
}

func enumsByName(list []*protobuf.Enum) map[string]*protobuf.Enum {
	out := make(map[string]*protobuf.Enum, len(list))
	for _, e := range list {
		out[e.Name] = e
	}
	return out
}

func sortedKeys[V any](a, b map[string]V) []string {
	keys := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(keys)
	return slices.Compact(keys)
}

func (w *walker) messages(reader, writer types) []diff.Change {
	now, before := messagesByName(reader.messages), messagesByName(writer.messages)
	var changes []diff.Change
	for _, name := range sortedKeys(now, before) {
		r, o := now[name], before[name]
		var found []diff.Change
		switch {
		case r.message == nil && !o.message.IsMapEntry():
			found = []diff.Change{w.change(MessageRemoved, name, name)}
		case o.message == nil && !r.message.IsMapEntry():
			found = []diff.Change{w.change(MessageAdded, name, name)}
		case r.message != nil && o.message != nil:
			if r.index != o.index {
				found = []diff.Change{w.change(MessageMoved, name, name)}
			}
			w.c.Push(name)
			found = w.c.Merge(found, w.message(
				scoped{r.message, join(reader.scope, name)}, scoped{o.message, join(writer.scope, name)}))
			w.c.Pop(1)
		}
		changes = w.c.Merge(changes, found)
	}
	return changes
}

func (w *walker) enum(reader, writer *protobuf.Enum) []diff.Change {
	if !w.c.Step(len(reader.Values) + len(writer.Values)) {
		return nil
	}
	now, before := map[int32]string{}, map[int32]string{}
	for i := range reader.Values {
		now[reader.Values[i].Number] = reader.Values[i].Name
	}
	for i := range writer.Values {
		before[writer.Values[i].Number] = writer.Values[i].Name
	}
	var changes []diff.Change
	for _, n := range sortedNumbers(now, before) {
		name, there := now[n]
		old, was := before[n]
		step := strconv.Itoa(int(n))
		switch {
		case !there:
			changes = append(changes, w.change(EnumConstRemoved, old, step))
		case !was:
			changes = append(changes, w.change(EnumConstAdded, name, step))
		case name != old:
			changes = append(changes, w.change(EnumConstChanged, old, step))
		}
	}
	return changes
}

func sortedNumbers[V any](a, b map[int32]V) []int32 {
	keys := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(keys)
	return slices.Compact(keys)
}

// scoped is a message with its full name, which types in it are resolved in.
type scoped struct {
	message *protobuf.Message
	name    string
}

// message compares two messages at the current place. One that is being
// compared is skipped.
func (w *walker) message(reader, writer scoped) []diff.Change {
	key := [2]*protobuf.Message{reader.message, writer.message}
	if w.comparing[key] || !w.c.Step(1) {
		return nil
	}
	if w.comparing == nil {
		w.comparing = map[[2]*protobuf.Message]bool{}
	}
	w.comparing[key] = true
	defer delete(w.comparing, key)
	defer w.c.Leave()
	if !w.c.Enter() {
		return nil
	}
	changes := w.c.Merge(nil, w.members(reader, writer))
	return w.c.Merge(changes, w.types(
		types{reader.message.Messages, reader.message.Enums, reader.name},
		types{writer.message.Messages, writer.message.Enums, writer.name}))
}

// resolve returns the definition that a type means in a scope, or nil for maps,
// scalars and what means nothing.
func (w *walker) resolve(s *protobuf.Schema, scope string, t protobuf.Type) *protobuf.Definition {
	if t.IsMap() || !w.c.Step(1+strings.Count(scope, ".")) {
		return nil
	}
	d, _ := s.Resolve(scope, t.Name)
	return d
}
