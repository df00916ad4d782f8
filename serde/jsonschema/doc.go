// Package jsonschema reads JSON Schemas as the reference registry does: which
// texts are schemas, the text as it is stored and normalized (Schema), what
// they mean for comparisons (Node), and validation of documents (Validator).
//
// The drafts are 4, 6, 7, 2019-09 and 2020-12; a text that names none or
// another is read as draft 7. Nothing is checked against a meta schema: a
// parser checks keyword by keyword what the reference checks, no less and no
// more, so schemas that are odd by the specification are often accepted, and
// some that are valid by it are not (the array form of items in 2019-09). A
// reference leads into the text, to a registered schema by its name, or to a
// draft's meta schema; it never leads to the network.
//
// It does not compare schemas (evolution/jsondiff), and records with JSON
// payloads are not decoded here.
//
// A Schema is immutable, a Parser has no state, and a Validator is safe for
// concurrent use. Bounds: bytes of a text, of all texts and of all addresses together, nesting,
// values in a text, nodes of a schema, and, of a Validator, what one document
// may cost.
package jsonschema
