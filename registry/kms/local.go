package kms

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
)

// Local is the key management service "local-kms" of Confluent's clients: every
// key is the same AES-128-GCM key, derived with HKDF-SHA256 (RFC 5869, neither
// salt nor info) from a secret that both sides know. A wrapped key is 12 bytes
// of nonce, the encrypted key and 16 bytes of tag, without associated data.
type Local struct {
	// Secret is used for key encryption keys that have no "secret" among their
	// properties; "" is none.
	Secret string
}

// localKeyBytes is the length of the derived key.
const localKeyBytes = 16

// noSecret is what the reference says without one.
const noSecret = "cannot load secret"

// Type returns "local-kms".
func (Local) Type() string { return "local-kms" }

// Open returns the key that the secret in props, or else the service's own,
// gives; the id plays no part.
func (l Local) Open(_ context.Context, _ string, props map[string]string) (Key, error) {
	secret := props["secret"]
	if secret == "" {
		secret = l.Secret
	}
	if secret == "" {
		return nil, errors.New(noSecret)
	}
	key, err := hkdf.Key(sha256.New, []byte(secret), nil, "", localKeyBytes)
	if err != nil {
		return nil, fmt.Errorf("derive key: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("derive key: %w", err)
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, fmt.Errorf("derive key: %w", err)
	}
	return localKey{gcm}, nil
}

type localKey struct{ gcm cipher.AEAD }

// Wrap encrypts plain under a random nonce.
func (k localKey) Wrap(_ context.Context, plain []byte) ([]byte, error) {
	nonce := make([]byte, k.gcm.NonceSize(), k.gcm.NonceSize()+len(plain)+k.gcm.Overhead())
	if _, err := rand.Read(nonce); err != nil {
		return nil, fmt.Errorf("wrap key: %w", err)
	}
	return k.gcm.Seal(nonce, nonce, plain, nil), nil
}

// Unwrap decrypts what Wrap made with the same secret.
func (k localKey) Unwrap(_ context.Context, wrapped []byte) ([]byte, error) {
	n := k.gcm.NonceSize()
	if len(wrapped) < n || len(wrapped) > WrappedBytesMax {
		return nil, fmt.Errorf("%w: %d bytes", ErrWrapped, len(wrapped))
	}
	plain, err := k.gcm.Open(nil, wrapped[:n], wrapped[n:], nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrWrapped, err)
	}
	return plain, nil
}
