package registry

import (
	"fmt"
	"slices"

	"milena/registry/api"
	"milena/registry/state"
)

// tie is one operation of a request, checked as far as that needs no view.
type tie struct {
	op        string
	kind      string      // key or value
	subject   *state.Name // nil if the request names none
	lifecycle string      // "" if the request neither gives nor implies one
	schema    *api.RegisterRequest
	normalize bool
	cascade   bool
}

// parseTies checks a request in the reference's order and fills in defaults.
func (r *Registry) parseTies(req *api.AssociationRequest, dryRun bool) ([]tie, error) {
	const empty = "cannot be null or empty"
	switch {
	case req.ResourceName == "":
		return nil, badAssociation("resourceName", empty)
	case req.ResourceNamespace == "":
		return nil, badAssociation("resourceNamespace", empty)
	case req.ResourceID == "" && !dryRun:
		return nil, badAssociation("resourceId", empty)
	case req.ResourceType != "" && req.ResourceType != resourceTopic:
		return nil, badAssociation("resourceType", "must be 'topic'")
	case len(req.Associations) == 0:
		return nil, badAssociation("associations", empty)
	case len(req.Associations) > r.opt.Limits.AssociationBatchMax:
		return nil, badAssociation("associations", "cannot be that many")
	}
	req.ResourceType = resourceTopic
	ties := make([]tie, len(req.Associations))
	for i := range req.Associations {
		t, err := parseTie(&req.Associations[i], req)
		if err != nil {
			return nil, err
		}
		ties[i] = t
	}
	return ties, nil
}

func parseTie(c *api.AssociationChange, req *api.AssociationRequest) (tie, error) {
	t := tie{
		op: c.Op, kind: associationVal, lifecycle: text(c.Lifecycle), schema: c.Schema, cascade: c.CascadeLifecycle,
		normalize: c.Normalize != nil && *c.Normalize,
	}
	if c.AssociationType != nil {
		t.kind = *c.AssociationType
	}
	if t.kind != associationKey && t.kind != associationVal {
		return t, badAssociation("associationType", "must be either 'key' or 'value'")
	}
	if text(c.Subject) != "" {
		n := parseSubject(*c.Subject)
		t.subject = &n
	}
	if c.Op == api.OpDelete {
		return t, nil
	}
	if t.schema != nil {
		if t.lifecycle == lifecycleWeak {
			return t, badAssociation("lifecycle", "cannot be WEAK when schema is provided")
		}
		t.lifecycle = lifecycleStrong
	}
	lifecycle := t.lifecycle
	if lifecycle == "" && c.Op == api.OpCreate {
		lifecycle = lifecycleWeak
	}
	if c.Frozen != nil && lifecycle != "" && *c.Frozen != (lifecycle == lifecycleStrong) {
		return t, badAssociation("frozen", fmt.Sprintf("association with lifecycle of %s cannot be frozen=%t", lifecycle, *c.Frozen))
	}
	if lifecycle != "" && c.Op == api.OpCreate {
		if _, err := t.subjectFor(lifecycle, req); err != nil {
			return t, err
		}
	}
	return t, nil
}

// subjectFor returns the subject of a new association.
func (t *tie) subjectFor(lifecycle string, req *api.AssociationRequest) (state.Name, error) {
	if lifecycle == lifecycleStrong {
		own := ownSubject(req, t.kind)
		if t.subject != nil && *t.subject != own {
			return own, badAssociation("subject", fmt.Sprintf("frozen associations must use subject '%s'", own))
		}
		return own, nil
	}
	if t.subject == nil {
		return state.Name{}, badAssociation("subject", "must be provided for WEAK associations")
	}
	return *t.subject, nil
}

// ownSubject returns the subject that a resource may have for itself.
func ownSubject(req *api.AssociationRequest, kind string) state.Name {
	return parseSubject(":." + req.ResourceNamespace + ":" + req.ResourceName + "-" + kind)
}

// touched is what a change of associations read: subjects with their contexts,
// settings and associations, and versions with their referrers.
type touched struct {
	subjects []state.Name
	versions []*state.Version
}

// touch notes that the change relies on a subject.
func (a *association) touch(n state.Name) {
	if !slices.Contains(a.touched.subjects, n) {
		a.touched.subjects = append(a.touched.subjects, n)
	}
}

// same reports whether all of it is as it was. Ids were chosen already, so the
// whole context must be.
func (t *touched) same(base, now *state.View) bool {
	for _, n := range t.subjects {
		if base.Subject(n) != now.Subject(n) || base.Context(n.Context) != now.Context(n.Context) ||
			!base.SameAssociations(now, n) || !sameSettings(base, now, n) {
			return false
		}
	}
	for _, version := range t.versions {
		if !base.SameReferrers(now, version.Name, version.Schema.Version) {
			return false
		}
	}
	return true
}
