package registry

import (
	"context"
	"encoding/base64"
	"slices"
	"strconv"
	"strings"

	"milena/registry/api"
	"milena/registry/errcode"
	"milena/registry/state"
)

// SearchQuery selects versions by what they hold; all criteria that are given
// must hold for a version. Names and tags may have * for any number of
// characters, and are told by case.
type SearchQuery struct {
	Prefix     string // of subjects; "" and ":*:" are all contexts, else as for SchemasQuery
	SchemaType string
	Deleted    bool // soft deleted versions too
	LatestOnly bool // only the highest version that counts

	Field    string // name of a field ("email"), or its path ("ns.Customer.email")
	Type     string // name of a record, message, enum, fixed or definition ("Customer"), or its full name
	Tag      string // an inline tag, or one in the metadata
	Property string // a property of the metadata: "name", or "name=value"
	Text     string // part of the schema's text, in any case

	After string // Next of the page before
	Limit int    // matches of one page; only 1 to Limits.SearchPageMax count, else it is 100
}

const (
	searchPage     = 100 // matches of a page without a limit
	entitiesShown  = 20  // of one match
	searchParseFee = 8   // what a byte that is parsed costs, in bytes that are only looked at
	searchNameFee  = 256 // what a version costs at least, in bytes
)

// Search returns a page of versions in the order of names. What one call looks
// at is bounded by Limits.SearchBytesMax: then the page ends early, with what
// there is, and says where the next one begins.
func (r *Registry) Search(ctx context.Context, q SearchQuery) (api.SearchResponse, error) {
	out := api.SearchResponse{Matches: []api.Match{}}
	from, err := parseCursor(q.After)
	if err != nil {
		return out, err
	}
	limit := q.Limit
	if limit < 1 || limit > r.opt.Limits.SearchPageMax {
		limit = min(searchPage, r.opt.Limits.SearchPageMax)
	}
	s := &search{r: r, view: r.view.Load(), q: &q, left: r.opt.Limits.SearchBytesMax}
	wanted := exportFilter(q.Prefix)
	for subject := range s.view.SubjectsFrom(from.subject) {
		if wanted != nil && !wanted(subject.Name) {
			continue
		}
		for version := range s.versions(subject) {
			if subject.Name.String() == from.subject && version.Schema.Version <= from.version {
				continue
			}
			if err := ctx.Err(); err != nil {
				return out, err
			}
			if len(out.Matches) == limit || s.left <= 0 {
				out.Next = s.last.String()
				return out, nil
			}
			if paths, ok := s.matches(version); ok {
				out.Matches = append(out.Matches, match(version, paths))
			}
			s.last = cursor{subject.Name.String(), version.Schema.Version}
		}
	}
	return out, nil
}

func match(version *state.Version, paths []string) api.Match {
	return api.Match{
		Subject: version.Name.String(), Version: version.Schema.Version, ID: version.Schema.ID,
		GUID: version.GUID.String(), SchemaType: version.Schema.Type, Deleted: version.Deleted, Entities: paths,
	}
}

// cursor is the version that a page ended with.
type cursor struct {
	subject string
	version int
}

func (c cursor) String() string {
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.Itoa(c.version) + " " + c.subject))
}

