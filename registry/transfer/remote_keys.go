package transfer

import (
	"context"
	"net/url"
	"strconv"

	"milena/registry/store"
)

// keksPath is where a registry with the DEK extension has its keys.
const keksPath = "/dek-registry/v1/keks"

// keys emits key encryption keys and data encryption keys. A key that the
// registry may use itself comes wrapped like every other one.
func (r *Remote) keys(ctx context.Context, put func(Line) bool) error {
	var names []string
	if ok, err := r.get(ctx, keksPath+"?deleted=true", &names); !ok || err != nil {
		return err
	}
	for _, name := range names {
		var k struct {
			store.Kek
			TimestampMillis int64 `json:"ts"`
		}
		ok, err := r.get(ctx, keksPath+"/"+url.PathEscape(name)+"?deleted=true", &k)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if !put(Line{Kek: &k.Kek, TimestampMillis: k.TimestampMillis}) {
			return errEnough
		}
		if err := r.deks(ctx, name, put); err != nil {
			return err
		}
	}
	return nil
}

func (r *Remote) deks(ctx context.Context, kek string, put func(Line) bool) error {
	base := keksPath + "/" + url.PathEscape(kek) + "/deks"
	var subjects []string
	if _, err := r.get(ctx, base+"?deleted=true", &subjects); err != nil {
		return err
	}
	for _, subject := range subjects {
		for _, algorithm := range []string{"AES128_GCM", "AES256_GCM", "AES256_SIV"} {
			path := base + "/" + url.PathEscape(subject) + "/versions"
			query := "?deleted=true&algorithm=" + algorithm
			var versions []int
			if _, err := r.get(ctx, path+query, &versions); err != nil {
				return err
			}
			for _, version := range versions {
				var d struct {
					store.Dek
					TimestampMillis int64 `json:"ts"`
				}
				ok, err := r.get(ctx, path+"/"+strconv.Itoa(version)+query, &d)
				if err != nil {
					return err
				}
				if ok && !put(Line{Dek: &d.Dek, TimestampMillis: d.TimestampMillis}) {
					return errEnough
				}
			}
		}
	}
	return nil
}
