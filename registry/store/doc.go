// Package store is the log that a registry's state is made of: the Log
// interface, "append if nothing came in between", and the records in the form
// of the keys and values of Confluent's _schemas topic, so that moving between
// an embedded file, a database and a Kafka topic is reading all and appending
// all.
//
// A Log knows entries (bytes); the codec knows records. What records mean is
// the business of registry/state. Implementations are in the packages below
// and pass the contract suite of storetest. The package has no goroutines and
// no state.
package store
