package registry

import (
	"context"
	"slices"

	"milena/registry/api"
	"milena/registry/errcode"
	"milena/registry/state"
	"milena/registry/store"
)

// AssociationsDeletion says which associations of a resource to delete, all if
// there are no types, and how.
type AssociationsDeletion struct {
	ResourceType     string
	AssociationTypes []string
	Cascade          bool // strong ones take their subjects with them, for good
	DryRun           bool
}

// DeleteAssociations deletes associations of the resource with an id. Frozen
// ones need Cascade. What it refuses: 40410 if there is none, 40908 for a frozen
// one, 42205 for a read-only subject, 42206 for a subject that schemas refer to.
func (r *Registry) DeleteAssociations(ctx context.Context, resourceID string, d AssociationsDeletion) error {
	q := AssociationsQuery{ResourceType: d.ResourceType, AssociationTypes: d.AssociationTypes}
	a := &association{r: r, ctx: ctx, req: &api.AssociationRequest{ResourceID: resourceID}}
	decide := func(v *state.View) (*plan, error) {
		a.base, a.view, a.records, a.touched = v, v, nil, touched{}
		found := false
		for old := range v.AssociationsByID(resourceID) {
			if !q.selects(old) {
				continue
			}
			found = true
			if err := a.remove(old, d.Cascade); err != nil {
				return nil, err
			}
		}
		if !found {
			return nil, errcode.AssociationNotFound.New(resourceID)
		}
		records, touched := a.records, a.touched
		return &plan{
			relied:  func(now *state.View) bool { return v.SameResource(now, resourceID, "") && touched.same(v, now) },
			records: func(*state.View) ([]*store.Record, error) { return records, nil },
		}, nil
	}
	if d.DryRun {
		_, err := decide(r.view.Load())
		return err
	}
	return r.write(ctx, state.Name{Local: resourceID}, decide)
}

// remove deletes an association, and with cascade the subject of a strong one.
func (a *association) remove(old *state.Association, cascade bool) error {
	if old.Frozen && !cascade {
		return errcode.AssociationFrozen.New(old.AssociationType, old.Name)
	}
	a.touch(old.Name)
	if err := checkChange(old.Name, old.Name.String(), a.r.effectiveMode(a.view, old.Name)); err != nil {
		return err
	}
	gone := store.NewAssociation(old.Association)
	gone.Association = nil
	a.add(gone)
	if cascade && old.Lifecycle == lifecycleStrong && !associated(a.view, old.Name) {
		return a.purge(old.Name)
	}
	return nil
}

// purge deletes a subject for good.
func (a *association) purge(n state.Name) error {
	s := a.view.Subject(n)
	versions := slices.Collect(s.Versions())
	for _, version := range versions {
		a.touched.versions = append(a.touched.versions, version)
		if hasReferrer(a.view, version, func(by *state.Version) bool { return by.Name != n }) {
			return errcode.ReferenceExists.New(n, version.Schema.Version)
		}
	}
	if latest := s.Latest(); latest != nil {
		a.add(&store.Record{
			Kind: store.DeleteSubject, Subject: n.String(),
			Delete: &store.SubjectDelete{Subject: n.String(), Version: latest.Schema.Version},
		})
	}
	for _, version := range slices.Backward(versions) {
		a.add(tombstone(version))
	}
	a.add(settingsTombstones(a.view, n)...)
	return nil
}
