package rest

import (
	"reflect"
	"strings"
)

// schemas describes Go types as JSON Schemas, structs by name.
type schemas struct {
	known map[string]any // by name of the type
}

// of returns the schema of v's type, and keeps those of its structs.
func (s *schemas) of(v any) map[string]any {
	if v == nil {
		return map[string]any{}
	}
	return s.typ(reflect.TypeOf(v))
}

func (s *schemas) typ(t reflect.Type) map[string]any {
	switch t.Kind() {
	case reflect.Pointer:
		return s.typ(t.Elem())
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Int, reflect.Int32:
		return map[string]any{"type": "integer", "format": "int32"}
	case reflect.Int64:
		return map[string]any{"type": "integer", "format": "int64"}
	case reflect.Slice:
		return map[string]any{"type": "array", "items": s.typ(t.Elem())}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": s.typ(t.Elem())}
	case reflect.Struct:
		return s.object(t)
	default:
		return map[string]any{}
	}
}

// object returns a reference to the schema of a struct. A Field of package api
// is what it holds, or null.
func (s *schemas) object(t reflect.Type) map[string]any {
	if value, ok := t.FieldByName("Value"); ok && strings.HasPrefix(t.Name(), "Field[") {
		return map[string]any{"anyOf": []any{s.typ(value.Type), map[string]any{"type": "null"}}}
	}
	if t.NumField() == 0 && t.Name() == "" {
		return map[string]any{"type": "object"}
	}
	if s.known[t.Name()] == nil {
		s.known[t.Name()] = true // ends recursion
		properties, required := map[string]any{}, []string{}
		s.members(t, properties, &required)
		object := map[string]any{"type": "object", "properties": properties}
		if len(required) > 0 {
			object["required"] = required
		}
		s.known[t.Name()] = object
	}
	return map[string]any{"$ref": "#/components/schemas/" + t.Name()}
}

// members adds what a struct writes. A member that is left out when it has no
// value is not required.
func (s *schemas) members(t reflect.Type, properties map[string]any, required *[]string) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag, ok := f.Tag.Lookup("json")
		if f.Anonymous && !ok {
			s.members(f.Type, properties, required)
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		if name == "" || name == "-" {
			continue
		}
		properties[name] = s.typ(f.Type)
		if !strings.Contains(options, "omit") {
			*required = append(*required, name)
		}
	}
}
