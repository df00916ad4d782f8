package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"milena/serde/schema"
)

// TestTellType has a case for every row of the two tables, and for what is
// ambiguous.
func TestTellType(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       schema.Type // "" is an error
	}{
		{"a.avsc", "anything", schema.Avro},
		{"A.AVSC", "anything", schema.Avro},
		{"a.proto", "anything", schema.Protobuf},
		{"a.schema.json", `"int"`, schema.JSON},
		{"a.jsonschema", `"int"`, schema.JSON},
		{"a.desc", "\x00", schema.Protobuf},
		{"a.binpb", "", schema.Protobuf},
		{"a.protoset", "", schema.Protobuf},
		{"a.fds", "", schema.Protobuf},
		{"a.avdl", "protocol P {}", ""},
		{"a.json", ` "int"`, schema.Avro},
		{"a", `["null","int"]`, schema.Avro},
		{"a", "true", schema.JSON},
		{"a", "false", schema.JSON},
		{"a", `{"$schema":"x","type":"record","name":"R"}`, schema.JSON},
		{"a", `{"$ref":"#/definitions/a","definitions":{}}`, schema.JSON},
		{"a", `{"type":"record","name":"R","fields":[]}`, schema.Avro},
		{"a", `{"type":"enum","name":"R","symbols":[]}`, schema.Avro},
		{"a", `{"type":"fixed","name":"R","size":1}`, schema.Avro},
		{"a", `{"type":"error","name":"R","fields":[]}`, schema.Avro},
		{"a", `{"type":"string","logicalType":"uuid"}`, schema.Avro},
		{"a", `{"type":"int"}`, schema.Avro},
		{"a", `{"type":"map","values":"int"}`, schema.Avro},
		{"a", `{"type":"array","items":"int"}`, schema.Avro},
		{"a", `{"type":"array","items":["null","int"]}`, schema.Avro},
		{"a", `{"type":"array","items":{"type":"string"}}`, ""},
		{"a", `{"type":"array","items":[{"type":"string"}]}`, ""},
		{"a", `{"type":"array","items":{"type":"string"},"minItems":1}`, schema.JSON},
		{"a", `{"type":"object"}`, schema.JSON},
		{"a", `{"type":"number"}`, schema.JSON},
		{"a", `{"type":["string","null"]}`, schema.JSON},
		{"a", `{}`, schema.JSON},
		{"a", `{"anyOf":[]}`, schema.JSON},
		{"a", `{"type":"string","enum":["a"]}`, schema.JSON},
		{"a", `{"type":"string"}`, ""},
		{"a", `{"type":"boolean"}`, ""},
		{"a", `{"type":"null"}`, ""},
		{"a", `{"type":{"type":"string"}}`, ""},
		{"a", `{"type":"record"}`, ""},
		{"a", "// c\n/* d\n */ syntax = \"proto3\";", schema.Protobuf},
		{"a", "message M {}", schema.Protobuf},
		{"a", "messages", ""},
		{"a", "7", ""},
		{"a", "null", ""},
		{"a", `{"type":"int"} {}`, ""},
		{"a", " \n", ""},
		{"a", "", ""},
		{"a", "hello", ""},
	} {
		got, files, err := tellType(c.name, []byte(c.text))
		if got != c.want || (err != nil) != (c.want == "") || err != nil && !errors.Is(err, errNoType) {
			t.Errorf("%s %s: %s, %v; want %q", c.name, c.text, got, err, c.want)
		}
		if want := slices.ContainsFunc(extensionTable(), func(r extensionRow) bool { return r.files && r.match(c.name) }); files != want {
			t.Errorf("%s: descriptor set %t", c.name, files)
		}
	}
	for text, want := range map[string]schema.Type{"avro": schema.Avro, "Json": schema.JSON, "PROTOBUF": schema.Protobuf, "proto": schema.Protobuf, "jsonschema": schema.JSON} {
		if got, err := parseType(text); got != want || err != nil {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
}

func TestNamesIn(t *testing.T) {
	for _, c := range []struct {
		format schema.Type
		text   string
		want   string
	}{
		{schema.Avro, `"int"`, "[]"},
		{schema.Avro, `["null","a.B","a.B"]`, "[[a.B]]"},
		{schema.Avro, `{"type":"record","name":"n.R","fields":[{"name":"a","type":"S"},{"name":"b","type":"R"},{"name":"c","type":{"type":"map","values":"o.T"}}]}`, "[[n.S S] [o.T]]"},
		{schema.Avro, `{"type":"record","name":"R","namespace":"n","fields":[{"name":"a","type":{"type":"enum","name":"E","symbols":[]}},{"name":"b","type":["E","n.E"]}]}`, "[]"},
		{schema.Avro, `{"type":"array","items":{"type":"X"}}`, "[[X]]"},
		{schema.Avro, `{`, "[]"},
		{schema.JSON, `{"$id":"http://a/b","allOf":[{"$ref":"#/x"},{"$ref":"http://a/b#/y"},{"$ref":"c.json#/z"},{"$ref":"http://json-schema.org/draft-07/schema#"}]}`, "[[c.json]]"},
		{schema.JSON, `{"properties":{"$ref":{"type":"string"}}}`, "[]"},
		{schema.JSON, `x`, "[]"},
		{schema.Protobuf, "import \"a.proto\";\nimport public 'b/c.proto'; import \"google/protobuf/any.proto\"; message M {}", "[[a.proto] [b/c.proto]]"},
		{schema.Protobuf, "import \"a.proto\"; message {", "[[a.proto]]"},
		{schema.Protobuf, "}}}", "[]"},
	} {
		if got := fmt.Sprint(namesIn(c.format, c.text)); got != c.want {
			t.Errorf("%s: %s, want %s", c.text, got, c.want)
		}
	}
}

func TestSplitVersion(t *testing.T) {
	for text, want := range map[string]string{
		"s": "s latest", "s@3": "s 3", "s@latest": "s latest", "s@LATEST": "s LATEST", "a@b": "a@b latest", "a@0": "a@0 latest",
		"a@1@2": "a@1 2", "@1": " 1", "a@": "a@ latest", "a@99999999999": "a@99999999999 latest",
	} {
		subject, version := splitVersion(text)
		if got := subject + " " + version; got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// file returns a file of a descriptor set.
func file(name, message string, imports ...string) *descriptorpb.FileDescriptorProto {
	f := &descriptorpb.FileDescriptorProto{
		Name: proto.String(name), Syntax: proto.String("proto3"), Dependency: imports,
		MessageType: []*descriptorpb.DescriptorProto{{Name: proto.String(message)}},
	}
	for i, of := range imports {
		if builtIn(of) {
			continue
		}
		f.MessageType[0].Field = append(f.MessageType[0].Field, &descriptorpb.FieldDescriptorProto{
			Name: proto.String(fmt.Sprint("f", i)), Number: proto.Int32(int32(i + 1)), TypeName: proto.String("." + strings.ToUpper(of[:1])),
			Type: descriptorpb.FieldDescriptorProto_TYPE_MESSAGE.Enum(), Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(),
		})
	}
	return f
}

func set(t *testing.T, files ...*descriptorpb.FileDescriptorProto) string {
	t.Helper()
	raw, err := proto.Marshal(&descriptorpb.FileDescriptorSet{File: files})
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestDescriptorSet: the last file is the schema, those that it needs are its
// references, the others are left out.
func TestDescriptorSet(t *testing.T) {
	cleanEnvironment(t)
	t.Setenv("MILENA_REGISTRY_URL", startRegistry(t))
	t.Chdir(t.TempDir())
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	builtin := file("google/protobuf/any.proto", "Any")
	write("good.desc", set(t, builtin, file("a.proto", "A"), file("x.proto", "X"), file("b.proto", "B", "a.proto"),
		file("main.proto", "M", "b.proto", "google/protobuf/any.proto")))
	write("missing.desc", set(t, file("main.proto", "M", "a.proto")))
	write("twice.desc", set(t, file("a.proto", "A"), file("a.proto", "A")))
	write("empty.desc", "")
	write("noise.desc", "noise")
	for _, c := range []struct{ args, want string }{
		{"register s good.desc", "s: version 1, id 3\n"},
		{"register s good.desc", "s: version 1, id 3\n"},
		{"list --names", "SUBJECT\na.proto\nb.proto\ns\n"},
		{"diff s good.desc", "They are the same schema."},
		{"register t missing.desc", "--include_imports"},
		{"register t twice.desc", "a.proto is in it twice"},
		{"register t empty.desc", "without files"},
		{"register t noise.desc", "is no FileDescriptorSet"},
	} {
		stdout, stderr, _ := runCommand(append([]string{"schema"}, strings.Fields(c.args)...), "")
		if !strings.Contains(stdout+stderr, c.want) {
			t.Errorf("%s:\n%s%s", c.args, stdout, stderr)
		}
	}
}

// elsewhere serves a registry as one that knows nothing of Milena's own
// routes, asks for credentials, and is not at the root.
func elsewhere(t *testing.T, to string) string {
	t.Helper()
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.URL.Path, r.Out.URL.RawPath = strings.TrimPrefix(r.In.URL.Path, "/sr"), strings.TrimPrefix(r.In.URL.EscapedPath(), "/sr")
	}}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		switch {
		case (user != "me" || password != "word") && r.Header.Get("Authorization") != "Bearer ticket":
			w.WriteHeader(401)
			_, _ = w.Write([]byte(`{"error_code":401,"message":"Unauthorized"}`))
		case strings.HasPrefix(r.URL.Path, "/sr/milena/"):
			w.WriteHeader(404)
			_, _ = w.Write([]byte(`{"error_code":404,"message":"HTTP 404 Not Found"}`))
		default:
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(web.Close)
	return web.URL + "/sr"
}

// TestOtherRegistry works with a registry that is not Milena.
func TestOtherRegistry(t *testing.T) {
	cleanEnvironment(t)
	there := startRegistry(t)
	t.Setenv("MILENA_REGISTRY_URL", elsewhere(t, there))
	t.Chdir(t.TempDir())
	if err := os.WriteFile("one.avsc", []byte(`"int"`), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(want string, wantCode int, args ...string) {
		t.Helper()
		stdout, stderr, code := runCommand(append([]string{"schema"}, args...), "")
		if code != wantCode || !strings.Contains(stdout+stderr, want) {
			t.Errorf("%v: %d\n%s%s", args, code, stdout, stderr)
		}
	}
	run("Unauthorized (401)", 2, "list")
	run("MILENA_REGISTRY_USER", 2, "list")
	t.Setenv("MILENA_REGISTRY_USER", "me")
	t.Setenv("MILENA_REGISTRY_PASSWORD", "word")
	run("s: version 1, id 1", 0, "register", "s", "one.avsc")
	run("can't try a registration", 2, "register", "s", "one.avsc", "--dry-run")
	run("can't import", 2, "import", "one.avsc")
	run("can't export a part", 2, "export", "--prefix", "s")
	run("exported 1 schema", 0, "export", "--file", "all.jsonl")
	for _, name := range []string{"MILENA_REGISTRY_USER", "MILENA_REGISTRY_PASSWORD"} {
		if err := os.Unsetenv(name); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("MILENA_REGISTRY_TOKEN", "ticket")
	run("exported 1 schema", 0, "export", "--file", "all.jsonl")
	run("imported ", 0, "import", "all.jsonl", "--registry", startRegistry(t))
	text, err := os.ReadFile("all.jsonl")
	if err != nil || !strings.Contains(string(text), `{"end":{`) {
		t.Errorf("%s, %v", text, err)
	}
}

// TestExportIsWholeOrNotThere: a stream that is cut off leaves the old file.
func TestExportIsWholeOrNotThere(t *testing.T) {
	cleanEnvironment(t)
	t.Chdir(t.TempDir())
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"export":{"format":"milena-registry","version":1}}` + "\n" + `{"context":{"name":"."}}` + "\n"))
	}))
	defer web.Close()
	if err := os.WriteFile("all.jsonl", []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, stderr, code := runCommand([]string{"schema", "export", "--file", "all.jsonl", "--registry", web.URL}, "")
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile("all.jsonl")
	if code != 2 || !strings.Contains(stderr, "not whole") || string(text) != "old" || len(entries) != 1 {
		t.Errorf("%d %s: %q, %d files", code, stderr, text, len(entries))
	}
}

// TestCompletion: what a shell is told, and that it does not wait for a registry
// that doesn't answer.
func TestCompletion(t *testing.T) {
	cleanEnvironment(t)
	t.Setenv("MILENA_REGISTRY_URL", startRegistry(t))
	t.Chdir(t.TempDir())
	if err := os.WriteFile("one.avsc", []byte(`"int"`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"orders-value"}, {"orders-key"}, {"other"}, {"orders-in", "--context", "team"}} {
		if _, stderr, code := runCommand(append([]string{"schema", "register", args[0], "one.avsc"}, args[1:]...), ""); code != 0 {
			t.Fatal(stderr)
		}
	}
	hanging := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer hanging.Close()
	defer hanging.CloseClientConnections()
	const noFiles, files, noSpace = ":4", ":0", ":6"
	for args, want := range map[string]string{
		"schema get ord":                  "orders-key orders-value " + noFiles,
		"schema get ord x":                noFiles,
		"schema get :.team:":              ":.team:orders-in " + noFiles,
		"schema get --context team ord":   "orders-in " + noFiles,
		"schema delete oth":               "other " + noFiles,
		"schema register oth":             "other " + noFiles,
		"schema register other ":          files,
		"schema register other one.avsc ": noFiles,
		"schema diff oth":                 "other " + files,
		"schema import ":                  files,
		// The shell chooses among fixed values itself.
		"schema mode s --set ":                          "READWRITE READONLY READONLY_OVERRIDE IMPORT FORWARD " + noFiles,
		"schema config s --set ":                        strings.Join(setCompletions(), " ") + " " + noSpace,
		"schema list -o ":                               "text json " + noFiles,
		"schema get --registry " + hanging.URL + " ord": noFiles,
		"schema get --registry nonsense ord":            noFiles,
	} {
		start := time.Now()
		words := strings.Split(args, " ")
		stdout, _, code := runCommand(append([]string{"__complete"}, words...), "")
		if got := strings.Join(strings.Fields(stdout), " "); code != 0 || got != want {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
		if took := time.Since(start); took > 5*completionTimeout {
			t.Errorf("%s took %v", args, took)
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if stdout, _, code := runCommand([]string{"completion", shell}, ""); code != 0 || !strings.Contains(stdout, "milena") {
			t.Errorf("%s: %d", shell, code)
		}
	}
}

// TestHelp: every command says what it does, with examples that are commands.
func TestHelp(t *testing.T) {
	for _, cmd := range schemaCommand().Commands() {
		if cmd.Short == "" || cmd.Long == "" || cmd.Example == "" || cmd.ValidArgsFunction == nil {
			t.Errorf("%s lacks a text or completions", cmd.Name())
		}
		for line := range strings.Lines(cmd.Example) {
			if !strings.Contains(line, "milena schema "+cmd.Name()) {
				t.Errorf("%s: example %q", cmd.Name(), line)
			}
		}
		for line := range strings.Lines(cmd.Long) {
			if len([]rune(line)) > 110 {
				t.Errorf("%s: a line of %d characters: %s", cmd.Name(), len(line), line)
			}
		}
	}
}