func parseCursor(s string) (cursor, error) {
	if s == "" {
		return cursor{}, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(s)
	number, subject, ok := strings.Cut(string(b), " ")
	version, numberErr := strconv.Atoi(number)
	if err != nil || !ok || numberErr != nil {
		return cursor{}, errcode.BadRequest.Text("Invalid cursor")
	}
	return cursor{state.Canonical(subject), version}, nil
}

// search is one call under way.
type search struct {
	r    *Registry
	view *state.View
	q    *SearchQuery
	left int // bytes that may still be looked at
	last cursor
}

// versions returns the versions of a subject that a search considers.
func (s *search) versions(subject *state.Subject) func(func(*state.Version) bool) {
	return func(yield func(*state.Version) bool) {
		if s.q.LatestOnly {
			latest := subject.Latest()
			if s.q.Deleted {
				latest = subject.Highest()
			}
			if latest != nil {
				yield(latest)
			}
			return
		}
		for version := range subject.Versions() {
			if (s.q.Deleted || !version.Deleted) && !yield(version) {
				return
			}
		}
	}
}

// matches reports whether a version has all that is wanted, and which entities
// were meant. What costs least is looked at first.
func (s *search) matches(version *state.Version) ([]string, bool) {
	q := s.q
	s.left -= searchNameFee
	if q.SchemaType != "" && !strings.EqualFold(q.SchemaType, version.Schema.Type) || !hasProperty(version, q.Property) {
		return nil, false
	}
	text := version.Schema.Text
	if q.Text != "" {
		s.left -= len(text)
		if !strings.Contains(strings.ToLower(text), strings.ToLower(q.Text)) {
			return nil, false
		}
	}
	inMetadata := q.Tag != "" && hasMetadataTag(version, q.Tag)
	if q.Field == "" && q.Type == "" && (q.Tag == "" || inMetadata) {
		return nil, true
	}
	s.left -= len(text)
	if !mayHold(text, q.Field) || !mayHold(text, q.Type) || !inMetadata && !mayHold(text, q.Tag) {
		return nil, false
	}
	s.left -= searchParseFee * len(text)
	p, err := s.r.stored(s.view, version)
	if err != nil {
		return nil, false // what can't be read has no entities
	}
	return s.find(entities(p), inMetadata)
}

// find reports whether each criterion has an entity, and which.
func (s *search) find(all []entity, tagged bool) ([]string, bool) {
	var paths []string
	for _, c := range []struct {
		pattern string
		fits    func(*entity, string) bool
		done    bool
	}{
		{s.q.Field, func(e *entity, p string) bool { return e.field && hasName(e, p) }, false},
		{s.q.Type, func(e *entity, p string) bool { return !e.field && hasName(e, p) }, false},
		{s.q.Tag, func(e *entity, p string) bool {
			return slices.ContainsFunc(e.tags, func(tag string) bool { return glob(p, tag) })
		}, tagged},
	} {
		if c.pattern == "" {
			continue
		}
		found := c.done
		for i := range all {
			if !c.fits(&all[i], c.pattern) {
				continue
			}
			found = true
			if len(paths) < entitiesShown && !slices.Contains(paths, all[i].path) {
				paths = append(paths, all[i].path)
			}
		}
		if !found {
			return nil, false
		}
	}
	return paths, true
}

func hasName(e *entity, pattern string) bool { return glob(pattern, e.name) || glob(pattern, e.path) }

func hasProperty(version *state.Version, wanted string) bool {
	if wanted == "" {
		return true
	}
	if version.Schema.Metadata == nil {
		return false
	}
	name, value, both := strings.Cut(wanted, "=")
	have, ok := version.Schema.Metadata.Properties[name]
	return ok && (!both || glob(value, have))
}

func hasMetadataTag(version *state.Version, pattern string) bool {
	if version.Schema.Metadata == nil {
		return false
	}
	for _, tags := range version.Schema.Metadata.Tags {
		if slices.ContainsFunc(tags, func(tag string) bool { return glob(pattern, tag) }) {
			return true
		}
	}
	return false
}

// mayHold reports whether a text may have a name that fits a pattern: every part
// of it would be in the text as it is. Texts with escapes may hold anything.
func mayHold(text, pattern string) bool {
	for part := range strings.FieldsFuncSeq(pattern, func(c rune) bool { return c == '*' || c == '.' }) {
		if !strings.Contains(text, part) && !strings.Contains(text, `\`) && part != "object" {
			return false
		}
	}
	return true
}

// glob reports whether s fits a pattern in which * stands for any characters.
// It takes time in proportion to both lengths at worst.
func glob(pattern, s string) bool {
	first, rest, more := strings.Cut(pattern, "*")
	if !more {
		return pattern == s
	}
	if !strings.HasPrefix(s, first) {
		return false
	}
	s = s[len(first):]
	for {
		part, after, more := strings.Cut(rest, "*")
		if !more {
			return strings.HasSuffix(s, part)
		}
		i := strings.Index(s, part)
		if i < 0 {
			return false
		}
		s, rest = s[i+len(part):], after
	}
}
