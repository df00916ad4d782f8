package protodiff

import (
	"strconv"
	"strings"

	"milena/evolution/diff"
	"milena/serde/protobuf"
)

// member is a field with the oneof that it is in, "" if none. A proto3 optional
// field is in none.
type member struct {
	field *protobuf.Field
	oneof string
}

// step returns the steps from the message to the field.
func (m member) steps() []string {
	n := strconv.Itoa(int(m.field.Number))
	if m.oneof == "" {
		return []string{n}
	}
	return []string{m.oneof, n}
}

func membersOf(m *protobuf.Message) map[int32]member {
	out := make(map[int32]member, len(m.Fields))
	for _, f := range m.Fields {
		out[f.Number] = member{f, ""}
	}
	for _, o := range m.Oneofs {
		for _, f := range o.Fields {
			out[f.Number] = member{f, o.Name}
		}
	}
	return out
}

func oneofNames(m *protobuf.Message) map[string]bool {
	out := make(map[string]bool, len(m.Oneofs))
	for _, o := range m.Oneofs {
		out[o.Name] = true
	}
	return out
}

// members compares the fields of two messages, in oneofs or not.
func (w *walker) members(reader, writer scoped) []diff.Change {
	now, before := membersOf(reader.message), membersOf(writer.message)
	if !w.c.Step(len(now) + len(before)) {
		return nil
	}
	changes := w.movedIntoOneofs(reader.message, before)
	names, oldNames := oneofNames(reader.message), oneofNames(writer.message)
	for _, name := range sortedKeys(names, oldNames) {
		switch {
		case !names[name]:
			changes = append(changes, w.change(OneofRemoved, name, name))
		case !oldNames[name]:
			changes = append(changes, w.change(OneofAdded, name, name))
		}
	}
	survives := map[string]bool{} // former oneofs with a member that is still there
	for n, m := range before {
		if _, there := now[n]; there {
			survives[m.oneof] = true
		}
	}
	for _, n := range sortedNumbers(now, before) {
		r, there := now[n]
		o, was := before[n]
		var found []diff.Change
		switch {
		case !there:
			if o.oneof == "" || names[o.oneof] || survives[o.oneof] {
				found = []diff.Change{w.removed(o)}
			}
		case !was:
			found = []diff.Change{w.added(r)}
		default:
			found = w.both(r, o, reader.name, writer.name)
		}
		changes = w.c.Merge(changes, found)
	}
	return changes
}

// movedIntoOneofs finds oneofs that now hold fields which could be set together
// before.
func (w *walker) movedIntoOneofs(reader *protobuf.Message, before map[int32]member) []diff.Change {
	var changes []diff.Change
	for _, o := range reader.Oneofs {
		plain := 0
		former := map[string]bool{}
		for _, f := range o.Fields {
			old, was := before[f.Number]
			switch {
			case !was:
			case old.oneof == "":
				plain++
			default:
				former[old.oneof] = true
			}
		}
		switch {
		case plain+len(former) <= 1:
		case plain >= 2:
			changes = append(changes, w.change(FieldsMovedToOneof, o.Name, o.Name))
		default:
			changes = append(changes, w.change(FieldMovedToExistingOneof, o.Name, o.Name))
		}
	}
	return changes
}

func (w *walker) removed(m member) diff.Change {
	kind := FieldRemoved
	switch {
	case m.oneof != "":
		kind = OneofFieldRemoved
	case m.field.Label == protobuf.Required:
		kind = RequiredFieldRemoved
	}
	return w.change(kind, m.field.Name, m.steps()...)
}

func (w *walker) added(m member) diff.Change {
	kind := FieldAdded
	switch {
	case m.oneof != "":
		kind = OneofFieldAdded
	case m.field.Label == protobuf.Required:
		kind = RequiredFieldAdded
	}
	return w.change(kind, m.field.Name, m.steps()...)
}

