package rest

import (
	"encoding/json"
	"fmt"
	"strings"
)

// operationFor returns the operation that a request is for, or nil.
func operationFor(doc map[string]any, method, path string) map[string]any {
	path, _, _ = strings.Cut(path, "?")
	if len(path) > 1 {
		path = strings.TrimSuffix(path, "/")
	}
	segments := strings.Split(path, "/")
	var best map[string]any
	literal := -1
	for pattern, item := range at(doc, "paths").(map[string]any) {
		parts := strings.Split(pattern, "/")
		if len(parts) != len(segments) {
			continue
		}
		same := 0
		for i, part := range parts {
			switch {
			case part == segments[i]:
				same++
			case !strings.HasPrefix(part, "{"):
				same = -len(parts)
			}
		}
		if op, ok := at(item, strings.ToLower(method)).(map[string]any); ok && same > literal {
			best, literal = op, same
		}
	}
	return best
}

// fits says how a JSON text differs from what a schema of the document says.
func fits(doc, schema map[string]any, text string) error {
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return err
	}
	return fitsValue(doc, schema, v, "")
}

func fitsValue(doc, schema map[string]any, v any, path string) error {
	if ref, ok := schema["$ref"].(string); ok {
		schema = at(doc, "components", "schemas", strings.TrimPrefix(ref, "#/components/schemas/")).(map[string]any)
	}
	if choices, ok := schema["anyOf"].([]any); ok {
		var err error
		for _, c := range choices {
			if err = fitsValue(doc, c.(map[string]any), v, path); err == nil {
				return nil
			}
		}
		return err
	}
	kind, ok := schema["type"].(string)
	if !ok {
		return nil
	}
	if got := kindOf(v); got != kind && !(kind == "number" && got == "integer") {
		return fmt.Errorf("%s is %s, not %s", path, got, kind)
	}
	switch v := v.(type) {
	case []any:
		for i, e := range v {
			if err := fitsValue(doc, schema["items"].(map[string]any), e, fmt.Sprintf("%s/%d", path, i)); err != nil {
				return err
			}
		}
	case map[string]any:
		return fitsObject(doc, schema, v, path)
	}
	return nil
}

func fitsObject(doc, schema map[string]any, v map[string]any, path string) error {
	for _, name := range asList(schema["required"]) {
		if _, ok := v[name.(string)]; !ok {
			return fmt.Errorf("%s lacks %s", path, name)
		}
	}
	properties, _ := schema["properties"].(map[string]any)
	rest, _ := schema["additionalProperties"].(map[string]any)
	for name, e := range v {
		s, ok := properties[name].(map[string]any)
		if !ok {
			s = rest
		}
		if s == nil && properties != nil {
			return fmt.Errorf("%s has %s, which the document doesn't know", path, name)
		}
		if err := fitsValue(doc, s, e, path+"/"+name); err != nil {
			return err
		}
	}
	return nil
}

func asList(v any) []any {
	list, _ := v.([]any)
	return list
}

func kindOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case float64:
		if v == float64(int64(v)) {
			return "integer"
		}
		return "number"
	case []any:
		return "array"
	default:
		return "object"
	}
}
