package registry

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"milena/serde/avro"
	"milena/serde/protobuf"
	"milena/serde/schema"
)

// entity is a named type of a schema or a field of one, as a search sees it.
type entity struct {
	path  string // "ns.Record" or "ns.Record.field", as for inline tags
	name  string // the last part of path
	field bool
	tags  []string // inline
}

// entities returns the named types and fields of a schema, in the order of its
// text. It is the one place of a search that knows formats; a type that is not
// named here has none.
func entities(p schema.Parsed) []entity {
	switch p := p.(type) {
	case *avro.Schema:
		w := avroEntities{seen: map[*avro.Type]bool{}}
		w.walk(p.Root())
		return w.found
	case *protobuf.Schema:
		w := protoEntities{}
		f := p.File()
		w.types(f.Package, f.Messages, f.Enums)
		return w.found
	default:
		if p.Type() == schema.JSON {
			return jsonEntities(p.Canonical())
		}
		return nil
	}
}

// avroEntities visits every type once; depth is bounded by the parser's limits.
type avroEntities struct {
	seen  map[*avro.Type]bool
	found []entity
}

func (w *avroEntities) walk(t *avro.Type) {
	if t == nil || w.seen[t] {
		return
	}
	w.seen[t] = true
	switch t.Kind {
	case avro.KindRecord:
		w.found = append(w.found, entity{path: t.FullName(), name: lastPart(t.FullName()), tags: avroTags(t.Props)})
		for i := range t.Fields {
			f := &t.Fields[i]
			w.found = append(w.found, entity{path: t.FullName() + "." + f.Name, name: f.Name, field: true, tags: avroTags(f.Props)})
			w.walk(f.Type)
		}
	case avro.KindEnum, avro.KindFixed:
		w.found = append(w.found, entity{path: t.FullName(), name: lastPart(t.FullName()), tags: avroTags(t.Props)})
	case avro.KindArray, avro.KindMap:
		w.walk(t.Items)
	case avro.KindUnion:
		for _, branch := range t.Branches {
			w.walk(branch)
		}
	default:
	}
}

func lastPart(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

func avroTags(props []avro.Prop) []string {
	var tags []string
	for i := range props {
		if props[i].Key == tagsAttribute && json.Unmarshal([]byte(props[i].Value.JSON()), &tags) != nil {
			return nil // an attribute of that name which is something else
		}
	}
	return tags
}

type protoEntities struct{ found []entity }

func (w *protoEntities) types(scope string, messages []*protobuf.Message, enums []*protobuf.Enum) {
	for _, m := range messages {
		path := join(scope, m.Name)
		w.found = append(w.found, entity{path: path, name: m.Name, tags: protoTags(m.Options, "message_meta")})
		w.fields(path, m.Fields)
		for _, o := range m.Oneofs {
			w.fields(path, o.Fields)
			w.groups(path, o.Groups)
		}
		w.groups(path, m.Groups)
		w.types(path, m.Messages, m.Enums)
	}
	for _, e := range enums {
		w.found = append(w.found, entity{path: join(scope, e.Name), name: e.Name, tags: protoTags(e.Options, "enum_meta")})
	}
}

func (w *protoEntities) groups(scope string, groups []*protobuf.Group) {
	for _, g := range groups {
		path := join(scope, g.Name)
		w.found = append(w.found, entity{path: path, name: g.Name})
		w.fields(path, g.Fields)
	}
}

func (w *protoEntities) fields(scope string, fields []*protobuf.Field) {
	for _, f := range fields {
		w.found = append(w.found, entity{path: join(scope, f.Name), name: f.Name, field: true, tags: protoTags(f.Options, "field_meta")})
	}
}

func join(scope, name string) string {
	if scope == "" {
		return name
	}
	return scope + "." + name
}

// protoTags returns the tags in the option confluent.<meta>, which is written as
// (confluent.field_meta).tags = "T", as = ["T"], or within { tags: … }.
func protoTags(options []protobuf.Option, meta string) []string {
	var tags []string
	for i := range options {
		o := &options[i]
		if !o.Paren || strings.TrimPrefix(o.Name, ".") != "confluent."+meta {
			continue
		}
		if len(o.Sub) == 1 && o.Sub[0] == "tags" {
			tags = append(tags, protoTexts(&o.Value)...)
			continue
		}
		for j := range o.Value.Map {
			if e := &o.Value.Map[j]; len(o.Sub) == 0 && e.Key == "tags" {
				tags = append(tags, protoTexts(&e.Value)...)
			}
		}
	}
	return tags
}

func protoTexts(v *protobuf.Value) []string {
	if v.Kind == protobuf.StringValue {
		return []string{v.Text}
	}
	var texts []string
	for i := range v.List {
		texts = append(texts, protoTexts(&v.List[i])...)
	}
	return texts
}

// jsonEntities returns the properties of a JSON Schema as fields, and titles,
// definitions and the root as types. Properties go by "object.<property>…", as
// for inline tags; the walk looks at keywords only, wherever they are.
func jsonEntities(text string) []entity {
	var root any
	if json.Unmarshal([]byte(text), &root) != nil {
		return nil
	}
	w := jsonWalk{}
	w.schema("object", root)
	return w.found
}

type jsonWalk struct{ found []entity }

func (w *jsonWalk) schema(path string, v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			w.schema(path, e)
		}
	case map[string]any:
		if title, ok := v["title"].(string); ok && title != "" {
			w.found = append(w.found, entity{path: title, name: title, tags: jsonTags(v)})
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			w.keyword(path, key, v[key])
		}
	}
}

func (w *jsonWalk) keyword(path, key string, v any) {
	members, isObject := v.(map[string]any)
	switch key {
	case "properties", "patternProperties":
		for _, name := range slices.Sorted(maps.Keys(members)) {
			property := path + "." + name
			member, _ := members[name].(map[string]any)
			w.found = append(w.found, entity{path: property, name: name, field: true, tags: jsonTags(member)})
			w.schema(property, members[name])
		}
	case "definitions", "$defs", "dependentSchemas", "dependencies":
		for _, name := range slices.Sorted(maps.Keys(members)) {
			if key == "definitions" || key == "$defs" {
				member, _ := members[name].(map[string]any)
				w.found = append(w.found, entity{path: name, name: name, tags: jsonTags(member)})
			}
			w.schema(name, members[name])
		}
	case "default", "const", "enum", "examples", "required":
		// Values, whatever they look like.
	default:
		if _, isList := v.([]any); isObject || isList {
			w.schema(path, v)
		}
	}
}

func jsonTags(v map[string]any) []string {
	list, _ := v[tagsAttribute].([]any)
	var tags []string
	for _, e := range list {
		if tag, ok := e.(string); ok {
			tags = append(tags, tag)
		}
	}
	return tags
}
