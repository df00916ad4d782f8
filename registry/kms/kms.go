package kms

import (
	"context"
	"errors"
	"slices"
)

var (
	// ErrDenied says that a service refused to use a key.
	ErrDenied = errors.New("key management service denies access")
	// ErrWrapped says that something is no key wrapped by the key in use.
	ErrWrapped = errors.New("unwrap key: not wrapped by this one")
)

// WrappedBytesMax bounds the bytes of a wrapped key.
const WrappedBytesMax = 16 << 10

// Key wraps keys: a key encryption key inside a key management service.
type Key interface {
	// Wrap encrypts plain. Wrapping twice gives different bytes.
	Wrap(ctx context.Context, plain []byte) ([]byte, error)
	// Unwrap decrypts what Wrap made, by this key or by another holder of it.
	// The error is ErrWrapped for anything else.
	Unwrap(ctx context.Context, wrapped []byte) ([]byte, error)
}

// Service is one kind of key management service.
type Service interface {
	// Type is the name by which key encryption keys refer to it, as
	// "local-kms".
	Type() string
	// Open returns the key with an id. Props are those of the key encryption
	// key. An error that is ErrDenied says that access is denied.
	Open(ctx context.Context, id string, props map[string]string) (Key, error)
}

// UnsupportedError says that no service has keys of a type.
type UnsupportedError struct{ Type, ID string }

// Error says so in the reference's words, which clients see.
func (e *UnsupportedError) Error() string {
	return "No KMS driver supports: " + e.Type + "://" + e.ID
}

// Services finds keys in several services.
type Services []Service

// Open returns the key with an id from the service of a type, or an
// UnsupportedError.
func (s Services) Open(ctx context.Context, typ, id string, props map[string]string) (Key, error) {
	i := slices.IndexFunc(s, func(service Service) bool { return service.Type() == typ })
	if i < 0 {
		return nil, &UnsupportedError{typ, id}
	}
	return s[i].Open(ctx, id, props)
}
