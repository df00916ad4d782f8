package api

// The bodies below belong to routes under /milena/v1, which no other registry
// has.

// DryRunResponse is the answer to a registration with dryRun=true: what the
// registration would answer, and what there is to say about it. Nothing was
// written, and the id and version may be another's by the time of the real one.
type DryRunResponse struct {
	RegisterResponse
	DryRun       bool     `json:"dryRun"`       // always true
	Created      bool     `json:"created"`      // false: the subject has the schema already
	IsCompatible bool     `json:"isCompatible"` // false: the registration would be refused with 40901
	Messages     []string `json:"messages"`     // of the compatibility check
	Normalized   string   `json:"normalized,omitempty"`
}

// ImportFrom is the body of an import from a live registry.
type ImportFrom struct {
	From  string `json:"from"`            // URL, user and password included
	After string `json:"after,omitempty"` // resumeAfter of an earlier import from the same registry
}

// ImportLine is one line of the answer to an import: either the finding about
// one line of the source, or, at the end, the summary.
type ImportLine struct {
	Line    int            `json:"line,omitempty"`
	Outcome string         `json:"outcome,omitempty"` // "conflict", "refused" or "warning"
	What    string         `json:"what,omitempty"`
	Code    int            `json:"error_code,omitempty"`
	Message string         `json:"message,omitempty"`
	Summary *ImportSummary `json:"summary,omitempty"`
}

// ImportSummary is the end of the answer to an import. Lines are counted by
// what became of them; those with warnings count as imported too.
type ImportSummary struct {
	Lines       int    `json:"lines"`
	Imported    int    `json:"imported"`
	Unchanged   int    `json:"unchanged"`
	Conflicts   int    `json:"conflicts"`
	Refused     int    `json:"refused"`
	Warnings    int    `json:"warnings"`
	Omitted     int    `json:"omitted"`  // findings beyond those that an answer holds
	Complete    bool   `json:"complete"` // the source was read to its end
	DryRun      bool   `json:"dryRun,omitempty"`
	Error       string `json:"error,omitempty"` // why the import ended early
	ResumeAfter string `json:"resumeAfter,omitempty"`
}

// SearchResponse is one page of a search. A page may have fewer matches than
// asked for, or none, and still be followed by another.
type SearchResponse struct {
	Matches []Match `json:"matches"`
	Next    string  `json:"next,omitempty"` // the parameter after of the next page; absent on the last one
}

// Match is a version that a search found.
type Match struct {
	Subject    string   `json:"subject"`
	Version    int      `json:"version"`
	ID         int      `json:"id"`
	GUID       string   `json:"guid"`
	SchemaType string   `json:"schemaType"`
	Deleted    bool     `json:"deleted,omitempty"`
	Entities   []string `json:"entities,omitempty"` // paths of the records and fields that were meant, the first 20
}

// Inspection is a version with what there is to say about its use. With
// format=fileset the schema is the Base64 of a FileDescriptorSet.
type Inspection struct {
	Schema
	Decodable bool      `json:"decodable"` // records can be decoded by the schema
	Problems  []Problem `json:"problems"`  // why not; none if they can
}

// Problem is one reason why records can't be decoded by a schema.
type Problem struct {
	Line    int    `json:"line,omitempty"`   // in the text, from 1 on
	Column  int    `json:"column,omitempty"` // in bytes, from 1 on
	Path    string `json:"path,omitempty"`   // in the schema, or the reference that has the problem
	Message string `json:"message"`
}

// FileSetResponse is the answer to the registration of a FileDescriptorSet:
// what was registered, or was there, in the order of the set. The last one is
// the schema itself.
type FileSetResponse struct {
	Registered []Schema `json:"registered"`
}
