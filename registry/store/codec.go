package store

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// tenant is what the keys and values of CONTEXT and ASSOC carry in every open
// deployment.
const tenant = "default"

// recordKey is the union of all keys, in the order of the topic.
type recordKey struct {
	Kind    Kind   `json:"keytype"`
	Tenant  string `json:"tenant,omitempty"`
	Context string `json:"context,omitempty"`
	assocKey
	keyKey
	Subject *string `json:"subject,omitempty"`
	Version *int    `json:"version,omitempty"`
	Magic   int     `json:"magic"`
}

// contextValue is the value of a CONTEXT record.
type contextValue struct {
	Tenant  string `json:"tenant"`
	Context string `json:"context"`
}

// clearValue is the value of a CLEAR_SUBJECT record.
type clearValue struct {
	Subject string `json:"subject"`
}

// Encode returns the entry of r, as the reference writes it to its topic.
func Encode(r *Record) (Entry, error) {
	e := Entry{TimestampMillis: r.TimestampMillis}
	key := recordKey{Kind: r.Kind}
	var value any
	switch r.Kind {
	case SchemaKind:
		key.Subject, key.Version, key.Magic = &r.Subject, &r.Version, 1
		value = r.Schema
	case ConfigKind:
		key.Subject = unlessEmpty(r.Subject)
		value = r.Config
	case ModeKind:
		key.Subject = unlessEmpty(r.Subject)
		value = r.Mode
	case DeleteSubject:
		key.Subject = &r.Subject
		value = r.Delete
	case ClearSubject:
		key.Subject = &r.Subject
		value = clearValue{r.Subject}
	case ContextKind:
		key.Tenant, key.Context = tenant, r.Context
		value = contextValue{tenant, r.Context}
	case AssocKind:
		key.Tenant, key.Subject, key.assocKey = tenant, &r.Subject, assocKeyOf(&r.Resource)
		value = r.Association
	case KekKind:
		key.Kek = &r.Key.Kek
		value = r.Kek
	case DekKind:
		key.Subject, key.Version = &r.Subject, &r.Version
		key.Kek, key.Algorithm = &r.Key.Kek, &r.Key.Algorithm
		value = r.Dek
	case Noop:
	default:
		return e, fmt.Errorf("encode record: unknown kind %q", r.Kind)
	}
	var err error
	if e.Key, err = marshal(key); err != nil {
		return e, fmt.Errorf("encode record key: %w", err)
	}
	if r.Tombstone() {
		return e, nil
	}
	if e.Value, err = marshal(value); err != nil {
		return e, fmt.Errorf("encode record value: %w", err)
	}
	return e, nil
}

// Decode returns the record of e. A key of an unknown kind is no error: the
// record has that Kind and nothing else. Keys and values that are not what
// their kind says are errors.
func Decode(e Entry) (*Record, error) {
	r := &Record{TimestampMillis: e.TimestampMillis}
	var key recordKey
	if err := json.Unmarshal(e.Key, &key); err != nil {
		return nil, fmt.Errorf("decode record key at %d: %w", e.Position, err)
	}
	r.Kind, r.Context = key.Kind, key.Context
	if key.Subject != nil {
		r.Subject = *key.Subject
	}
	if key.Version != nil {
		r.Version = *key.Version
	}
	if r.Kind == SchemaKind && (key.Subject == nil || r.Version < 1 && e.Value != nil && key.Version == nil) {
		return nil, fmt.Errorf("decode record at %d: schema key without subject or version", e.Position)
	}
	if !decodeKeys(r, &key) {
		return nil, fmt.Errorf("decode record at %d: %s key is incomplete", e.Position, r.Kind)
	}
	if e.Value == nil {
		return r, nil
	}
	if err := decodeValue(r, e.Value); err != nil {
		return nil, fmt.Errorf("decode record value at %d: %w", e.Position, err)
	}
	return r, nil
}

func decodeValue(r *Record, value []byte) error {
	switch r.Kind {
	case SchemaKind:
		if err := json.Unmarshal(value, &r.Schema); err != nil {
			return err
		}
		if r.Schema != nil && r.Schema.Type == "" {
			r.Schema.Type = "AVRO"
		}
		return nil
	case ConfigKind:
		return json.Unmarshal(value, &r.Config)
	case ModeKind:
		return json.Unmarshal(value, &r.Mode)
	case DeleteSubject:
		return json.Unmarshal(value, &r.Delete)
	case AssocKind:
		return json.Unmarshal(value, &r.Association)
	case KekKind:
		return json.Unmarshal(value, &r.Kek)
	case DekKind:
		return json.Unmarshal(value, &r.Dek)
	case ContextKind, ClearSubject:
		r.Exists = string(bytes.TrimSpace(value)) != "null"
		return nil
	default:
		return nil
	}
}

func unlessEmpty(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// marshal writes JSON without the escapes meant for HTML.
func marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}
