package registry_test

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"milena/registry"
	"milena/registry/api"
	"milena/registry/errcode"
	"milena/registry/store/memory"
)

var rewrite = flag.Bool("rewrite", false, "write the transcripts in testdata anew")

// TestTranscripts runs the files in testdata: each line is a command with its
// arguments, and the line after it, behind an arrow, the answer. Every file
// starts with an empty registry; lines with # say what follows.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.txt"))
	if err != nil || len(files) < 8 {
		t.Fatalf("%d transcripts, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) { runTranscript(t, file) })
	}
}

func runTranscript(t *testing.T, file string) {
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	now := time.UnixMilli(1000)
	log := memory.New()
	r := open(t, registry.Options{Log: log, Now: func() time.Time { return now }, Limits: registry.Limits{
		SchemaBytesMax: 2000, ReferencesMax: 3, ReferenceDepthMax: 3, ResolvedReferencesMax: 4, SchemasPageMax: 5,
	}})
	var out strings.Builder
	answer := ""
	scanner := bufio.NewScanner(f)
	for n := 1; scanner.Scan(); n++ {
		line := scanner.Text()
		switch {
		case strings.HasPrefix(line, "-> "):
			if got := "-> " + answer; !*rewrite && got != line {
				t.Errorf("line %d:\n got %s\nwant %s", n, got, line)
			}
			continue
		case line == "" || strings.HasPrefix(line, "#"):
			fmt.Fprintln(&out, line)
			continue
		}
		now = now.Add(time.Millisecond)
		answer = command(t, r, line)
		fmt.Fprintf(&out, "%s\n-> %s\n", line, answer)
	}
	if err := scanner.Err(); err != nil {
		t.Fatal(err)
	}
	if *rewrite {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if x, y := dump(t, r), dump(t, open(t, registry.Options{Log: log, Limits: registry.Limits{SchemasPageMax: 5}})); x != y {
		t.Errorf("a restart changed the state:\n%s\n%s", x, y)
	}
}

// args are the words of a command: a body that begins with a brace, flags such
// as "deleted" or "format=resolved", and the rest in order.
type args struct {
	words []string
	body  []byte
	flags map[string]string
}

func parseLine(line string) args {
	a := args{flags: map[string]string{}}
	for len(line) > 0 {
		if strings.HasPrefix(line, "{") {
			a.body = []byte(line)
			break
		}
		var word string
		word, line, _ = strings.Cut(line, " ")
		key, value, isFlag := strings.Cut(word, "=")
		switch {
		case strings.HasPrefix(key, "?") && isFlag:
			a.flags[key[1:]] = value
		case strings.HasPrefix(key, "?"):
			a.flags[key[1:]] = "true"
		case word == "-":
			a.words = append(a.words, "")
		case word != "":
			a.words = append(a.words, word)
		}
	}
	return a
}

func (a args) word(i int) string {
	if i < len(a.words) {
		return a.words[i]
	}
	return ""
}

func (a args) is(flag string) bool { return a.flags[flag] == "true" }

func (a args) number(flag string) int {
	n, _ := strconv.Atoi(a.flags[flag])
	return n
}

func (a args) page() registry.Page {
	return registry.Page{Offset: a.number("offset"), Limit: a.number("limit")}
}

func (a args) list(flag string) []string {
	if a.flags[flag] == "" {
		return nil
	}
	return strings.Split(a.flags[flag], ",")
}

func command(t *testing.T, r *registry.Registry, line string) string {
	a := parseLine(line)
	run, ok := commands()[a.word(0)]
	if !ok {
		t.Fatalf("unknown command %q", line)
	}
	a.words = a.words[1:]
	v, err := run(t.Context(), r, a)
	if err != nil {
		e := errcode.Of(err)
		if e.Cause != nil && e.Row == errcode.Internal {
			t.Errorf("%s: %v", line, e.Cause)
		}
		return fmt.Sprintf("%d %s", e.Row.Code, e.Message)
	}
	if v == nil {
		return "ok"
	}
	b, err := api.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

type runner func(ctx context.Context, r *registry.Registry, a args) (any, error)

func withBody(run func(ctx context.Context, r *registry.Registry, a args, req api.RegisterRequest) (any, error)) runner {
	return func(ctx context.Context, r *registry.Registry, a args) (any, error) {
		req, err := api.DecodeRegister(a.body)
		if err != nil {
			return nil, errcode.BadRequest.New(err.Error())
		}
		return run(ctx, r, a, req)
	}
}

func commands() map[string]runner {
	return map[string]runner{
		"register": withBody(func(ctx context.Context, r *registry.Registry, a args, req api.RegisterRequest) (any, error) {
			return r.Register(ctx, a.word(0), req, registry.RegisterOptions{Normalize: a.is("normalize"), Force: a.is("force"), Format: a.flags["format"]})
		}),
		"lookup": withBody(func(ctx context.Context, r *registry.Registry, a args, req api.RegisterRequest) (any, error) {
			return r.Lookup(ctx, a.word(0), req, registry.LookupOptions{Normalize: a.is("normalize"), Deleted: a.is("deleted"), Format: a.flags["format"]})
		}),
		"check": withBody(func(ctx context.Context, r *registry.Registry, a args, req api.RegisterRequest) (any, error) {
			return r.Compatibility(ctx, a.word(0), a.word(1), req, registry.CompatibilityQuery{Normalize: a.is("normalize"), Verbose: a.is("verbose")})
		}),
		"tags": func(ctx context.Context, r *registry.Registry, a args) (any, error) {
			req, err := api.DecodeTags(a.body)
			if err != nil {
				return nil, err
			}
			return r.ModifyTags(ctx, a.word(0), a.word(1), req)
		},
		"subjects": func(ctx context.Context, r *registry.Registry, a args) (any, error) {
			q := registry.SubjectsQuery{Deleted: a.is("deleted"), DeletedOnly: a.is("deletedOnly"), Page: a.page()}
			if len(a.words) > 0 {
				q.Prefix = &a.words[0]
			}
			return r.Subjects(ctx, q)
		},
		"versions": func(ctx context.Context, r *registry.Registry, a args) (any, error) {
			return r.Versions(ctx, a.word(0), registry.VersionsQuery{
				Deleted: a.is("deleted"), DeletedOnly: a.is("deletedOnly"), DeletedAsNegative: a.is("deletedAsNegative"), Page: a.page(),
			})
		},
		"version": func(ctx context.Context, r *registry.Registry, a args) (any, error) {
			return r.Version(ctx, a.word(0), a.word(1), registry.VersionQuery{
				Deleted: a.is("deleted"), Format: a.flags["format"], ReferenceFormat: a.flags["referenceFormat"], FindTags: a.list("findTags"),
			})
		},
		"metadata": func(ctx context.Context, r *registry.Registry, a args) (any, error) {
			return r.SubjectMetadata(ctx, a.word(0), registry.MetadataQuery{Keys: a.list("key"), Values: a.list("value"), Deleted: a.is("deleted")})
		},
		"referencedby": func(ctx context.Context, r *registry.Registry, a args) (any, error) {
			return r.ReferencedBy(ctx, a.word(0), a.word(1), registry.ReferencedByQuery{Deleted: a.is("deleted"), Page: a.page()})
		},
		"delete": func(ctx context.Context, r *registry.Registry, a args) (any, error) {
			if len(a.words) == 1 {
				return r.DeleteSubject(ctx, a.word(0), a.is("permanent"))
			}
			return r.DeleteVersion(ctx, a.word(0), a.word(1), a.is("permanent"))
		},
		"schemas": func(ctx context.Context, r *registry.Registry, a args) (any, error) {
			list, err := r.Schemas(ctx, registry.SchemasQuery{
				Prefix: a.word(0), Aliases: a.is("aliases"), Deleted: a.is("deleted"), LatestOnly: a.is("latestOnly"),
				RuleType: a.flags["ruleType"], Lifecycle: a.flags["lifecycle"], ResourceType: a.flags["resourceType"], Page: a.page(),
			})
			short := []string{}
			for _, s := range list {
				short = append(short, strings.Join(append([]string{fmt.Sprintf("%s/%d", s.Subject, s.Version)}, s.Aliases...), " "))
			}
			return short, err
		},
		"id": func(ctx context.Context, r *registry.Registry, a args) (any, error) {
			id, _ := strconv.Atoi(a.word(0))
			return r.SchemaByID(ctx, id, registry.ByIDQuery{
				Subject: a.word(1), Format: a.flags["format"], ReferenceFormat: a.flags["referenceFormat"],
				FindTags: a.list("findTags"), FetchMaxID: a.is("fetchMaxId"),
			})
		},
		"users": func(ctx context.Context, r *registry.Registry, a args) (any, error) {
			id, _ := strconv.Atoi(a.word(0))
			q := registry.UsersQuery{Subject: a.word(1), Deleted: a.is("deleted"), Page: a.page()}
			users, err := r.VersionsByID(ctx, id, q)
			if err != nil {
				return nil, err
			}
			names, err := r.SubjectsByID(ctx, id, q)
			if len(names) != len(users) {
				return nil, fmt.Errorf("%d subjects and %d versions", len(names), len(users))
			}
			return users, err
		},
		"guid": func(ctx context.Context, r *registry.Registry, a args) (any, error) {
			return r.SchemaByGUID(ctx, a.word(0), a.flags["format"])
		},
		"ids": func(ctx context.Context, r *registry.Registry, a args) (any, error) {
			return r.IDsByGUID(ctx, a.word(0))
		},
		"config": func(ctx context.Context, r *registry.Registry, a args) (any, error) {
			switch {
			case a.is("delete"):
				return r.DeleteConfig(ctx, a.word(0))
			case a.body == nil:
				return r.Config(ctx, a.word(0), a.is("defaultToGlobal"))
			}
			req, err := api.DecodeConfig(a.body)
			if err != nil {
				return nil, err
			}
			return r.SetConfig(ctx, a.word(0), req)
		},
		"mode": func(ctx context.Context, r *registry.Registry, a args) (any, error) {
			switch {
			case a.is("delete"):
				return r.DeleteMode(ctx, a.word(0), a.is("recursive"))
			case a.body == nil:
				return r.Mode(ctx, a.word(0), a.is("defaultToGlobal"))
			}
			req, err := api.DecodeMode(a.body)
			if err != nil {
				return nil, err
			}
			return r.SetMode(ctx, a.word(0), req, a.is("force"))
		},
		"contexts": func(ctx context.Context, r *registry.Registry, a args) (any, error) {
			if a.is("delete") {
				return nil, r.DeleteContext(ctx, a.word(0))
			}
			return r.Contexts(ctx, registry.ContextsQuery{Prefix: a.word(0), Page: a.page()})
		},
		"types": func(_ context.Context, r *registry.Registry, _ args) (any, error) {
			types := slices.Sorted(slices.Values(r.Types()))
			if !slices.Contains(types, "AVRO") {
				return nil, fmt.Errorf("no AVRO in %v", types)
			}
			return nil, nil
		},
		"record": func(ctx context.Context, r *registry.Registry, a args) (any, error) {
			// record SUBJECT NAME FIELD… registers a record with these fields.
			body, err := json.Marshal(map[string]string{"schema": record(a.word(1), a.words[2:]...)})
			if err != nil {
				return nil, err
			}
			req, err := api.DecodeRegister(body)
			if err != nil {
				return nil, err
			}
			s, err := r.Register(ctx, a.word(0), req, registry.RegisterOptions{})
			return map[string]int{"id": s.ID, "version": s.Version}, err
		},
	}
}
