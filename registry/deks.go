package registry

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"milena/registry/api"
	"milena/registry/errcode"
	"milena/registry/kms"
	"milena/registry/state"
	"milena/registry/store"
)

// DekQuery names a data encryption key and says which of its versions count.
type DekQuery struct {
	Kek       string
	Subject   string // as in a path; aliases are followed
	Algorithm string // default AES256_GCM; an unknown one is errcode.NotFound
	Version   string // a number, "latest" or "-1"; "" is version 1 for reading and all versions else
	Deleted   bool   // soft deleted ones count, too
}

const (
	defaultAlgorithm  = "AES256_GCM"
	firstDekVersion   = 1
	wrappedCharsLimit = kms.WrappedBytesMax / 3 * 4 // of key material in Base64
)

// dekName is the resolved form of a DekQuery.
type dekName struct {
	kek       string
	subject   state.Name
	algorithm string
}

func (q *DekQuery) name(v *state.View) (dekName, error) {
	n := dekName{q.Kek, resolveForDeks(v, q.Subject), q.Algorithm}
	if n.algorithm == "" {
		n.algorithm = defaultAlgorithm
	}
	if !slices.Contains(api.Algorithms(), n.algorithm) {
		return n, errcode.NotFound.New()
	}
	return n, nil
}

// turn is what competing writes of one key have in common.
func (q *DekQuery) turn() state.Name { return state.Name{Context: q.Kek, Local: q.Subject} }

// resolveForDeks reads a subject and follows its alias for keys, or else its
// alias, one hop.
func resolveForDeks(v *state.View, subject string) state.Name {
	n := parseSubject(subject)
	if c := v.Config(n); c != nil && !n.IsContext() && text(c.AliasForDeks) != "" {
		return n.In(text(c.AliasForDeks))
	}
	n, _ = resolve(v, subject)
	return n
}

// versions returns the versions that can be addressed, ascending: clients may
// choose numbers below 1, which no path can name.
func (n *dekName) versions(v *state.View, deleted bool) []*state.Dek {
	var out []*state.Dek
	for d := range v.DekVersions(n.kek, n.subject, n.algorithm) {
		if d.Version >= firstDekVersion && (deleted || !d.Deleted) {
			out = append(out, d)
		}
	}
	return out
}

// one returns a version, or a KeyNotFound.
func (n *dekName) one(v *state.View, version int, deleted bool) (*state.Dek, error) {
	if version == latestVersion {
		if all := n.versions(v, deleted); len(all) > 0 {
			return all[len(all)-1], nil
		}
	} else if d := v.Dek(n.kek, n.subject, n.algorithm, version); d != nil && (deleted || !d.Deleted) {
		return d, nil
	}
	return nil, errcode.KeyNotFound.New(n.subject)
}

// Dek returns one version of a data encryption key, with its plain form if the
// registry may use the key encryption key.
func (r *Registry) Dek(ctx context.Context, q DekQuery) (api.Dek, error) {
	version := firstDekVersion
	if q.Version != "" {
		var err error
		if version, err = parseVersion(q.Version); err != nil {
			return api.Dek{}, err
		}
	}
	v := r.view.Load()
	k, err := kek(v, q.Kek, q.Deleted)
	if err != nil {
		return api.Dek{}, err
	}
	n, err := q.name(v)
	if err != nil {
		return api.Dek{}, err
	}
	d, err := n.one(v, version, q.Deleted)
	if err != nil {
		return api.Dek{}, err
	}
	out := apiDek(d)
	if k.Shared {
		plain, err := r.unwrap(ctx, k, d.EncryptedKeyMaterial)
		if err != nil {
			return api.Dek{}, kmsError("Could not generate raw dek for "+d.Subject, err)
		}
		out.KeyMaterial = base64.StdEncoding.EncodeToString(plain)
	}
	return out, nil
}

func apiDek(d *state.Dek) api.Dek {
	return api.Dek{
		KekName: d.KekName, Subject: d.Subject, Version: d.Version, Algorithm: d.Algorithm,
		EncryptedKeyMaterial: d.EncryptedKeyMaterial, Timestamp: d.TimestampMillis, Deleted: d.Deleted,
	}
}

// unwrap opens the Base64 of a wrapped key.
func (r *Registry) unwrap(ctx context.Context, k *state.Kek, wrapped string) ([]byte, error) {
	key, err := r.opt.KMS.Open(ctx, k.KmsType, k.KmsKeyID, k.KmsProps)
	if err != nil {
		return nil, err
	}
	b, err := base64.StdEncoding.DecodeString(wrapped)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", kms.ErrWrapped, err)
	}
	return key.Unwrap(ctx, b)
}

