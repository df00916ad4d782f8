package rest

import (
	"net/http"

	"milena/registry/errcode"
)

// keyRoutes returns the rows of the table for the DEK registry: key encryption
// keys, which are global, and data encryption keys, whose subjects live in
// contexts.
func keyRoutes() []route {
	const get, post, put, del = http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete
	type codes = []*errcode.Row
	const keks = "/dek-registry/v1/keks"
	const kek = keks + "/{kek}"
	const deks = kek + "/deks"
	const dek = deks + "/{subject}"
	const version = dek + "/versions/{version}"
	var (
		unknown = errcode.KeyNotFound
		live    = errcode.KeyNotSoftDeleted
		exists  = errcode.KeyExists
		tooMany = errcode.KeysTooMany
		invalid = errcode.InvalidKey
		number  = errcode.InvalidVersion
		asleep  = errcode.KeyMustBeUndeleted
		denied  = errcode.KMSDenied
		failed  = errcode.KMSFailed
	)
	return []route{
		{get, keks, (*Server).keks, Read, "", 0, []string{"subjectPrefix", "deleted", "offset", "limit"}, nil, scoped},
		{post, keks, (*Server).createKek, Write, "createKek.arg3", smallBodyBytesMax, []string{"testSharing"},
			codes{invalid, exists, tooMany, denied, failed}, scoped | writes},
		{get, kek, (*Server).kek, Read, "", 0, []string{"deleted"}, codes{unknown}, scoped},
		{put, kek, (*Server).updateKek, Write, "putKek.arg3", smallBodyBytesMax, nil, codes{unknown}, scoped | writes},
		{del, kek, (*Server).deleteKek, Write, "", 0, []string{"permanent"},
			codes{unknown, live, errcode.KeyReferenceExists}, scoped | writes},
		{post, kek + "/undelete", (*Server).undeleteKek, Write, "", 0, nil, codes{unknown}, scoped | writes},
		{post, kek + "/test", (*Server).testKek, Write, "", 0, nil, codes{unknown, invalid, denied, failed}, scoped},

		{get, deks, (*Server).dekSubjects, Read, "", 0, []string{"deleted", "offset", "limit"}, codes{unknown}, scoped},
		{post, deks, (*Server).createDek, Write, "createDek.arg4", smallBodyBytesMax, nil,
			codes{unknown, exists, tooMany, invalid, denied, failed}, scoped | writes},
		{post, dek, (*Server).createDekOf, Write, "createDek.arg5", smallBodyBytesMax, []string{"rewrap"},
			codes{unknown, exists, tooMany, invalid, denied, failed}, scoped | writes},
		{get, dek, (*Server).dek, Read, "", 0, []string{"algorithm", "deleted"}, codes{unknown, denied, failed}, scoped},
		{get, dek + "/versions", (*Server).dekVersions, Read, "", 0,
			[]string{"algorithm", "deleted", "offset", "limit"}, codes{unknown}, scoped},
		{get, version, (*Server).dek, Read, "", 0, []string{"algorithm", "deleted"}, codes{unknown, number, denied, failed}, scoped},
		{del, dek, (*Server).deleteDek, Write, "", 0, []string{"algorithm", "permanent"}, codes{unknown, live}, scoped | writes},
		{del, version, (*Server).deleteDek, Write, "", 0, []string{"algorithm", "permanent"}, codes{unknown, live, number}, scoped | writes},
		{post, dek + "/undelete", (*Server).undeleteDek, Write, "", 0, []string{"algorithm"}, codes{unknown, asleep}, scoped | writes},
		{post, version + "/undelete", (*Server).undeleteDek, Write, "", 0, []string{"algorithm"},
			codes{unknown, asleep, number}, scoped | writes},
	}
}
