package api

// Reference says which registered schema stands behind a name in a text.
type Reference struct {
	Name    string `json:"name,omitempty"`
	Subject string `json:"subject,omitempty"`
	Version int    `json:"version"`
}

// Metadata is what is said about a schema besides its text. It is part of the
// schema's identity. An explicitly empty one differs from none.
type Metadata struct {
	Tags       map[string][]string `json:"tags,omitempty"`
	Properties map[string]string   `json:"properties,omitempty"`
	Sensitive  []string            `json:"sensitive,omitempty"`
}

// RuleSet holds the rules that serializers apply, by phase. It is part of the
// schema's identity. An explicitly empty one differs from none.
type RuleSet struct {
	MigrationRules []Rule `json:"migrationRules,omitempty"`
	DomainRules    []Rule `json:"domainRules,omitempty"`
	EncodingRules  []Rule `json:"encodingRules,omitempty"`
	EnableAt       string `json:"enableAt,omitempty"`
}

// Rule is one rule of a RuleSet, with Kind and Mode filled in.
type Rule struct {
	Name      string            `json:"name,omitempty"`
	Doc       string            `json:"doc,omitempty"`
	Kind      string            `json:"kind,omitempty"`
	Mode      string            `json:"mode,omitempty"`
	Type      string            `json:"type,omitempty"`
	Tags      []string          `json:"tags,omitempty"`
	Params    map[string]string `json:"params,omitempty"`
	Expr      string            `json:"expr,omitempty"`
	OnSuccess string            `json:"onSuccess,omitempty"`
	OnFailure string            `json:"onFailure,omitempty"`
	Disabled  bool              `json:"disabled"`

	EmptyName bool `json:"-"` // a request gave an empty name, which is another fault than none
	EmptyType bool `json:"-"` // a request gave an empty type, which is no fault
}

// SchemaEntity is a place inside a schema, EntityType sr_record or sr_field.
type SchemaEntity struct {
	EntityPath string `json:"entityPath,omitempty"`
	EntityType string `json:"entityType,omitempty"`
}

// SchemaTags are the tags of one entity.
type SchemaTags struct {
	SchemaEntity *SchemaEntity `json:"schemaEntity,omitempty"`
	Tags         []string      `json:"tags,omitempty"`
}

// RegisterRequest is the body of a registration, look-up or compatibility
// check. Nil pointers are what the request left out or gave as null.
type RegisterRequest struct {
	Version             *int         `json:"version,omitempty"` // nil or 0: not given, negative: next (or latest)
	ID                  *int         `json:"id,omitempty"`      // nil or negative: not given
	SchemaType          *string      `json:"schemaType,omitempty"`
	References          []Reference  `json:"references,omitempty"`
	Metadata            *Metadata    `json:"metadata,omitempty"`
	RuleSet             *RuleSet     `json:"ruleSet,omitempty"`
	Schema              *string      `json:"schema,omitempty"`
	SchemaTagsToAdd     []SchemaTags `json:"schemaTagsToAdd,omitempty"`
	SchemaTagsToRemove  []SchemaTags `json:"schemaTagsToRemove,omitempty"`
	PropagateSchemaTags bool         `json:"propagateSchemaTags,omitempty"`
}

// TagsRequest is the body of a request that makes a new version by changing
// tags, metadata or rules of another.
type TagsRequest struct {
	NewVersion    *int         `json:"newVersion,omitempty"`
	TagsToAdd     []SchemaTags `json:"tagsToAdd,omitempty"`
	TagsToRemove  []SchemaTags `json:"tagsToRemove,omitempty"`
	Metadata      *Metadata    `json:"metadata,omitempty"`
	RuleSet       *RuleSet     `json:"ruleSet,omitempty"`
	RulesToMerge  *RuleSet     `json:"rulesToMerge,omitempty"`
	RulesToRemove []string     `json:"rulesToRemove,omitempty"`
}

// RegisterResponse is the answer to a registration.
type RegisterResponse struct {
	ID         int         `json:"id"`
	Version    int         `json:"version,omitempty"`
	GUID       string      `json:"guid,omitempty"`
	SchemaType string      `json:"schemaType,omitempty"`
	References []Reference `json:"references,omitempty"`
	Metadata   *Metadata   `json:"metadata,omitempty"`
	RuleSet    *RuleSet    `json:"ruleSet,omitempty"`
	Schema     string      `json:"schema,omitempty"`
	Timestamp  *int64      `json:"ts,omitempty"` // milliseconds since the epoch
	Deleted    *bool       `json:"deleted,omitempty"`
}

// Schema is one version of a subject.
type Schema struct {
	Subject    string       `json:"subject,omitempty"`
	Version    int          `json:"version"`
	ID         int          `json:"id"`
	GUID       string       `json:"guid,omitempty"`
	SchemaType string       `json:"schemaType,omitempty"`
	References []Reference  `json:"references,omitempty"`
	Metadata   *Metadata    `json:"metadata,omitempty"`
	RuleSet    *RuleSet     `json:"ruleSet,omitempty"`
	Schema     string       `json:"schema"`
	SchemaTags []SchemaTags `json:"schemaTags,omitempty"` // only with findTags
	Timestamp  *int64       `json:"ts,omitempty"`         // milliseconds since the epoch
	Deleted    *bool        `json:"deleted,omitempty"`
	Aliases    []string     `json:"aliases,omitempty"` // only in lists with aliases=true

	Associations []Association `json:"associations,omitempty"` // only in lists with an association filter
}

