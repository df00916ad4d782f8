package client

// Page cuts a part out of a list. The zero Page is the whole list, or as much of
// it as the registry gives at most.
type Page struct {
	Offset int
	Limit  int // 0: the registry's own limit
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
	Deleted   bool // also among soft deleted versions
	Format    string
}

// SubjectsQuery selects subjects. A nil Prefix is no prefix: all contexts for a
// Client without a context, else that context.
type SubjectsQuery struct {
	Prefix      *string
	Deleted     bool // soft deleted ones too
	DeletedOnly bool
	Page        Page
}

// VersionsQuery selects versions of a subject.
type VersionsQuery struct {
	Deleted           bool // soft deleted ones too
	DeletedOnly       bool
	DeletedAsNegative bool
	Page              Page
}

// VersionQuery says how one version is read and shown.
type VersionQuery struct {
	Deleted         bool // even if soft deleted
	Format          string
	ReferenceFormat string
	FindTags        []string
}

// ReferencedByQuery selects referrers.
type ReferencedByQuery struct {
	Deleted bool // soft deleted ones too
	Page    Page
}

// MetadataQuery finds a version by metadata properties.
type MetadataQuery struct {
	Properties map[string]string
	Deleted    bool
	Format     string
}

// SchemasQuery selects versions across subjects. Without a prefix it means the
// default context, or the Client's.
type SchemasQuery struct {
	Prefix          string
	Aliases         bool
	Deleted         bool
	LatestOnly      bool
	RuleType        string
	ResourceType    string
	AssociationType []string
	Lifecycle       string
	Page            Page
}

// IDQuery says how a schema is found by id and shown. Subject is a hint.
type IDQuery struct {
	Subject         string
	Format          string
	ReferenceFormat string
	FindTags        []string
	FetchMaxID      bool
}

// UsersQuery selects the subjects and versions that use an id.
type UsersQuery struct {
	Subject string
	Deleted bool
	Page    Page
}

// CompatibilityOptions are the query parameters of a compatibility check.
type CompatibilityOptions struct {
	Normalize bool
	Verbose   bool // ask for messages; a schema that can't be read is then no error
}

// ContextsQuery selects contexts. Prefix is of the plain name (".a").
type ContextsQuery struct {
	Prefix string
	Page   Page
}
