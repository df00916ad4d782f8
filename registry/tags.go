package registry

import (
	"encoding/json"
	"slices"

	"milena/registry/api"
	"milena/registry/state"
	"milena/serde/avro"
	"milena/serde/jsonschema"
	"milena/serde/protobuf"
)

// tagsAttribute is the attribute of records and fields that holds inline tags.
const tagsAttribute = "confluent:tags"

// tags returns the entities of a stored schema that have one of the wanted
// tags, with all of their inline tags; "*" wants every tag. Tags in the
// metadata don't count. What can't be read has none.
func (r *Registry) tags(v *state.View, version *state.Version, wanted []string) []api.SchemaTags {
	if len(wanted) == 0 {
		return nil
	}
	p, err := r.stored(v, version)
	if err != nil {
		r.opt.Logger.Warn("stored schema can't be searched for tags", "subject", version.Name.String(), "version", version.Schema.Version, "err", err)
		return nil
	}
	switch p := p.(type) {
	case *avro.Schema:
		f := tagFinder{wanted: wanted, seen: map[*avro.Type]bool{}}
		f.walk(p.Root())
		return f.found
	case *jsonschema.Schema:
		found, err := jsonSchemaTags(p, wanted)
		if err != nil { // a canonical text is JSON
			r.opt.Logger.Error("stored schema can't be searched for tags", "subject", version.Name.String(), "version", version.Schema.Version, "err", err)
		}
		return found
	case *protobuf.Schema:
		return protobufTags(p, wanted)
	default:
		return nil
	}
}

type tagFinder struct {
	wanted []string
	seen   map[*avro.Type]bool
	found  []api.SchemaTags
}

// walk visits every type once; depth is bounded by the parser's limits.
func (f *tagFinder) walk(t *avro.Type) {
	if t == nil || f.seen[t] {
		return
	}
	f.seen[t] = true
	switch t.Kind {
	case avro.KindRecord:
		f.entity(t.FullName(), "sr_record", t.Props)
		for i := range t.Fields {
			field := &t.Fields[i]
			f.entity(t.FullName()+"."+field.Name, "sr_field", field.Props)
			f.walk(field.Type)
		}
	case avro.KindArray, avro.KindMap:
		f.walk(t.Items)
	case avro.KindUnion:
		for _, branch := range t.Branches {
			f.walk(branch)
		}
	default:
	}
}

func (f *tagFinder) entity(path, kind string, props []avro.Prop) {
	for i := range props {
		if props[i].Key != tagsAttribute {
			continue
		}
		var tags []string
		if json.Unmarshal([]byte(props[i].Value.JSON()), &tags) != nil {
			return // an attribute of that name which is something else
		}
		if slices.ContainsFunc(f.wanted, func(w string) bool { return w == "*" || slices.Contains(tags, w) }) && len(tags) > 0 {
			f.found = append(f.found, api.SchemaTags{
				SchemaEntity: &api.SchemaEntity{EntityPath: path, EntityType: kind}, Tags: tags,
			})
		}
	}
}
