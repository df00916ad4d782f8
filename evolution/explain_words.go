package evolution

import (
	"slices"
	"strings"

	"milena/evolution/avrodiff"
	"milena/evolution/diff"
	"milena/evolution/jsondiff"
	"milena/evolution/locate"
	"milena/evolution/protodiff"
	"milena/serde/protobuf"
	"milena/serde/schema"
)

// texts are the two schemas of an explanation, ready to find places in them.
type texts struct {
	next, old       schema.Parsed
	newDoc, oldDoc  *locate.Doc
	forward, isRoot bool // of the finding that is explained
}

func (t texts) reader() *locate.Doc {
	if t.forward {
		return t.oldDoc
	}
	return t.newDoc
}

func (t texts) writer() *locate.Doc {
	if t.forward {
		return t.newDoc
	}
	return t.oldDoc
}

// places sets the places of an explanation by what is in the reader's and the
// writer's text.
func (t texts) places(e *Explanation, reader, writer locate.Place) {
	e.New, e.Old = reader, writer
	if t.forward {
		e.New, e.Old = writer, reader
	}
}

// branchTrails returns the trails of a path that goes through a branch of the
// writer's union where the reader has no union: the reader's lacks the branch.
// At is the branch's place in the writer's trail, -1 if there is no such branch.
func (t texts) branchTrails(path string) (reader, writer []locate.Step, at int) {
	trail := t.reader().Trail(path)
	if t.reader().Find(trail).Exact {
		return trail, trail, -1
	}
	parts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	for i, p := range parts {
		if !isIndex(p) || i > 0 && parts[i-1] == "fields" {
			continue
		}
		short := t.reader().Trail("/" + strings.Join(slices.Delete(slices.Clone(parts), i, i+1), "/"))
		if t.reader().Find(short).Exact {
			return short, slices.Insert(slices.Clone(short), i, locate.Step{Key: p}), i
		}
	}
	return trail, trail, -1
}

