package rest

import (
	"context"

	"milena/registry/api"
)

// root answers / : clients ask it whether the server is there.
func (s *Server) root(context.Context, *request) (answer, error) {
	return value(struct{}{}, nil)
}

// serverID answers GET /v1/metadata/id.
func (s *Server) serverID(context.Context, *request) (answer, error) {
	return value(api.ServerID{Scope: api.Scope{
		Path:     []string{},
		Clusters: map[string]string{"kafka-cluster": s.opt.ClusterID, "schema-registry-cluster": s.opt.GroupID},
	}}, nil)
}

// serverVersion answers GET /v1/metadata/version.
func (s *Server) serverVersion(context.Context, *request) (answer, error) {
	return value(api.ServerVersion{Version: s.opt.Version, CommitID: s.opt.Commit}, nil)
}

// deployment answers GET /v1/metadata/deployment.
func (s *Server) deployment(context.Context, *request) (answer, error) {
	return value(api.Deployment{Attributes: []string{}}, nil)
}
