// Package brokerpb is the generated code of broker/proto/broker.proto, the
// broker's gRPC API, and holds nothing else: conversions live in broker and in
// broker/client.
package brokerpb

//go:generate protoc -I ../proto --go_out=../.. --go_opt=module=milena --go-grpc_out=../.. --go-grpc_opt=module=milena broker.proto
