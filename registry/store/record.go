package store

// Kind is the type of a record, by the word that its key carries.
type Kind string

// The kinds of records. A decoder returns other words as they are; folding
// ignores them.
const (
	Noop          Kind = "NOOP"
	SchemaKind    Kind = "SCHEMA"
	ConfigKind    Kind = "CONFIG"
	ModeKind      Kind = "MODE"
	ContextKind   Kind = "CONTEXT"
	DeleteSubject Kind = "DELETE_SUBJECT"
	ClearSubject  Kind = "CLEAR_SUBJECT"
	AssocKind     Kind = "ASSOC"
	KekKind       Kind = "KEK"
	DekKind       Kind = "DEK"
)

// Record is one decoded entry. At most the one value that goes with Kind is
// set; none is a tombstone. Records are read-only once decoded.
type Record struct {
	TimestampMillis int64
	Kind            Kind
	Subject         string // qualified outside the default context; "" is the default context itself
	Version         int    // of SCHEMA
	Context         string // of CONTEXT, such as ".ctx"

	Schema *Schema        // of SCHEMA
	Config *Config        // of CONFIG
	Mode   *Mode          // of MODE
	Delete *SubjectDelete // of DELETE_SUBJECT
	Exists bool           // of CONTEXT and CLEAR_SUBJECT: not a tombstone

	Resource    Resource     // of ASSOC: what the record is about, with Subject
	Association *Association // of ASSOC
	Key         KeyName      // of KEK, and of DEK with Subject and Version
	Kek         *Kek         // of KEK
	Dek         *Dek         // of DEK
}

// Tombstone reports whether the record deletes what its key names.
func (r *Record) Tombstone() bool {
	return r.Schema == nil && r.Config == nil && r.Mode == nil && r.Delete == nil && !r.Exists &&
		r.Association == nil && r.Kek == nil && r.Dek == nil
}

// Schema is the value of a SCHEMA record.
type Schema struct {
	Subject    string      `json:"subject"`
	Version    int         `json:"version"`
	ID         int         `json:"id"`
	Type       string      `json:"schemaType,omitempty"` // missing in old topics, where it means AVRO
	References []Reference `json:"references,omitempty"`
	Metadata   *Metadata   `json:"metadata,omitempty"`
	RuleSet    *RuleSet    `json:"ruleSet,omitempty"`
	Text       string      `json:"schema"`
	Deleted    bool        `json:"deleted"` // soft deleted
}

// Reference says which registered schema stands behind a name, as sent.
type Reference struct {
	Name    string `json:"name"`
	Subject string `json:"subject"`
	Version int    `json:"version"`
}

// Metadata is the metadata of a schema or config; an empty one differs from
// none.
type Metadata struct {
	Tags       map[string][]string `json:"tags,omitempty"`
	Properties map[string]string   `json:"properties,omitempty"`
	Sensitive  []string            `json:"sensitive,omitempty"`
}

// RuleSet holds rules by phase; an empty one differs from none.
type RuleSet struct {
	MigrationRules []Rule `json:"migrationRules,omitempty"`
	DomainRules    []Rule `json:"domainRules,omitempty"`
	EncodingRules  []Rule `json:"encodingRules,omitempty"`
	EnableAt       string `json:"enableAt,omitempty"`
}

// Rule is one rule of a RuleSet.
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
}

// Config is the value of a CONFIG record: the merged config of a subject, a
// context or the default context.
type Config struct {
	Subject             string    `json:"subject,omitempty"`
	Alias               *string   `json:"alias,omitempty"`
	AliasForDeks        *string   `json:"aliasForDeks,omitempty"`
	Normalize           *bool     `json:"normalize,omitempty"`
	ValidateFields      *bool     `json:"validateFields,omitempty"`
	ValidateNewSchemas  *bool     `json:"validateNewSchemas,omitempty"`
	ValidateRules       *bool     `json:"validateRules,omitempty"`
	CompatibilityLevel  string    `json:"compatibilityLevel,omitempty"`
	CompatibilityPolicy string    `json:"compatibilityPolicy,omitempty"`
	CompatibilityGroup  *string   `json:"compatibilityGroup,omitempty"`
	DefaultMetadata     *Metadata `json:"defaultMetadata,omitempty"`
	OverrideMetadata    *Metadata `json:"overrideMetadata,omitempty"`
	DefaultRuleSet      *RuleSet  `json:"defaultRuleSet,omitempty"`
	OverrideRuleSet     *RuleSet  `json:"overrideRuleSet,omitempty"`
}

// Mode is the value of a MODE record.
type Mode struct {
	Subject string `json:"subject,omitempty"`
	Mode    string `json:"mode"`
}

// SubjectDelete is the value of a DELETE_SUBJECT record: every version up to
// Version is soft deleted.
type SubjectDelete struct {
	Subject string `json:"subject"`
	Version int    `json:"version"`
}
