package kms

import (
	"crypto/rand"
	"fmt"
)

// Field tags of the messages that hold a key's bytes in Tink's format, which is
// what clients take for key material: field 3 of AesGcmKey, field 2 of
// AesSivKey, each of wire type 2. Their other field is a version, 0 and so left
// out.
const (
	gcmKeyTag = 3<<3 | 2
	sivKeyTag = 2<<3 | 2
)

// NewMaterial returns a random key for an algorithm of data encryption keys:
// 18 bytes for AES128_GCM, 34 for AES256_GCM and 66 for AES256_SIV, of which
// the first two are the head of the message that clients expect.
func NewMaterial(algorithm string) ([]byte, error) {
	tag, size := byte(gcmKeyTag), 0
	switch algorithm {
	case "AES128_GCM":
		size = 16
	case "AES256_GCM":
		size = 32
	case "AES256_SIV":
		tag, size = sivKeyTag, 64
	default:
		return nil, fmt.Errorf("make key: unknown algorithm %q", algorithm)
	}
	out := make([]byte, 2+size)
	out[0], out[1] = tag, byte(size)
	if _, err := rand.Read(out[2:]); err != nil {
		return nil, fmt.Errorf("make key: %w", err)
	}
	return out, nil
}
