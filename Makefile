# Targets with a comment behind ## show up in `make help`.
GO ?= go
BIN := bin/milena
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
SHARED ?= $(or $(MILENA_SHARED),$(abspath ../shared))
RATIO_FLAGS ?=
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

.DEFAULT_GOAL := help
.PHONY: help build run demo test lint bench bench-registry fuzz generate checkgenerate conformance interop clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build the static binary bin/milena
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o $(BIN) ./cmd/milena

run: build ## build and serve on the default ports, data in ./milena-data
	$(BIN) serve

demo: build ## run the main job end to end with real clients on a temporary directory
	$(GO) run ./cmd/internal/demo -binary $(BIN)

test: ## run the whole test suite with the race detector
	$(GO) vet ./...
	CGO_ENABLED=1 $(GO) test -race ./...
	cd testdata/clients && CGO_ENABLED=1 $(GO) vet ./... && CGO_ENABLED=1 $(GO) test -count=1 ./...

lint: ## gofmt, go vet and staticcheck
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); exit 1; }
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...

bench: ## compare the schema programs with the library path; fails below the wanted ratios
	MILENA_BENCH=1 $(GO) test -count=1 -run '^TestRatios$$' -v ./serde/avro

bench-registry: ## measure the registry: reads by id, group commit, 300,000 versions
	MILENA_BENCH=1 $(GO) test -count=1 -v -run '^(TestReadRatio|TestLargeRegistry|TestGroupCommitRatio)$$' ./registry/rest ./registry

fuzz: ## run each fuzz target for FUZZTIME (default 10s)
	@./testdata/fuzz.sh $(or $(FUZZTIME),10s)

generate: ## regenerate the protobuf code (needs protoc)
	$(GO) generate ./...

checkgenerate: generate ## fail if generated code is not what is committed
	git diff --exit-code

conformance: build ## run the shared conformance suites against a server of this build
	@./testdata/conformance.sh $(BIN) $(SHARED)

interop: build ## run real Go, Node, Python and Java clients against the registry of this build
	@./testdata/interop.sh $(BIN) $(SHARED)

clean: ## remove what was built
	rm -rf bin
