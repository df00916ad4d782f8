package registry

import (
	"context"
	"slices"

	"milena/registry/errcode"
	"milena/registry/state"
	"milena/registry/store"
)

// What a deletion answers, in the order in which it is decided:
//
//	                          version                     subject
//	not a version             42202                       -
//	unknown                   40401, 40402                40401
//	soft, already soft        40406                       40404 (all versions are)
//	mode is read-only         42205                       42205
//	associated                40907 for the last live one 40904
//	soft, referenced          42206 by live schemas       42206 by live schemas of other subjects
//	permanent, referenced     42206 by any schema         42206 by any schema of other subjects
//	permanent, live           40407                       40405 (any version is)
//	else                      the number                  the numbers that were live, or all
//
// "latest" is the latest live version, also for a permanent deletion; if there
// is none, it is version -1 that is unknown. When the last version of a subject
// goes for good, its config and mode go with it.

// DeleteVersion deletes one version and returns its number.
func (r *Registry) DeleteVersion(ctx context.Context, subject, version string, permanent bool) (int, error) {
	number, err := parseVersion(version)
	if err != nil {
		return 0, err
	}
	n, _ := resolve(r.view.Load(), subject)
	var deleted int
	err = r.write(ctx, n, func(v *state.View) (*plan, error) {
		n, _ := resolve(v, subject)
		s := v.Subject(n)
		found := find(s, number)
		if found == nil {
			if s == nil {
				return nil, errcode.SubjectNotFound.New(n)
			}
			return nil, errcode.VersionNotFound.New(number)
		}
		deleted = found.Schema.Version
		if !permanent && found.Deleted {
			return nil, errcode.VersionSoftDeleted.New(n, deleted)
		}
		if err := checkChange(n, subject, r.effectiveMode(v, n)); err != nil {
			return nil, err
		}
		if !permanent && s.Live() == 1 && associated(v, n) {
			return nil, errcode.NoActiveVersion.New(n)
		}
		counts := func(referrer *state.Version) bool { return permanent || !referrer.Deleted }
		if hasReferrer(v, found, counts) {
			return nil, errcode.ReferenceExists.New(n, deleted)
		}
		if permanent && !found.Deleted {
			return nil, errcode.VersionNotSoftDeleted.New(n, deleted)
		}
		var records []*store.Record
		if permanent {
			records = append(records, tombstone(found))
			if s.Len() == 1 {
				records = append(records, settingsTombstones(v, n)...)
			}
		} else {
			soft := *found.Schema
			soft.Deleted = true
			records = append(records, &store.Record{
				Kind: store.SchemaKind, Subject: n.String(), Version: deleted, Schema: &soft,
			})
		}
		return deletePlan(v, subject, s, []*state.Version{found}, records), nil
	})
	return deleted, err
}

// DeleteSubject deletes all versions of a subject and returns their numbers,
// ascending: those that were live, or for a permanent deletion all.
func (r *Registry) DeleteSubject(ctx context.Context, subject string, permanent bool) ([]int, error) {
	n, _ := resolve(r.view.Load(), subject)
	var deleted []int
	err := r.write(ctx, n, func(v *state.View) (*plan, error) {
		n, _ := resolve(v, subject)
		s := v.Subject(n)
		if s == nil {
			return nil, errcode.SubjectNotFound.New(n)
		}
		if !permanent && s.Live() == 0 {
			return nil, errcode.SubjectSoftDeleted.New(n)
		}
		if err := checkChange(n, subject, r.effectiveMode(v, n)); err != nil {
			return nil, err
		}
		if associated(v, n) {
			return nil, errcode.AssociationExists.New(n)
		}
		versions := slices.Collect(s.Versions())
		if !permanent {
			versions = latestAndOlder(s)
		}
		deleted = deleted[:0]
		for _, version := range versions {
			deleted = append(deleted, version.Schema.Version)
			counts := func(referrer *state.Version) bool {
				return referrer.Name != n && (permanent || !referrer.Deleted)
			}
			if hasReferrer(v, version, counts) {
				return nil, errcode.ReferenceExists.New(n, version.Schema.Version)
			}
		}
		if !permanent {
			highest := deleted[len(deleted)-1]
			return deletePlan(v, subject, s, versions, []*store.Record{{
				Kind: store.DeleteSubject, Subject: n.String(),
				Delete: &store.SubjectDelete{Subject: n.String(), Version: highest},
			}}), nil
		}
		if s.Live() > 0 {
			return nil, errcode.SubjectNotSoftDeleted.New(n)
		}
		var records []*store.Record
		for _, version := range slices.Backward(versions) {
			records = append(records, tombstone(version))
		}
		return deletePlan(v, subject, s, versions, append(records, settingsTombstones(v, n)...)), nil
	})
	return deleted, err
}

// settingsTombstones returns the records that remove mode and config.
func settingsTombstones(v *state.View, n state.Name) []*store.Record {
	var records []*store.Record
	if v.Mode(n) != nil {
		records = append(records, &store.Record{Kind: store.ModeKind, Subject: n.String()})
	}
	if v.Config(n) != nil {
		records = append(records, &store.Record{Kind: store.ConfigKind, Subject: n.String()})
	}
	return records
}

// deletePlan appends records if the subject, what its name leads to, its settings and who refers to the
// versions are the same.
func deletePlan(v *state.View, subject string, s *state.Subject, versions []*state.Version, records []*store.Record) *plan {
	return &plan{
		relied: func(now *state.View) bool {
			if name, _ := resolve(now, subject); name != s.Name {
				return false
			}
			if now.Subject(s.Name) != s || !sameSettings(v, now, s.Name) || !v.SameAssociations(now, s.Name) {
				return false
			}
			for _, version := range versions {
				if !v.SameReferrers(now, s.Name, version.Schema.Version) {
					return false
				}
			}
			return true
		},
		records: func(*state.View) ([]*store.Record, error) { return records, nil },
	}
}
