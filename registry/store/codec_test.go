package store_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"milena/registry/store"
)

func ptr[T any](v T) *T { return &v }

// TestCodecForm holds the text of every kind of record. The texts are a stored
// format: they must not change.
func TestCodecForm(t *testing.T) {
	for _, c := range []struct {
		record     store.Record
		key, value string
	}{
		{store.Record{Kind: store.Noop}, `{"keytype":"NOOP","magic":0}`, ""},
		{
			store.Record{Kind: store.SchemaKind, Subject: "s", Version: 2, Schema: &store.Schema{
				Subject: "s", Version: 2, ID: 7, Type: "AVRO", Text: `{"name":"<a>"}`,
				References: []store.Reference{{Name: "n", Subject: "r", Version: 1}},
				Metadata:   &store.Metadata{Properties: map[string]string{"b": "2", "a": "1"}},
				RuleSet: &store.RuleSet{DomainRules: []store.Rule{
					{Name: "r", Kind: "TRANSFORM", Mode: "WRITE", Type: "CEL"},
				}},
			}},
			`{"keytype":"SCHEMA","subject":"s","version":2,"magic":1}`,
			`{"subject":"s","version":2,"id":7,"schemaType":"AVRO","references":[{"name":"n","subject":"r","version":1}],` +
				`"metadata":{"properties":{"a":"1","b":"2"}},` +
				`"ruleSet":{"domainRules":[{"name":"r","kind":"TRANSFORM","mode":"WRITE","type":"CEL","disabled":false}]},` +
				`"schema":"{\"name\":\"<a>\"}","deleted":false}`,
		},
		{
			store.Record{Kind: store.SchemaKind, Subject: ":.c:s", Version: 1},
			`{"keytype":"SCHEMA","subject":":.c:s","version":1,"magic":1}`, "",
		},
		{
			store.Record{Kind: store.ConfigKind, Subject: "s", Config: &store.Config{
				Subject: "s", Normalize: ptr(true), CompatibilityLevel: "FULL", Alias: ptr(""),
			}},
			`{"keytype":"CONFIG","subject":"s","magic":0}`,
			`{"subject":"s","alias":"","normalize":true,"compatibilityLevel":"FULL"}`,
		},
		{store.Record{Kind: store.ConfigKind}, `{"keytype":"CONFIG","magic":0}`, ""},
		{
			store.Record{Kind: store.ModeKind, Subject: "s", Mode: &store.Mode{Subject: "s", Mode: "IMPORT"}},
			`{"keytype":"MODE","subject":"s","magic":0}`, `{"subject":"s","mode":"IMPORT"}`,
		},
		{
			store.Record{Kind: store.ContextKind, Context: ".c", Exists: true},
			`{"keytype":"CONTEXT","tenant":"default","context":".c","magic":0}`, `{"tenant":"default","context":".c"}`,
		},
		{store.Record{Kind: store.ContextKind, Context: ".c"}, `{"keytype":"CONTEXT","tenant":"default","context":".c","magic":0}`, ""},
		{
			store.Record{Kind: store.DeleteSubject, Subject: "s", Delete: &store.SubjectDelete{Subject: "s", Version: 3}},
			`{"keytype":"DELETE_SUBJECT","subject":"s","magic":0}`, `{"subject":"s","version":3}`,
		},
		{
			store.Record{Kind: store.ClearSubject, Subject: ":.c:", Exists: true},
			`{"keytype":"CLEAR_SUBJECT","subject":":.c:","magic":0}`, `{"subject":":.c:"}`,
		},
		{
			*store.NewAssociation(store.Association{
				GUID: "g", ResourceName: "t", ResourceNamespace: "n", ResourceID: "i", ResourceType: "topic",
				AssociationType: "value", Subject: "s", Lifecycle: "WEAK",
			}),
			`{"keytype":"ASSOC","tenant":"default","resourceName":"t","resourceNamespace":"n","resourceType":"topic",` +
				`"associationType":"value","subject":"s","magic":0}`,
			`{"guid":"g","tenant":"default","resourceName":"t","resourceNamespace":"n","resourceId":"i","resourceType":"topic",` +
				`"associationType":"value","subject":"s","lifecycle":"WEAK","frozen":false}`,
		},
		{
			*store.KekRecord("k", &store.Kek{Name: "k", KmsType: "local-kms", KmsKeyID: "i", KmsProps: map[string]string{"a": "b"}, Doc: "d", Shared: true}),
			`{"keytype":"KEK","kekName":"k","magic":0}`,
			`{"name":"k","kmsType":"local-kms","kmsKeyId":"i","kmsProps":{"a":"b"},"doc":"d","shared":true,"deleted":false}`,
		},
		{*store.KekRecord("k", nil), `{"keytype":"KEK","kekName":"k","magic":0}`, ""},
		{
			*store.DekRecord(&store.Dek{KekName: "k", Subject: "s", Algorithm: "AES256_GCM", Version: 2, EncryptedKeyMaterial: "AAEC", Deleted: true}),
			`{"keytype":"DEK","kekName":"k","algorithm":"AES256_GCM","subject":"s","version":2,"magic":0}`,
			`{"kekName":"k","subject":"s","algorithm":"AES256_GCM","version":2,"encryptedKeyMaterial":"AAEC","deleted":true}`,
		},
	} {
		c.record.TimestampMillis = 99
		e, err := store.Encode(&c.record)
		if err != nil {
			t.Fatal(err)
		}
		if string(e.Key) != c.key || string(e.Value) != c.value || (e.Value == nil) != (c.value == "") {
			t.Errorf("encoded %s %s, want %s %s", e.Key, e.Value, c.key, c.value)
		}
		back, err := store.Decode(e)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(back, &c.record) {
			t.Errorf("decoded %+v, want %+v", back, c.record)
		}
	}
}

