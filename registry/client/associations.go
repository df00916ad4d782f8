package client

import (
	"context"
	"net/http"

	"milena/registry/api"
)

// AssociationsQuery selects associations.
type AssociationsQuery struct {
	ResourceType     string   // "" is any
	AssociationTypes []string // "key", "value"; none is both
	Lifecycle        string   // "WEAK", "STRONG"; "" is both
	Page             Page
}

func (q *AssociationsQuery) params() params {
	return params{}.text("resourceType", q.ResourceType).list("associationType", q.AssociationTypes).
		text("lifecycle", q.Lifecycle).page(q.Page)
}

// AssociationsOfSubject lists what is tied to a subject.
func (c *Client) AssociationsOfSubject(ctx context.Context, subject string, q AssociationsQuery) ([]api.Association, error) {
	v, err := get[[]api.Association](ctx, c, q.params().on(c.path("associations", "subjects", subject)))
	return v, failed(err, "list associations of %q", subject)
}

// AssociationsOfID lists what is tied to the resource with an id.
func (c *Client) AssociationsOfID(ctx context.Context, resourceID string, q AssociationsQuery) ([]api.Association, error) {
	v, err := get[[]api.Association](ctx, c, q.params().on(c.path("associations", "resources", resourceID)))
	return v, failed(err, "list associations of resource %q", resourceID)
}

// AssociationsOfName lists what is tied to a resource by name; the namespace "-"
// is any.
func (c *Client) AssociationsOfName(ctx context.Context, namespace, name string, q AssociationsQuery) ([]api.Association, error) {
	v, err := get[[]api.Association](ctx, c, q.params().on(c.path("associations", "resources", namespace, name)))
	return v, failed(err, "list associations of resource %q", name)
}

// CreateAssociations ties a resource to subjects and says what changed.
func (c *Client) CreateAssociations(ctx context.Context, req api.AssociationRequest, dryRun bool) (api.AssociationResponse, error) {
	return c.associate(ctx, http.MethodPost, c.path("associations"), req, dryRun)
}

// UpdateAssociations creates or changes the associations of the resource with
// the request's id and says what changed.
func (c *Client) UpdateAssociations(ctx context.Context, req api.AssociationRequest, dryRun bool) (api.AssociationResponse, error) {
	return c.associate(ctx, http.MethodPut, c.path("associations", "resources", req.ResourceID), req, dryRun)
}

func (c *Client) associate(ctx context.Context, method, path string, req api.AssociationRequest, dryRun bool) (api.AssociationResponse, error) {
	v, err := change[api.AssociationResponse](ctx, c, &request{
		method: method, once: true, body: req, path: params{}.flag("dryRun", dryRun).on(path),
	})
	c.added()
	return v, failed(err, "associate resource %q", req.ResourceName)
}

// DeleteAssociations removes associations of a resource, all of them without
// types. With cascade the subjects that the resource owns go for good.
func (c *Client) DeleteAssociations(ctx context.Context, resourceID string, types []string, cascade, dryRun bool) error {
	p := params{}.list("associationType", types).flag("cascadeLifecycle", cascade).flag("dryRun", dryRun)
	err := c.act(ctx, http.MethodDelete, true, p.on(c.path("associations", "resources", resourceID)))
	c.deleted()
	return failed(err, "delete associations of resource %q", resourceID)
}

// AssociationsBatch lists the associations of several resources, with one
// result for each request.
func (c *Client) AssociationsBatch(ctx context.Context, requests []api.AssociationGet, includeSchemas bool) (api.AssociationResults, error) {
	v, err := change[api.AssociationResults](ctx, c, &request{
		method: http.MethodPost, body: batch[api.AssociationGet]{requests},
		path: params{}.flag("includeSchemas", includeSchemas).on(c.prefix + "/associations:batchGet"),
	})
	return v, failed(err, "list associations")
}

// ChangeAssociationsBatch changes the associations of several resources, with
// one result for each request.
func (c *Client) ChangeAssociationsBatch(ctx context.Context, requests []api.AssociationRequest) (api.AssociationResults, error) {
	v, err := change[api.AssociationResults](ctx, c, &request{
		method: http.MethodPost, once: true, body: batch[api.AssociationRequest]{requests},
		path: c.prefix + "/associations:batchMutate",
	})
	c.deleted()
	return v, failed(err, "change associations")
}

// batch is the body of a request about several resources.
type batch[R any] struct {
	Requests []R `json:"requests"`
}
