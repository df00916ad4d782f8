package registry

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"

	"milena/registry/api"
	"milena/registry/errcode"
	"milena/registry/state"
	"milena/registry/store"
)

// What a change of associations answers, in the order in which it is decided:
//
//	a part of the request is missing or wrong                 42212
//	CREATE of another than what is there for the type         40903
//	other lifecycle of a frozen one, without its deletion     40908
//	the subject is read-only                                  42205
//	strong, and another resource has the subject              40905 if strong, too, else 40904
//	weak, and the subject belongs to a resource               40905
//	with a schema                                             what its registration answers
//	without one, and the subject has no live version          40907
//	strong, and other schemas refer to the subject            42206
//
// All associations of a request are written, or none.

// CreateAssociations ties a resource to subjects and returns what is new, which
// is nothing for a dry run. With a schema, the resource gets a subject of its
// own, in the context named after its namespace.
func (r *Registry) CreateAssociations(ctx context.Context, req api.AssociationRequest, dryRun bool) (api.AssociationResponse, error) {
	return r.associate(ctx, withOp(req, api.OpCreate), dryRun)
}

// UpsertAssociations creates associations of the resource with the request's
// id, or changes their lifecycle, or registers the next schema of their
// subjects; it returns what is new.
func (r *Registry) UpsertAssociations(ctx context.Context, req api.AssociationRequest, dryRun bool) (api.AssociationResponse, error) {
	return r.associate(ctx, withOp(req, api.OpUpsert), dryRun)
}

func withOp(req api.AssociationRequest, op string) api.AssociationRequest {
	req.Associations = slices.Clone(req.Associations)
	for i := range req.Associations {
		req.Associations[i].Op = op
	}
	return req
}

// ChangeAssociations answers a batch: each request is a change of one resource
// with the operations that it names, and has a result or error of its own.
func (r *Registry) ChangeAssociations(ctx context.Context, requests []api.AssociationRequest) (api.AssociationResults, error) {
	if err := r.checkBatch(len(requests)); err != nil {
		return api.AssociationResults{}, err
	}
	out := api.AssociationResults{Results: make([]api.AssociationResult, len(requests))}
	for i, req := range requests {
		resp, err := r.associate(ctx, req, false)
		if ctx.Err() != nil {
			return api.AssociationResults{}, err
		}
		out.Results[i] = resultOf(resp, err)
	}
	return out, nil
}

func (r *Registry) associate(ctx context.Context, req api.AssociationRequest, dryRun bool) (api.AssociationResponse, error) {
	ties, err := r.parseTies(&req, dryRun)
	if err != nil {
		return api.AssociationResponse{}, err
	}
	a := &association{r: r, ctx: ctx, req: &req, ties: ties}
	if dryRun {
		_, err = a.decide(r.view.Load())
		a.changed = nil
	} else {
		err = r.write(ctx, state.Name{Context: req.ResourceNamespace, Local: req.ResourceName}, a.decide)
	}
	if err != nil {
		return api.AssociationResponse{}, err
	}
	return api.AssociationResponse{
		ResourceName: req.ResourceName, ResourceNamespace: req.ResourceNamespace,
		ResourceID: req.ResourceID, ResourceType: req.ResourceType, Associations: a.changed,
	}, nil
}

// association is one change on its way. Each attempt overwrites what is below
// ties.
type association struct {
	r    *Registry
	ctx  context.Context
	req  *api.AssociationRequest
	ties []tie

	base    *state.View // that the attempt took
	view    *state.View // base with the records so far
	records []*store.Record
	touched touched
	changed []api.AssociationInfo
}

// decide works through the request on a view that it changes as it goes, and
// lets the writer append what came out if all that it touched is as it was.
func (a *association) decide(v *state.View) (*plan, error) {
	a.base, a.view = v, v
	a.records, a.changed, a.touched = nil, nil, touched{}
	for i := range a.ties {
		if err := a.change(&a.ties[i]); err != nil {
			return nil, err
		}
	}
	if len(a.records) == 0 {
		return nil, nil
	}
	records, touched, base := a.records, a.touched, a.base
	id, name := a.req.ResourceID, a.req.ResourceName
	return &plan{
		relied: func(now *state.View) bool {
			return base.SameResource(now, id, name) && touched.same(base, now)
		},
		records: func(*state.View) ([]*store.Record, error) { return records, nil },
	}, nil
}

