package rest

// parameter describes a path or query parameter, which means the same on every
// route that has it.
type parameter struct {
	kind string // "flag", "number", "list" or "" for text
	doc  string
}

func (p parameter) schema() map[string]any {
	switch p.kind {
	case "flag":
		return map[string]any{"type": "boolean", "default": false}
	case "number":
		return map[string]any{"type": "integer", "format": "int32"}
	case "list":
		return map[string]any{"type": "array", "items": map[string]any{"type": "string"}}
	default:
		return map[string]any{"type": "string"}
	}
}

// pathParameters returns what is known of the values in paths, by name.
func pathParameters() map[string]parameter {
	return map[string]parameter{
		"subject":  {doc: "A subject, :.ctx:name outside the default context; escape slashes as %2F"},
		"version":  {doc: "A number from 1 on, or latest"},
		"id":       {"number", "The id of a schema in its context"},
		"guid":     {doc: "The GUID of a schema, with or without hyphens"},
		"context":  {doc: "A context: .ctx, ctx or :.ctx:"},
		"kek":      {doc: "The name of a key encryption key"},
		"resource": {doc: "The id of a resource; before a name, its namespace, - for any"},
		"name":     {doc: "The name of a resource"},
	}
}

// queryParameters returns what is known of query parameters, by name.
func queryParameters() map[string]parameter {
	return map[string]parameter{
		"after":             {doc: "Where the page before ended: its next"},
		"algorithm":         {doc: "AES128_GCM, AES256_GCM (default) or AES256_SIV"},
		"aliases":           {"flag", "Match subjects by their aliases too"},
		"associationType":   {"list", "key or value"},
		"cascadeLifecycle":  {"flag", "Delete the subjects of strong associations too"},
		"context":           {doc: "The context of subjects that name none"},
		"contextPrefix":     {doc: "Only contexts whose name begins so"},
		"defaultToGlobal":   {"flag", "Show what applies, not only what is set here"},
		"deleted":           {"flag", "Include what is soft deleted"},
		"deletedAsNegative": {"flag", "List soft deleted versions as negative numbers"},
		"deletedOnly":       {"flag", "Only what is soft deleted"},
		"dryRun":            {"flag", "Say what would be, and change nothing"},
		"fetchMaxId":        {"flag", "Tell the highest id of the context"},
		"field":             {doc: "The name of a field or its path; * stands for any characters"},
		"findTags":          {"list", "Show the inline tags of entities that have one of these; * is all"},
		"force":             {"flag", "Skip the check that would refuse this"},
		"format":            {doc: "resolved (AVRO), serialized or ignore_extensions (PROTOBUF), fileset below /milena/v1; topic for an export"},
		"includeSchemas":    {"flag", "Show the latest version of each subject"},
		"key":               {"list", "Names of metadata properties"},
		"latestOnly":        {"flag", "Only the latest version of each subject"},
		"lifecycle":         {doc: "WEAK or STRONG"},
		"limit":             {"number", "Entries of the page; 0 and less mean the default"},
		"liveOnly":          {"flag", "Leave soft deleted versions out"},
		"normalize":         {"flag", "Normalize the schema first"},
		"offset":            {"number", "Entries to skip"},
		"overwrite":         {"flag", "Let lines win over other configs, modes, deletions, associations and keys that are here"},
		"permanent":         {"flag", "Delete for good what is soft deleted"},
		"property":          {doc: "A metadata property: name, or name=value; * stands for any characters in the value"},
		"recursive":         {"flag", "Also the modes of all subjects of the context"},
		"referenceFormat":   {doc: "qualified shows the subjects of references with their contexts"},
		"resourceType":      {doc: "topic"},
		"rewrap":            {"flag", "Wrap the same key again"},
		"ruleType":          {doc: "Only versions with a rule of this type"},
		"schemaType":        {doc: "AVRO, JSON or PROTOBUF"},
		"subject":           {doc: "Under which subject or in which context to look for the id"},
		"subjectPrefix":     {doc: "Only subjects whose name begins so; :.ctx: is a context, :*: are all"},
		"tag":               {doc: "A tag, inline or in the metadata; * stands for any characters"},
		"testSharing":       {"flag", "Try the key before it is stored"},
		"text":              {doc: "Part of the schema's text, in any case"},
		"type":              {doc: "The name of a record, message, enum, fixed or definition; * stands for any characters"},
		"value":             {"list", "Values of the metadata properties, in the order of key"},
		"verbose":           {"flag", "Say why"},
	}
}
