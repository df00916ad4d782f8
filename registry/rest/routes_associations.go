package rest

import (
	"net/http"

	"milena/registry/errcode"
)

// associationRoutes returns the rows of the table for associations between
// resources, such as topics, and subjects.
func associationRoutes() []route {
	const get, post, put, del = http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete
	type codes = []*errcode.Row
	filters := []string{"resourceType", "associationType", "lifecycle", "offset", "limit"}
	const resource = "/associations/resources/{resource}"
	var (
		invalid    = errcode.InvalidAssociation
		typeExists = errcode.AssociationOfTypeExists
		exists     = errcode.AssociationExists
		strong     = errcode.StrongAssociationExists
		inactive   = errcode.NoActiveVersion
		frozen     = errcode.AssociationFrozen
		referenced = errcode.ReferenceExists
		mode       = errcode.OperationNotPermitted
	)
	// A change may register schemas.
	registration := codes{errcode.InvalidSchema, errcode.Incompatible, errcode.SchemaTooLarge, errcode.InvalidRuleSet, errcode.InvalidSubject}
	return []route{
		{get, "/associations/subjects/{subject}", (*Server).associationsBySubject, Read, "", 0, append([]string{"context"}, filters...), nil, scoped},
		{get, resource, (*Server).associationsByID, Read, "", 0, filters, nil, scoped},
		{get, resource + "/{name}", (*Server).associationsByName, Read, "", 0, filters, nil, scoped},
		{post, "/associations", (*Server).createAssociations, Write, "createAssociation.arg4", 0, []string{"context", "dryRun"},
			append(codes{invalid, typeExists, exists, strong, inactive, referenced, mode}, registration...), scoped | writes},
		{put, resource, (*Server).upsertAssociations, Write, "createOrUpdateAssociation.arg4", 0, []string{"context", "dryRun"},
			append(codes{invalid, typeExists, exists, strong, inactive, frozen, referenced, mode}, registration...), scoped | writes},
		{del, resource, (*Server).deleteAssociations, Write, "", 0, []string{"resourceType", "associationType", "cascadeLifecycle", "dryRun"},
			codes{errcode.AssociationNotFound, frozen, referenced, mode}, scoped | writes},
		{post, "/associations:batchGet", (*Server).getAssociations, Read, "getAssociations.arg3", smallBodyBytesMax, []string{"includeSchemas"},
			codes{invalid}, scoped},
		{post, "/associations:batchMutate", (*Server).changeAssociations, Write, "modifyAssociations.arg3", 0, []string{"context"},
			codes{invalid}, scoped | writes},
	}
}
