package registry

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"milena/registry/api"
	"milena/registry/errcode"
	"milena/registry/kms"
	"milena/registry/state"
	"milena/registry/store"
)

// KeksQuery selects key encryption keys. With prefixes, only those count that
// have data encryption keys of subjects which one of them selects.
type KeksQuery struct {
	SubjectPrefixes []string
	Deleted         bool
	Page            Page
}

// keyNameBytesMax is the length that names of key encryption keys may have.
const keyNameBytesMax = 256

// CreateKek creates a key encryption key. A soft deleted one with the same
// attributes is restored. With testSharing, a key that the registry may use
// must work. (If it doesn't, the reference has an internal error for it.)
func (r *Registry) CreateKek(ctx context.Context, req api.KekRequest, testSharing bool) (api.Kek, error) {
	kek, err := newKek(&req)
	if err != nil {
		return api.Kek{}, err
	}
	if testSharing && kek.Shared {
		if err := r.tryKek(ctx, kek); err != nil {
			return api.Kek{}, kmsError("Could not test kek "+kek.Name, err)
		}
	}
	return r.putKek(ctx, kek.Name, func(now *state.View) (*store.Kek, error) {
		old := now.Kek(kek.Name)
		switch {
		case old == nil && now.KeyCount() >= r.opt.Limits.KeysMax:
			return nil, errcode.KeysTooMany.New(r.opt.Limits.KeysMax)
		case old != nil && (old.Deleted == kek.Deleted || !sameKek(&old.Kek, kek)):
			return nil, errcode.KeyExists.New(kek.Name)
		}
		return kek, nil
	})
}

// newKek checks a request in the reference's order.
func newKek(req *api.KekRequest) (*store.Kek, error) {
	kek := &store.Kek{
		Name: req.Name, KmsType: kmsType(req.KmsType), KmsKeyID: req.KmsKeyID,
		Doc: text(req.Doc.Value), Deleted: req.Deleted,
	}
	if req.KmsProps.Value != nil {
		kek.KmsProps = *req.KmsProps.Value
	}
	kek.Shared = req.Shared.Value != nil && *req.Shared.Value
	bad := ""
	switch {
	case !isName(kek.Name) || len(kek.Name) > keyNameBytesMax:
		bad = "name"
	case kek.KmsKeyID == "":
		bad = "kmsKeyId"
	case kek.KmsType == "":
		bad = "kmsType"
	case !isKeyID(kek.KmsType, kek.KmsKeyID):
		bad = "kmsKeyId"
	}
	if bad != "" {
		return nil, errcode.InvalidKey.New(bad)
	}
	return kek, nil
}

// kmsType writes the type of a key management service out.
func kmsType(typ string) string {
	for _, cloud := range []string{"aws", "azure", "gcp"} {
		if len(typ) >= len(cloud) && strings.EqualFold(typ[:len(cloud)], cloud) {
			return cloud + "-kms"
		}
	}
	return typ
}

// isKeyID reports whether an id has the form that the service's ids have.
func isKeyID(kmsType, id string) bool {
	switch kmsType {
	case "aws-kms":
		return strings.HasPrefix(id, "arn:aws:kms:")
	case "azure-kms":
		return strings.HasPrefix(id, "https://")
	case "gcp-kms":
		return strings.HasPrefix(id, "projects/")
	case "hcvault":
		return strings.HasPrefix(id, "http://") || strings.HasPrefix(id, "https://")
	default:
		return true
	}
}

// sameKek reports whether two keys have the same attributes, deletion aside.
func sameKek(a, b *store.Kek) bool {
	return a.KmsType == b.KmsType && a.KmsKeyID == b.KmsKeyID && maps.Equal(a.KmsProps, b.KmsProps) &&
		a.Doc == b.Doc && a.Shared == b.Shared
}

// putKek writes what change makes of a key encryption key, and returns that.
// Change runs in the writer; it returns nil to leave the key as it is.
func (r *Registry) putKek(ctx context.Context, name string, change func(now *state.View) (*store.Kek, error)) (api.Kek, error) {
	var written *store.Record
	var kept *state.Kek
	err := r.write(ctx, state.Name{Local: name}, func(*state.View) (*plan, error) {
		return decidedByWriter(func(now *state.View) ([]*store.Record, error) {
			kek, err := change(now)
			written, kept = nil, now.Kek(name)
			if err != nil || kek == nil {
				return nil, err
			}
			written = store.KekRecord(name, kek)
			return []*store.Record{written}, nil
		}), nil
	})
	switch {
	case err != nil:
		return api.Kek{}, err
	case written == nil:
		return apiKek(kept), nil
	}
	return apiKek(&state.Kek{Kek: *written.Kek, TimestampMillis: written.TimestampMillis}), nil
}

// decidedByWriter returns a plan that relies on nothing, because records
// decides all of it: fit for decisions that cost next to nothing.
func decidedByWriter(records func(now *state.View) ([]*store.Record, error)) *plan {
	return &plan{relied: func(*state.View) bool { return true }, records: records}
}

func apiKek(k *state.Kek) api.Kek {
	out := api.Kek{
		Name: k.Name, KmsType: k.KmsType, KmsKeyID: k.KmsKeyID, KmsProps: k.KmsProps, Doc: k.Doc,
		Shared: k.Shared, Timestamp: k.TimestampMillis, Deleted: k.Deleted,
	}
	if out.KmsProps == nil {
		out.KmsProps = map[string]string{}
	}
	return out
}

// kek returns the key encryption key with a name, or a KeyNotFound.
func kek(v *state.View, name string, deleted bool) (*state.Kek, error) {
	k := v.Kek(name)
	if k == nil || k.Deleted && !deleted {
		return nil, errcode.KeyNotFound.New(name)
	}
	return k, nil
}

