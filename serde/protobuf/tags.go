package protobuf

import (
	"slices"
	"strings"
)

// Entity is a message or field that inline tags can stand on.
type Entity struct {
	// Path is the name of the message within the file, without the package, and
	// behind it, for a field, a dot and the field's name.
	Path string
	// Record tells a message from a field.
	Record bool
}

// Tagged is an entity with its inline tags, those of confluent/meta.proto's
// options.
type Tagged struct {
	Entity
	Tags []string
}

// The options that hold the tags.
const (
	messageMeta = "confluent.message_meta"
	fieldMeta   = "confluent.field_meta"
)

// Tags returns every message and field with its tags, if it has any, in the
// order of the text.
func (s *Schema) Tags() []Tagged {
	var out []Tagged
	eachEntity(s.file, func(e Entity, options []Option) []Option {
		out = append(out, Tagged{e, tagsIn(options, metaName(e))})
		return options
	})
	return out
}

// WithTags returns the canonical text with the tags of some entities replaced.
// Those left without any lose the list, and the option if nothing is left of it.
func (s *Schema) WithTags(tags map[Entity][]string) string {
	f := eachEntity(s.file, func(e Entity, options []Option) []Option {
		wanted, ok := tags[e]
		if !ok || slices.Equal(wanted, tagsIn(options, metaName(e))) {
			return options
		}
		return setTags(options, metaName(e), wanted)
	})
	text, _ := printFile(f) // parsed again by whoever stores it
	return text
}

func metaName(e Entity) string {
	if e.Record {
		return messageMeta
	}
	return fieldMeta
}

// eachEntity returns a copy of a file with the options of messages and fields
// replaced by what edit makes of them.
func eachEntity(f *File, edit func(Entity, []Option) []Option) *File {
	out := *f
	out.Messages = editMessages(f.Messages, "", edit)
	return &out
}

func editMessages(list []*Message, scope string, edit func(Entity, []Option) []Option) []*Message {
	var out []*Message
	for _, m := range list {
		c := *m
		path := scope + m.Name
		c.Options = edit(Entity{path, true}, m.Options)
		c.Fields = editFields(m.Fields, path, edit)
		c.Oneofs = nil
		for _, o := range m.Oneofs {
			x := *o
			x.Fields = editFields(o.Fields, path, edit)
			c.Oneofs = append(c.Oneofs, &x)
		}
		c.Messages = editMessages(m.Messages, path+".", edit)
		out = append(out, &c)
	}
	return out
}

func editFields(list []*Field, path string, edit func(Entity, []Option) []Option) []*Field {
	var out []*Field
	for _, f := range list {
		c := *f
		c.Options = edit(Entity{path + "." + f.Name, false}, f.Options)
		out = append(out, &c)
	}
	return out
}

// isMeta reports whether an option sets a Meta extension, in whole or in part.
func isMeta(o *Option, name string) bool {
	return o.Paren && strings.TrimPrefix(o.Name, ".") == name
}

// metaIn returns the whole value of a Meta extension, nil if it isn't set.
func metaIn(options []Option, name string) *Value {
	m := &merger{}
	var v *Value
	for i := range options {
		o := &options[i]
		if !isMeta(o, name) {
			continue
		}
		whole := m.whole(o.Sub, o.Value)
		if v != nil {
			whole = m.merge(*v, whole, nil)
		}
		v = &whole
	}
	return v
}

func tagsIn(options []Option, name string) []string {
	var out []string
	if v := metaIn(options, name); v != nil {
		for _, t := range v.entry("tags").list() {
			out = append(out, t.javaString())
		}
	}
	return out
}

// setTags replaces the tags in a list of options. The option stays where its
// first part stood, or comes last.
func setTags(options []Option, name string, tags []string) []Option {
	v := Value{Kind: MapValue}
	if old := metaIn(options, name); old != nil && old.Kind == MapValue {
		v.Map = slices.Clone(old.Map)
	}
	v.Map = slices.DeleteFunc(v.Map, func(e Entry) bool { return e.Key == "tags" && len(tags) == 0 })
	if len(tags) > 0 {
		list := Value{Kind: ListValue}
		for _, t := range tags {
			list.List = append(list.List, Value{Kind: StringValue, Text: t})
		}
		setEntry(&v, "tags", list)
	}
	var out []Option
	done := len(v.Map) == 0
	for i := range options {
		switch {
		case !isMeta(&options[i], name):
			out = append(out, options[i])
		case !done:
			out = append(out, Option{Name: name, Paren: true, Value: v})
			done = true
		}
	}
	if !done {
		out = append(out, Option{Name: name, Paren: true, Value: v})
	}
	return out
}