func (a *association) add(records ...*store.Record) {
	for _, record := range records {
		a.view = a.view.Apply(record)
	}
	a.records = append(a.records, records...)
}

// change does one operation.
func (a *association) change(t *tie) error {
	old, err := a.current(t)
	if err != nil {
		return err
	}
	switch {
	case t.op == api.OpDelete:
		if old == nil || t.subject != nil && old.Name != *t.subject {
			return errcode.AssociationNotFound.New(a.req.ResourceID)
		}
		return a.remove(old, t.cascade)
	case old == nil:
		return a.create(t)
	case t.op == api.OpCreate:
		return a.createAgain(t, old)
	default:
		return a.update(t, old)
	}
}

// current returns what ties the resource to a subject for the operation's type
// already, or nil.
func (a *association) current(t *tie) (*state.Association, error) {
	id := a.req.ResourceID
	for old := range a.view.AssociationsByID(id) {
		if old.ResourceType != a.req.ResourceType {
			continue
		}
		if old.ResourceNamespace != a.req.ResourceNamespace {
			return nil, badAssociation("resourceNamespace", fmt.Sprintf("must be '%s' for resource '%s'", old.ResourceNamespace, id))
		}
		if old.ResourceName != a.req.ResourceName {
			return nil, badAssociation("resourceName", fmt.Sprintf("must be '%s' for resource '%s'", old.ResourceName, id))
		}
	}
	for old := range resourcesNamed(a.view, a.req.ResourceNamespace, a.req.ResourceName) {
		if old.ResourceType != a.req.ResourceType || old.AssociationType != t.kind {
			continue
		}
		if id != "" && old.ResourceID != id {
			return nil, errcode.AssociationOfTypeExists.New(t.kind, a.req.ResourceName)
		}
		return old, nil
	}
	return nil, nil
}

// create adds an association for a type that has none.
func (a *association) create(t *tie) error {
	lifecycle := t.lifecycle
	if lifecycle == "" {
		lifecycle = lifecycleWeak
	}
	subject, err := t.subjectFor(lifecycle, a.req)
	if err != nil {
		return err
	}
	if err := a.checkSubject(subject, lifecycle); err != nil {
		return err
	}
	info := api.AssociationInfo{Subject: subject.String(), AssociationType: t.kind, Lifecycle: lifecycle}
	if t.schema != nil {
		if info.Schema, _, err = a.register(subject, t); err != nil {
			return err
		}
	}
	if a.view.Subject(subject).Live() == 0 {
		return errcode.NoActiveVersion.New(subject)
	}
	if lifecycle == lifecycleStrong {
		if err := a.checkReferrers(subject); err != nil {
			return err
		}
	}
	a.add(store.NewAssociation(store.Association{
		GUID: a.r.opt.NewGUID(), ResourceName: a.req.ResourceName, ResourceNamespace: a.req.ResourceNamespace,
		ResourceID: a.req.ResourceID, ResourceType: a.req.ResourceType, AssociationType: t.kind,
		Subject: subject.String(), Lifecycle: lifecycle, Frozen: lifecycle == lifecycleStrong,
	}))
	a.changed = append(a.changed, info)
	return nil
}

// createAgain takes a creation of what is there as done.
func (a *association) createAgain(t *tie, old *state.Association) error {
	same := (t.subject == nil || *t.subject == old.Name) && (t.lifecycle == "" || t.lifecycle == old.Lifecycle)
	if same && t.schema != nil {
		_, known, err := a.register(old.Name, t)
		if err != nil {
			return err
		}
		same = known
	}
	if !same {
		return errcode.AssociationOfTypeExists.New(t.kind, a.req.ResourceName)
	}
	return nil
}

