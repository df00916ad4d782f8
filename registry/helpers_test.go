package registry_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"milena/registry"
	"milena/registry/api"
	"milena/registry/errcode"
	"milena/registry/store"
	"milena/registry/store/memory"
)

func ptr[T any](v T) *T { return &v }

// open starts a registry, over a log in memory if o has none.
func open(t testing.TB, o registry.Options) *registry.Registry {
	t.Helper()
	if o.Log == nil {
		o.Log = memory.New()
	}
	r, err := registry.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return r
}

// record returns the text of a record with the fields, written "a:string" or
// "b:int=0".
func record(name string, fields ...string) string {
	parts := make([]string, len(fields))
	for i, f := range fields {
		field, typ, _ := strings.Cut(f, ":")
		typ, def, has := strings.Cut(typ, "=")
		parts[i] = fmt.Sprintf(`{"name":%q,"type":%q`, field, typ)
		if has {
			parts[i] += `,"default":` + def
		}
		parts[i] += "}"
	}
	return fmt.Sprintf(`{"type":"record","name":%q,"fields":[%s]}`, name, strings.Join(parts, ","))
}

func request(text string) api.RegisterRequest { return api.RegisterRequest{Schema: &text} }

// register fails the test if the registration does.
func register(t testing.TB, r *registry.Registry, subject, text string) api.RegisterResponse {
	t.Helper()
	return registerRequest(t, r, subject, request(text))
}

func registerRequest(t testing.TB, r *registry.Registry, subject string, req api.RegisterRequest) api.RegisterResponse {
	t.Helper()
	a, err := r.Register(t.Context(), subject, req, registry.RegisterOptions{})
	if err != nil {
		t.Fatalf("register under %q: %v", subject, err)
	}
	return a
}

func wantRow(t testing.TB, err error, row *errcode.Row, contains string) {
	t.Helper()
	if !errors.Is(err, row) || !strings.Contains(err.Error(), contains) {
		t.Errorf("error is %v, want %s with %q", err, row.Name, contains)
	}
}

func versions(t testing.TB, r *registry.Registry, subject string, deleted bool) []int {
	t.Helper()
	list, err := r.Versions(t.Context(), subject, registry.VersionsQuery{Deleted: deleted})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func wantVersions(t testing.TB, r *registry.Registry, subject string, deleted bool, want ...int) {
	t.Helper()
	if got := versions(t, r, subject, deleted); !slices.Equal(got, want) {
		t.Errorf("versions of %q are %v, want %v", subject, got, want)
	}
}

func setConfig(t testing.TB, r *registry.Registry, subject string, req api.ConfigRequest) {
	t.Helper()
	if _, err := r.SetConfig(t.Context(), subject, req); err != nil {
		t.Fatal(err)
	}
}

// dump returns everything that a registry answers about its state, as text.
func dump(t testing.TB, r *registry.Registry) string {
	t.Helper()
	ctx := context.Background()
	var b strings.Builder
	say := func(what string, v any, err error) {
		body, merr := api.Marshal(v)
		if merr != nil {
			t.Fatal(merr)
		}
		fmt.Fprintf(&b, "%s: %s %v\n", what, body, err)
	}
	contexts, err := r.Contexts(ctx, registry.ContextsQuery{})
	say("contexts", contexts, err)
	for _, c := range contexts {
		prefix := registry.QualifySubject(c, "")
		config, err := r.Config(ctx, prefix, false)
		say("config of "+c, config, err)
		mode, err := r.Mode(ctx, prefix, false)
		say("mode of "+c, mode, err)
	}
	subjects, err := r.Subjects(ctx, registry.SubjectsQuery{Deleted: true})
	say("subjects", subjects, err)
	ties, err := r.AssociationsByName(ctx, "-", "-", registry.AssociationsQuery{})
	say("associations", ties, err)
	keks, err := r.Keks(ctx, registry.KeksQuery{Deleted: true})
	say("keks", keks, err)
	for _, k := range keks {
		kek, err := r.Kek(ctx, k, true)
		say("kek", kek, err)
		deks, err := r.DekSubjects(ctx, k, true, registry.Page{})
		say("deks", deks, err)
		for _, s := range deks {
			q := registry.DekQuery{Kek: k, Subject: s, Deleted: true}
			versions, err := r.DekVersions(ctx, q, registry.Page{})
			say("dek versions", versions, err)
			for _, n := range versions {
				q.Version = fmt.Sprint(n)
				dek, err := r.Dek(ctx, q)
				say("dek", dek, err)
			}
		}
	}
	all := ":*:"
	schemas, err := r.Schemas(ctx, registry.SchemasQuery{Prefix: all, Deleted: true})
	say("schemas", schemas, err)
	for _, s := range schemas {
		c := strings.SplitAfterN(s.Subject, ":", 3)
		hint := ""
		if strings.HasPrefix(s.Subject, ":.") {
			hint = c[0] + c[1] // ":.ctx:"
		}
		users, err := r.VersionsByID(ctx, s.ID, registry.UsersQuery{Subject: hint, Deleted: true})
		say("users of "+s.Subject, users, err)
		id, err := r.SchemaByID(ctx, s.ID, registry.ByIDQuery{Subject: s.Subject, FetchMaxID: true})
		say("id", id, err)
		ids, err := r.IDsByGUID(ctx, s.GUID)
		say("ids", ids, err)
		referrers, err := r.ReferencedBy(ctx, s.Subject, fmt.Sprint(s.Version), registry.ReferencedByQuery{Deleted: true})
		say("referrers", referrers, err)
		config, err := r.Config(ctx, s.Subject, true)
		say("config", config, err)
		mode, err := r.Mode(ctx, s.Subject, true)
		say("mode", mode, err)
	}
	return b.String()
}

// flakyLog is a log whose appends fail in a chosen way.
type flakyLog struct {
	store.Log
	before func() error // fails without writing
	after  func() error // fails after writing
	reads  func() error // fails reading
}

func (l *flakyLog) Append(ctx context.Context, expected int64, entries []store.Entry) (int64, error) {
	if l.before != nil {
		if err := l.before(); err != nil {
			return 0, err
		}
	}
	end, err := l.Log.Append(ctx, expected, entries)
	if err == nil && l.after != nil {
		if err := l.after(); err != nil {
			return 0, err
		}
	}
	return end, err
}

func (l *flakyLog) Read(ctx context.Context, from int64) iter.Seq2[store.Entry, error] {
	if l.reads != nil {
		if err := l.reads(); err != nil {
			return func(yield func(store.Entry, error) bool) { yield(store.Entry{}, err) }
		}
	}
	return l.Log.Read(ctx, from)
}
