package registry

// Page cuts a part out of a list after filtering and sorting. Limit counts only
// when it is positive and at most the list's maximum; every other limit means
// the list's default. A negative offset counts as zero.
type Page struct {
	Offset int
	Limit  int
}

// cut returns the page of list. max is the greatest limit that counts, and
// what any other limit means; zero is unlimited.
func cut[T any](list []T, p Page, limitMax int) []T {
	if p.Offset > 0 {
		if p.Offset >= len(list) {
			return list[:0]
		}
		list = list[p.Offset:]
	}
	limit := p.Limit
	if limit <= 0 || limitMax > 0 && limit > limitMax {
		limit = limitMax
	}
	if limit > 0 && limit < len(list) {
		list = list[:limit]
	}
	return list
}

// RegisterOptions are the query parameters of a registration.
type RegisterOptions struct {
	Normalize bool   // also true if the subject's config says so
	Force     bool   // no compatibility check
	Format    string // of the text in the answer
}

// LookupOptions are the query parameters of a look-up by content.
type LookupOptions struct {
	Normalize bool
	Deleted   bool
	Format    string
}

// SubjectsQuery selects subjects. The prefix ":*:" spans all contexts, which
// is also what a nil Prefix means.
type SubjectsQuery struct {
	Prefix      *string
	Deleted     bool
	DeletedOnly bool
	Page        Page
}

// VersionsQuery selects versions of a subject.
type VersionsQuery struct {
	Deleted           bool
	DeletedOnly       bool
	DeletedAsNegative bool
	Page              Page
}

// VersionQuery says how one version is read and shown.
type VersionQuery struct {
	Deleted         bool
	Format          string
	ReferenceFormat string
	FindTags        []string
}

// ReferencedByQuery selects referrers.
type ReferencedByQuery struct {
	Deleted bool
	Page    Page
}

// MetadataQuery finds a version by metadata properties: Keys and Values are
// paired in order, left-overs are ignored.
type MetadataQuery struct {
	Keys    []string
	Values  []string
	Deleted bool
	Format  string
}

// SchemasQuery selects versions across subjects. An empty prefix means the
// default context.
type SchemasQuery struct {
	Prefix          string
	Aliases         bool
	Deleted         bool
	LatestOnly      bool
	RuleType        string
	ResourceType    string // with any of these three, only subjects with such associations count
	AssociationType []string
	Lifecycle       string
	Page            Page
}

// ByIDQuery says how a schema is found by id and shown. Subject is a hint.
type ByIDQuery struct {
	Subject         string
	Format          string
	ReferenceFormat string
	FindTags        []string
	FetchMaxID      bool
}

// UsersQuery selects the subjects and versions that use an id. Only the
// context of Subject counts.
type UsersQuery struct {
	Subject string
	Deleted bool
	Page    Page
}

// CompatibilityQuery are the query parameters of a compatibility check.
type CompatibilityQuery struct {
	Normalize bool
	Verbose   bool
}

// ContextsQuery selects contexts. Prefix is of the plain name (".a").
type ContextsQuery struct {
	Prefix string
	Page   Page
}