// both compares a field that is on both sides, at its place in the reader.
func (w *walker) both(r, o member, readerScope, writerScope string) []diff.Change {
	var changes []diff.Change
	if o.oneof != "" && r.oneof == "" {
		changes = append(changes, w.change(OneofFieldMovedOut, o.oneof, r.steps()...))
	}
	steps := r.steps()
	w.c.Push(steps...)
	defer w.c.Pop(len(steps))
	if r.field.Name != o.field.Name {
		changes = append(changes, w.change(FieldNameChanged, o.field.Name))
	}
	return w.c.Merge(changes, w.fieldTypes(
		typed{r.field.Type, r.field.Label, readerScope}, typed{o.field.Type, o.field.Label, writerScope}))
}

// typed is the type of a field, or of keys or values of a map.
type typed struct {
	typ   protobuf.Type
	label protobuf.Label
	scope string
}

// kind is what decides how two types are compared.
type kind uint8

const (
	scalarKind kind = iota
	mapKind
	messageKind
)

// known is what is known of a type.
type known struct {
	kind       kind
	group      group
	def        *protobuf.Definition // of messages that resolve
	key, value protobuf.Type        // of maps
	scope      string               // that key and value are resolved in
}

func (w *walker) know(s *protobuf.Schema, t typed) known {
	if t.typ.IsMap() {
		return known{kind: mapKind, key: *t.typ.Key, value: *t.typ.Value, scope: t.scope}
	}
	if g := groupOf(t.typ.Name); g != noGroup {
		return known{kind: scalarKind, group: g}
	}
	d := w.resolve(s, t.scope, t.typ)
	switch {
	case d == nil:
		return known{kind: messageKind}
	case d.Enum != nil:
		return known{kind: scalarKind, group: varints}
	case d.Message.IsMapEntry():
		k := known{kind: mapKind, scope: d.Name}
		for _, f := range d.Message.Fields {
			switch f.Number {
			case 1:
				k.key = f.Type
			case 2:
				k.value = f.Type
			}
		}
		return k
	}
	return known{kind: messageKind, def: d}
}

func (w *walker) fieldTypes(reader, writer typed) []diff.Change {
	defer w.c.Leave()
	if !w.c.Enter() || !w.c.Step(1) {
		return nil
	}
	r, o := w.know(w.reader, reader), w.know(w.writer, writer)
	switch {
	case r.kind != o.kind:
		return []diff.Change{w.change(FieldKindChanged, writer.typ.String())}
	case r.kind == mapKind:
		changes := w.c.Merge(nil, w.fieldTypes(typed{typ: r.key, scope: r.scope}, typed{typ: o.key, scope: o.scope}))
		return w.c.Merge(changes, w.fieldTypes(typed{typ: r.value, scope: r.scope}, typed{typ: o.value, scope: o.scope}))
	case r.kind == messageKind:
		return w.messageTypes(r, o, reader.typ, writer.typ)
	case r.group != o.group:
		return []diff.Change{w.change(FieldScalarKindChanged, writer.typ.String())}
	case reader.label == protobuf.NoLabel || writer.label == protobuf.NoLabel || reader.label == writer.label:
		return nil
	case r.group == texts:
		return []diff.Change{w.change(FieldTextLabelChanged, writer.label.String())}
	default:
		return []diff.Change{w.change(FieldNumericLabelChanged, writer.label.String())}
	}
}

// messageTypes compares two types that are messages: by name without package,
// and by content where they are not both of the schemas' own files, which are
// compared at their own places.
func (w *walker) messageTypes(r, o known, readerType, writerType protobuf.Type) []diff.Change {
	changed := w.change(FieldNamedTypeChanged, writerType.String())
	if r.def == nil || o.def == nil {
		if readerType.String() != writerType.String() {
			return []diff.Change{changed}
		}
		return nil
	}
	if r.def.LocalName() != o.def.LocalName() {
		return []diff.Change{changed}
	}
	own := r.def.File == w.reader.File() && o.def.File == w.writer.File()
	if own || r.def.Message == o.def.Message {
		return nil
	}
	found := w.pairs.Visit(w.c, r.def.Message, o.def.Message, func() []diff.Change {
		back := w.c.Rebase(strings.Split(r.def.LocalName(), ".")...)
		defer back()
		return w.message(scoped{r.def.Message, r.def.Name}, scoped{o.def.Message, o.def.Name})
	})
	changes := w.c.Merge(nil, found)
	if !w.c.Fits(found) {
		changes = append(changes, changed)
	}
	return changes
}
