package transfer_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"milena/registry/store"
	"milena/registry/transfer"
)

const head = `{"export":{"format":"milena-registry","version":1}}` + "\n"

// read returns what a source yields, one line each, and the error that ended it.
func read(items iter.Seq2[transfer.Item, error]) ([]string, error) {
	var got []string
	for item, err := range items {
		if err != nil {
			return got, err
		}
		text := "bad"
		if item.Err == nil {
			b, err := item.Line.Append(nil)
			if err != nil {
				return got, err
			}
			text = strings.TrimSuffix(string(b), "\n")
		}
		got = append(got, fmt.Sprint(item.Number, " ", text))
	}
	return got, nil
}

func TestRead(t *testing.T) {
	mode := `{"mode":{"subject":"s","mode":"READONLY"}}`
	for what, c := range map[string]struct {
		text string
		want []string
		err  error
	}{
		"empty":                  {"", nil, transfer.ErrHeader},
		"blank":                  {"\n \r\n", nil, transfer.ErrHeader},
		"no lines":               {head + `{"end":{"lines":0}}`, nil, nil},
		"no head":                {mode + "\n", nil, transfer.ErrHeader},
		"another format":         {`{"export":{"format":"x","version":1}}`, nil, transfer.ErrHeader},
		"version of tomorrow":    {`{"export":{"format":"milena-registry","version":2}}`, nil, transfer.ErrHeader},
		"version 0":              {`{"export":{"format":"milena-registry"}}`, nil, transfer.ErrHeader},
		"no JSON":                {"hello", nil, transfer.ErrHeader},
		"cut":                    {head + mode + "\n", []string{"2 " + mode}, transfer.ErrCut},
		"cut within a line":      {head + mode[:20], []string{"2 bad"}, transfer.ErrCut},
		"a line is missing":      {head + mode + "\n" + `{"end":{"lines":2}}`, []string{"2 " + mode}, transfer.ErrCut},
		"a byte order mark":      {"\uFEFF" + head + `{"end":{"lines":0}}`, nil, nil},
		"carriage returns":       {strings.ReplaceAll(head+mode+"\n"+`{"end":{"lines":1}}`+"\n", "\n", "\r\n"), []string{"2 " + mode}, nil},
		"blank lines":            {head + "\n\n" + mode + "\n\n" + `{"end":{"lines":1}}`, []string{"4 " + mode}, nil},
		"bad lines":              {head + "x\n{}\n" + `{"mode":{},"config":{}}` + "\n" + head + mode + "\n" + `{"end":{"lines":5}}`, []string{"2 bad", "3 bad", "4 bad", "5 bad", "6 " + mode}, nil},
		"after the end":          {head + `{"end":{"lines":0}}` + "\n" + mode, nil, nil},
		"members of tomorrow":    {head + `{"mode":{"mode":"IMPORT","x":1},"y":2}` + "\n" + `{"end":{"lines":1}}`, []string{`2 {"mode":{"mode":"IMPORT"}}`}, nil},
		"a type that is missing": {head + `{"schema":{"subject":"s","version":1,"id":1,"schema":""}}` + "\n" + `{"end":{"lines":1}}`, []string{`2 {"schema":{"subject":"s","version":1,"id":1,"schemaType":"AVRO","schema":"","deleted":false}}`}, nil},
	} {
		for _, slow := range []bool{false, true} {
			var r io.Reader = strings.NewReader(c.text)
			if slow {
				r = iotest.OneByteReader(r)
			}
			got, err := read(transfer.Read(r))
			if !slices.Equal(got, c.want) || !errors.Is(err, c.err) || (err == nil) != (c.err == nil) {
				t.Errorf("%s: %q, %v", what, got, err)
			}
		}
	}
}

// TestReadLongLine: a line that is too long is named, and costs no more memory
// than one that is not.
func TestReadLongLine(t *testing.T) {
	long := io.LimitReader(repeat('x'), 3*transfer.LineBytesMax)
	r := io.MultiReader(strings.NewReader(head), long, strings.NewReader("\n"+`{"mode":{"mode":"IMPORT"}}`+"\n"+`{"end":{"lines":2}}`))
	var got []string
	for item, err := range transfer.Read(r) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(item.Number, errors.Is(item.Err, transfer.ErrTooLong)))
	}
	if want := []string{"2 true", "3 false"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

type repeat byte

func (r repeat) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(r)
	}
	return len(p), nil
}

// TestReadFails: an error of the source ends the stream, and is not taken for
// its end.
func TestReadFails(t *testing.T) {
	broken := errors.New("broken")
	for _, f := range []func(io.Reader) iter.Seq2[transfer.Item, error]{transfer.Read, transfer.ReadDump, transfer.ReadAny} {
		r := io.MultiReader(strings.NewReader(head), iotest.ErrReader(broken))
		if _, err := read(f(r)); !errors.Is(err, broken) {
			t.Errorf("%v", err)
		}
	}
}

