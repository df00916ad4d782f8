package registry

import (
	"fmt"
	"slices"
	"strings"

	"milena/registry/api"
	"milena/registry/errcode"
	"milena/serde/protobuf"
)

// entityRecord and entityField are the types of what can be tagged.
const (
	entityRecord = "sr_record"
	entityField  = "sr_field"
)

// protobufTags returns the messages and fields that have one of the wanted
// tags.
func protobufTags(s *protobuf.Schema, wanted []string) []api.SchemaTags {
	var found []api.SchemaTags
	for _, t := range s.Tags() {
		if len(t.Tags) == 0 || !slices.ContainsFunc(wanted, func(w string) bool { return w == "*" || slices.Contains(t.Tags, w) }) {
			continue
		}
		kind := entityField
		if t.Record {
			kind = entityRecord
		}
		found = append(found, api.SchemaTags{
			SchemaEntity: &api.SchemaEntity{EntityPath: t.Path, EntityType: kind}, Tags: t.Tags,
		})
	}
	return found
}

// editProtobufTags is editTags for Protobuf, where paths may name the package.
func editProtobufTags(s *protobuf.Schema, add, remove []api.SchemaTags, lenient bool) (string, error) {
	tags := map[protobuf.Entity][]string{}
	for _, t := range s.Tags() {
		tags[t.Entity] = t.Tags
	}
	for i, list := range [][]api.SchemaTags{add, remove} {
		for _, t := range list {
			entity, ok := protobufEntity(s, tags, t.SchemaEntity)
			switch {
			case !ok && lenient:
			case !ok:
				return "", errcode.InvalidSchema.New(fmt.Sprintf(
					"java.lang.IllegalArgumentException: No matching path '%s' found in the schema", entity.Path))
			case i == 0:
				tags[entity] = union(slices.Clone(tags[entity]), t.Tags)
			default:
				tags[entity] = slices.DeleteFunc(slices.Clone(tags[entity]), func(tag string) bool { return slices.Contains(t.Tags, tag) })
			}
		}
	}
	return s.WithTags(tags), nil
}

// protobufEntity finds what a path means. Where a message and a field have one
// path, the entity's type tells them apart.
func protobufEntity(s *protobuf.Schema, known map[protobuf.Entity][]string, e *api.SchemaEntity) (protobuf.Entity, bool) {
	if e == nil {
		return protobuf.Entity{}, false
	}
	path := strings.TrimPrefix(e.EntityPath, ".")
	local := path
	if pkg := s.File().Package; pkg != "" {
		local = strings.TrimPrefix(path, pkg+".")
	}
	first := strings.EqualFold(e.EntityType, entityRecord)
	for _, p := range []string{path, local} {
		for _, record := range []bool{first, !first} {
			found := protobuf.Entity{Path: p, Record: record}
			if _, ok := known[found]; ok {
				return found, true
			}
		}
	}
	return protobuf.Entity{Path: path}, false
}
