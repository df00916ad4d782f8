package kapi

import (
	"context"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// ApiVersions, versions 0 to 4.
//
//	v0  KIP-35
//	v1  throttle time
//	v3  flexible, but the response header stays without tags; client software
//	    name and version (KIP-511); features (KIP-584)
//	v4  as v3; features may have minimum 0
//
// A version above is answered in the layout of v0 with UNSUPPORTED_VERSION and
// the range of this API, its body unread. Not served: v5 (KIP-1242), by which
// a client checks that it reached the cluster and node it meant; it falls back.
// No features are listed: none is finalised.
func (s *Server) apiVersions(_ context.Context, r *Request) (kmsg.Response, error) {
	req := r.Msg.(*kmsg.ApiVersionsRequest)
	resp := req.ResponseKind().(*kmsg.ApiVersionsResponse)
	if req.Version >= 3 {
		if !softwareText(req.ClientSoftwareName) || !softwareText(req.ClientSoftwareVersion) {
			resp.ErrorCode = kerr.InvalidRequest.Code
			return resp, nil
		}
		r.Conn.software.Store(&Software{Name: req.ClientSoftwareName, Version: req.ClientSoftwareVersion})
	}
	resp.ApiKeys = s.listed
	return resp, nil
}

// UnsupportedApiVersions is the answer to an ApiVersions request of a version
// that isn't served: layout of v0, error 35, the range of key 18 only.
func (s *Server) UnsupportedApiVersions() kmsg.Response {
	resp := kmsg.NewPtrApiVersionsResponse()
	resp.ErrorCode = kerr.UnsupportedVersion.Code
	resp.ApiKeys = []kmsg.ApiVersionsResponseApiKey{s.apis[kmsg.ApiVersions].listed()}
	return resp
}

// softwareTextBytesMax keeps names short enough for logs.
const softwareTextBytesMax = 256

// softwareText: letters and digits, with dots and dashes inside (KIP-511).
func softwareText(v string) bool {
	if v == "" || len(v) > softwareTextBytesMax {
		return false
	}
	for i := range len(v) {
		c := v[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case (c == '.' || c == '-') && i > 0 && i < len(v)-1:
		default:
			return false
		}
	}
	return true
}