// wrap returns the Base64 of plain wrapped.
func (r *Registry) wrap(ctx context.Context, k *state.Kek, plain []byte) (string, error) {
	key, err := r.opt.KMS.Open(ctx, k.KmsType, k.KmsKeyID, k.KmsProps)
	if err != nil {
		return "", err
	}
	b, err := key.Wrap(ctx, plain)
	return base64.StdEncoding.EncodeToString(b), err
}

// DekSubjects returns the subjects that have data encryption keys below a key
// encryption key, sorted.
func (r *Registry) DekSubjects(ctx context.Context, kekName string, deleted bool, page Page) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	v := r.view.Load()
	if _, err := kek(v, kekName, deleted); err != nil {
		return nil, err
	}
	subjects := []string{}
	for d := range v.Deks(kekName) {
		if (deleted || !d.Deleted) && (len(subjects) == 0 || subjects[len(subjects)-1] != d.Subject) {
			subjects = append(subjects, d.Subject)
		}
	}
	return cut(subjects, page, 0), nil
}

// DekVersions returns the versions of a data encryption key, none for one that
// is not there.
func (r *Registry) DekVersions(ctx context.Context, q DekQuery, page Page) ([]int, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	v := r.view.Load()
	if _, err := kek(v, q.Kek, q.Deleted); err != nil {
		return nil, err
	}
	n, err := q.name(v)
	if err != nil {
		return nil, err
	}
	versions := []int{}
	for _, d := range n.versions(v, q.Deleted) {
		versions = append(versions, d.Version)
	}
	return cut(versions, page, 0), nil
}

// CreateDek creates a version of a data encryption key; subject is that of the
// path, or "" for the one in the request. A soft deleted version with the same
// attributes is restored. Where the registry may use the key encryption key, it
// makes the key itself unless the request has it, and shows it. With rewrap, a
// version that is there gets the same key in a new wrapping.
func (r *Registry) CreateDek(ctx context.Context, kekName, subject string, req api.DekRequest, rewrap bool) (api.Dek, error) {
	c := dekCreation{r: r, ctx: ctx, kekName: kekName, subject: subject, req: &req, rewrap: rewrap}
	q := DekQuery{Kek: kekName, Subject: subject + req.Subject}
	if err := r.write(ctx, q.turn(), c.decide); err != nil {
		return api.Dek{}, err
	}
	out := apiDek(&state.Dek{Dek: *c.written.Dek, TimestampMillis: c.written.TimestampMillis})
	out.KeyMaterial = c.plain
	return out, nil
}

// dekCreation is one CreateDek on its way. Each attempt overwrites written and
// plain.
type dekCreation struct {
	r                *Registry
	ctx              context.Context
	kekName, subject string
	req              *api.DekRequest
	rewrap           bool

	written *store.Record
	plain   string // Base64 of the key, "" if the registry doesn't know it
}

// name returns the subject. That of the body is taken as it is.
func (c *dekCreation) name(v *state.View) (state.Name, error) {
	n := parseSubject(c.req.Subject)
	if c.subject != "" {
		n = resolveForDeks(v, c.subject)
	}
	if n.Local == "" || strings.ContainsFunc(n.String(), unicode.IsControl) {
		return n, errcode.InvalidKey.New("subject")
	}
	return n, nil
}

func (c *dekCreation) decide(v *state.View) (*plan, error) {
	k, err := kek(v, c.kekName, c.req.Deleted)
	if err != nil {
		return nil, err
	}
	n, err := c.name(v)
	if err != nil {
		return nil, err
	}
	d := &store.Dek{
		KekName: c.kekName, Subject: n.String(), Algorithm: c.req.Algorithm, Version: firstDekVersion,
		EncryptedKeyMaterial: c.req.EncryptedKeyMaterial, Deleted: c.req.Deleted,
	}
	if d.Algorithm == "" {
		d.Algorithm = defaultAlgorithm
	}
	if c.req.Version != nil {
		d.Version = *c.req.Version
	}
	given := d.EncryptedKeyMaterial
	if given == "" && !k.Shared || len(given) > wrappedCharsLimit {
		return nil, errcode.InvalidKey.New("encryptedKeyMaterial")
	}
	old := v.Dek(c.kekName, n, d.Algorithm, d.Version)
	switch {
	case old == nil && v.KeyCount() >= c.r.opt.Limits.KeysMax:
		return nil, errcode.KeysTooMany.New(c.r.opt.Limits.KeysMax)
	case old != nil && !c.rewrap && (old.Deleted == d.Deleted || given != "" && given != old.EncryptedKeyMaterial):
		return nil, errcode.KeyExists.New(n)
	}
	if k.Shared {
		if err := c.share(k, d, old); err != nil {
			return nil, err
		}
	}
	return &plan{
		relied: func(now *state.View) bool {
			return now.Kek(c.kekName) == k && now.Dek(c.kekName, n, d.Algorithm, d.Version) == old &&
				(old != nil || now.KeyCount() < c.r.opt.Limits.KeysMax)
		},
		records: func(*state.View) ([]*store.Record, error) {
			c.written = store.DekRecord(d)
			return []*store.Record{c.written}, nil
		},
	}, nil
}

