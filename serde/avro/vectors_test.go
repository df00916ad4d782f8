package avro

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"milena/serde/record"
	"milena/serde/schema"
	"milena/serde/wire"
)

// sharedDir returns the folder of the recorded vectors, or skips the test.
func sharedDir(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("MILENA_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("shared folder %s is missing", dir)
	}
	return dir
}

// TestVectors: every Avro payload that Confluent's Java, Go, Python and
// JavaScript serializers have written decodes, and comes back from its packed
// form alone.
func TestVectors(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(sharedDir(t), "interop", "vectors*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Skipf("no interop/vectors*.jsonl in the shared folder: %v", err)
	}
	styles := map[record.Style]int{}
	for _, path := range files {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 16<<20)
		for n := 1; lines.Scan(); n++ {
			checkVector(t, filepath.Base(path), n, lines.Bytes(), styles)
		}
		if err := lines.Err(); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("styles: %v", styles)
	if styles[record.StyleOriginal] != 0 || styles[record.StyleCanonical] == 0 || styles[record.StyleCounted] == 0 {
		t.Errorf("styles: %v; want none original, some of both others", styles)
	}
}

type vector struct {
	Client      string
	Case        string
	Format      string
	Schema      string
	References  []json.RawMessage
	Framing     string
	PayloadHex  string          `json:"payload_hex"`
	HeaderHex   string          `json:"header_hex"`
	Error       json.RawMessage `json:"error"`
	DecodeError json.RawMessage `json:"decode_error"`
	// DecodeOnly: made by hand for a deserializer; no serializer writes it.
	DecodeOnly bool `json:"decode_only"`
}

func checkVector(t *testing.T, file string, n int, line []byte, styles map[record.Style]int) {
	t.Helper()
	var v vector
	if err := json.Unmarshal(line, &v); err != nil {
		t.Fatalf("%s:%d: %v", file, n, err)
	}
	if v.Format != "AVRO" || v.PayloadHex == "" && v.HeaderHex == "" || v.Schema == "" ||
		len(v.References) > 0 || len(v.Error) > 0 || len(v.DecodeError) > 0 || strings.HasPrefix(v.Case, "avro/csfle-payload/") {
		return
	}
	s, err := Parser{}.ParseSchema(schema.Resolved{Type: schema.Avro, Text: v.Schema})
	if err != nil {
		t.Errorf("%s:%d %s %s: %v", file, n, v.Client, v.Case, err)
		return
	}
	p, err := Compile(s)
	if err != nil {
		t.Errorf("%s:%d %s %s: %v", file, n, v.Client, v.Case, err)
		return
	}
	var header []byte
	if v.HeaderHex != "" {
		header = unhex(t, v.HeaderHex)
	}
	e, err := wire.Split(unhex(t, v.PayloadHex), header)
	if err != nil && !v.DecodeOnly {
		t.Errorf("%s:%d %s %s: %v", file, n, v.Client, v.Case, err)
		return
	}
	_, style, err := checkPayload(t, p, e.Data)
	if v.DecodeOnly { // refused or exact, as checkPayload has found
		return
	}
	if err != nil {
		t.Errorf("%s:%d %s %s: schema %s payload %s: %v", file, n, v.Client, v.Case, v.Schema, v.PayloadHex, err)
	}
	styles[style]++
}
