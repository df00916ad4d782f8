package rest

import (
	"milena/registry/api"
)

// description says of a route what its row does not.
type description struct {
	id       string // operationId
	summary  string
	detail   string // "" if the summary says it all
	request  any    // a value of the body's type, nil if there is none
	response any    // a value of the body's type
	or       any    // a value of another type that the body may have, nil if there is none
	raw      bool   // the answer is the text of a schema, not JSON about it
	status   int    // of a success, 0 is 200
}

// describe returns the description of every route, by method and pattern.
func describe() map[string]description {
	out := map[string]description{}
	for _, part := range []map[string]description{
		describeSubjects(), describeSchemas(), describeSettings(), describeAssociations(), describeKeys(), describeExtensions(),
	} {
		for key, d := range part {
			out[key] = d
		}
	}
	return out
}

// nothingAtAll is the body {}.
type nothingAtAll = struct{}

func describeSubjects() map[string]description {
	const versions = "/subjects/{subject}/versions"
	const version = versions + "/{version}"
	return map[string]description{
		"GET /subjects": {id: "listSubjects", summary: "List subjects", detail: "All contexts, unless subjectPrefix says otherwise.", response: []string{}},
		"POST /subjects/{subject}": {id: "lookUpSchema", summary: "Find a schema under a subject by content",
			request: api.RegisterRequest{}, response: api.Schema{}},
		"DELETE /subjects/{subject}":       {id: "deleteSubject", summary: "Delete a subject", detail: "Soft first, then permanently.", response: []int{}},
		"GET /subjects/{subject}/metadata": {id: "findByMetadata", summary: "Find the highest version with all given metadata properties", response: api.Schema{}},
		"GET " + versions:                  {id: "listVersions", summary: "List the versions of a subject", response: []int{}},
		"POST " + versions: {id: "register", summary: "Register a schema under a subject",
			detail:  "With dryRun=true nothing is registered, and the answer is a DryRunResponse.",
			request: api.RegisterRequest{}, response: api.RegisterResponse{}, or: api.DryRunResponse{}},
		"GET " + version:                   {id: "getVersion", summary: "Read a version", response: api.Schema{}},
		"GET " + version + "/schema":       {id: "getVersionText", summary: "Read the text of a version", raw: true},
		"GET " + version + "/referencedby": {id: "listReferrers", summary: "List the ids of the schemas that refer to a version", response: []int{}},
		"DELETE " + version:                {id: "deleteVersion", summary: "Delete a version", detail: "Soft first, then permanently.", response: 0},
		"POST " + version + "/tags": {id: "modifyTags", summary: "Make a new version with other tags, metadata or rules",
			request: api.TagsRequest{}, response: api.RegisterResponse{}},
		"POST /compatibility/subjects/{subject}/versions": {id: "testCompatibility", summary: "Compare a schema with the versions of a subject as its level demands",
			request: api.RegisterRequest{}, response: api.CompatibilityResponse{}},
		"POST /compatibility/subjects/{subject}/versions/{version}": {id: "testCompatibilityWithVersion", summary: "Compare a schema with one version",
			request: api.RegisterRequest{}, response: api.CompatibilityResponse{}},
	}
}

func describeSchemas() map[string]description {
	return map[string]description{
		"GET /":                          {id: "ping", summary: "Tell that the server is there", response: nothingAtAll{}},
		"POST /":                         {id: "pingPost", summary: "Tell that the server is there", response: nothingAtAll{}},
		"GET /schemas":                   {id: "listSchemas", summary: "List versions across subjects", detail: "The default context, unless subjectPrefix says otherwise.", response: []api.Schema{}},
		"GET /schemas/types":             {id: "listTypes", summary: "List the schema formats", response: []string{}},
		"GET /schemas/ids/{id}":          {id: "getSchema", summary: "Read a schema by id", response: api.SchemaString{}},
		"GET /schemas/ids/{id}/schema":   {id: "getSchemaText", summary: "Read the text of a schema by id", raw: true},
		"GET /schemas/ids/{id}/subjects": {id: "listSubjectsOfSchema", summary: "List the subjects that use an id", response: []string{}},
		"GET /schemas/ids/{id}/versions": {id: "listVersionsOfSchema", summary: "List the versions that use an id", response: []api.SubjectVersion{}},
		"GET /schemas/guids/{guid}":      {id: "getSchemaByGUID", summary: "Read a schema by GUID", response: api.SchemaString{}},
		"GET /schemas/guids/{guid}/ids":  {id: "listIDsOfGUID", summary: "List the ids that a schema has, by context", response: []api.ContextID{}},
		"GET /contexts":                  {id: "listContexts", summary: "List contexts", response: []string{}},
		"DELETE /contexts/{context}":     {id: "deleteContext", summary: "Take an empty context off the list", status: 204},
		"GET /v1/metadata/id":            {id: "getServerID", summary: "Name the clusters that the server belongs to", response: api.ServerID{}},
		"GET /v1/metadata/version":       {id: "getServerVersion", summary: "Name the server's version", response: api.ServerVersion{}},
		"GET /v1/metadata/deployment":    {id: "getDeployment", summary: "Name the server's kind of deployment", response: api.Deployment{}},
	}
}

