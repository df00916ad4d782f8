package errcode

// The rows. They are read-only values; messages are letter for letter those of
// Confluent Schema Registry 8.5, odd spellings included, because clients match
// on them.
var (
	BadRequest           = &Row{400, 400, "BadRequest", "%s", []string{"text"}, false, "1.0"}
	Unauthorized         = &Row{401, 401, "Unauthorized", "Unauthorized", nil, false, "1.0"}
	Forbidden            = &Row{403, 403, "Forbidden", "Forbidden", nil, false, "1.0"}
	NotFound             = &Row{404, 404, "NotFound", "HTTP 404 Not Found", nil, false, "1.0"}
	MethodNotAllowed     = &Row{405, 405, "MethodNotAllowed", "HTTP 405 Method Not Allowed", nil, false, "1.0"}
	NotAcceptable        = &Row{406, 406, "NotAcceptable", "HTTP 406 Not Acceptable", nil, false, "1.0"}
	BodyTooLarge         = &Row{413, 413, "BodyTooLarge", "Request body is too large: %d>%d", []string{"bytes", "bytesMax"}, false, "7.7"}
	UnsupportedMediaType = &Row{415, 415, "UnsupportedMediaType", "HTTP 415 Unsupported Media Type", nil, false, "1.0"}
	Unprocessable        = &Row{422, 422, "Unprocessable", "%s must not be null (was null)", []string{"parameter"}, false, "1.0"}
	TooManyRequests      = &Row{429, 429, "TooManyRequests", "Too Many Requests", nil, true, "1.0"}

	SubjectNotFound         = &Row{40401, 404, "SubjectNotFound", "Subject '%s' not found.", []string{"subject"}, false, "1.0"}
	VersionNotFound         = &Row{40402, 404, "VersionNotFound", "Version %d not found.", []string{"version"}, false, "1.0"}
	SchemaNotFound          = &Row{40403, 404, "SchemaNotFound", "Schema %v not found", []string{"id or guid"}, false, "1.0"}
	SubjectSoftDeleted      = &Row{40404, 404, "SubjectSoftDeleted", "Subject '%s' was soft deleted.Set permanent=true to delete permanently", []string{"subject"}, false, "5.5"}
	SubjectNotSoftDeleted   = &Row{40405, 404, "SubjectNotSoftDeleted", "Subject '%s' was not deleted first before being permanently deleted", []string{"subject"}, false, "5.5"}
	VersionSoftDeleted      = &Row{40406, 404, "VersionSoftDeleted", "Subject '%s' Version %d was soft deleted.Set permanent=true to delete permanently", []string{"subject", "version"}, false, "5.5"}
	VersionNotSoftDeleted   = &Row{40407, 404, "VersionNotSoftDeleted", "Subject '%s' Version %d was not deleted first before being permanently deleted", []string{"subject", "version"}, false, "5.5"}
	CompatibilityNotSet     = &Row{40408, 404, "CompatibilityNotSet", "Subject '%s' does not have subject-level compatibility configured", []string{"subject"}, false, "5.5"}
	ModeNotSet              = &Row{40409, 404, "ModeNotSet", "Subject '%s' does not have subject-level mode configured", []string{"subject"}, false, "5.5"}
	AssociationNotFound     = &Row{40410, 404, "AssociationNotFound", "Association for '%s' not found.", []string{"resource"}, false, "8.2"}
	Incompatible            = &Row{40901, 409, "Incompatible", "Schema being registered is incompatible with an earlier schema for subject \"%s\", details: [%s]", []string{"subject", "details"}, false, "8.0"}
	AssociationsTooMany     = &Row{40902, 409, "AssociationsTooMany", "A maximum of %d associations already exist", []string{"max"}, false, "8.2"}
	AssociationOfTypeExists = &Row{40903, 409, "AssociationOfTypeExists", "An association of type '%s' already exists for resource '%s'", []string{"type", "resource"}, false, "8.2"}
	AssociationExists       = &Row{40904, 409, "AssociationExists", "An association already exists for subject '%s'", []string{"subject"}, false, "8.2"}
	StrongAssociationExists = &Row{40905, 409, "StrongAssociationExists", "A strong association already exists for subject '%s'", []string{"subject"}, false, "8.2"}
	NoActiveVersion         = &Row{40907, 409, "NoActiveVersion", "No active (non-deleted) version exists for subject '%s'", []string{"subject"}, false, "8.2"}
	AssociationFrozen       = &Row{40908, 409, "AssociationFrozen", "The association of type  '%s' is frozen for subject '%s'", []string{"type", "subject"}, false, "8.2"}
	InvalidSchema           = &Row{42201, 422, "InvalidSchema", "%s", []string{"text"}, false, "1.0"}
	InvalidVersion          = &Row{42202, 422, "InvalidVersion", "The specified version '%s' is not a valid version id. Allowed values are between [1, 2^31-1] and the string \"latest\"", []string{"version"}, false, "1.0"}
	InvalidCompatibility    = &Row{42203, 422, "InvalidCompatibility", "Invalid compatibility level. Valid values are none, backward, forward, full, backward_transitive, forward_transitive, and full_transitive", nil, false, "1.0"}
	InvalidMode             = &Row{42204, 422, "InvalidMode", "Invalid mode. Valid values are READWRITE, READONLY, IMPORT and FORWARD.", nil, false, "5.2"}
	OperationNotPermitted   = &Row{42205, 422, "OperationNotPermitted", "%s", []string{"text"}, false, "5.2"}
	ReferenceExists         = &Row{42206, 422, "ReferenceExists", "One or more references exist to the schema {magic=1,keytype=SCHEMA,subject=%s,version=%d}.", []string{"subject", "version"}, false, "5.5"}
	IDDoesNotMatch          = &Row{42207, 422, "IDDoesNotMatch", "The ID of an imported schema does not match the existing ID", nil, false, "7.0"}
	InvalidSubject          = &Row{42208, 422, "InvalidSubject", "The specified subject '%s' is not a valid.", []string{"subject"}, false, "5.5"}
	SchemaTooLarge          = &Row{42209, 422, "SchemaTooLarge", "Register operation failed because schema is too large", nil, false, "7.2"}
	InvalidRuleSet          = &Row{42210, 422, "InvalidRuleSet", "%s", []string{"text"}, false, "7.4"}
	ContextNotEmpty         = &Row{42211, 422, "ContextNotEmpty", "The specified context '%s' is not empty.", []string{"context"}, false, "8.0"}
	InvalidAssociation      = &Row{42212, 422, "InvalidAssociation", "The association specified an invalid value for property: '%s', detail: %s", []string{"property", "detail"}, false, "8.2"}
	KMSDenied               = &Row{40370, 403, "KMSDenied", "%s", []string{"text"}, false, "7.5"}
	KeyNotFound             = &Row{40470, 404, "KeyNotFound", "Key '%s' not found", []string{"key"}, false, "7.5"}
	KeyNotSoftDeleted       = &Row{40471, 404, "KeyNotSoftDeleted", "Key '%s' was not deleted first before being permanently deleted", []string{"key"}, false, "7.5"}
	KeyMustBeUndeleted      = &Row{40472, 404, "KeyMustBeUndeleted", "Key '%s' must be undeleted first", []string{"key"}, false, "7.5"}
	KeyExists               = &Row{40971, 409, "KeyExists", "Key '%s' already exists; use a different value", []string{"key"}, false, "7.5"}
	KeysTooMany             = &Row{40972, 409, "KeysTooMany", "A maximum of %d keys already exist", []string{"max"}, false, "7.5"}
	InvalidKey              = &Row{42271, 422, "InvalidKey", "Invalid or missing value for field '%s' of key", []string{"field"}, false, "7.5"}
	KeyReferenceExists      = &Row{42272, 422, "KeyReferenceExists", "One or more references exist to the key '%s'", []string{"key"}, false, "7.5"}
	Internal                = &Row{500, 500, "Internal", "Internal Server Error", nil, false, "1.0"}
	Unavailable             = &Row{503, 503, "Unavailable", "Service Unavailable", nil, true, "1.0"}
	StoreFailed             = &Row{50001, 500, "StoreFailed", "%s", []string{"text"}, true, "1.0"}
	OperationTimedOut       = &Row{50002, 500, "OperationTimedOut", "%s operation timed out", []string{"operation"}, true, "1.0"}
	ForwardingFailed        = &Row{50003, 500, "ForwardingFailed", "Error while forwarding %s", []string{"what"}, true, "1.0"}
	UnknownLeader           = &Row{50004, 500, "UnknownLeader", "%s", []string{"text"}, true, "1.0"}
	UnparsableAnswer        = &Row{50005, 500, "UnparsableAnswer", "%s", []string{"text"}, true, "1.0"}
	KMSFailed               = &Row{50070, 500, "KMSFailed", "%s", []string{"text"}, true, "7.5"}
)

