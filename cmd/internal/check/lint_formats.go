package check

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"milena/serde/avro"
	"milena/serde/jsonschema"
	"milena/serde/protobuf"
)

// Styles of names.
func upperCamel(name string) bool {
	return name != "" && name[0] >= 'A' && name[0] <= 'Z' && !strings.Contains(name, "_")
}

func lowerSnake(name string) bool { return !strings.ContainsAny(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") }

func lowerCamel(name string) bool {
	return name != "" && (name[0] < 'A' || name[0] > 'Z') && !strings.ContainsAny(name, "_-")
}

// fieldNames wants one style of all names: the one that most have.
func (l *linter) fieldNames(names []string, path func(i int) string) {
	snake, camel := 0, 0
	for _, n := range names {
		if lowerSnake(n) {
			snake++
		}
		if lowerCamel(n) {
			camel++
		}
	}
	fits, style := lowerSnake, "lower snake case"
	if camel > snake {
		fits, style = lowerCamel, "lower camel case"
	}
	for i, n := range names {
		if !fits(n) {
			l.add(lintFieldName, path(i), n, fmt.Sprintf("%s is not in %s.", n, style))
		}
	}
}

// avro lints an Avro schema.
func (l *linter) avro(s *avro.Schema) {
	seen := map[*avro.Type]bool{}
	var walk func(t *avro.Type, path string)
	walk = func(t *avro.Type, path string) {
		if t == nil || seen[t] {
			return
		}
		if t.Kind.IsNamed() || t.Kind == avro.KindUnion {
			seen[t] = true
		}
		if t.Kind.IsNamed() {
			l.avroNamed(t, path)
		}
		if l.isKey() && (t.Kind == avro.KindMap || t.Kind == avro.KindFloat || t.Kind == avro.KindDouble || t.Kind == avro.KindUnion) {
			l.add(lintKeyType, path, lastName(l, path), fmt.Sprintf("It is a %s.", t.Kind))
		}
		names := make([]string, len(t.Fields))
		for i := range t.Fields {
			names[i] = t.Fields[i].Name
		}
		field := func(i int) string { return path + "/fields/" + strconv.Itoa(i) }
		l.fieldNames(names, field)
		for i := range t.Fields {
			l.avroField(&t.Fields[i], field(i))
			walk(t.Fields[i].Type, field(i)+"/type")
		}
		walkItems(t, path, walk)
		for i, b := range t.Branches {
			walk(b, path+"/"+strconv.Itoa(i))
		}
	}
	walk(s.Root(), "")
}

func walkItems(t *avro.Type, path string, walk func(*avro.Type, string)) {
	switch t.Kind {
	case avro.KindArray:
		walk(t.Items, path+"/items")
	case avro.KindMap:
		walk(t.Items, path+"/values")
	}
}

func (l *linter) avroNamed(t *avro.Type, path string) {
	name := t.Name.Simple
	if !upperCamel(name) {
		l.add(lintTypeName, path, name, name+" is not in upper camel case.")
	}
	if t.Name.Namespace == "" && path == "" {
		l.add(lintNamespace, path, name, name+" has no namespace.")
	}
	if t.Doc == nil || *t.Doc == "" {
		l.add(lintDoc, path, name, name+" has no doc.")
	}
	if t.Kind == avro.KindEnum && t.EnumDefault == nil {
		l.add(lintEnumZero, path, name, name+" has no default.")
	}
}

func (l *linter) avroField(f *avro.Field, path string) {
	if f.Doc == nil || *f.Doc == "" {
		l.add(lintDoc, path, f.Name, f.Name+" has no doc.")
	}
	nullable := f.Type.Kind == avro.KindUnion && slices.ContainsFunc(f.Type.Branches, func(b *avro.Type) bool { return b.Kind == avro.KindNull })
	if nullable && f.Default == nil {
		l.add(lintNullable, path, f.Name, f.Name+" may be null and has no default.")
	}
}

// lastName is the name of a path's end, "the key" if it has none.
func lastName(l *linter, path string) string {
	if name := l.doc.Name(l.doc.Trail(path)); name != "" {
		return name
	}
	return "the key"
}

// json lints a JSON Schema. References are not followed: what they lead to is
// linted where it stands, as far as it is below the root.
func (l *linter) json(s *jsonschema.Schema) {
	var walk func(n *jsonschema.Node, path string, depth int)
	walk = func(n *jsonschema.Node, path string, depth int) {
		if n == nil || depth > 100 || n.Target() != n {
			return
		}
		if n.Description == nil && n.Title == nil {
			l.add(lintDoc, "#"+path, lastName(l, "#"+path), "It has neither description nor title.")
		}
		if l.isKey() && (n.Kind == jsonschema.KindNumber && !n.Number.Integer || n.Kind == jsonschema.KindCombined) {
			l.add(lintKeyType, "#"+path, lastName(l, "#"+path), "It may be a number with a fraction, or of several types.")
		}
		if n.Array != nil {
			walk(n.Array.All, path+"/items", depth+1)
		}
		if n.Object == nil {
			return
		}
		properties := n.Object.Properties
		names := make([]string, len(properties))
		for i := range properties {
			names[i] = properties[i].Name
		}
		at := func(i int) string {
			return path + "/properties/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(names[i])
		}
		l.fieldNames(names, func(i int) string { return "#" + at(i) })
		for i := range properties {
			walk(properties[i].Schema, at(i), depth+1)
		}
	}
	walk(s.Root(), "", 0)
}

// proto lints a Protobuf schema.
func (l *linter) proto(s *protobuf.Schema) {
	f := s.File()
	if f.Package == "" {
		l.add(lintNamespace, "#/", "of the file", "The file has no package.")
	}
	var walk func(messages []*protobuf.Message, enums []*protobuf.Enum, path string)
	walk = func(messages []*protobuf.Message, enums []*protobuf.Enum, path string) {
		for _, e := range enums {
			l.protoEnum(e, path+"/"+e.Name)
		}
		for _, m := range messages {
			at := path + "/" + m.Name
			if !upperCamel(m.Name) {
				l.add(lintTypeName, at, m.Name, m.Name+" is not in upper camel case.")
			}
			l.protoDoc(at, m.Name, m.Pos)
			for _, field := range fieldsOf(m) {
				l.protoField(field, at+"/"+strconv.Itoa(int(field.Number)))
			}
			walk(m.Messages, m.Enums, at)
		}
	}
	walk(f.Messages, f.Enums, "#")
}

func (l *linter) protoField(f *protobuf.Field, at string) {
	if !lowerSnake(f.Name) {
		l.add(lintFieldName, at, f.Name, f.Name+" is not in lower snake case.")
	}
	if l.isKey() && (f.Type.IsMap() || f.Type.Name == "float" || f.Type.Name == "double") {
		l.add(lintKeyType, at, f.Name, fmt.Sprintf("It is a %s.", f.Type))
	}
	l.protoDoc(at, f.Name, f.Pos)
}

func (l *linter) protoEnum(e *protobuf.Enum, at string) {
	if !upperCamel(e.Name) {
		l.add(lintTypeName, at, e.Name, e.Name+" is not in upper camel case.")
	}
	l.protoDoc(at, e.Name, e.Pos)
	if len(e.Values) > 0 {
		if v := e.Values[0]; v.Number != 0 || !strings.HasSuffix(v.Name, "UNSPECIFIED") && !strings.HasSuffix(v.Name, "UNKNOWN") {
			l.add(lintEnumZero, at, e.Name, fmt.Sprintf("The first constant of %s is %s = %d.", e.Name, v.Name, v.Number))
		}
	}
}

// protoDoc wants a comment on the line or above it.
func (l *linter) protoDoc(at, name string, pos protobuf.Pos) {
	lines := strings.Split(l.text, "\n")
	if pos.Line == 0 || pos.Line > len(lines) {
		return
	}
	comment := regexp.MustCompile(`//|/\*|\*/`)
	if comment.MatchString(lines[pos.Line-1]) || pos.Line > 1 && comment.MatchString(lines[pos.Line-2]) {
		return
	}
	l.add(lintDoc, at, name, name+" has no comment.")
}

// fieldsOf returns the fields of a message, those of oneofs included.
func fieldsOf(m *protobuf.Message) []*protobuf.Field {
	fields := slices.Clone(m.Fields)
	for _, o := range m.Oneofs {
		fields = append(fields, o.Fields...)
	}
	return fields
}

// reserves reports whether a message reserves a number.
func reserves(m *protobuf.Message, number int32) bool {
	return slices.ContainsFunc(m.Reserved, func(r protobuf.Reserved) bool {
		return slices.ContainsFunc(r.Items, func(i protobuf.ReservedItem) bool {
			return i.Name == nil && i.Range.From <= number && number <= max(i.Range.From, i.Range.To)
		})
	})
}

// reserved compares the reserved numbers of messages of the same names.
func (l *linter) reserved(path string, next, old []*protobuf.Message) {
	for _, o := range old {
		i := slices.IndexFunc(next, func(m *protobuf.Message) bool { return m.Name == o.Name })
		if i < 0 {
			continue
		}
		n, at := next[i], path+"/"+o.Name
		used := map[int32]bool{}
		for _, f := range fieldsOf(n) {
			used[f.Number] = true
			if reserves(o, f.Number) {
				l.add(lintUnreserved, at+"/"+strconv.Itoa(int(f.Number)), f.Name, fmt.Sprintf("%s has the number %d, which was reserved.", f.Name, f.Number))
			}
		}
		for _, f := range fieldsOf(o) {
			if !used[f.Number] && !reserves(n, f.Number) {
				l.add(lintReserve, at, strconv.Itoa(int(f.Number)), fmt.Sprintf("%s = %d was removed and its number not reserved.", f.Name, f.Number))
			}
		}
		for _, r := range o.Reserved {
			for _, item := range r.Items {
				if item.Name == nil && !used[item.Range.From] && !reserves(n, item.Range.From) {
					l.add(lintReserve, at, strconv.Itoa(int(item.Range.From)), fmt.Sprintf("%d is no longer reserved.", item.Range.From))
				}
			}
		}
		l.reserved(at, n.Messages, o.Messages)
	}
}
