package stored_test

import (
	"bytes"
	"encoding/hex"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"milena/broker/stored"
)

// The flag adds files that are missing. Existing ones are never rewritten:
// they stand for data on users' disks.
var addGolden = flag.Bool("add-golden", false, "write golden files that don't exist yet")

// goldens are the batches under testdata, by file name; v1 is the version.
func goldens() map[string]content {
	null := stored.Payload{Null: true, Schema: -1}
	raw := func(s string) stored.Payload { return stored.Payload{Schema: -1, HasRaw: true, Raw: []byte(s)} }
	header := func(h stored.Header, records ...stored.Record) content {
		h.Count = int32(len(records))
		for i := range records {
			if records[i].Headers == nil {
				records[i].Headers = []byte{0}
			}
		}
		return content{header: h, records: records}
	}
	empty := header(stored.Header{LastOffsetDelta: 9, ProducerID: 5, ProducerEpoch: 1, BaseSequence: 70, FirstTimestamp: 1, MaxTimestamp: -1})
	plain := header(stored.Header{LastOffsetDelta: 1, ProducerID: -1, ProducerEpoch: -1, BaseSequence: -1, FirstTimestamp: 1_800_000_000_000, MaxTimestamp: 1_800_000_000_000, EncodedSize: 90, ContentCRC: 0x01020304},
		stored.Record{Key: null, Value: raw("plain value")},
		stored.Record{OffsetDelta: 1, Key: raw(""), Value: null, Headers: []byte("\x02\x02h\x01")})
	avro := header(stored.Header{Transactional: true, LogAppendTime: true, Codec: 3, LastOffsetDelta: 9, ProducerID: 1 << 40, ProducerEpoch: 32767, BaseSequence: 1 << 30, FirstTimestamp: -5, MaxTimestamp: 1 << 50, EncodedSize: 1 << 20, ContentCRC: 0xffffffff},
		stored.Record{Key: raw("a"), Value: stored.Payload{Framing: stored.FramingPrefix, ID: 1, Schema: 0, Style: 1, Mapping: 1, Packed: []byte("packed one")}},
		stored.Record{OffsetDelta: 3, TimestampDelta: -7, Key: raw("b"), Value: stored.Payload{Framing: stored.FramingPrefix, ID: 1, Schema: 0, Style: 1, Mapping: 1, Packed: []byte("packed two")}},
		stored.Record{OffsetDelta: 4, TimestampDelta: -14, Attributes: -1, Key: stored.Payload{Framing: stored.FramingPrefix, ID: 1<<32 - 1, Schema: 1, Style: 2, Mapping: 1, Packed: []byte{}}, Value: stored.Payload{Framing: stored.FramingHeaderV1, Schema: 1, Style: 0, Mapping: 1, Indexes: []byte{2, 2, 4}, Packed: []byte("packed"), HasRaw: true, Raw: []byte("as sent")}})
	avro.keys = [][32]byte{{1, 2, 3}, {31: 0xff}}
	many := header(stored.Header{LastOffsetDelta: 19, ProducerID: -1, ProducerEpoch: -1, BaseSequence: -1})
	for i := range 20 {
		many.records = append(many.records, stored.Record{OffsetDelta: int32(i), Key: null, Headers: []byte{0},
			Value: stored.Payload{Framing: stored.FramingPrefix, ID: uint32(i), Schema: -1, Indexes: []byte{byte(i)}, HasRaw: true, Raw: []byte{byte(i)}}})
	}
	many.header.Count = 20
	return map[string]content{"v1-empty": empty, "v1-plain": plain, "v1-avro": avro, "v1-many-shapes": many}
}

// TestGolden: every file of every version opens to what was stored, and
// Builder still writes those of the current version byte for byte.
func TestGolden(t *testing.T) {
	for name, want := range goldens() {
		path := filepath.Join("testdata", name+".hex")
		raw := build(t, want)
		text, err := os.ReadFile(path)
		if os.IsNotExist(err) && *addGolden {
			text = []byte(wrap(hex.EncodeToString(raw)))
			err = os.WriteFile(path, text, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		frozen, err := hex.DecodeString(strings.ReplaceAll(string(text), "\n", ""))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		got, err := open(frozen)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\ngot  %+v\nwant %+v", path, got, want)
		}
		if frozen[0] == stored.Version && !bytes.Equal(raw, frozen) {
			t.Errorf("%s: written differently now:\n%x", path, raw)
		}
	}
	files, err := filepath.Glob("testdata/*.hex")
	if err != nil || len(files) != len(goldens()) {
		t.Errorf("%d golden files for %d cases, %v", len(files), len(goldens()), err)
	}
}

func wrap(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		n := min(64, len(s))
		b.WriteString(s[:n] + "\n")
		s = s[n:]
	}
	return b.String()
}
