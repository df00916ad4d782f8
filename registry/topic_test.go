package registry_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"milena/registry"
	"milena/registry/api"
	"milena/registry/errcode"
	"milena/registry/store"
	"milena/registry/store/memory"
)

// lines calls f with every line of a file of the shared corpus.
func lines(t *testing.T, name string, f func(line []byte)) {
	t.Helper()
	shared := os.Getenv("MILENA_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "..", "shared")
	}
	file, err := os.Open(filepath.Join(shared, "corpus", "schemas-topic", name))
	if err != nil {
		t.Skipf("the reference's topic is missing: %v", err)
	}
	defer func() { _ = file.Close() }()
	scanner := bufio.NewScanner(file)
	scanner.Buffer(nil, 4<<20)
	for scanner.Scan() {
		f(scanner.Bytes())
	}
	if err := scanner.Err(); err != nil {
		t.Fatal(err)
	}
}

// TestReferenceTopic folds a topic that the reference wrote and compares every
// answer with what the reference then answered.
func TestReferenceTopic(t *testing.T) {
	log := memory.New()
	end := int64(0)
	lines(t, "topic.jsonl", func(line []byte) {
		var l struct {
			Timestamp  int64
			Key, Value *string
		}
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatal(err)
		}
		e := store.Entry{TimestampMillis: l.Timestamp, Key: []byte(*l.Key)}
		if l.Value != nil {
			e.Value = []byte(*l.Value)
		}
		var err error
		if end, err = log.Append(t.Context(), end, []store.Entry{e}); err != nil {
			t.Fatal(err)
		}
	})
	compareReferenceState(t, open(t, registry.Options{Log: log}))
}

// compareReferenceState compares a registry's answers with those that the
// reference gave after it wrote the topic.
func compareReferenceState(t *testing.T, r *registry.Registry) {
	t.Helper()
	compared := 0
	lines(t, "state.jsonl", func(line []byte) {
		var want struct {
			Get    string
			Status int
			Body   any
		}
		if err := json.Unmarshal(line, &want); err != nil {
			t.Fatal(err)
		}
		got, err := get(t, r, want.Get)
		status := 200
		if err != nil {
			e := errcode.Of(err)
			status, got = e.Row.Status, api.ErrorMessage{ErrorCode: e.Row.Code, Message: e.Message}
		}
		b, err := api.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		var have any
		if err := json.Unmarshal(b, &have); err != nil {
			t.Fatal(err)
		}
		normalizeAnswer(want.Get, have, want.Body)
		if status != want.Status || !reflect.DeepEqual(have, want.Body) {
			wanted, _ := json.Marshal(want.Body)
			t.Errorf("GET %s:\n got %d %s\nwant %d %s", want.Get, status, b, want.Status, wanted)
		}
		compared++
	})
	if compared < 2000 {
		t.Errorf("only %d answers compared", compared)
	}
}

// normalizeAnswer takes out what is free: the order of the users of an id,
// which of them an answer by id shows, and the id that only our answer has.
func normalizeAnswer(get string, have, want any) {
	if !strings.HasPrefix(get, "/schemas/ids/") {
		return
	}
	for _, v := range []any{have, want} {
		switch v := v.(type) {
		case []any:
			slices.SortFunc(v, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		case map[string]any:
			for _, key := range []string{"id", "subject", "version", "ts", "deleted"} {
				delete(v, key)
			}
		}
	}
}

func get(t *testing.T, r *registry.Registry, target string) (any, error) {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	is := func(flag string) bool { return q.Get(flag) == "true" }
	var seg []string
	for s := range strings.SplitSeq(strings.TrimPrefix(u.EscapedPath(), "/"), "/") {
		s, err := url.PathUnescape(s)
		if err != nil {
			t.Fatal(err)
		}
		seg = append(seg, s)
	}
	subject := ""
	if len(seg) > 1 {
		subject = seg[1]
	}
	ctx := t.Context()
	switch key := seg[0] + "/" + strconv.Itoa(len(seg)); key {
	case "subjects/1":
		query := registry.SubjectsQuery{Deleted: is("deleted")}
		if q.Has("subjectPrefix") {
			query.Prefix = ptr(q.Get("subjectPrefix"))
		}
		return r.Subjects(ctx, query)
	case "schemas/1":
		return r.Schemas(ctx, registry.SchemasQuery{Prefix: q.Get("subjectPrefix"), Deleted: is("deleted"), LatestOnly: is("latestOnly")})
	case "subjects/3":
		return r.Versions(ctx, subject, registry.VersionsQuery{Deleted: is("deleted")})
	case "subjects/4":
		return r.Version(ctx, subject, seg[3], registry.VersionQuery{Deleted: is("deleted")})
	case "subjects/5":
		return r.ReferencedBy(ctx, subject, seg[3], registry.ReferencedByQuery{Deleted: is("deleted")})
	case "config/1", "config/2":
		return r.Config(ctx, subject, is("defaultToGlobal"))
	case "mode/1", "mode/2":
		return r.Mode(ctx, subject, is("defaultToGlobal"))
	case "contexts/1":
		return r.Contexts(ctx, registry.ContextsQuery{})
	case "schemas/3", "schemas/4":
		id, err := strconv.Atoi(seg[2])
		if err != nil {
			t.Fatal(err)
		}
		if len(seg) == 4 && seg[3] == "versions" {
			return r.VersionsByID(ctx, id, registry.UsersQuery{Subject: q.Get("subject"), Deleted: is("deleted")})
		}
		return r.SchemaByID(ctx, id, registry.ByIDQuery{Subject: q.Get("subject")})
	default:
		t.Fatalf("no answer for %s", target)
		return nil, nil
	}
}
