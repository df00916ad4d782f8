package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"github.com/bufbuild/protocompile/parser/fastscan"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"milena/serde/schema"
)

// namesIn returns the names by which a text refers to other schemas, each once,
// as far as the text can be read. Each is a list of alternatives, of which the
// first that exists is meant: an Avro name may be meant with its namespace or
// without. A text that can't be read has none: whoever parses it says why.
func namesIn(format schema.Type, text string) [][]string {
	var names [][]string
	switch format {
	case schema.Avro:
		names = avroNames(text)
	case schema.JSON:
		names = single(jsonNames(text))
	case schema.Protobuf:
		names = single(protoNames(text))
	}
	slices.SortFunc(names, slices.Compare)
	return slices.CompactFunc(names, slices.Equal)
}

func single(names []string) [][]string {
	out := make([][]string, len(names))
	for i, name := range names {
		out[i] = []string{name}
	}
	return out
}

// choose returns of each name the first alternative that exists.
func choose(names [][]string, exists func(string) bool) []string {
	var out []string
	for _, alternatives := range names {
		if i := slices.IndexFunc(alternatives, exists); i >= 0 && !slices.Contains(out, alternatives[i]) {
			out = append(out, alternatives[i])
		}
	}
	return out
}

func protoNames(text string) []string {
	if raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text)); err == nil {
		var f descriptorpb.FileDescriptorProto
		if proto.Unmarshal(raw, &f) == nil {
			return slices.DeleteFunc(slices.Clone(f.GetDependency()), builtIn)
		}
	}
	// What was found before a syntax error counts.
	result, _ := fastscan.Scan("", strings.NewReader(text))
	var names []string
	for _, i := range result.Imports {
		if !builtIn(i.Path) {
			names = append(names, i.Path)
		}
	}
	return names
}

// jsonNames returns what references lead to outside of the text.
func jsonNames(text string) []string {
	var names []string
	own := map[string]bool{"": true}
	walkJSON(text, func(key string, value any) {
		s, ok := value.(string)
		if !ok {
			return
		}
		base, _, _ := strings.Cut(s, "#")
		switch key {
		case "$id", "id":
			own[base] = true
		case "$ref", "$dynamicRef", "$recursiveRef":
			names = append(names, base)
		}
	})
	return slices.DeleteFunc(names, func(name string) bool {
		return own[name] || strings.Contains(name, "json-schema.org/")
	})
}

// jsonID returns the name that a JSON Schema gives itself, "" if none.
func jsonID(text string) string {
	var head struct {
		ID  string `json:"$id"`
		Old string `json:"id"`
	}
	if json.Unmarshal([]byte(text), &head) != nil {
		return ""
	}
	if head.ID == "" {
		head.ID = head.Old
	}
	return strings.TrimSuffix(head.ID, "#")
}

// walkJSON calls visit for every member of every object. The depth is bounded
// by what the JSON parser takes.
func walkJSON(text string, visit func(key string, value any)) {
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return
	}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for key, value := range v {
				visit(key, value)
				walk(value)
			}
		case []any:
			for _, e := range v {
				walk(e)
			}
		}
	}
	walk(v)
}

// avroTypes collects the names that an Avro schema defines and uses.
type avroTypes struct {
	defined map[string]bool
	used    [][]string // alternatives each
}

func avroNames(text string) [][]string {
	t := avroTypesIn(text)
	return slices.DeleteFunc(t.used, func(alternatives []string) bool {
		return slices.ContainsFunc(alternatives, func(name string) bool { return t.defined[name] })
	})
}

func avroTypesIn(text string) *avroTypes {
	t := &avroTypes{defined: map[string]bool{}}
	dec := json.NewDecoder(bytes.NewReader([]byte(text)))
	var v any
	if dec.Decode(&v) == nil {
		t.walk(v, "")
	}
	return t
}

func (t *avroTypes) walk(v any, namespace string) {
	switch v := v.(type) {
	case string:
		t.use(v, namespace)
	case []any:
		for _, branch := range v {
			t.walk(branch, namespace)
		}
	case map[string]any:
		t.walkObject(v, namespace)
	}
}

func (t *avroTypes) walkObject(v map[string]any, namespace string) {
	kind, _ := v["type"].(string)
	switch kind {
	case "record", "error", "enum", "fixed":
		name, _ := v["name"].(string)
		if given, ok := v["namespace"].(string); ok && !strings.Contains(name, ".") {
			namespace = given
		}
		name = avroFullName(name, namespace)
		t.defined[name] = true
		namespace = ""
		if i := strings.LastIndexByte(name, '.'); i >= 0 {
			namespace = name[:i]
		}
		fields, _ := v["fields"].([]any)
		for _, f := range fields {
			if field, ok := f.(map[string]any); ok {
				t.walk(field["type"], namespace)
			}
		}
	case "array":
		t.walk(v["items"], namespace)
	case "map":
		t.walk(v["values"], namespace)
	default:
		t.walk(v["type"], namespace)
	}
}

func (t *avroTypes) use(name, namespace string) {
	switch name {
	case "", "null", "boolean", "int", "long", "float", "double", "bytes", "string", "record", "error", "enum", "fixed", "array", "map":
		return
	}
	full := avroFullName(name, namespace)
	t.used = append(t.used, slices.Compact([]string{full, name}))
}

func avroFullName(name, namespace string) string {
	if strings.Contains(name, ".") || namespace == "" {
		return name
	}
	return namespace + "." + name
}
