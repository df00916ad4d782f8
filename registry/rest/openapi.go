package rest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"milena/registry/api"
	"milena/registry/errcode"
)

// OpenAPI returns the description of all routes as an OpenAPI 3.1 document,
// made of the table of routes, the table of error codes and the types of
// bodies. Only what a route is for, and what its bodies are, is written down by
// hand (describe); a test wants that for every route.
func OpenAPI() ([]byte, error) {
	d := openapi{schemas: schemas{known: map[string]any{}}}
	paths := map[string]map[string]any{}
	rows := table()
	for i := range rows {
		row := &rows[i]
		about, ok := describe()[row.method+" "+row.pattern]
		if !ok {
			return nil, fmt.Errorf("describe routes: nothing about %s %s", row.method, row.pattern)
		}
		for _, pattern := range row.patterns() {
			if paths[pattern] == nil {
				paths[pattern] = map[string]any{}
			}
			paths[pattern][strings.ToLower(row.method)] = d.operation(row, pattern, &about)
		}
	}
	d.schemas.of(api.ErrorMessage{})
	doc := map[string]any{
		"openapi":           "3.1.0",
		"jsonSchemaDialect": "https://json-schema.org/draft/2020-12/schema",
		"info": map[string]any{
			"title":   "Milena schema registry",
			"version": "1",
			"description": "The REST API of Confluent Schema Registry 8.5, and what is Milena's own below /milena/v1. " +
				"Answers and requests come as application/vnd.schemaregistry.v1+json, application/vnd.schemaregistry+json or " +
				"application/json, all the same. Every error has the body ErrorMessage, whose error_code begins with the status.",
			"license": map[string]any{"name": "Apache-2.0", "identifier": "Apache-2.0"},
		},
		"paths":      paths,
		"components": map[string]any{"schemas": d.schemas.known},
	}
	text, err := json.MarshalIndent(doc, "", " ")
	if err != nil {
		return nil, fmt.Errorf("encode OpenAPI document: %w", err)
	}
	return append(text, '\n'), nil
}

// openAPI answers GET /milena/v1/openapi.json.
func (s *Server) openAPI(context.Context, *request) (answer, error) {
	return encoded(s.document())
}

// openapi builds a document.
type openapi struct{ schemas schemas }

// operation describes a route under one of its patterns.
func (d *openapi) operation(row *route, pattern string, about *description) map[string]any {
	id := about.id
	if pattern != row.pattern {
		id += "InContext"
	}
	out := map[string]any{
		"operationId": id,
		"summary":     about.summary,
		"tags":        []string{tagOf(row.pattern)},
		"x-access":    string(row.access),
		"responses":   d.responses(row, about),
	}
	if about.detail != "" {
		out["description"] = about.detail
	}
	if parameters := parametersOf(row, pattern); len(parameters) > 0 {
		out["parameters"] = parameters
	}
	if about.request != nil || row.flags&streams != 0 && row.method != http.MethodGet {
		out["requestBody"] = map[string]any{"required": true, "content": d.content(row, about.request, nil, false)}
	}
	return out
}

// tagOf returns what a route is listed under.
func tagOf(pattern string) string {
	if strings.HasPrefix(pattern, "/milena/") {
		return "milena"
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(pattern, "/"), "/")
	first, _, _ = strings.Cut(first, ":")
	switch first {
	case "", "v1":
		return "server"
	default:
		return first
	}
}

// content describes a body. Streams are lines; raw texts are schemas as they
// are.
func (d *openapi) content(row *route, v, or any, raw bool) map[string]any {
	if row.flags&streams != 0 {
		return map[string]any{typeLines: map[string]any{"schema": map[string]any{
			"type": "string", "description": "JSON Lines: one JSON object per line",
		}}}
	}
	if _, ok := v.(octets); ok {
		return map[string]any{"application/octet-stream": map[string]any{}}
	}
	schema := map[string]any{"type": "string", "description": "the text of the schema itself"}
	switch {
	case or != nil:
		schema = map[string]any{"anyOf": []any{d.schemas.of(v), d.schemas.of(or)}}
	case !raw:
		schema = d.schemas.of(v)
	}
	return map[string]any{typeV1: map[string]any{"schema": schema}}
}

// responses describes the success and the errors of a route, by status.
func (d *openapi) responses(row *route, about *description) map[string]any {
	out := map[string]any{}
	switch {
	case about.status == http.StatusNoContent:
		out["204"] = map[string]any{"description": "Done."}
	default:
		status := about.status
		if status == 0 {
			status = http.StatusOK
		}
		out[strconv.Itoa(status)] = map[string]any{
			"description": "Success.", "content": d.content(row, about.response, about.or, about.raw),
		}
	}
	byStatus := map[int][]*errcode.Row{}
	for _, e := range append(row.common(), row.codes...) {
		if !slices.Contains(byStatus[e.Status], e) {
			byStatus[e.Status] = append(byStatus[e.Status], e)
		}
	}
	for status, rows := range byStatus {
		slices.SortFunc(rows, func(a, b *errcode.Row) int { return a.Code - b.Code })
		var texts []string
		var codes []int
		for _, e := range rows {
			texts = append(texts, fmt.Sprintf("%d %s", e.Code, e.Name))
			codes = append(codes, e.Code)
		}
		content := map[string]any{typeV1: map[string]any{"schema": map[string]any{"$ref": "#/components/schemas/ErrorMessage"}}}
		out[strconv.Itoa(status)] = map[string]any{
			"description": strings.Join(texts, ", "), "x-error-codes": codes, "content": content,
		}
	}
	return out
}

// parametersOf describes the parameters of a route: path, then query.
func parametersOf(row *route, pattern string) []any {
	var out []any
	for segment := range strings.SplitSeq(pattern, "/") {
		name, ok := strings.CutPrefix(segment, "{")
		if !ok {
			continue
		}
		name, _, _ = strings.Cut(name, "}")
		about := pathParameters()[name]
		out = append(out, map[string]any{
			"name": name, "in": "path", "required": true, "description": about.doc, "schema": about.schema(),
		})
	}
	for _, name := range row.query {
		about := queryParameters()[name]
		out = append(out, map[string]any{
			"name": name, "in": "query", "description": about.doc, "schema": about.schema(),
		})
	}
	return out
}