func isIndex(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// A type that does not read one branch of a union needs other words than one
// that does not read another type.
func unionAdvice() diff.Advice {
	return diff.Advice{
		"Data of the {writer} schema may hold {branch}, which the type {new} of the new schema can't read; the old type is {old}.",
		"give {name} its old type{oldType} back, or a union of its new type with {branch}",
		"take {branch} out of the type of {name} again{orField}",
		"Data of the {writer} schema may hold {branch}, which the type {old} of the old schema can't read; the new type is {new}.",
	}
}

// avro corrects the places and the rule of a finding about unions and returns
// what fills the blanks of Avro's rules.
func (t *texts) avro(f Finding, e *Explanation, rule *diff.Rule) []string {
	read, wrote, at := t.branchTrails(f.Path)
	if at >= 0 {
		e.Name = t.reader().Name(read)
		t.places(e, t.reader().Find(read), t.writer().Find(wrote))
	}
	branch := t.written(wrote)
	last := len(wrote) - 1
	switch {
	case f.Kind == avrodiff.TypeMismatch && at >= 0 && at == last:
		t.places(e, t.reader().Find(read), t.writer().Find(wrote[:last]))
		t.isRoot = last == 0
		a := unionAdvice()
		rule.Why, rule.Fix, rule.FixForward, rule.WhyForward = a[0], a[1], a[2], a[3]
	case f.Kind == avrodiff.MissingUnionBranch && last >= 0 && isIndex(wrote[last].Key) && t.writer().Find(wrote).Exact:
		// The index is one of the writer's union.
		t.places(e, t.reader().Find(wrote[:last]), t.writer().Find(wrote))
		t.isRoot = last == 0
	}
	_, kind, _ := strings.Cut(f.Info, "writer type: ")
	orField := ""
	if !t.isRoot {
		orField = ", or add a new field with a default"
		if t.forward {
			orField = ", or put the new type into a new field and keep this one"
		}
	}
	return []string{"{branch}", branch, "{promoted}", promoted(kind), "{symbols}", symbols(f.Info), "{orField}", orField, "{oldType}", short(e.Old)}
}

// written is a type of the writer as one writes it: a named one by its name.
func (t texts) written(trail []locate.Step) string {
	named := append(slices.Clip(trail), locate.Step{Key: "name"})
	if len(trail) > 0 && trail[len(trail)-1].Key != "fields" {
		if p := t.writer().Find(named); p.Exact {
			return p.Value
		}
	}
	if p := t.writer().Find(trail); p.Exact {
		return p.Value
	}
	return "a type"
}

// short is what stands at a place behind a space, nothing if that was cut.
func short(p locate.Place) string {
	if p.Value == "" || strings.HasSuffix(p.Value, "…") {
		return ""
	}
	return " " + p.Value
}

// promoted offers the types that read a kind besides itself.
func promoted(kind string) string {
	switch kind {
	case "INT":
		return `, or a type that reads it as well ("long", "float" or "double")`
	case "LONG":
		return `, or a type that reads it as well ("float" or "double")`
	case "FLOAT":
		return `, or a type that reads it as well ("double")`
	case "STRING":
		return `, or a type that reads it as well ("bytes")`
	case "BYTES":
		return `, or a type that reads it as well ("string")`
	}
	return ""
}

// symbols quotes a list in brackets as one writes the symbols.
func symbols(info string) string {
	list := strings.Split(strings.TrimSuffix(strings.TrimPrefix(info, "["), "]"), ", ")
	word := "symbol "
	if len(list) > 1 {
		word = "symbols "
	}
	return word + `"` + strings.Join(list, `", "`) + `"`
}

// json returns what fills the blanks of JSON Schema's rules. Schemas without a
// type need another fix than those with one.
func (t texts) json(f Finding, trail []locate.Step, e *Explanation, rule *diff.Rule) []string {
	orProperty, kinds := ", or add a new property", ""
	if t.forward {
		orProperty = ", or add a new property with the new one"
	}
	if t.isRoot {
		orProperty = ""
	}
	if f.Kind == jsondiff.TypeChanged && e.Old.Exact && e.New.Exact && (keyword(t.oldDoc, trail) != "type" || keyword(t.newDoc, trail) != "type") {
		kinds = " Where a schema has no type, its other keywords say what it counts as, and what counts as different kinds is not compared further."
		was := ""
		if s := short(e.Old); s != "" {
			was = " (" + s[1:] + ")"
		}
		rule.Fix = "keep {name} as it was" + was + ", or allow that as well (anyOf){orProperty}"
		rule.FixForward = "keep {name} as it was" + was + "{orProperty}"
	}
	return []string{"{orProperty}", orProperty, "{kinds}", kinds}
}

// jsonKinds lists, by what a schema without a type counts as, the keywords that
// say so.
func jsonKinds() [][]string {
	return [][]string{
		{"a list of values", "enum", "const"},
		{"a combination", "allOf", "anyOf", "oneOf", "if"},
		{"an exclusion", "not"},
		{"a reference", "$ref"},
		{"an object", "properties", "required", "additionalProperties", "patternProperties", "maxProperties", "minProperties", "propertyNames", "dependencies", "dependentRequired", "dependentSchemas"},
		{"an array", "items", "prefixItems", "additionalItems", "contains", "maxItems", "minItems", "uniqueItems"},
		{"a string", "minLength", "maxLength", "pattern", "format"},
		{"a number", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"},
	}
}

// keyword is the keyword that says what kind of schema a trail leads to, "" if
// there is none.
func keyword(d *locate.Doc, trail []locate.Step) string {
	if has(d, trail, "type") {
		return "type"
	}
	for _, row := range jsonKinds() {
		for _, k := range row[1:] {
			if has(d, trail, k) {
				return k
			}
		}
	}
	return ""
}

func has(d *locate.Doc, trail []locate.Step, key string) bool {
	return d.Find(append(slices.Clip(trail), locate.Step{Key: key})).Exact
}

// typeOf is the type of the schema that a trail leads to, else what it counts
// as by its keywords.
func typeOf(d *locate.Doc, trail []locate.Step, otherwise string) string {
	here := d.Find(trail)
	key := keyword(d, trail)
	switch {
	case key == "type":
		return d.Find(append(slices.Clip(trail), locate.Step{Key: "type"})).Value
	case !here.Exact && len(trail) > 0:
		return otherwise
	case here.Value == "false":
		return "nothing (it is false)"
	case key == "":
		return "anything (no keyword limits it)"
	}
	for _, row := range jsonKinds() {
		if slices.Contains(row[1:], key) {
			return row[0] + ` (by its "` + key + `")`
		}
	}
	return otherwise
}

// proto returns what fills the blanks of Protobuf's rules.
func (t texts) proto(f Finding, e *Explanation) []string {
	if f.Kind != protodiff.FieldKindChanged {
		return nil
	}
	scope := strings.Split(strings.TrimPrefix(strings.TrimPrefix(f.Path, "#"), "/"), "/")
	return []string{"{oldType}", protoType(t.old, scope, e.Old), "{newType}", protoType(t.next, scope, e.New)}
}

// protoType is the type of the field at a place, with what it is.
func protoType(p schema.Parsed, scope []string, at locate.Place) string {
	s, ok := p.(*protobuf.Schema)
	if !ok || at.Value == "" {
		return "of another type"
	}
	name := at.Value
	for _, label := range []string{"optional ", "required ", "repeated "} {
		name = strings.TrimPrefix(name, label)
	}
	if strings.HasPrefix(name, "map") && strings.Contains(name, ">") {
		return "the map " + name[:strings.Index(name, ">")+1]
	}
	name, _, _ = strings.Cut(name, " ")
	if name == "group" {
		return "a group, which counts as a message"
	}
	if protodiff.IsScalar(name) {
		return "the scalar " + name
	}
	within := strings.Join(slices.DeleteFunc(slices.Clone(scope), isIndex), ".")
	if pkg := s.File().Package; pkg != "" {
		within = pkg + "." + within
	}
	d, ok := s.Resolve(within, name)
	switch {
	case !ok:
		return name + ", which is not found and counts as a message"
	case d.Enum != nil:
		return "the enum " + name
	}
	return "the message " + name
}

// named says of a kind that is named for what the reader sees that the reader
// is the old schema.
func named(kind diff.Kind) string {
	for _, word := range []string{"_ADDED", "_REMOVED", "_INCREASED", "_DECREASED", "_EXTENDED", "_NARROWED", "_EXPANDED"} {
		if strings.Contains(string(kind), word) {
			return " (The rule's name is as seen by readers with the old schema.)"
		}
	}
	return ""
}