// Kek returns a key encryption key, with deleted also a soft deleted one.
func (r *Registry) Kek(ctx context.Context, name string, deleted bool) (api.Kek, error) {
	if err := ctx.Err(); err != nil {
		return api.Kek{}, err
	}
	k, err := kek(r.view.Load(), name, deleted)
	if err != nil {
		return api.Kek{}, err
	}
	return apiKek(k), nil
}

// Keks returns the names of key encryption keys, sorted.
func (r *Registry) Keks(ctx context.Context, q KeksQuery) ([]string, error) {
	v := r.view.Load()
	names := []string{}
	for k := range v.Keks() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if k.Deleted && !q.Deleted || len(q.SubjectPrefixes) > 0 && !hasDekOf(v, k.Name, q) {
			continue
		}
		names = append(names, k.Name)
	}
	return cut(names, q.Page, 0), nil
}

func hasDekOf(v *state.View, kek string, q KeksQuery) bool {
	for d := range v.Deks(kek) {
		n := state.ParseName(d.Subject)
		if (!d.Deleted || q.Deleted) && slices.ContainsFunc(q.SubjectPrefixes, func(p string) bool { return selects(p, n) }) {
			return true
		}
	}
	return false
}

// selects reports whether a prefix selects a name, as in searches for subjects.
func selects(prefix string, n state.Name) bool {
	if local, all := strings.CutPrefix(prefix, wildcard); all {
		return strings.HasPrefix(n.Local, local)
	}
	p := state.ParseName(prefix)
	return n.Context == p.Context && strings.HasPrefix(n.Local, p.Local)
}

// UpdateKek changes properties, doc and sharing of a key encryption key: what
// is absent is kept, what is null is cleared, the rest of the request doesn't
// count.
func (r *Registry) UpdateKek(ctx context.Context, name string, req api.KekRequest) (api.Kek, error) {
	return r.putKek(ctx, name, func(now *state.View) (*store.Kek, error) {
		old, err := kek(now, name, false)
		if err != nil {
			return nil, err
		}
		next := old.Kek
		if req.KmsProps.Present {
			next.KmsProps = nil
			if req.KmsProps.Value != nil {
				next.KmsProps = *req.KmsProps.Value
			}
		}
		if req.Doc.Present {
			next.Doc = text(req.Doc.Value)
		}
		if req.Shared.Present {
			next.Shared = req.Shared.Value != nil && *req.Shared.Value
		}
		if sameKek(&old.Kek, &next) {
			return nil, nil
		}
		return &next, nil
	})
}

// DeleteKek deletes a key encryption key that has no data encryption keys: no
// live ones, or for a permanent deletion none at all.
func (r *Registry) DeleteKek(ctx context.Context, name string, permanent bool) error {
	return r.write(ctx, state.Name{Local: name}, func(*state.View) (*plan, error) {
		return decidedByWriter(func(now *state.View) ([]*store.Record, error) {
			old, err := kek(now, name, true)
			if err != nil {
				return nil, err
			}
			for d := range now.Deks(name) {
				if permanent || !d.Deleted {
					return nil, errcode.KeyReferenceExists.New(name)
				}
			}
			switch {
			case !permanent && old.Deleted:
				return nil, nil
			case !permanent:
				next := old.Kek
				next.Deleted = true
				return []*store.Record{store.KekRecord(name, &next)}, nil
			case !old.Deleted:
				return nil, errcode.KeyNotSoftDeleted.New(name)
			}
			return []*store.Record{store.KekRecord(name, nil)}, nil
		}), nil
	})
}

// UndeleteKek restores a soft deleted key encryption key; a live one stays.
func (r *Registry) UndeleteKek(ctx context.Context, name string) error {
	_, err := r.putKek(ctx, name, func(now *state.View) (*store.Kek, error) {
		old, err := kek(now, name, true)
		if err != nil || !old.Deleted {
			return nil, err
		}
		next := old.Kek
		next.Deleted = false
		return &next, nil
	})
	return err
}

// TestKek wraps and unwraps a key with a key encryption key that the registry
// may use.
func (r *Registry) TestKek(ctx context.Context, name string) (api.Kek, error) {
	k, err := kek(r.view.Load(), name, false)
	if err != nil {
		return api.Kek{}, err
	}
	if !k.Shared {
		return api.Kek{}, errcode.InvalidKey.New("shared")
	}
	if err := r.tryKek(ctx, &k.Kek); err != nil {
		return api.Kek{}, kmsError("Could not test kek "+name, err)
	}
	return apiKek(k), nil
}

// tryKek makes a key, wraps it and unwraps it.
func (r *Registry) tryKek(ctx context.Context, k *store.Kek) error {
	key, err := r.opt.KMS.Open(ctx, k.KmsType, k.KmsKeyID, k.KmsProps)
	if err != nil {
		return err
	}
	plain, err := kms.NewMaterial(defaultAlgorithm)
	if err != nil {
		return err
	}
	wrapped, err := key.Wrap(ctx, plain)
	if err != nil {
		return err
	}
	back, err := key.Unwrap(ctx, wrapped)
	if err == nil && !slices.Equal(back, plain) {
		err = fmt.Errorf("%w: another key came back", kms.ErrWrapped)
	}
	return err
}

// kmsError is the answer to what the key management service could not do.
func kmsError(what string, err error) error {
	row := errcode.KMSFailed
	if errors.Is(err, kms.ErrDenied) {
		row = errcode.KMSDenied
	}
	return row.New(what + ": " + err.Error()).Because(err)
}