func TestReadDump(t *testing.T) {
	dump := `{"offset":0,"timestamp":7,"key":"{\"keytype\":\"SCHEMA\",\"subject\":\"s\",\"version\":1,\"magic\":1}","value":"{\"subject\":\"s\",\"version\":1,\"id\":4,\"schema\":\"\\\"int\\\"\",\"deleted\":false}"}
{"topic":"_schemas","partition":0,"offset":1,"tstype":"create","ts":8,"key":"{\"keytype\":\"CONFIG\",\"subject\":\"s\",\"magic\":0}","payload":"{\"subject\":\"s\",\"compatibilityLevel\":\"FULL\"}"}
{"offset":2,"key":"{\"keytype\":\"CONFIG\",\"subject\":\"t\",\"magic\":0}","value":"nonsense"}
{"offset":3,"value":"{}"}
{"offset":4,"timestamp":9,"key":"{\"keytype\":\"NOOP\",\"magic\":0}","value":null}
{"offset":5,"timestamp":9,"key":"{\"keytype\":\"OF_TOMORROW\",\"magic\":0}","value":"{}"}
{"offset":6,"timestamp":9,"key":"{\"keytype\":\"SCHEMA\",\"subject\":\"gone\",\"version\":1,\"magic\":1}","value":"{\"subject\":\"gone\",\"version\":1,\"id\":9,\"schema\":\"\\\"long\\\"\",\"deleted\":true}"}
{"offset":7,"timestamp":9,"key":"{\"keytype\":\"SCHEMA\",\"subject\":\"gone\",\"version\":1,\"magic\":1}","value":null}
`
	got, err := read(transfer.ReadAny(strings.NewReader(dump)))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"3 bad", "4 bad",
		`9 {"context":{"name":".","maxId":9}}`,
		`10 {"schema":{"subject":"s","version":1,"id":4,"schemaType":"AVRO","schema":"\"int\"","deleted":false},"ts":7}`,
		`11 {"config":{"subject":"s","compatibilityLevel":"FULL"}}`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if _, err := read(transfer.ReadDump(strings.NewReader(""))); !errors.Is(err, transfer.ErrHeader) {
		t.Errorf("an empty dump: %v", err)
	}
}

// TestWrite: what is written is read back, heads and ends among the lines
// left out.
func TestWrite(t *testing.T) {
	lines := []transfer.Line{
		{Export: &transfer.Header{}}, {Mode: &store.Mode{Subject: "<s>\u2028", Mode: "IMPORT"}}, {End: &transfer.End{Lines: 7}},
		{Kek: &store.Kek{Name: "k"}, TimestampMillis: 5},
	}
	var out bytes.Buffer
	if err := transfer.Write(&out, 3, slices.Values(lines)); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "<s>") || strings.Count(out.String(), "\n") != 4 {
		t.Errorf("written: %s", out.String())
	}
	got, err := read(transfer.Read(&out))
	if err != nil || len(got) != 2 {
		t.Errorf("%q, %v", got, err)
	}
	full := errors.New("full")
	if err := transfer.Write(failing{full}, 0, slices.Values(lines)); !errors.Is(err, full) {
		t.Errorf("%v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// FuzzRead: whatever is read is written and read again the same, and nothing
// panics; a dump that is read is one that can be exported.
func FuzzRead(f *testing.F) {
	f.Add([]byte(head + `{"schema":{"subject":"s","version":1,"id":1,"schema":"\"int\""},"ts":1}` + "\n" + `{"end":{"lines":1}}`))
	f.Add([]byte(`{"key":"{\"keytype\":\"SCHEMA\",\"subject\":\"s\",\"version\":1}","value":"{\"id\":1,\"references\":[{\"name\":\"n\",\"subject\":\"s\",\"version\":1}]}"}`))
	f.Add([]byte(`{"key":"{\"keytype\":\"ASSOC\",\"tenant\":\"default\",\"resourceName\":\"t\",\"resourceNamespace\":\"n\",\"resourceType\":\"topic\",\"associationType\":\"key\",\"subject\":\"s\"}","value":"{\"guid\":\"g\"}"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var lines []transfer.Line
		for item, err := range transfer.ReadAny(bytes.NewReader(text)) {
			if err != nil {
				break
			}
			if item.Err == nil {
				lines = append(lines, item.Line)
			}
		}
		var first, second bytes.Buffer
		if err := transfer.Write(&first, 0, slices.Values(lines)); err != nil {
			t.Fatal(err)
		}
		lines = nil
		for item, err := range transfer.Read(bytes.NewReader(first.Bytes())) {
			if err != nil || item.Err != nil {
				t.Fatalf("%s: %v, %v", first.String(), err, item.Err)
			}
			lines = append(lines, item.Line)
		}
		if err := transfer.Write(&second, 0, slices.Values(lines)); err != nil || second.String() != first.String() {
			t.Fatalf("%s became %s, %v", first.String(), second.String(), err)
		}
	})
}
