package store

// KeyName is the part of the name of a key encryption key (KEK) or data
// encryption key (DEK) that no other record has. Milena keeps keys in its one
// log; the reference has a topic of its own for them.
type KeyName struct {
	Kek       string
	Algorithm string // of DEK: "AES128_GCM", "AES256_GCM" or "AES256_SIV"
}

// Kek is the value of a KEK record: a key in some key management service, which
// wraps data encryption keys.
type Kek struct {
	Name     string            `json:"name"`
	KmsType  string            `json:"kmsType"`
	KmsKeyID string            `json:"kmsKeyId"`
	KmsProps map[string]string `json:"kmsProps,omitempty"`
	Doc      string            `json:"doc,omitempty"`
	Shared   bool              `json:"shared"`  // the registry itself may use the key
	Deleted  bool              `json:"deleted"` // soft deleted
}

// Dek is the value of a DEK record: a wrapped data encryption key of a subject.
type Dek struct {
	KekName              string `json:"kekName"`
	Subject              string `json:"subject"`
	Algorithm            string `json:"algorithm"`
	Version              int    `json:"version"`
	EncryptedKeyMaterial string `json:"encryptedKeyMaterial,omitempty"` // Base64
	Deleted              bool   `json:"deleted"`                        // soft deleted
}

// KekRecord returns the record that writes k, or removes the name if k is nil.
func KekRecord(name string, k *Kek) *Record {
	return &Record{Kind: KekKind, Key: KeyName{Kek: name}, Kek: k}
}

// DekRecord returns the record that writes d.
func DekRecord(d *Dek) *Record {
	r := DekTombstone(d)
	r.Dek = d
	return r
}

// DekTombstone returns the record that removes d.
func DekTombstone(d *Dek) *Record {
	return &Record{Kind: DekKind, Subject: d.Subject, Version: d.Version, Key: KeyName{d.KekName, d.Algorithm}}
}

// keyKey is what the keys of KEK and DEK records have of their own.
type keyKey struct {
	Kek       *string `json:"kekName,omitempty"`
	Algorithm *string `json:"algorithm,omitempty"`
}

// decodeKeys reads the parts of keys that only some kinds have. It reports
// false if the kind needs one that is not there.
func decodeKeys(r *Record, key *recordKey) bool {
	switch r.Kind {
	case AssocKind:
		if !key.assocKey.complete() || key.Subject == nil {
			return false
		}
		r.Resource = Resource{*key.ResourceName, *key.ResourceNamespace, *key.ResourceType, *key.AssociationType}
	case KekKind:
		if key.Kek == nil {
			return false
		}
		r.Key.Kek = *key.Kek
	case DekKind:
		if key.Kek == nil || key.Algorithm == nil || key.Subject == nil || key.Version == nil {
			return false
		}
		r.Key = KeyName{*key.Kek, *key.Algorithm}
	}
	return true
}
