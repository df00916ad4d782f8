package rest

import (
	"context"

	"milena/registry"
)

// schemas answers GET /schemas. Without a prefix it lists the default context
// only, unlike GET /subjects.
func (s *Server) schemas(ctx context.Context, r *request) (answer, error) {
	page, err := r.query.page()
	if err != nil {
		return answer{}, err
	}
	return list(s.registry.Schemas(ctx, registry.SchemasQuery{
		Prefix:          r.qualify(r.query.text("subjectPrefix")),
		Aliases:         r.query.flag("aliases"),
		Deleted:         r.query.flag("deleted"),
		LatestOnly:      r.query.flag("latestOnly"),
		RuleType:        r.query.text("ruleType"),
		ResourceType:    r.query.text("resourceType"),
		AssociationType: r.query.list("associationType"),
		Lifecycle:       r.query.text("lifecycle"),
		Page:            page,
	}))
}

// types answers GET /schemas/types.
func (s *Server) types(context.Context, *request) (answer, error) {
	return list(s.registry.Types(), nil)
}

// schemaByID answers GET /schemas/ids/{id}.
func (s *Server) schemaByID(ctx context.Context, r *request) (answer, error) {
	id, q, err := r.byID()
	if err != nil {
		return answer{}, err
	}
	return encoded(s.registry.BodyByID(ctx, id, q))
}

// textByID answers GET /schemas/ids/{id}/schema.
func (s *Server) textByID(ctx context.Context, r *request) (answer, error) {
	id, q, err := r.byID()
	if err != nil {
		return answer{}, err
	}
	v, err := s.registry.SchemaByID(ctx, id, q)
	return plain(v.Schema, err)
}

// byID reads the parameters of a read by id.
func (r *request) byID() (int, registry.ByIDQuery, error) {
	id, err := r.id()
	if len(r.query.names) == 0 {
		return id, registry.ByIDQuery{Subject: r.qualify("")}, err
	}
	return id, registry.ByIDQuery{
		Subject: r.qualify(r.query.text("subject")), Format: r.query.text("format"),
		ReferenceFormat: r.query.text("referenceFormat"), FindTags: r.query.list("findTags"),
		FetchMaxID: r.query.flag("fetchMaxId"),
	}, err
}

// users reads the parameters of the two routes that list who uses an id.
func (r *request) users() (int, registry.UsersQuery, error) {
	id, err := r.id()
	if err != nil {
		return 0, registry.UsersQuery{}, err
	}
	page, err := r.query.page()
	return id, registry.UsersQuery{
		Subject: r.qualify(r.query.text("subject")), Deleted: r.query.flag("deleted"), Page: page,
	}, err
}

// subjectsByID answers GET /schemas/ids/{id}/subjects.
func (s *Server) subjectsByID(ctx context.Context, r *request) (answer, error) {
	id, q, err := r.users()
	if err != nil {
		return answer{}, err
	}
	return list(s.registry.SubjectsByID(ctx, id, q))
}

// versionsByID answers GET /schemas/ids/{id}/versions.
func (s *Server) versionsByID(ctx context.Context, r *request) (answer, error) {
	id, q, err := r.users()
	if err != nil {
		return answer{}, err
	}
	return list(s.registry.VersionsByID(ctx, id, q))
}

// schemaByGUID answers GET /schemas/guids/{guid}.
func (s *Server) schemaByGUID(ctx context.Context, r *request) (answer, error) {
	guid, err := r.param("guid")
	if err != nil {
		return answer{}, err
	}
	return value(s.registry.SchemaByGUID(ctx, guid, r.query.text("format")))
}

// idsByGUID answers GET /schemas/guids/{guid}/ids.
func (s *Server) idsByGUID(ctx context.Context, r *request) (answer, error) {
	guid, err := r.param("guid")
	if err != nil {
		return answer{}, err
	}
	return list(s.registry.IDsByGUID(ctx, guid))
}