// update changes the lifecycle of an association or registers the next schema.
func (a *association) update(t *tie, old *state.Association) error {
	if t.subject != nil && *t.subject != old.Name {
		if t.lifecycle == "" {
			return badAssociation("lifecycle", "at least lifecycle or schema must be provided for update")
		}
		if t.lifecycle == lifecycleStrong && old.Lifecycle == lifecycleStrong {
			return badAssociation("subject", fmt.Sprintf("frozen associations must use subject '%s'", old.Name))
		}
		return errcode.AssociationOfTypeExists.New(t.kind, a.req.ResourceName)
	}
	lifecycle := t.lifecycle
	if lifecycle == "" {
		lifecycle = old.Lifecycle
	}
	if lifecycle != old.Lifecycle {
		if old.Frozen {
			return errcode.AssociationFrozen.New(t.kind, old.Name)
		}
		if lifecycle == lifecycleStrong {
			if own := ownSubject(a.req, t.kind); own != old.Name {
				return badAssociation("subject", fmt.Sprintf("frozen associations must use subject '%s'", own))
			}
		}
		if err := a.checkOthers(old.Name, lifecycle, old); err != nil {
			return err
		}
	}
	a.touch(old.Name)
	if err := checkChange(old.Name, old.Name.String(), a.r.effectiveMode(a.view, old.Name)); err != nil {
		return err
	}
	info := api.AssociationInfo{Subject: old.Name.String(), AssociationType: t.kind, Lifecycle: lifecycle}
	if t.schema != nil {
		schema, known, err := a.register(old.Name, t)
		if err != nil {
			return err
		}
		if known && lifecycle == old.Lifecycle {
			return nil
		}
		info.Schema = schema
	} else if lifecycle == old.Lifecycle {
		return nil
	}
	if lifecycle != old.Lifecycle {
		if lifecycle == lifecycleStrong {
			if err := a.checkReferrers(old.Name); err != nil {
				return err
			}
		}
		next := old.Association
		next.Lifecycle, next.Frozen = lifecycle, lifecycle == lifecycleStrong
		a.add(store.NewAssociation(next))
	}
	a.changed = append(a.changed, info)
	return nil
}

// checkSubject refuses subjects that a new association can't have.
func (a *association) checkSubject(n state.Name, lifecycle string) error {
	a.touch(n)
	if err := checkChange(n, n.String(), a.r.effectiveMode(a.view, n)); err != nil {
		return err
	}
	return a.checkOthers(n, lifecycle, nil)
}

// checkOthers refuses a lifecycle that the subject's associations other than
// mine don't allow.
func (a *association) checkOthers(n state.Name, lifecycle string, mine *state.Association) error {
	for other := range a.view.AssociationsOf(n) {
		switch {
		case mine != nil && other.GUID == mine.GUID:
		case other.Lifecycle == lifecycleStrong:
			return errcode.StrongAssociationExists.New(n)
		case lifecycle == lifecycleStrong:
			return errcode.AssociationExists.New(n)
		}
	}
	return nil
}

// checkReferrers refuses subjects that live schemas of others refer to.
func (a *association) checkReferrers(n state.Name) error {
	for version := range a.view.Subject(n).Versions() {
		a.touched.versions = append(a.touched.versions, version)
		if hasReferrer(a.view, version, func(by *state.Version) bool { return !by.Deleted && by.Name != n }) {
			return errcode.ReferenceExists.New(n, version.Schema.Version)
		}
	}
	return nil
}

// register registers the operation's schema under a subject. It returns the
// schema, and whether it is the latest version already.
func (a *association) register(n state.Name, t *tie) (*api.Schema, bool, error) {
	if to, _ := resolve(a.view, n.String()); to != n {
		return nil, false, badAssociation("subject", fmt.Sprintf("'%s' is an alias of '%s'", n, to))
	}
	g, err := a.r.newRegistration(a.ctx, n.String(), *t.schema, RegisterOptions{Normalize: t.normalize})
	if err != nil {
		return nil, false, err
	}
	a.touch(n)
	p, err := g.attempt(a.view)
	if err != nil {
		return nil, false, err
	}
	for _, used := range g.used {
		a.touch(used.Name)
	}
	if p != nil {
		records, err := p.records(a.view)
		if err != nil {
			return nil, false, err
		}
		a.add(records...)
	}
	s := api.Schema{
		Subject: n.String(), Version: g.answer.Version, ID: g.answer.ID, GUID: g.answer.GUID, SchemaType: g.answer.SchemaType,
		References: g.answer.References, Metadata: g.answer.Metadata, RuleSet: g.answer.RuleSet, Schema: g.answer.Schema,
	}
	latest := a.view.Subject(n).Latest()
	return &s, p == nil && latest != nil && latest.Schema.Version == s.Version, nil
}

// randomGUID returns a random UUID (RFC 9562, version 4).
func randomGUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0F|0x40, b[8]&0x3F|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
