package kms_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"testing"

	"milena/registry/kms"
)

func openLocal(t testing.TB, service kms.Local, props map[string]string) kms.Key {
	t.Helper()
	key, err := kms.Services{service}.Open(context.Background(), "local-kms", "any", props)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestLocalWrapsAndUnwraps(t *testing.T) {
	ctx := t.Context()
	key := openLocal(t, kms.Local{}, map[string]string{"secret": "s3"})
	plain := []byte("a key")
	one, err := key.Wrap(ctx, plain)
	if err != nil {
		t.Fatal(err)
	}
	two, err := key.Wrap(ctx, plain)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(one, two) || len(one) != 12+len(plain)+16 {
		t.Errorf("wrapped to %x and %x", one, two)
	}
	// Another process with the same secret reads it, wherever that comes from.
	other := openLocal(t, kms.Local{Secret: "s3"}, nil)
	if got, err := other.Unwrap(ctx, one); err != nil || !bytes.Equal(got, plain) {
		t.Errorf("unwrapped to %q, %v", got, err)
	}
	stranger := openLocal(t, kms.Local{Secret: "s3"}, map[string]string{"secret": "mine"})
	flipped := bytes.Clone(one)
	flipped[len(flipped)-1] ^= 1
	for what, c := range map[string]struct {
		key     kms.Key
		wrapped []byte
	}{
		"another secret": {stranger, one},
		"a flipped bit":  {key, flipped},
		"nothing":        {key, nil},
		"a short text":   {key, one[:11]},
		"no tag":         {key, one[:12]},
		"too much":       {key, make([]byte, kms.WrappedBytesMax+1)},
	} {
		if got, err := c.key.Unwrap(ctx, c.wrapped); !errors.Is(err, kms.ErrWrapped) {
			t.Errorf("%s unwrapped to %q, %v", what, got, err)
		}
	}
}

func TestServices(t *testing.T) {
	all := kms.Services{kms.Local{}}
	for _, c := range []struct{ typ, want string }{
		{"local-kms", "cannot load secret"},
		{"other-kms", "No KMS driver supports: other-kms://id"},
	} {
		if _, err := all.Open(t.Context(), c.typ, "id", nil); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %q", c.typ, err, c.want)
		}
	}
	var unsupported *kms.UnsupportedError
	if _, err := all.Open(t.Context(), "other-kms", "id", nil); !errors.As(err, &unsupported) || unsupported.Type != "other-kms" {
		t.Errorf("an unknown type gives %v", err)
	}
}

func TestMaterial(t *testing.T) {
	for algorithm, want := range map[string]struct {
		chars int
		head  string
	}{
		"AES128_GCM": {24, "1a10"}, "AES256_GCM": {48, "1a20"}, "AES256_SIV": {88, "1240"},
	} {
		m, err := kms.NewMaterial(algorithm)
		if err != nil {
			t.Fatal(err)
		}
		if n := base64.StdEncoding.EncodedLen(len(m)); n != want.chars || hex.EncodeToString(m[:2]) != want.head {
			t.Errorf("%s: %d characters, %x", algorithm, n, m)
		}
		again, err := kms.NewMaterial(algorithm)
		if err != nil || bytes.Equal(m, again) {
			t.Errorf("%s: the same key twice, %v", algorithm, err)
		}
	}
	if m, err := kms.NewMaterial("DES"); err == nil {
		t.Errorf("a key for an unknown algorithm: %x", m)
	}
}

func FuzzUnwrap(f *testing.F) {
	key := openLocal(f, kms.Local{Secret: "s"}, nil)
	good, err := key.Wrap(f.Context(), []byte("key"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, wrapped []byte) {
		plain, err := key.Unwrap(t.Context(), wrapped)
		if err == nil && string(plain) != "key" { // nothing else was wrapped by any process
			t.Errorf("%x unwrapped to %q", wrapped, plain)
		}
	})
}

// TestKnownAnswer unwraps a key that Confluent's Java client wrapped.
func TestKnownAnswer(t *testing.T) {
	const wrapped, material = "ncQeav2FjUN87mzj9lP9Bb79w85S1Y1gMF07RX8An/wmrWmbDm3/3ERCUXfBwg==", "GhAM9r6AHuS15jsSeGjKuAZk"
	in, err := base64.StdEncoding.DecodeString(wrapped)
	if err != nil {
		t.Fatal(err)
	}
	key := openLocal(t, kms.Local{}, map[string]string{"secret": "mysecret"})
	got, err := key.Unwrap(t.Context(), in)
	if err != nil || base64.StdEncoding.EncodeToString(got) != material {
		t.Errorf("unwrapped to %x, %v", got, err)
	}
}
