package rest

import (
	"net/http"

	"milena/registry/errcode"
)

// extensionRoutes returns the rows of the table for what no other registry has.
// Names in them are qualified, so none of them exists below a context.
func extensionRoutes() []route {
	const get, post = http.MethodGet, http.MethodPost
	const base = "/milena/v1"
	type codes = []*errcode.Row
	return []route{
		{get, base + "/openapi.json", (*Server).openAPI, Public, "", 0, nil, nil, 0},
		{get, base + "/export", (*Server).export, Admin, "", 0, []string{"subjectPrefix", "liveOnly", "format"}, nil, streams},
		{post, base + "/import", (*Server).importAll, Admin, "", 0, []string{"overwrite", "dryRun"},
			codes{errcode.Forbidden}, streams | writes},
		{get, base + "/search", (*Server).search, Read, "", 0,
			[]string{"field", "type", "tag", "property", "text", "schemaType", "subjectPrefix", "deleted", "latestOnly", "after", "limit"},
			nil, 0},
		{post, base + "/subjects/{subject}/versions", (*Server).register, Write, "register.arg6", 0,
			[]string{"normalize", "format", "force", "dryRun"},
			codes{errcode.Incompatible, errcode.InvalidSchema, errcode.OperationNotPermitted, errcode.InvalidSubject,
				errcode.SchemaTooLarge, errcode.InvalidRuleSet}, writes},
		{get, base + "/subjects/{subject}/versions/{version}", (*Server).inspectVersion, Read, "", 0,
			[]string{"deleted", "format", "referenceFormat", "findTags"},
			codes{errcode.SubjectNotFound, errcode.VersionNotFound, errcode.InvalidVersion, errcode.InvalidSchema}, 0},
		{post, base + "/subjects/{subject}/fileset", (*Server).registerFileSet, Write, "registerFileSet.arg1", 0, []string{"normalize"},
			codes{errcode.Incompatible, errcode.InvalidSchema, errcode.OperationNotPermitted, errcode.InvalidSubject, errcode.SchemaTooLarge}, writes},
		{get, base + "/schemas/ids/{id}", (*Server).inspectID, Read, "", 0,
			[]string{"subject", "format", "referenceFormat", "findTags"}, codes{errcode.SchemaNotFound, errcode.InvalidSchema}, 0},
	}
}