// Table returns all rows, by code.
func Table() []*Row {
	return []*Row{
		BadRequest, Unauthorized, Forbidden, NotFound, MethodNotAllowed, NotAcceptable, BodyTooLarge,
		UnsupportedMediaType, Unprocessable, TooManyRequests, Internal, Unavailable,
		KMSDenied,
		SubjectNotFound, VersionNotFound, SchemaNotFound, SubjectSoftDeleted, SubjectNotSoftDeleted,
		VersionSoftDeleted, VersionNotSoftDeleted, CompatibilityNotSet, ModeNotSet, AssociationNotFound,
		KeyNotFound, KeyNotSoftDeleted, KeyMustBeUndeleted,
		Incompatible, AssociationsTooMany, AssociationOfTypeExists, AssociationExists,
		StrongAssociationExists, NoActiveVersion, AssociationFrozen, KeyExists, KeysTooMany,
		InvalidSchema, InvalidVersion, InvalidCompatibility, InvalidMode, OperationNotPermitted,
		ReferenceExists, IDDoesNotMatch, InvalidSubject, SchemaTooLarge, InvalidRuleSet, ContextNotEmpty,
		InvalidAssociation, InvalidKey, KeyReferenceExists,
		StoreFailed, OperationTimedOut, ForwardingFailed, UnknownLeader, UnparsableAnswer, KMSFailed,
	}
}

// ByCode returns the row with the code, or nil.
func ByCode(code int) *Row {
	for _, r := range Table() {
		if r.Code == code {
			return r
		}
	}
	return nil
}
