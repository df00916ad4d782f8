package registry_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"sync"
	"testing"

	"milena/registry"
	"milena/registry/api"
	"milena/registry/errcode"
	"milena/registry/kms"
	"milena/registry/store/memory"
)

func sharedKek(t testing.TB, r *registry.Registry, name, secret string) {
	t.Helper()
	_, err := r.CreateKek(t.Context(), api.KekRequest{
		Name: name, KmsType: "local-kms", KmsKeyID: "id", Shared: api.Given(true), KmsProps: api.Given(map[string]string{"secret": secret}),
	}, true)
	if err != nil {
		t.Fatal(err)
	}
}

func createDek(t testing.TB, r *registry.Registry, kek, subject string, req api.DekRequest, rewrap bool) api.Dek {
	t.Helper()
	d, err := r.CreateDek(t.Context(), kek, subject, req, rewrap)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// unwrapped opens key material as a client with the secret does.
func unwrapped(t testing.TB, secret, wrapped string) string {
	t.Helper()
	key, err := kms.Local{Secret: secret}.Open(t.Context(), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := base64.StdEncoding.DecodeString(wrapped)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := key.Unwrap(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(plain)
}

// TestSharedKeys has the registry make, show, wrap again and hide keys.
func TestSharedKeys(t *testing.T) {
	log := memory.New()
	r := open(t, registry.Options{Log: log})
	sharedKek(t, r, "k", "one")
	for algorithm, chars := range map[string]int{"AES128_GCM": 24, "": 48, "AES256_SIV": 88} {
		made := createDek(t, r, "k", "s", api.DekRequest{Algorithm: algorithm}, false)
		if len(made.KeyMaterial) != chars || unwrapped(t, "one", made.EncryptedKeyMaterial) != made.KeyMaterial {
			t.Errorf("%s: made %+v", algorithm, made)
		}
		read, err := r.Dek(t.Context(), registry.DekQuery{Kek: "k", Subject: "s", Algorithm: algorithm})
		if err != nil || read != made {
			t.Errorf("%s: read %+v, %v, want %+v", algorithm, read, err, made)
		}
	}
	q := registry.DekQuery{Kek: "k", Subject: "s"}
	made, err := r.Dek(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}

	// Wrapped again, it is the same key; the new wrapping is what is stored.
	again := createDek(t, r, "k", "s", api.DekRequest{}, true)
	if again.KeyMaterial != made.KeyMaterial || again.EncryptedKeyMaterial == made.EncryptedKeyMaterial || again.Version != 1 {
		t.Errorf("%+v was wrapped again to %+v", made, again)
	}
	// The same from a client that sends the wrapping.
	sent := createDek(t, r, "k", "s", api.DekRequest{EncryptedKeyMaterial: made.EncryptedKeyMaterial}, true)
	if sent.KeyMaterial != made.KeyMaterial || sent.EncryptedKeyMaterial != made.EncryptedKeyMaterial {
		t.Errorf("%+v became %+v", made, sent)
	}
	// What does not open is not taken.
	for _, material := range []string{"AAAA", "!", base64.StdEncoding.EncodeToString(make([]byte, 100))} {
		_, err := r.CreateDek(t.Context(), "k", "t", api.DekRequest{EncryptedKeyMaterial: material}, false)
		wantRow(t, err, errcode.KMSFailed, "Could not generate raw dek for t: ")
	}
	_, err = r.CreateDek(t.Context(), "k", "t", api.DekRequest{EncryptedKeyMaterial: string(make([]byte, 1<<16))}, false)
	wantRow(t, err, errcode.InvalidKey, "encryptedKeyMaterial")

	// Deleted and created again without material, it is the same key.
	if err := r.DeleteDek(t.Context(), q, false); err != nil {
		t.Fatal(err)
	}
	if back := createDek(t, r, "k", "s", api.DekRequest{}, false); back.KeyMaterial != made.KeyMaterial || back.Deleted {
		t.Errorf("restored as %+v", back)
	}

	// A replay knows the keys; without sharing it shows none.
	replayed := open(t, registry.Options{Log: log})
	if got, err := replayed.Dek(t.Context(), q); err != nil || got.KeyMaterial != made.KeyMaterial {
		t.Errorf("after a restart: %+v, %v", got, err)
	}
	if _, err := r.UpdateKek(t.Context(), "k", api.KekRequest{Shared: api.Given(false)}); err != nil {
		t.Fatal(err)
	}
	if got, err := r.Dek(t.Context(), q); err != nil || got.KeyMaterial != "" || got.EncryptedKeyMaterial == "" {
		t.Errorf("unshared: %+v, %v", got, err)
	}
	// The secret of the service stands in for that of the key.
	withSecret := open(t, registry.Options{KMS: kms.Services{kms.Local{Secret: "two"}}})
	kek := api.KekRequest{Name: "k", KmsType: "local-kms", KmsKeyID: "id", Shared: api.Given(true)}
	if _, err := withSecret.CreateKek(t.Context(), kek, true); err != nil {
		t.Error(err)
	}
}

// TestOneKeyForACrowd: many clients that make the key of a subject at once get
// one key, the others are told that it exists.
func TestOneKeyForACrowd(t *testing.T) {
	r := open(t, registry.Options{})
	sharedKek(t, r, "k", "one")
	var made, exists int
	var mu sync.Mutex // guards made and exists
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			_, err := r.CreateDek(context.Background(), "k", "s", api.DekRequest{}, false)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				made++
			case errcode.Of(err).Row == errcode.KeyExists:
				exists++
			default:
				t.Error(err)
			}
		})
	}
	all.Wait()
	if made != 1 || exists != 15 {
		t.Errorf("made %d keys, %d exist", made, exists)
	}
}

// TestKeyLimits: the number of keys stays bounded under a crowd.
func TestKeyLimits(t *testing.T) {
	r := open(t, registry.Options{Limits: registry.Limits{KeysMax: 5}})
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			_, err := r.CreateKek(context.Background(), api.KekRequest{Name: fmt.Sprint("k", i), KmsType: "t", KmsKeyID: "i"}, false)
			if err != nil && errcode.Of(err).Row != errcode.KeysTooMany {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if names, err := r.Keks(t.Context(), registry.KeksQuery{}); err != nil || len(names) != 5 {
		t.Errorf("%d keys, %v", len(names), err)
	}
}
