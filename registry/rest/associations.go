package rest

import (
	"context"
	"net/http"

	"milena/registry"
	"milena/registry/api"
)

// associationsQuery reads the parameters that filter associations.
func (r *request) associationsQuery() (registry.AssociationsQuery, error) {
	page, err := r.query.page()
	return registry.AssociationsQuery{
		ResourceType: r.query.text("resourceType"), AssociationTypes: r.query.list("associationType"),
		Lifecycle: r.query.text("lifecycle"), Page: page,
	}, err
}

// inContext takes the context from the parameter of that name where the path
// has none: clients say it either way.
func (r *request) inContext() error {
	name := r.query.text("context")
	if r.context != "" || name == "" {
		return nil
	}
	var err error
	r.context, err = registry.ParseContextParam(name)
	return err
}

// associationsBySubject answers GET /associations/subjects/{subject}.
func (s *Server) associationsBySubject(ctx context.Context, r *request) (answer, error) {
	if err := r.inContext(); err != nil {
		return answer{}, err
	}
	subject, err := r.subject()
	if err != nil {
		return answer{}, err
	}
	q, err := r.associationsQuery()
	if err != nil {
		return answer{}, err
	}
	return list(s.registry.AssociationsBySubject(ctx, subject, q))
}

// associationsByID answers GET /associations/resources/{resource}.
func (s *Server) associationsByID(ctx context.Context, r *request) (answer, error) {
	id, err := r.param("resource")
	if err != nil {
		return answer{}, err
	}
	q, err := r.associationsQuery()
	if err != nil {
		return answer{}, err
	}
	return list(s.registry.AssociationsByID(ctx, id, q))
}

// associationsByName answers GET /associations/resources/{resource}/{name},
// whose first value is the namespace.
func (s *Server) associationsByName(ctx context.Context, r *request) (answer, error) {
	namespace, err := r.param("resource")
	if err != nil {
		return answer{}, err
	}
	name, err := r.param("name")
	if err != nil {
		return answer{}, err
	}
	q, err := r.associationsQuery()
	if err != nil {
		return answer{}, err
	}
	return list(s.registry.AssociationsByName(ctx, namespace, name, q))
}

// qualifyChanges puts the subjects of a body into the context of the request.
func (r *request) qualifyChanges(req *api.AssociationRequest) {
	for i := range req.Associations {
		if c := &req.Associations[i]; c.Subject != nil && *c.Subject != "" {
			subject := r.qualify(*c.Subject)
			c.Subject = &subject
		}
	}
}

// changeRequest reads a body that changes the associations of one resource.
func (r *request) changeRequest() (api.AssociationRequest, error) {
	if err := r.inContext(); err != nil {
		return api.AssociationRequest{}, err
	}
	req, err := api.DecodeAssociations(r.body)
	r.qualifyChanges(&req)
	return req, err
}

// createAssociations answers POST /associations.
func (s *Server) createAssociations(ctx context.Context, r *request) (answer, error) {
	req, err := r.changeRequest()
	if err != nil {
		return answer{}, err
	}
	return value(s.registry.CreateAssociations(ctx, req, r.query.flag("dryRun")))
}

// upsertAssociations answers PUT /associations/resources/{resource}. The id of
// the path counts.
func (s *Server) upsertAssociations(ctx context.Context, r *request) (answer, error) {
	req, err := r.changeRequest()
	if err != nil {
		return answer{}, err
	}
	if req.ResourceID, err = r.param("resource"); err != nil {
		return answer{}, err
	}
	return value(s.registry.UpsertAssociations(ctx, req, r.query.flag("dryRun")))
}

// deleteAssociations answers DELETE /associations/resources/{resource}.
func (s *Server) deleteAssociations(ctx context.Context, r *request) (answer, error) {
	id, err := r.param("resource")
	if err != nil {
		return answer{}, err
	}
	return nothing(s.registry.DeleteAssociations(ctx, id, registry.AssociationsDeletion{
		ResourceType: r.query.text("resourceType"), AssociationTypes: r.query.list("associationType"),
		Cascade: r.query.flag("cascadeLifecycle"), DryRun: r.query.flag("dryRun"),
	}))
}

// results answers a batch: the status says that each part has its own.
func results(v api.AssociationResults, err error) (answer, error) {
	a, err := value(v, err)
	a.status = http.StatusMultiStatus
	return a, err
}

// getAssociations answers POST /associations:batchGet.
func (s *Server) getAssociations(ctx context.Context, r *request) (answer, error) {
	requests, err := api.DecodeAssociationGets(r.body)
	if err != nil {
		return answer{}, err
	}
	return results(s.registry.GetAssociations(ctx, requests, r.query.flag("includeSchemas")))
}

// changeAssociations answers POST /associations:batchMutate.
func (s *Server) changeAssociations(ctx context.Context, r *request) (answer, error) {
	if err := r.inContext(); err != nil {
		return answer{}, err
	}
	requests, err := api.DecodeAssociationBatch(r.body)
	if err != nil {
		return answer{}, err
	}
	for i := range requests {
		r.qualifyChanges(&requests[i])
	}
	return results(s.registry.ChangeAssociations(ctx, requests))
}
