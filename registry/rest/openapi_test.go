package rest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"milena/registry"
)

const openAPIGolden = "testdata/openapi.json"

func document(t *testing.T) map[string]any {
	t.Helper()
	text, err := OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// TestOpenAPIGolden: the document is part of the repository, so that a change
// of the API is seen. -update writes it anew.
func TestOpenAPIGolden(t *testing.T) {
	text, err := OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(openAPIGolden, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(openAPIGolden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(text, want) {
		t.Errorf("%s is not what the routes are: look at the difference, then run this test with -update", openAPIGolden)
	}
}

// TestOpenAPIServed: what is served is the document.
func TestOpenAPIServed(t *testing.T) {
	text, err := OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	w := do(t, openServer(t, registry.Options{}, Options{}).Handler(), http.MethodGet, "/milena/v1/openapi.json", "")
	if w.Code != http.StatusOK || !bytes.Equal(w.Body.Bytes(), text) {
		t.Errorf("%d, %d bytes, want %d", w.Code, w.Body.Len(), len(text))
	}
}

// TestOpenAPIDescribesRoutes compares the document with the table both ways.
func TestOpenAPIDescribesRoutes(t *testing.T) {
	about := describe()
	listed := map[string]bool{}
	used := map[string]bool{}
	for _, r := range Routes() {
		key := r.Method + " " + r.Pattern
		listed[key] = true
		d := about[key]
		if d.id == "" || d.summary == "" {
			t.Errorf("%s has no description", key)
		}
		if r.HasBody != (d.request != nil) && !r.Streams {
			t.Errorf("%s: the table and the description disagree about a body", key)
		}
		if d.status == http.StatusNoContent == (d.response != nil || d.raw || r.Streams) {
			t.Errorf("%s: the description must name one kind of answer", key)
		}
		for _, name := range r.Query {
			used[name] = true
			if queryParameters()[name].doc == "" {
				t.Errorf("%s: nothing is said about the parameter %s", key, name)
			}
		}
	}
	for key := range about {
		if !listed[key] {
			t.Errorf("%s is described and is no route", key)
		}
	}
	for name := range queryParameters() {
		if !used[name] {
			t.Errorf("the parameter %s is described, and no route has it", name)
		}
	}
}

// TestOpenAPIStructure checks what a reader of OpenAPI 3.1 relies on: every
// route and method, parameters that fit the path, references that lead
// somewhere, unique ids, all error codes.
func TestOpenAPIStructure(t *testing.T) {
	doc := document(t)
	if doc["openapi"] != "3.1.0" || at(doc, "info", "title") == nil || at(doc, "info", "version") == nil {
		t.Error("the document lacks its head")
	}
	paths := at(doc, "paths").(map[string]any)
	ids := map[string]bool{}
	count := 0
	rows := table()
	for i := range rows {
		row := &rows[i]
		for _, pattern := range row.patterns() {
			count++
			op, ok := at(paths, pattern, strings.ToLower(row.method)).(map[string]any)
			if !ok {
				t.Errorf("%s %s is missing", row.method, pattern)
				continue
			}
			id := op["operationId"].(string)
			if ids[id] {
				t.Errorf("operationId %s is used twice", id)
			}
			ids[id] = true
			checkParameters(t, row, pattern, op)
			checkCodes(t, row, op)
		}
	}
	for pattern, item := range paths {
		count -= len(item.(map[string]any))
		if !strings.HasPrefix(pattern, "/") {
			t.Errorf("path %s", pattern)
		}
	}
	if count != 0 {
		t.Errorf("the document has %d operations more than the table", -count)
	}
	eachReference(doc, func(ref string) {
		name, ok := strings.CutPrefix(ref, "#/components/schemas/")
		if !ok || at(doc, "components", "schemas", name) == nil {
			t.Errorf("%s leads nowhere", ref)
		}
	})
}

func checkParameters(t *testing.T, row *route, pattern string, op map[string]any) {
	t.Helper()
	var inPath, inQuery []string
	list, _ := op["parameters"].([]any)
	for _, p := range list {
		p := p.(map[string]any)
		name := p["name"].(string)
		if p["description"] == "" || p["schema"] == nil {
			t.Errorf("%s %s: parameter %s lacks a description or schema", row.method, pattern, name)
		}
		switch p["in"] {
		case "path":
			if p["required"] != true {
				t.Errorf("%s %s: path parameter %s must be required", row.method, pattern, name)
			}
			inPath = append(inPath, name)
		case "query":
			inQuery = append(inQuery, name)
		}
	}
	for _, name := range inPath {
		if !strings.Contains(pattern, "{"+name+"}") {
			t.Errorf("%s %s has no {%s}", row.method, pattern, name)
		}
	}
	if strings.Count(pattern, "{") != len(inPath) || !slices.Equal(inQuery, row.query) {
		t.Errorf("%s %s: parameters %v and %v", row.method, pattern, inPath, inQuery)
	}
}

func checkCodes(t *testing.T, row *route, op map[string]any) {
	t.Helper()
	responses := op["responses"].(map[string]any)
	success := false
	for status := range responses {
		success = success || strings.HasPrefix(status, "2")
	}
	if !success {
		t.Errorf("%s %s has no success", row.method, row.pattern)
	}
	for _, e := range append(row.common(), row.codes...) {
		codes, _ := at(responses, fmt.Sprint(e.Status), "x-error-codes").([]any)
		if !slices.Contains(codes, any(float64(e.Code))) {
			t.Errorf("%s %s lacks the error %d", row.method, row.pattern, e.Code)
		}
	}
}

// at returns what a way through objects leads to, or nil.
func at(v any, way ...string) any {
	for _, name := range way {
		object, _ := v.(map[string]any)
		v = object[name]
	}
	return v
}

func eachReference(v any, f func(string)) {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if ref, ok := value.(string); ok && key == "$ref" {
				f(ref)
			}
			eachReference(value, f)
		}
	case []any:
		for _, value := range v {
			eachReference(value, f)
		}
	}
}
