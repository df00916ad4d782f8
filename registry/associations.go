package registry

import (
	"context"
	"iter"
	"slices"

	"milena/registry/api"
	"milena/registry/errcode"
	"milena/registry/state"
)

// The words of associations. A strong one means that the subject belongs to the
// resource alone; it is always frozen. A weak one shares the subject.
const (
	resourceTopic   = "topic"
	associationKey  = "key"
	associationVal  = "value"
	lifecycleWeak   = "WEAK"
	lifecycleStrong = "STRONG"
)

// anyName is the namespace or name that stands for every one in a search.
const anyName = "-"

// AssociationsQuery filters associations; zero fields filter nothing. A
// lifecycle that is none is errcode.NotFound, other unknown words find nothing.
type AssociationsQuery struct {
	ResourceType     string
	AssociationTypes []string
	Lifecycle        string
	Page             Page
}

func (q *AssociationsQuery) check() error {
	switch q.Lifecycle {
	case "", lifecycleWeak, lifecycleStrong:
		return nil
	default:
		return errcode.NotFound.New()
	}
}

func (q *AssociationsQuery) selects(a *state.Association) bool {
	return (q.ResourceType == "" || q.ResourceType == a.ResourceType) &&
		(q.Lifecycle == "" || q.Lifecycle == a.Lifecycle) &&
		(len(q.AssociationTypes) == 0 || slices.Contains(q.AssociationTypes, a.AssociationType))
}

// given reports whether the query filters at all.
func (q *AssociationsQuery) given() bool {
	return q.ResourceType != "" || len(q.AssociationTypes) > 0 || q.Lifecycle != ""
}

// of returns the associations among all that the query selects, on one page.
func (q *AssociationsQuery) of(ctx context.Context, all iter.Seq[*state.Association], pageMax int) ([]api.Association, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	limit := q.Page.Limit
	if limit <= 0 || limit > pageMax {
		limit = pageMax
	}
	skip := q.Page.Offset
	list := []api.Association{}
	for a := range all {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !q.selects(a) {
			continue
		}
		if skip > 0 {
			skip--
			continue
		}
		if list = append(list, apiAssociation(a)); len(list) == limit {
			break
		}
	}
	return list, nil
}

// ofSubject returns the associations of a subject that a query which filters
// selects.
func (q *AssociationsQuery) ofSubject(v *state.View, n state.Name) []api.Association {
	if !q.given() {
		return nil
	}
	var list []api.Association
	for a := range v.AssociationsOf(n) {
		if q.selects(a) {
			list = append(list, apiAssociation(a))
		}
	}
	return list
}

func apiAssociation(a *state.Association) api.Association {
	return api.Association{
		Subject: a.Name.String(), GUID: a.GUID,
		ResourceName: a.ResourceName, ResourceNamespace: a.ResourceNamespace, ResourceID: a.ResourceID, ResourceType: a.ResourceType,
		AssociationType: a.AssociationType, Lifecycle: a.Lifecycle, Frozen: oddFrozen(a),
		CreateTimestamp: a.CreateMillis, UpdateTimestamp: a.UpdateMillis,
	}
}

// oddFrozen returns whether an association is frozen where that does not follow
// from its lifecycle; earlier releases of the reference allowed it.
func oddFrozen(a *state.Association) *bool {
	if a.Frozen == (a.Lifecycle == lifecycleStrong) {
		return nil
	}
	frozen := a.Frozen
	return &frozen
}

// AssociationsBySubject returns the associations of a subject, by namespace,
// resource and type, as the methods below do.
func (r *Registry) AssociationsBySubject(ctx context.Context, subject string, q AssociationsQuery) ([]api.Association, error) {
	v := r.view.Load()
	n, _ := resolve(v, subject)
	return q.of(ctx, v.AssociationsOf(n), r.opt.Limits.AssociationsPageMax)
}

// AssociationsByID returns the associations of the resource with an id.
func (r *Registry) AssociationsByID(ctx context.Context, resourceID string, q AssociationsQuery) ([]api.Association, error) {
	return q.of(ctx, r.view.Load().AssociationsByID(resourceID), r.opt.Limits.AssociationsPageMax)
}

// AssociationsByName returns the associations of the resource with a name in a
// namespace; "-" is any.
func (r *Registry) AssociationsByName(ctx context.Context, namespace, name string, q AssociationsQuery) ([]api.Association, error) {
	return q.of(ctx, resourcesNamed(r.view.Load(), namespace, name), r.opt.Limits.AssociationsPageMax)
}