// share fills in the key material through the key management service, outside
// of the writer.
func (c *dekCreation) share(k *state.Kek, d *store.Dek, old *state.Dek) error {
	wrapped := d.EncryptedKeyMaterial
	if wrapped == "" && old != nil {
		wrapped = old.EncryptedKeyMaterial
	}
	var plain []byte
	var err error
	if wrapped != "" {
		if plain, err = c.r.unwrap(c.ctx, k, wrapped); err != nil {
			return kmsError("Could not generate raw dek for "+d.Subject, err)
		}
	} else if plain, err = kms.NewMaterial(d.Algorithm); err != nil {
		return kmsError("Could not generate encrypted dek for "+d.Subject, err)
	}
	if wrapped == "" || c.rewrap && d.EncryptedKeyMaterial == "" {
		if wrapped, err = c.r.wrap(c.ctx, k, plain); err != nil {
			return kmsError("Could not generate encrypted dek for "+d.Subject, err)
		}
	}
	d.EncryptedKeyMaterial, c.plain = wrapped, base64.StdEncoding.EncodeToString(plain)
	return nil
}

// DeleteDek deletes one or all versions of a data encryption key. A soft
// deletion may be repeated; a permanent one needs it before.
func (r *Registry) DeleteDek(ctx context.Context, q DekQuery, permanent bool) error {
	return r.changeDeks(ctx, q, func(_ *state.Kek, deks []*state.Dek) ([]*store.Record, error) {
		var records []*store.Record
		for _, d := range deks {
			switch {
			case permanent && !d.Deleted:
				return nil, errcode.KeyNotSoftDeleted.New(d.Subject)
			case permanent:
				records = append(records, store.DekTombstone(&d.Dek))
			case !d.Deleted:
				next := d.Dek
				next.Deleted = true
				records = append(records, store.DekRecord(&next))
			}
		}
		return records, nil
	})
}

// UndeleteDek restores one or all versions of a data encryption key; live ones
// stay. The key encryption key must be live.
func (r *Registry) UndeleteDek(ctx context.Context, q DekQuery) error {
	return r.changeDeks(ctx, q, func(k *state.Kek, deks []*state.Dek) ([]*store.Record, error) {
		if k.Deleted {
			return nil, errcode.KeyMustBeUndeleted.New(k.Name)
		}
		var records []*store.Record
		for _, d := range deks {
			if d.Deleted {
				next := d.Dek
				next.Deleted = false
				records = append(records, store.DekRecord(&next))
			}
		}
		return records, nil
	})
}

// changeDeks appends what change makes of the versions that q names, of which
// there is one at least. Change runs in the writer.
func (r *Registry) changeDeks(ctx context.Context, q DekQuery, change func(*state.Kek, []*state.Dek) ([]*store.Record, error)) error {
	version := 0
	if q.Version != "" {
		var err error
		if version, err = parseVersion(q.Version); err != nil {
			return err
		}
	}
	return r.write(ctx, q.turn(), func(*state.View) (*plan, error) {
		return decidedByWriter(func(now *state.View) ([]*store.Record, error) {
			k, err := kek(now, q.Kek, true)
			if err != nil {
				return nil, err
			}
			n, err := q.name(now)
			if err != nil {
				return nil, err
			}
			if version != 0 {
				d, err := n.one(now, version, true)
				if err != nil {
					return nil, err
				}
				return change(k, []*state.Dek{d})
			}
			all := slices.Collect(now.DekVersions(n.kek, n.subject, n.algorithm))
			if len(all) == 0 {
				return nil, errcode.KeyNotFound.New(n.subject)
			}
			return change(k, all)
		}), nil
	})
}
