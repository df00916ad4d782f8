package coordinator

import (
	"bytes"
	"encoding/hex"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"milena/gateway/group"
)

var update = flag.Bool("update", false, "write testdata/record_v1.hex if it is missing")

// sample has every field in use.
func sample() group.Snapshot {
	return group.Snapshot{
		State: group.Stable, Generation: 300, ProtocolType: "consumer", Protocol: "range", Leader: "m1",
		Members: []group.MemberSnapshot{
			{
				ID: "m1", ClientID: "c", ClientHost: "/10.1.2.3", SessionTimeout: 45 * time.Second, RebalanceTimeout: 5 * time.Minute,
				Protocols:  []group.Protocol{{Name: "sticky", Metadata: []byte{0, 255}}, {Name: "range", Metadata: []byte{}}},
				Assignment: []byte("assignment"),
			},
			{
				ID: "m2", InstanceID: "i", ClientID: "é", SessionTimeout: 6 * time.Second, RebalanceTimeout: 6 * time.Second,
				Protocols:  []group.Protocol{{Name: "range", Metadata: []byte("x")}},
				Assignment: []byte{},
			},
			{
				ID: "m3", InstanceID: "j", SessionTimeout: 6 * time.Second, RebalanceTimeout: 6 * time.Second,
				Protocols: []group.Protocol{{Name: "range", Metadata: []byte("y")}},
			},
		},
	}
}

func TestRecordRoundTrip(t *testing.T) {
	completing := sample()
	completing.State = group.CompletingRebalance
	for _, s := range []group.Snapshot{
		sample(),
		completing,
		{State: group.Empty, Generation: 1<<31 - 1, ProtocolType: "sr", Members: []group.MemberSnapshot{}},
	} {
		enc, err := appendRecord([]byte("prefix"), s)
		if err != nil {
			t.Fatal(err)
		}
		got, err := decodeRecord(bytes.TrimPrefix(enc, []byte("prefix")))
		if err != nil || !reflect.DeepEqual(got, s) {
			t.Errorf("got %+v, %v\nwant %+v", got, err, s)
		}
	}
	if _, err := appendRecord(nil, group.Snapshot{State: group.PreparingRebalance}); err == nil {
		t.Error("a state that isn't stored was encoded")
	}
}

// TestRecordGolden holds the layout: records of every version written so far must
// stay readable, and the present one must be written as it was.
func TestRecordGolden(t *testing.T) {
	const file = "testdata/record_v1.hex"
	enc, err := appendRecord(nil, sample())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); *update && errors.Is(err, os.ErrNotExist) {
		if err := os.WriteFile(file, []byte(hex.EncodeToString(enc)+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	files, err := filepath.Glob("testdata/record_v*.hex")
	if err != nil || len(files) != recordVersion {
		t.Fatalf("%d golden files for %d versions, %v", len(files), recordVersion, err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		want, err := hex.DecodeString(strings.TrimSpace(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := decodeRecord(want); err != nil || !reflect.DeepEqual(got, sample()) {
			t.Errorf("%s: %+v, %v", f, got, err)
		}
		if f == file && !bytes.Equal(enc, want) {
			t.Errorf("%s: written as\n%x, want\n%x", f, enc, want)
		}
	}
}

func TestRecordRefusals(t *testing.T) {
	enc, err := appendRecord(nil, sample())
	if err != nil {
		t.Fatal(err)
	}
	for n := range enc {
		if _, err := decodeRecord(enc[:n]); !errors.Is(err, errRecord) {
			t.Fatalf("cut to %d bytes: %v", n, err)
		}
	}
	for name, b := range map[string][]byte{
		"left over": append(bytes.Clone(enc), 0),
		"version":   append([]byte{2}, enc[1:]...),
		"state":     append([]byte{1, 4}, enc[2:]...),
		"members":   {1, 1, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x7f},
	} {
		if _, err := decodeRecord(b); !errors.Is(err, errRecord) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzDecodeRecord: never panics, never takes much more memory than the input, and
// what it accepts encodes to something that decodes to the same.
func FuzzDecodeRecord(f *testing.F) {
	enc, err := appendRecord(nil, sample())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(enc)
	f.Add([]byte{1, 1, 0, 0, 0, 0, 0})
	f.Add([]byte{1, 3, 1, 0, 0, 0, 0xff, 0x7f})
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := decodeRecord(b)
		if err != nil {
			return
		}
		again, err := appendRecord(nil, s)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := decodeRecord(again); err != nil || !reflect.DeepEqual(got, s) {
			t.Fatalf("%+v, %v, want %+v", got, err, s)
		}
		if g, err := group.Restore(group.Config{}, s, time.Unix(0, 0)); err == nil {
			g.Tick(time.Unix(1<<33, 0))
		}
	})
}