func describeSettings() map[string]description {
	return map[string]description{
		"GET /config":              {id: "getConfig", summary: "Read the config of a context", response: api.Config{}},
		"PUT /config":              {id: "setConfig", summary: "Change the config of a context", detail: putDetail, request: api.ConfigRequest{}, response: api.ConfigRequest{}},
		"DELETE /config":           {id: "deleteConfig", summary: "Remove the config of a context", response: api.Config{}},
		"GET /config/{subject}":    {id: "getSubjectConfig", summary: "Read the config of a subject", response: api.Config{}},
		"PUT /config/{subject}":    {id: "setSubjectConfig", summary: "Change the config of a subject", detail: putDetail, request: api.ConfigRequest{}, response: api.ConfigRequest{}},
		"DELETE /config/{subject}": {id: "deleteSubjectConfig", summary: "Remove the config of a subject", response: api.Config{}},
		"GET /mode":                {id: "getMode", summary: "Read the mode of a context", response: api.Mode{}},
		"PUT /mode":                {id: "setMode", summary: "Set the mode of a context", request: api.ModeRequest{}, response: api.ModeRequest{}},
		"DELETE /mode":             {id: "deleteMode", summary: "Remove the mode of a context", response: api.Mode{}},
		"GET /mode/{subject}":      {id: "getSubjectMode", summary: "Read the mode of a subject", response: api.Mode{}},
		"PUT /mode/{subject}":      {id: "setSubjectMode", summary: "Set the mode of a subject", request: api.ModeRequest{}, response: api.ModeRequest{}},
		"DELETE /mode/{subject}":   {id: "deleteSubjectMode", summary: "Remove the mode of a subject", response: api.Mode{}},
	}
}

const putDetail = "What is absent is kept, what is null is cleared. Requests say compatibility, answers of GET compatibilityLevel."

func describeAssociations() map[string]description {
	const resource = "/associations/resources/{resource}"
	type gets struct {
		Requests []api.AssociationGet `json:"requests"`
	}
	type changes struct {
		Requests []api.AssociationRequest `json:"requests"`
	}
	return map[string]description{
		"GET /associations/subjects/{subject}": {id: "listAssociationsOfSubject", summary: "List the associations of a subject", response: []api.Association{}},
		"GET " + resource:                      {id: "listAssociationsOfResource", summary: "List the associations of a resource by its id", response: []api.Association{}},
		"GET " + resource + "/{name}":          {id: "listAssociationsByName", summary: "List the associations of a resource by namespace and name", response: []api.Association{}},
		"POST /associations":                   {id: "createAssociations", summary: "Tie subjects to a resource", request: api.AssociationRequest{}, response: api.AssociationResponse{}},
		"PUT " + resource:                      {id: "upsertAssociations", summary: "Create or change the associations of a resource", request: api.AssociationRequest{}, response: api.AssociationResponse{}},
		"DELETE " + resource:                   {id: "deleteAssociations", summary: "Remove the associations of a resource", status: 204},
		"POST /associations:batchGet":          {id: "getAssociations", summary: "Read the associations of many resources", request: gets{}, response: api.AssociationResults{}, status: 207},
		"POST /associations:batchMutate":       {id: "changeAssociations", summary: "Change the associations of many resources", request: changes{}, response: api.AssociationResults{}, status: 207},
	}
}