func TestCodecRefuses(t *testing.T) {
	for _, e := range []store.Entry{
		{},
		{Key: []byte("x")},
		{Key: []byte(`{"keytype":"SCHEMA","magic":1}`)},
		{Key: []byte(`{"keytype":"SCHEMA","subject":"s","version":1}`), Value: []byte(`[]`)},
		{Key: []byte(`{"keytype":"CONFIG"}`), Value: []byte(`{"normalize":7}`)},
		{Key: []byte(`{"keytype":"ASSOC","subject":"s","magic":0}`)},
		{Key: []byte(`{"keytype":"KEK","magic":0}`)},
		{Key: []byte(`{"keytype":"DEK","kekName":"k","subject":"s","version":1}`)},
	} {
		if r, err := store.Decode(e); err == nil {
			t.Errorf("%s %s decoded to %+v", e.Key, e.Value, r)
		}
	}
	if _, err := store.Encode(&store.Record{Kind: "OTHER"}); err == nil {
		t.Error("an unknown kind was encoded")
	}
	r, err := store.Decode(store.Entry{Key: []byte(`{"keytype":"OTHER","subject":"s","magic":0}`), Value: []byte(`{}`)})
	if err != nil || r.Kind != "OTHER" || !r.Tombstone() {
		t.Errorf("a record of a kind of tomorrow: %+v, %v", r, err)
	}
}

// TestCodecReferenceTopic reads a topic that the reference wrote and expects
// each record's own bytes back.
func TestCodecReferenceTopic(t *testing.T) {
	entries := referenceTopic(t)
	for _, e := range entries {
		r, err := store.Decode(e)
		if err != nil {
			t.Fatal(err)
		}
		back, err := store.Encode(r)
		if err != nil {
			t.Fatal(err)
		}
		if string(back.Key) != string(e.Key) || string(back.Value) != string(e.Value) || (back.Value == nil) != (e.Value == nil) {
			t.Errorf("at %d: %s %s became %s %s", e.Position, e.Key, e.Value, back.Key, back.Value)
		}
	}
}

func referenceTopic(t *testing.T) []store.Entry {
	t.Helper()
	shared := os.Getenv("MILENA_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "..", "..", "shared")
	}
	path := filepath.Join(shared, "corpus", "schemas-topic", "topic.jsonl")
	f, err := os.Open(path)
	if err != nil {
		t.Skipf("the reference's topic is missing: %v", err)
	}
	defer func() { _ = f.Close() }()
	var entries []store.Entry
	scanner := bufio.NewScanner(f)
	scanner.Buffer(nil, 4<<20)
	for scanner.Scan() {
		var line struct {
			Offset, Timestamp int64
			Key, Value        *string
		}
		if err := json.Unmarshal(scanner.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		e := store.Entry{Position: line.Offset, TimestampMillis: line.Timestamp, Key: []byte(*line.Key)}
		if line.Value != nil {
			e.Value = []byte(*line.Value)
		}
		entries = append(entries, e)
	}
	if err := scanner.Err(); err != nil {
		t.Fatal(err)
	}
	if len(entries) < 500 {
		t.Fatalf("the reference's topic has %d records", len(entries))
	}
	return entries
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"keytype":"SCHEMA","subject":"s","version":1,"magic":1}`), []byte(`{"subject":"s","version":1,"id":1,"schema":"\"int\"","deleted":false}`))
	f.Add([]byte(`{"keytype":"CONFIG","magic":0}`), []byte(`{"compatibilityLevel":"NONE"}`))
	f.Add([]byte(`{"keytype":"ASSOC","tenant":"default","resourceName":"t","resourceNamespace":"n","resourceType":"topic","associationType":"key","subject":"s","magic":0}`), []byte(`{"guid":"g"}`))
	f.Add([]byte(`{"keytype":"DEK","kekName":"k","algorithm":"AES256_GCM","subject":"s","version":1,"magic":0}`), []byte(`{"version":1}`))
	f.Add([]byte(`{"keytype":"CONTEXT","tenant":"default","context":".a","magic":0}`), []byte(`null`))
	f.Fuzz(func(t *testing.T, key, value []byte) {
		r, err := store.Decode(store.Entry{Key: key, Value: value})
		if err != nil {
			return
		}
		e, err := store.Encode(r)
		if err != nil {
			return // a kind of tomorrow
		}
		again, err := store.Decode(e)
		if err != nil {
			t.Fatalf("%s %s: %v", e.Key, e.Value, err)
		}
		e2, err := store.Encode(again)
		if err != nil || string(e2.Key) != string(e.Key) || string(e2.Value) != string(e.Value) {
			t.Fatalf("%s %s became %s %s, %v", e.Key, e.Value, e2.Key, e2.Value, err)
		}
	})
}
