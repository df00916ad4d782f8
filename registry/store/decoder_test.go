package store_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"milena/registry/store"
)

// decodeBoth decodes an entry with a Decoder and without, and compares.
func decodeBoth(t *testing.T, d *store.Decoder, e store.Entry) *store.Record {
	t.Helper()
	want, wantErr := store.Decode(e)
	got, err := d.Decode(e)
	if (err == nil) != (wantErr == nil) || !reflect.DeepEqual(got, want) {
		t.Fatalf("%s %s: %+v, %v, want %+v, %v", e.Key, e.Value, got, err, want, wantErr)
	}
	return got
}

func TestDecoderReadsAsDecode(t *testing.T) {
	d := &store.Decoder{}
	for _, text := range []string{
		``, `"int"`, `{"type":"record","name":"R","fields":[]}`, "a\nb\tc\r\b\f", "Ünïcödé 😀", "\x00\x1f", `back\slash/`, "<&>\u2028",
	} {
		for _, s := range []store.Schema{
			{Subject: "s", Version: 1, ID: 1, Type: "AVRO"},
			{Subject: "s", Version: 7, ID: 123456789, Type: "PROTOBUF", Deleted: true},
			{Subject: ":.ctx:über", Version: 1, ID: 2147483647, Type: "JSON"},
			{Subject: `quo"te`, Version: 1, ID: 1, Type: "OTHER"},
			{Subject: "s", Version: 1, ID: 1},
			{Subject: "s", Version: 1, ID: 1, Type: "AVRO", References: []store.Reference{{Name: "n", Subject: "r", Version: 1}}},
			{Subject: "s", Version: 1, ID: 1, Type: "AVRO", Metadata: &store.Metadata{}},
		} {
			s.Text = text
			e, err := store.Encode(&store.Record{Kind: store.SchemaKind, Subject: "s", Version: 1, Schema: &s, TimestampMillis: 5})
			if err != nil {
				t.Fatal(err)
			}
			if r := decodeBoth(t, d, e); r.Schema.Text != text {
				t.Errorf("text became %q, want %q", r.Schema.Text, text)
			}
		}
	}
}

func TestDecoderLeavesTheRestToDecode(t *testing.T) {
	const key = `{"keytype":"SCHEMA","subject":"s","version":1,"magic":1}`
	d := &store.Decoder{}
	for _, c := range [][2]string{
		{key, `{"subject":"s","version":1,"id":1,"schema":"x","deleted":false}`},
		{key, `{"subject":"s","version":1,"id":1,"schemaType":"","schema":"x","deleted":false}`},
		{key, `{"id":1,"subject":"s","version":1,"schema":"x","deleted":false}`},
		{key, `{"subject":"s","version":1,"id":1,"schema":"x","deleted":false} `},
		{key, `{"subject":"s","version":1,"id":1,"schema":"x","deleted":false,"more":1}`},
		{key, `{"subject":"s","version":01,"id":1,"schema":"x","deleted":false}`},
		{key, `{"subject":"s","version":1,"id":1.5,"schema":"x","deleted":false}`},
		{key, `{"subject":"s","version":1,"id":12345678901,"schema":"x","deleted":false}`},
		{key, `{"subject":"s","version":1,"id":-1,"schema":"x","deleted":false}`},
		{key, `{"subject":"s","version":1,"id":1,"schema":"\u00e4\ud83d\ude00","deleted":false}`},
		{key, `{"subject":"s","version":1,"id":1,"schema":"` + "\xff" + `","deleted":false}`},
		{key, `{"subject":"s","version":1,"id":1,"schema":"` + "\\n\xff" + `","deleted":false}`},
		{key, `{"subject":"s","version":1,"id":1,"schema":"` + "a\nb" + `","deleted":false}`},
		{key, `{"subject":"s","version":1,"id":1,"schema":"\x","deleted":false}`},
		{key, `{"subject":"s","version":1,"id":1,"schema":"open`},
		{key, `{"subject":"s","version":1,"id":1,"schema":"open\`},
		{key, `null`},
		{key, ``},
		{`{"keytype":"SCHEMA","subject":"s","version":1,"magic":0}`, `{"subject":"s","version":1,"id":1,"schema":"x","deleted":false}`},
		{`{"keytype":"CONFIG","subject":"s","magic":0}`, `{"compatibilityLevel":"FULL"}`},
		{`{"keytype":"NOOP","magic":0}`, `null`},
	} {
		decodeBoth(t, d, store.Entry{Key: []byte(c[0]), Value: []byte(c[1])})
	}
	decodeBoth(t, d, store.Entry{Key: []byte(key)})
}

func TestDecoderKeepsTexts(t *testing.T) {
	kept := 0
	d := &store.Decoder{Keep: func(b []byte) string { kept++; return string(b) }}
	for _, references := range [][]store.Reference{nil, {{Name: "n", Subject: "r", Version: 1}}} {
		e, err := store.Encode(&store.Record{Kind: store.SchemaKind, Subject: "s", Version: 1, Schema: &store.Schema{
			Subject: "s", Version: 1, ID: 1, Type: "AVRO", Text: `"int"`, References: references,
		}})
		if err != nil {
			t.Fatal(err)
		}
		decodeBoth(t, d, e)
	}
	if kept != 2 {
		t.Errorf("%d texts kept, want 2", kept)
	}
}

// FuzzDecoder compares with Decode on whatever bytes a log may hold.
func FuzzDecoder(f *testing.F) {
	key := []byte(`{"keytype":"SCHEMA","subject":"s","version":1,"magic":1}`)
	for _, value := range []string{
		`{"subject":"s","version":1,"id":1,"schemaType":"AVRO","schema":"{\"a\":1}","deleted":false}`,
		`{"subject":"s","version":1,"id":1,"schema":"x\n","deleted":true}`, `null`, `{`,
	} {
		f.Add(key, []byte(value))
	}
	f.Fuzz(func(t *testing.T, key, value []byte) {
		r := decodeBoth(t, &store.Decoder{}, store.Entry{Key: key, Value: value})
		if r == nil || r.Schema == nil {
			return
		}
		if _, err := json.Marshal(r.Schema); err != nil {
			t.Fatal(err)
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	text := `{"type":"record","name":"R","fields":[`
	for range 12 {
		text += `{"name":"field","type":["null","string"],"default":null},`
	}
	e, err := store.Encode(&store.Record{Kind: store.SchemaKind, Subject: "some-topic-value", Version: 1, Schema: &store.Schema{
		Subject: "some-topic-value", Version: 1, ID: 4711, Type: "AVRO", Text: text + "]}",
	}})
	if err != nil {
		b.Fatal(err)
	}
	b.Run("parser", func(b *testing.B) {
		for b.Loop() {
			if _, err := store.Decode(e); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("decoder", func(b *testing.B) {
		d := &store.Decoder{}
		for b.Loop() {
			if _, err := d.Decode(e); err != nil {
				b.Fatal(err)
			}
		}
	})
}