func resourcesNamed(v *state.View, namespace, name string) iter.Seq[*state.Association] {
	switch {
	case namespace == anyName && name == anyName:
		return v.Associations()
	case name == anyName:
		return v.AssociationsIn(namespace)
	case namespace == anyName:
		return v.AssociationsNamed(name)
	}
	return func(yield func(*state.Association) bool) {
		for a := range v.AssociationsNamed(name) {
			if a.ResourceNamespace == namespace && !yield(a) {
				return
			}
		}
	}
}

// GetAssociations answers a batch: for each request the associations of one
// resource, by id or by name and namespace, with the latest schemas if wanted.
// A resource that is not known has none.
func (r *Registry) GetAssociations(ctx context.Context, requests []api.AssociationGet, includeSchemas bool) (api.AssociationResults, error) {
	if err := r.checkBatch(len(requests)); err != nil {
		return api.AssociationResults{}, err
	}
	v := r.view.Load()
	out := api.AssociationResults{Results: make([]api.AssociationResult, len(requests))}
	for i := range requests {
		if err := ctx.Err(); err != nil {
			return api.AssociationResults{}, err
		}
		out.Results[i] = resultOf(r.getAssociations(ctx, v, &requests[i], includeSchemas))
	}
	return out, nil
}

func (r *Registry) checkBatch(requests int) error {
	switch {
	case requests == 0:
		return badAssociation("requests", "cannot be null or empty")
	case requests > r.opt.Limits.AssociationBatchMax:
		return badAssociation("requests", "cannot be that many")
	}
	return nil
}

// badAssociation says what is wrong with a property of a request.
func badAssociation(property, detail string) error {
	return errcode.InvalidAssociation.New(property, detail)
}

// resultOf turns what a request of its own would answer into a part of a batch.
func resultOf(resp api.AssociationResponse, err error) api.AssociationResult {
	if err != nil {
		e := errcode.Of(err)
		return api.AssociationResult{Error: &api.ErrorMessage{ErrorCode: e.Row.Code, Message: e.Message}}
	}
	return api.AssociationResult{Result: &resp}
}

func (r *Registry) getAssociations(ctx context.Context, v *state.View, req *api.AssociationGet, includeSchemas bool) (api.AssociationResponse, error) {
	resp := api.AssociationResponse{
		ResourceName: req.ResourceName, ResourceNamespace: req.ResourceNamespace,
		ResourceID: req.ResourceID, ResourceType: req.ResourceType,
	}
	all := v.AssociationsByID(req.ResourceID)
	if req.ResourceID == "" {
		switch {
		case req.ResourceName == "":
			return resp, badAssociation("resourceName", "cannot be null or empty")
		case req.ResourceNamespace == "":
			return resp, badAssociation("resourceNamespace", "cannot be null or empty")
		}
		all = resourcesNamed(v, req.ResourceNamespace, req.ResourceName)
	}
	q := AssociationsQuery{ResourceType: req.ResourceType, AssociationTypes: req.AssociationTypes, Lifecycle: req.Lifecycle}
	for a := range all {
		if err := ctx.Err(); err != nil {
			return resp, err
		}
		if !q.selects(a) {
			continue
		}
		resp.ResourceName, resp.ResourceNamespace = a.ResourceName, a.ResourceNamespace
		resp.ResourceID, resp.ResourceType = a.ResourceID, a.ResourceType
		info := api.AssociationInfo{
			Subject: a.Name.String(), AssociationType: a.AssociationType, Lifecycle: a.Lifecycle, Frozen: oddFrozen(a),
		}
		if latest := v.Subject(a.Name).Latest(); includeSchemas && latest != nil {
			s := apiSchema(latest)
			info.Schema = &s
		}
		if resp.Associations = append(resp.Associations, info); len(resp.Associations) == r.opt.Limits.AssociationsPageMax {
			break
		}
	}
	return resp, nil
}

// isStrong reports whether a subject belongs to a resource.
func isStrong(v *state.View, n state.Name) bool {
	for a := range v.AssociationsOf(n) {
		if a.Lifecycle == lifecycleStrong {
			return true
		}
	}
	return false
}

// associated reports whether a subject has an association.
func associated(v *state.View, n state.Name) bool {
	for range v.AssociationsOf(n) {
		return true
	}
	return false
}
