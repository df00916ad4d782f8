package rest

import (
	"net/http"
	"slices"

	"milena/registry/errcode"
)

// smallBodyBytesMax is for bodies without a schema.
const smallBodyBytesMax = 1 << 20

// table returns all routes. It is a function, as handlers read what is made of
// it.
func table() []route {
	return slices.Concat(schemaRoutes(), associationRoutes(), keyRoutes(), extensionRoutes())
}

// schemaRoutes returns the rows of the table for schemas and their settings.
func schemaRoutes() []route {
	const get, post, put, del = http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete
	type codes = []*errcode.Row
	page := func(names ...string) []string { return append(names, "offset", "limit") }
	var (
		subject = errcode.SubjectNotFound
		version = errcode.VersionNotFound
		schema  = errcode.SchemaNotFound
		invalid = errcode.InvalidSchema
		number  = errcode.InvalidVersion
		mode    = errcode.OperationNotPermitted
		name    = errcode.InvalidSubject
	)
	return []route{
		{get, "/", (*Server).root, Public, "", 0, nil, nil, 0},
		{post, "/", (*Server).root, Public, "", 0, nil, nil, 0},

		{get, "/subjects", (*Server).subjects, Read, "", 0,
			page("subjectPrefix", "deleted", "deletedOnly"), nil, scoped},
		{post, "/subjects/{subject}", (*Server).lookup, Read, "lookUpSchemaUnderSubject.arg5", 0,
			[]string{"normalize", "deleted", "format"}, codes{subject, schema, invalid, errcode.SchemaTooLarge}, scoped},
		{del, "/subjects/{subject}", (*Server).deleteSubject, Write, "", 0,
			[]string{"permanent"},
			codes{subject, errcode.SubjectSoftDeleted, errcode.SubjectNotSoftDeleted, mode, errcode.ReferenceExists, errcode.AssociationExists}, scoped | writes},
		{get, "/subjects/{subject}/metadata", (*Server).subjectMetadata, Read, "", 0,
			[]string{"key", "value", "deleted", "format"}, codes{subject, schema}, scoped},

		{get, "/subjects/{subject}/versions", (*Server).versions, Read, "", 0,
			page("deleted", "deletedOnly", "deletedAsNegative"), codes{subject}, scoped},
		{post, "/subjects/{subject}/versions", (*Server).register, Write, "register.arg6", 0,
			[]string{"normalize", "format", "force", "dryRun"},
			codes{errcode.Incompatible, invalid, mode, name, errcode.SchemaTooLarge, errcode.InvalidRuleSet}, scoped | writes},
		{get, "/subjects/{subject}/versions/{version}", (*Server).version, Read, "", 0,
			[]string{"deleted", "format", "referenceFormat", "findTags"}, codes{subject, version, number}, scoped},
		{get, "/subjects/{subject}/versions/{version}/schema", (*Server).versionText, Read, "", 0,
			[]string{"deleted", "format"}, codes{subject, version, number}, scoped},
		{get, "/subjects/{subject}/versions/{version}/referencedby", (*Server).referencedBy, Read, "", 0,
			page("deleted"), codes{subject, version, number}, scoped},
		{del, "/subjects/{subject}/versions/{version}", (*Server).deleteVersion, Write, "", 0,
			[]string{"permanent"},
			codes{subject, version, errcode.VersionSoftDeleted, errcode.VersionNotSoftDeleted, number, mode, errcode.ReferenceExists, errcode.NoActiveVersion}, scoped | writes},
		{post, "/subjects/{subject}/versions/{version}/tags", (*Server).tags, Write, "modifyTags.arg4", 0, nil,
			codes{subject, version, number, errcode.Incompatible, invalid, mode, errcode.SchemaTooLarge, errcode.InvalidRuleSet}, scoped | writes},

		{get, "/schemas", (*Server).schemas, Read, "", 0,
			page("subjectPrefix", "aliases", "deleted", "latestOnly", "ruleType", "resourceType", "associationType", "lifecycle"), nil, scoped},
		{get, "/schemas/types", (*Server).types, Public, "", 0, nil, nil, scoped},
		{get, "/schemas/ids/{id}", (*Server).schemaByID, Read, "", 0,
			[]string{"subject", "format", "referenceFormat", "findTags", "fetchMaxId"}, codes{schema}, scoped},
		{get, "/schemas/ids/{id}/schema", (*Server).textByID, Read, "", 0,
			[]string{"subject", "format"}, codes{schema}, scoped},
		{get, "/schemas/ids/{id}/subjects", (*Server).subjectsByID, Read, "", 0,
			page("subject", "deleted"), codes{schema}, scoped},
		{get, "/schemas/ids/{id}/versions", (*Server).versionsByID, Read, "", 0,
			page("subject", "deleted"), codes{schema}, scoped},
		{get, "/schemas/guids/{guid}", (*Server).schemaByGUID, Read, "", 0, []string{"format"}, codes{schema}, scoped},
		{get, "/schemas/guids/{guid}/ids", (*Server).idsByGUID, Read, "", 0, nil, nil, scoped},

		{post, "/compatibility/subjects/{subject}/versions", (*Server).compatibility, Read, "testCompatibilityForSubject.arg5", 0,
			[]string{"normalize", "verbose"}, codes{invalid, errcode.SchemaTooLarge}, scoped},
		{post, "/compatibility/subjects/{subject}/versions/{version}", (*Server).compatibility, Read, "testCompatibilityBySubjectName.arg6", 0,
			[]string{"normalize", "verbose"}, codes{version, invalid, number, errcode.SchemaTooLarge}, scoped},

		{get, "/config", (*Server).config, Read, "", 0, []string{"defaultToGlobal"}, codes{errcode.CompatibilityNotSet}, scoped},
		{put, "/config", (*Server).setConfig, Write, "updateTopLevelConfig.arg1", smallBodyBytesMax, nil,
			codes{errcode.InvalidCompatibility, name, errcode.InvalidRuleSet, mode}, scoped | writes},
		{del, "/config", (*Server).deleteConfig, Write, "", 0, nil, codes{subject, mode}, scoped | writes},
		{get, "/config/{subject}", (*Server).config, Read, "", 0, []string{"defaultToGlobal"}, codes{errcode.CompatibilityNotSet}, scoped},
		{put, "/config/{subject}", (*Server).setConfig, Write, "updateSubjectLevelConfig.arg2", smallBodyBytesMax, nil,
			codes{errcode.InvalidCompatibility, name, errcode.InvalidRuleSet, mode}, scoped | writes},
		{del, "/config/{subject}", (*Server).deleteConfig, Write, "", 0, nil, codes{subject, mode}, scoped | writes},

		{get, "/mode", (*Server).mode, Read, "", 0, []string{"defaultToGlobal"}, codes{errcode.ModeNotSet}, scoped},
		{put, "/mode", (*Server).setMode, Admin, "updateTopLevelMode.arg1", smallBodyBytesMax, []string{"force"},
			codes{errcode.InvalidMode, mode, errcode.ReferenceExists, name}, scoped | writes},
		{del, "/mode", (*Server).deleteMode, Admin, "", 0, []string{"recursive"}, codes{subject, mode}, scoped | writes},
		{get, "/mode/{subject}", (*Server).mode, Read, "", 0, []string{"defaultToGlobal"}, codes{errcode.ModeNotSet}, scoped},
		{put, "/mode/{subject}", (*Server).setMode, Admin, "updateMode.arg2", smallBodyBytesMax, []string{"force"},
			codes{errcode.InvalidMode, mode, errcode.ReferenceExists, name}, scoped | writes},
		{del, "/mode/{subject}", (*Server).deleteMode, Admin, "", 0, []string{"recursive"}, codes{subject, mode}, scoped | writes},

		{get, "/contexts", (*Server).contexts, Read, "", 0, page("contextPrefix"), nil, scoped},
		{del, "/contexts/{context}", (*Server).deleteContext, Admin, "", 0, nil, codes{errcode.ContextNotEmpty}, writes},

		{get, "/v1/metadata/id", (*Server).serverID, Public, "", 0, nil, nil, scoped},
		{get, "/v1/metadata/version", (*Server).serverVersion, Public, "", 0, nil, nil, scoped},
		{get, "/v1/metadata/deployment", (*Server).deployment, Public, "", 0, nil, nil, scoped},
	}
}