func describeKeys() map[string]description {
	const kek = "/dek-registry/v1/keks/{kek}"
	const dek = kek + "/deks/{subject}"
	const version = dek + "/versions/{version}"
	return map[string]description{
		"GET /dek-registry/v1/keks":     {id: "listKeks", summary: "List key encryption keys", response: []string{}},
		"POST /dek-registry/v1/keks":    {id: "createKek", summary: "Create a key encryption key", request: api.KekRequest{}, response: api.Kek{}},
		"GET " + kek:                    {id: "getKek", summary: "Read a key encryption key", response: api.Kek{}},
		"PUT " + kek:                    {id: "updateKek", summary: "Change a key encryption key", request: api.KekRequest{}, response: api.Kek{}},
		"DELETE " + kek:                 {id: "deleteKek", summary: "Delete a key encryption key", status: 204},
		"POST " + kek + "/undelete":     {id: "undeleteKek", summary: "Bring a soft deleted key encryption key back", status: 204},
		"POST " + kek + "/test":         {id: "testKek", summary: "Try a shared key encryption key", response: api.Kek{}},
		"GET " + kek + "/deks":          {id: "listDekSubjects", summary: "List the subjects that have data encryption keys", response: []string{}},
		"POST " + kek + "/deks":         {id: "createDek", summary: "Create a data encryption key for the subject in the body", request: api.DekRequest{}, response: api.Dek{}},
		"POST " + dek:                   {id: "createDekOfSubject", summary: "Create a data encryption key", request: api.DekRequest{}, response: api.Dek{}},
		"GET " + dek:                    {id: "getDek", summary: "Read the first version of a data encryption key", response: api.Dek{}},
		"GET " + dek + "/versions":      {id: "listDekVersions", summary: "List the versions of a data encryption key", response: []int{}},
		"GET " + version:                {id: "getDekVersion", summary: "Read a version of a data encryption key", response: api.Dek{}},
		"DELETE " + dek:                 {id: "deleteDek", summary: "Delete all versions of a data encryption key", status: 204},
		"DELETE " + version:             {id: "deleteDekVersion", summary: "Delete a version of a data encryption key", status: 204},
		"POST " + dek + "/undelete":     {id: "undeleteDek", summary: "Bring all versions of a data encryption key back", status: 204},
		"POST " + version + "/undelete": {id: "undeleteDekVersion", summary: "Bring a version of a data encryption key back", status: 204},
	}
}

func describeExtensions() map[string]description {
	return map[string]description{
		"GET /milena/v1/openapi.json": {id: "getOpenAPI", summary: "Read this document", response: map[string]any{}},
		"GET /milena/v1/export": {id: "export", summary: "Export what the registry holds",
			detail: "One stream of JSON Lines with contexts, schemas with their ids, versions, times and deletions, associations, keys, " +
				"configs and modes. The last line counts the others: a stream without it was cut off. With format=topic it is a dump of " +
				"a _schemas topic instead: JSON Lines with key, value and timestamp, without keys."},
		"POST /milena/v1/import": {id: "import", summary: "Import what another registry holds",
			detail: "The body is an export, a dump of a _schemas topic (JSON Lines with key, value and timestamp, or as kcat -J writes them), " +
				"or an ImportFrom that names a live registry. Lines that are there already change nothing, so an import can be repeated. " +
				"The answer is JSON Lines of the form ImportLine: one per line that there is something to say about, the summary last."},
		"GET /milena/v1/search": {id: "search", summary: "Find schemas by what they hold",
			detail: "All criteria that are given must hold. A page may end early: go on as long as there is a next.", response: api.SearchResponse{}},
		"POST /milena/v1/subjects/{subject}/versions": {id: "registerOrTry", summary: "Register a schema, or try to",
			detail: "With dryRun=true nothing is written: the answer has the id and version that the registration would have, the findings " +
				"of the compatibility check, which are no error here, and the normalized text. Without it this is register.",
			request: api.RegisterRequest{}, response: api.DryRunResponse{}, or: api.RegisterResponse{}},
		"GET /milena/v1/subjects/{subject}/versions/{version}": {id: "inspectVersion", summary: "Read a version, and whether records can be decoded by it",
			detail: "Also has the format fileset: the Base64 of a FileDescriptorSet with everything that a Protobuf schema refers to.", response: api.Inspection{}},
		"GET /milena/v1/schemas/ids/{id}": {id: "inspectSchema", summary: "Read a schema by id, and whether records can be decoded by it",
			detail: "Also has the format fileset: the Base64 of a FileDescriptorSet with everything that a Protobuf schema refers to.", response: api.Inspection{}},
		"POST /milena/v1/subjects/{subject}/fileset": {id: "registerFileSet", summary: "Register a FileDescriptorSet",
			detail: "The body is the set itself, as protoc -o and buf build write it, with the type application/octet-stream. Its last file is " +
				"registered under the subject, the others under their paths, in the same context.", request: octets{}, response: api.FileSetResponse{}},
	}
}

// octets is a body that is no JSON.
type octets struct{}
