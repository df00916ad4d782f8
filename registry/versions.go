package registry

import (
	"context"
	"strconv"
	"strings"

	"milena/registry/api"
	"milena/registry/errcode"
	"milena/registry/state"
)

// latestVersion is the number that stands for the latest version.
const latestVersion = -1

// parseVersion reads the version in a path: "latest" in any case, -1, or a
// number from 1 to 2^31-1, with a plus sign, zeros or spaces in front.
func parseVersion(s string) (int, error) {
	trimmed := strings.TrimSpace(s)
	if strings.EqualFold(trimmed, "latest") {
		return latestVersion, nil
	}
	n, err := strconv.ParseInt(trimmed, 10, 32)
	if err != nil || n < 1 && n != latestVersion {
		return 0, errcode.InvalidVersion.New(s)
	}
	return int(n), nil
}

// Versions returns the numbers of a subject's versions, ascending by absolute
// value.
func (r *Registry) Versions(ctx context.Context, subject string, q VersionsQuery) ([]int, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	v := r.view.Load()
	n, _ := resolve(v, subject)
	s := v.Subject(n)
	if s == nil || s.Live() == 0 && !q.Deleted && !q.DeletedOnly {
		return nil, errcode.SubjectNotFound.New(n)
	}
	numbers := []int{}
	for version := range s.Versions() {
		number := version.Schema.Version
		switch {
		case q.DeletedAsNegative && version.Deleted:
			numbers = append(numbers, -number)
		case q.DeletedAsNegative,
			q.DeletedOnly && version.Deleted,
			!q.DeletedOnly && (q.Deleted || !version.Deleted):
			numbers = append(numbers, number)
		}
	}
	return cut(numbers, q.Page, 0), nil
}

// version finds a version to read. A plain name that has none is searched for
// in the other contexts.
func (r *Registry) version(v *state.View, subject, version string, deleted bool) (*state.Version, error) {
	number, err := parseVersion(version)
	if err != nil {
		return nil, err
	}
	n, plain := resolve(v, subject)
	s := v.Subject(n)
	visible := func(found *state.Version) bool { return found != nil && (deleted || !found.Deleted) }
	if found := find(s, number); visible(found) {
		return found, nil
	}
	if plain {
		for other := range others(v, n) {
			if found := find(v.Subject(other), number); visible(found) {
				return found, nil
			}
		}
	}
	if s == nil || s.Live() == 0 && !deleted {
		return nil, errcode.SubjectNotFound.New(n)
	}
	return nil, errcode.VersionNotFound.New(number)
}

// Version returns one version of a subject.
func (r *Registry) Version(ctx context.Context, subject, version string, q VersionQuery) (api.Schema, error) {
	if err := ctx.Err(); err != nil {
		return api.Schema{}, err
	}
	v := r.view.Load()
	found, err := r.version(v, subject, version, q.Deleted)
	if err != nil {
		return api.Schema{}, err
	}
	out := apiSchema(found)
	if out.Schema, err = r.textOf(v, found, q.Format); err != nil {
		return api.Schema{}, err
	}
	if refs, changed := qualified(found.Name, out.References, q.ReferenceFormat); changed {
		// The GUID is that of what is shown.
		shown := *found.Schema
		shown.References = storeReferences(refs)
		out.References, out.GUID = refs, state.GUIDOf(&shown).String()
	}
	out.SchemaTags = r.tags(v, found, q.FindTags)
	return out, nil
}

// ReferencedBy returns the ids of the schemas that refer to a version, which
// may itself be soft deleted, ascending.
func (r *Registry) ReferencedBy(ctx context.Context, subject, version string, q ReferencedByQuery) ([]int, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	v := r.view.Load()
	found, err := r.version(v, subject, version, true)
	if err != nil {
		return nil, err
	}
	ids := newIDs()
	for referrer := range v.Referrers(found.Name, found.Schema.Version) {
		if q.Deleted || !referrer.Deleted {
			ids.add(referrer.Schema.ID)
		}
	}
	return cut(ids.sorted(), q.Page, r.opt.Limits.ReferencedByPageMax), nil
}

// SubjectMetadata returns the highest version that has metadata with all of the
// wanted properties.
func (r *Registry) SubjectMetadata(ctx context.Context, subject string, q MetadataQuery) (api.Schema, error) {
	if err := ctx.Err(); err != nil {
		return api.Schema{}, err
	}
	v := r.view.Load()
	n, _ := resolve(v, subject)
	s := v.Subject(n)
	if s == nil || s.Live() == 0 && !q.Deleted {
		return api.Schema{}, errcode.SubjectNotFound.New(n)
	}
	for version := range s.NewestFirst() {
		if version.Deleted && !q.Deleted || version.Schema.Metadata == nil || !q.matches(version.Schema.Metadata.Properties) {
			continue
		}
		out := apiSchema(version)
		var err error
		out.Schema, err = r.textOf(v, version, q.Format)
		return out, err
	}
	return api.Schema{}, errcode.SchemaNotFound.Text("Schema not found")
}

func (q *MetadataQuery) matches(properties map[string]string) bool {
	for i := range min(len(q.Keys), len(q.Values)) {
		if value, ok := properties[q.Keys[i]]; !ok || value != q.Values[i] {
			return false
		}
	}
	return true
}
