package api

// Kek is a key encryption key. KmsProps is always sent, Deleted only if true.
type Kek struct {
	Name      string            `json:"name"`
	KmsType   string            `json:"kmsType"`
	KmsKeyID  string            `json:"kmsKeyId"`
	KmsProps  map[string]string `json:"kmsProps"`
	Doc       string            `json:"doc,omitempty"`
	Shared    bool              `json:"shared"`
	Timestamp int64             `json:"ts"` // milliseconds since the epoch
	Deleted   bool              `json:"deleted,omitempty"`
}

// KekRequest is the body of a request that creates or changes a key encryption
// key. A change takes KmsProps, Doc and Shared: what is absent is kept, what is
// null is cleared.
type KekRequest struct {
	Name     string                   `json:"name,omitempty"`
	KmsType  string                   `json:"kmsType,omitempty"`
	KmsKeyID string                   `json:"kmsKeyId,omitempty"`
	KmsProps Field[map[string]string] `json:"kmsProps,omitzero"`
	Doc      Field[string]            `json:"doc,omitzero"`
	Shared   Field[bool]              `json:"shared,omitzero"`
	Deleted  bool                     `json:"deleted,omitempty"`
}

// Dek is one version of a data encryption key. KeyMaterial is only sent where
// the registry may use the key encryption key; both materials are Base64.
// Deleted is only sent if true.
type Dek struct {
	KekName              string `json:"kekName"`
	Subject              string `json:"subject"`
	Version              int    `json:"version"`
	Algorithm            string `json:"algorithm"`
	EncryptedKeyMaterial string `json:"encryptedKeyMaterial,omitempty"`
	KeyMaterial          string `json:"keyMaterial,omitempty"`
	Timestamp            int64  `json:"ts"` // milliseconds since the epoch
	Deleted              bool   `json:"deleted,omitempty"`
}

// DekRequest is the body of a request that creates a data encryption key. Nil
// and empty fields are what the request left out.
type DekRequest struct {
	Subject              string `json:"subject,omitempty"`
	Version              *int   `json:"version,omitempty"` // default 1
	Algorithm            string `json:"algorithm,omitempty"`
	EncryptedKeyMaterial string `json:"encryptedKeyMaterial,omitempty"`
	Deleted              bool   `json:"deleted,omitempty"`
}

// Algorithms returns the algorithms of data encryption keys, the default first.
func Algorithms() []string { return []string{"AES256_GCM", "AES128_GCM", "AES256_SIV"} }

// DecodeKek reads the body of a request that creates or changes a key
// encryption key.
func DecodeKek(body []byte) (KekRequest, error) {
	o, err := object(body)
	if err != nil {
		return KekRequest{}, err
	}
	d := &decoder{}
	r := KekRequest{
		Name:     d.textOr(o["name"]),
		KmsType:  d.textOr(o["kmsType"]),
		KmsKeyID: d.textOr(o["kmsKeyId"]),
		KmsProps: field(o, "kmsProps", func(v any) *map[string]string {
			if v == nil {
				return nil
			}
			props := d.stringMap(v, "kmsProps")
			return &props
		}),
		Doc:    field(o, "doc", d.text),
		Shared: field(o, "shared", d.boolean),
	}
	if deleted := d.boolean(o["deleted"]); deleted != nil {
		r.Deleted = *deleted
	}
	return r, d.result()
}

// DecodeDek reads the body of a request that creates a data encryption key.
func DecodeDek(body []byte) (DekRequest, error) {
	o, err := object(body)
	if err != nil {
		return DekRequest{}, err
	}
	d := &decoder{}
	r := DekRequest{
		Subject:              d.textOr(o["subject"]),
		Version:              d.integer(o["version"]),
		Algorithm:            d.enum(o["algorithm"], "", "DekFormat", Algorithms()),
		EncryptedKeyMaterial: d.textOr(o["encryptedKeyMaterial"]),
	}
	if deleted := d.boolean(o["deleted"]); deleted != nil {
		r.Deleted = *deleted
	}
	return r, d.result()
}
