package registry

import (
	"context"
	"maps"
	"slices"

	"milena/registry/api"
	"milena/registry/errcode"
	"milena/registry/state"
)

// ids collects ids without repetitions.
type ids map[int]struct{}

func newIDs() ids { return ids{} }

func (i ids) add(id int) { i[id] = struct{}{} }

func (i ids) sorted() []int {
	out := slices.Sorted(maps.Keys(i))
	if out == nil {
		out = []int{}
	}
	return out
}

// SchemaByID returns the schema with an id. The subject is a hint: a context
// (":.ctx:") chooses that context; a qualified name must itself have the id; a
// plain name that does not have it is searched for in the other contexts, and
// then the id of the default context counts.
func (r *Registry) SchemaByID(ctx context.Context, id int, q ByIDQuery) (api.SchemaString, error) {
	if err := ctx.Err(); err != nil {
		return api.SchemaString{}, err
	}
	v := r.view.Load()
	return r.showID(v, byID(v, id, q.Subject), id, q)
}

// showID shows what was found by id.
func (r *Registry) showID(v *state.View, found *state.Version, id int, q ByIDQuery) (api.SchemaString, error) {
	if found == nil {
		return api.SchemaString{}, errcode.SchemaNotFound.New(id)
	}
	out, err := r.schemaString(v, found, q.Format)
	if err != nil {
		return api.SchemaString{}, err
	}
	out.Subject, out.Version, out.ID = found.Name.String(), found.Schema.Version, &id
	out.References, _ = qualified(found.Name, out.References, q.ReferenceFormat)
	out.SchemaTags = r.tags(v, found, q.FindTags)
	if q.FetchMaxID {
		maxID := v.Context(found.Name.Context).MaxID()
		out.MaxID = &maxID
	}
	return out, nil
}

func (r *Registry) schemaString(v *state.View, version *state.Version, wanted string) (api.SchemaString, error) {
	s := apiSchema(version)
	text, err := r.textOf(v, version, wanted)
	return api.SchemaString{
		GUID:       s.GUID,
		SchemaType: s.SchemaType,
		References: s.References,
		Metadata:   s.Metadata,
		RuleSet:    s.RuleSet,
		Schema:     text,
		Timestamp:  s.Timestamp,
		Deleted:    s.Deleted,
	}, err
}

// byID finds a version that uses an id, by the hint that SchemaByID tells of.
func byID(v *state.View, id int, hint string) *state.Version {
	if hint == "" {
		return v.Context(state.DefaultContext).First(id)
	}
	n, plain := resolve(v, hint)
	if n.IsContext() {
		return v.Context(n.Context).First(id)
	}
	if found := userOf(v, id, n); found != nil || !plain {
		return found
	}
	for other := range others(v, n) {
		if found := userOf(v, id, other); found != nil {
			return found
		}
	}
	return v.Context(state.DefaultContext).First(id)
}

// userOf returns the version of a subject that uses an id, the highest live one
// if there is one.
func userOf(v *state.View, id int, n state.Name) *state.Version {
	var found *state.Version
	for version := range v.Context(n.Context).Users(id) {
		if version.Name == n && (found == nil || found.Deleted || !version.Deleted) {
			found = version
		}
	}
	return found
}

// VersionsByID returns the subjects that use an id with their highest version
// that does.
func (r *Registry) VersionsByID(ctx context.Context, id int, q UsersQuery) ([]api.SubjectVersion, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	v := r.view.Load()
	n, _ := resolve(v, q.Subject)
	known := false
	users := []api.SubjectVersion{}
	for version := range v.Context(n.Context).Users(id) { // by subject, then version
		known = true
		if version.Deleted && !q.Deleted {
			continue
		}
		user := api.SubjectVersion{Subject: version.Name.String(), Version: version.Schema.Version}
		if last := len(users) - 1; last >= 0 && users[last].Subject == user.Subject {
			users[last] = user
			continue
		}
		users = append(users, user)
	}
	if !known {
		return nil, errcode.SchemaNotFound.Text("Schema not found")
	}
	return cut(users, q.Page, 0), nil
}

// SubjectsByID returns the subjects that use an id.
func (r *Registry) SubjectsByID(ctx context.Context, id int, q UsersQuery) ([]string, error) {
	users, err := r.VersionsByID(ctx, id, q)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(users))
	for i, user := range users {
		names[i] = user.Subject
	}
	return names, nil
}

// SchemaByGUID returns the schema with a GUID, from whichever context.
func (r *Registry) SchemaByGUID(ctx context.Context, guid, wanted string) (api.SchemaString, error) {
	if err := ctx.Err(); err != nil {
		return api.SchemaString{}, err
	}
	v := r.view.Load()
	found := byGUID(v, guid)
	if found == nil {
		return api.SchemaString{}, errcode.SchemaNotFound.New(guid)
	}
	return r.schemaString(v, found, wanted)
}

// byGUID finds a version with a GUID, a live one if there is one.
func byGUID(v *state.View, guid string) *state.Version {
	g, ok := state.ParseGUID(guid)
	if !ok {
		return nil
	}
	var found *state.Version
	for c := range v.HasGUID(g) {
		id, _ := c.ID(g)
		if first := c.First(id); found == nil || found.Deleted && !first.Deleted {
			found = first
		}
	}
	return found
}

// IDsByGUID returns the ids that a schema has, by context; none is no error.
// Unlike the reference it leaves out ids of permanently deleted schemas, which
// no longer lead to anything.
func (r *Registry) IDsByGUID(ctx context.Context, guid string) ([]api.ContextID, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	out := []api.ContextID{}
	g, ok := state.ParseGUID(guid)
	if !ok {
		return out, nil
	}
	for c := range r.view.Load().HasGUID(g) {
		id, _ := c.ID(g)
		out = append(out, api.ContextID{Context: c.Name, ID: id})
	}
	return out, nil
}
