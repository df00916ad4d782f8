package tidy

// Layers returns the order of packages, lowest row first. A package imports
// only packages of a lower row; packages below cmd may import each other. A
// package that is in no row fails the test, so that a new one is placed before
// it is used. Names are relative to the module.
func Layers() [][]string {
	return [][]string{
		{
			"serde/wire", "serde/schema", "serde/record", "serde/record/recordpb", "evolution/diff",
			"registry/errcode", "registry/api", "registry/store", "registry/kms",
			"gateway/batch", "gateway/group", "gateway/backend",
			"broker/api", "broker/brokerpb", "broker/journal", "broker/journal/fs", "broker/stored", "broker/catalog",
		},
		{
			"serde/avro", "serde/jsonschema", "serde/protobuf", "registry/state", "registry/client",
			"registry/store/memory", "registry/store/sqlite", "registry/store/storetest",
			"broker/journal/local", "broker/journal/memory", "broker/journal/journaltest",
			"broker/catalog/sqlite", "broker/catalog/memory", "broker/catalog/catalogtest", "broker/client",
			"gateway/backend/memory", "gateway/backend/backendtest", "gateway/coordinator",
		},
		{"serde/format", "registry/transfer", "evolution/avrodiff", "evolution/jsondiff", "evolution/protodiff", "evolution/locate"},
		{"serde", "evolution"},
		{"registry", "broker", "gateway/envelope"},
		{"registry/rest", "gateway/kapi"},
		{"gateway"},
		{"gateway/gatewaytest"},
		{
			"cmd/milena", "cmd/internal/backend", "cmd/internal/check", "cmd/internal/cli", "cmd/internal/config", "cmd/internal/demo",
			"cmd/internal/findings", "cmd/internal/node", "cmd/internal/obs", "cmd/internal/run", "cmd/internal/tidy",
			"cmd/milenatest",
		},
	}
}
