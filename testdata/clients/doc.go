// Package clients drives the milena binary through its front door with real,
// unmodified clients: franz-go, sarama, librdkafka with Confluent's Avro
// serializer, and kcat. It is a module of its own, so that none of these
// libraries becomes a dependency of Milena. Run it with `make test`; it builds
// the binary, or takes the one that MILENA_BIN names.
package clients
