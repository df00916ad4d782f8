package wire

import (
	"bytes"
	"encoding/hex"
	"errors"
	"testing"
)

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestSplit(t *testing.T) {
	const guid = "aa09fc25e13442be8672aeaf80645f32"
	for _, c := range []struct {
		name, payload, header string
		hasHeader             bool
		framing               Framing
		id                    int32
		guid, data, tail      string
		err                   error
	}{
		{name: "prefix", payload: "000000000702c0", framing: Prefix, id: 7, data: "02c0"},
		{name: "prefix, nothing behind it", payload: "0000000007", framing: Prefix, id: 7},
		{name: "greatest id", payload: "007fffffff01", framing: Prefix, id: 1<<31 - 1, data: "01"},
		{name: "id zero", payload: "000000000001", data: "000000000001", err: ErrUnframed},
		{name: "negative id", payload: "00ffffffff01", data: "00ffffffff01", err: ErrUnframed},
		{name: "four bytes", payload: "00000001", data: "00000001", err: ErrUnframed},
		{name: "no bytes", err: ErrUnframed},
		{name: "json", payload: "7b2261223a317d", data: "7b2261223a317d", err: ErrUnframed},
		{name: "header GUID", payload: "0000000007", header: "01" + guid, hasHeader: true, framing: HeaderGUID, guid: guid, data: "0000000007"},
		{name: "header GUID with indexes", payload: "0a", header: "01" + guid + "0202", hasHeader: true, framing: HeaderGUID, guid: guid, data: "0a", tail: "0202"},
		{name: "header id", payload: "0a", header: "0000000009", hasHeader: true, framing: HeaderID, id: 9, data: "0a"},
		{name: "header id with indexes", payload: "", header: "000000000900", hasHeader: true, framing: HeaderID, id: 9, tail: "00"},
		{name: "header id zero", payload: "0000000007", header: "0000000000", hasHeader: true, data: "0000000007", err: ErrHeader},
		{name: "header empty", payload: "0000000007", hasHeader: true, data: "0000000007", err: ErrHeader},
		{name: "header short GUID", payload: "01", header: "01aa09", hasHeader: true, data: "01", err: ErrHeader},
		{name: "header of another version", payload: "01", header: "02" + guid, hasHeader: true, data: "01", err: ErrHeader},
	} {
		t.Run(c.name, func(t *testing.T) {
			payload := unhex(t, c.payload)
			var header []byte
			if c.hasHeader {
				header = append([]byte{}, unhex(t, c.header)...)
			}
			e, err := Split(payload, header)
			if !errors.Is(err, c.err) {
				t.Fatalf("error %v, want %v", err, c.err)
			}
			want := Envelope{Framing: c.framing, ID: c.id, Data: unhex(t, c.data), Tail: unhex(t, c.tail)}
			copy(want.GUID[:], unhex(t, c.guid))
			if e.Framing != want.Framing || e.ID != want.ID || e.GUID != want.GUID ||
				!bytes.Equal(e.Data, want.Data) || !bytes.Equal(e.Tail, want.Tail) {
				t.Fatalf("got %+v, want %+v", e, want)
			}
			if got := e.AppendPayload(nil); !bytes.Equal(got, payload) {
				t.Errorf("payload back %x", got)
			}
			if err == nil {
				if got := e.AppendHeader(nil); !bytes.Equal(got, header) {
					t.Errorf("header back %x", got)
				}
			}
		})
	}
}

func TestGUIDString(t *testing.T) {
	var g GUID
	copy(g[:], unhex(t, "aa09fc25e13442be8672aeaf80645f32"))
	if got := g.String(); got != "aa09fc25-e134-42be-8672-aeaf80645f32" {
		t.Error(got)
	}
}

func TestForeign(t *testing.T) {
	for payload, want := range map[string]string{
		"0300" + "000102030405060708090a0b0c0d0e0f" + "02": "AWS Glue Schema Registry",
		"0305" + "000102030405060708090a0b0c0d0e0f":        "AWS Glue Schema Registry",
		"0301" + "000102030405060708090a0b0c0d0e0f":        "",
		"c301" + "0001020304050607" + "02":                 "Avro single-object encoding",
		"000000000000000007":                               "Apicurio Registry with eight-byte ids",
		"0000000007":                                       "",
		"":                                                 "",
	} {
		if got := Foreign(unhex(t, payload)); got != want {
			t.Errorf("%s: %q, want %q", payload, got, want)
		}
	}
}

func TestNoAllocation(t *testing.T) {
	payload := unhex(t, "0000000007020202")
	header := unhex(t, "01aa09fc25e13442be8672aeaf80645f320202")
	buf := make([]byte, 0, 64)
	var x Indexes
	if n := testing.AllocsPerRun(100, func() {
		e, _ := Split(payload, nil)
		w, _ := ParseIndexes(&x, e.Data)
		buf = AppendIndexes(e.AppendPayload(buf[:0]), x.Path())
		e, _ = Split(payload[w:], header)
		buf = e.AppendHeader(buf[:0])
		_, _ = e.GUID.AppendText(buf[:0])
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