// SchemaString is a schema by id or GUID. By id it names some subject and
// version that use the id. The reference leaves ID out; with it Python's client
// finds the id of what it reads.
type SchemaString struct {
	Subject    string       `json:"subject,omitempty"`
	Version    int          `json:"version,omitempty"`
	ID         *int         `json:"id,omitempty"`
	GUID       string       `json:"guid,omitempty"`
	SchemaType string       `json:"schemaType,omitempty"`
	References []Reference  `json:"references,omitempty"`
	Metadata   *Metadata    `json:"metadata,omitempty"`
	RuleSet    *RuleSet     `json:"ruleSet,omitempty"`
	Schema     string       `json:"schema"`
	SchemaTags []SchemaTags `json:"schemaTags,omitempty"`
	MaxID      *int         `json:"maxId,omitempty"` // only with fetchMaxId
	Timestamp  *int64       `json:"ts,omitempty"`    // milliseconds since the epoch
	Deleted    *bool        `json:"deleted,omitempty"`
}

// SubjectVersion is one user of an id.
type SubjectVersion struct {
	Subject string `json:"subject"`
	Version int    `json:"version"`
}

// ContextID is the id that a schema has in one context.
type ContextID struct {
	Context string `json:"context"`
	ID      int    `json:"id"`
}

// CompatibilityResponse is the answer to a compatibility check. Messages is nil
// without verbose, and kept when empty with it.
type CompatibilityResponse struct {
	IsCompatible bool      `json:"is_compatible"`
	Messages     *[]string `json:"messages,omitempty"`
}

// Config is the config of a subject, a context or the server, as GET and
// DELETE show it.
type Config struct {
	Alias               string    `json:"alias,omitempty"`
	AliasForDeks        string    `json:"aliasForDeks,omitempty"`
	Normalize           *bool     `json:"normalize,omitempty"`
	ValidateFields      *bool     `json:"validateFields,omitempty"`
	ValidateNewSchemas  *bool     `json:"validateNewSchemas,omitempty"`
	ValidateRules       *bool     `json:"validateRules,omitempty"`
	CompatibilityLevel  string    `json:"compatibilityLevel,omitempty"`
	CompatibilityPolicy string    `json:"compatibilityPolicy,omitempty"`
	CompatibilityGroup  string    `json:"compatibilityGroup,omitempty"`
	DefaultMetadata     *Metadata `json:"defaultMetadata,omitempty"`
	OverrideMetadata    *Metadata `json:"overrideMetadata,omitempty"`
	DefaultRuleSet      *RuleSet  `json:"defaultRuleSet,omitempty"`
	OverrideRuleSet     *RuleSet  `json:"overrideRuleSet,omitempty"`
}

// ConfigRequest is the body of PUT config and of its answer: what is absent is
// kept, what is null is cleared.
type ConfigRequest struct {
	Alias               Field[string]   `json:"alias,omitzero"`
	AliasForDeks        Field[string]   `json:"aliasForDeks,omitzero"`
	Normalize           Field[bool]     `json:"normalize,omitzero"`
	ValidateFields      Field[bool]     `json:"validateFields,omitzero"`
	ValidateNewSchemas  Field[bool]     `json:"validateNewSchemas,omitzero"`
	ValidateRules       Field[bool]     `json:"validateRules,omitzero"`
	Compatibility       Field[string]   `json:"compatibility,omitzero"`
	CompatibilityPolicy Field[string]   `json:"compatibilityPolicy,omitzero"`
	CompatibilityGroup  Field[string]   `json:"compatibilityGroup,omitzero"`
	DefaultMetadata     Field[Metadata] `json:"defaultMetadata,omitzero"`
	OverrideMetadata    Field[Metadata] `json:"overrideMetadata,omitzero"`
	DefaultRuleSet      Field[RuleSet]  `json:"defaultRuleSet,omitzero"`
	OverrideRuleSet     Field[RuleSet]  `json:"overrideRuleSet,omitzero"`
}

// Mode is the mode of a subject, a context or the server. A DELETE that found
// none of its own answers without one.
type Mode struct {
	Mode string `json:"mode,omitempty"`
}

// ModeRequest is the body of PUT mode and of its answer, which echoes it.
type ModeRequest struct {
	Mode Field[string] `json:"mode,omitzero"`
}

// ErrorMessage is the body of every answer that is not a success.
type ErrorMessage struct {
	ErrorCode int    `json:"error_code"`
	Message   string `json:"message"`
}

// ServerID is the answer of /v1/metadata/id.
type ServerID struct {
	Scope Scope `json:"scope"`
}

// Scope names the clusters that a server belongs to. Path is always sent.
type Scope struct {
	Path     []string          `json:"path"`
	Clusters map[string]string `json:"clusters"`
}

// ServerVersion is the answer of /v1/metadata/version.
type ServerVersion struct {
	Version  string `json:"version"`
	CommitID string `json:"commitId"`
}

// Deployment is the answer of /v1/metadata/deployment. Attributes is always
// sent.
type Deployment struct {
	Attributes []string `json:"attributes"`
}
