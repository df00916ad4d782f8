package state

import (
	"crypto/md5" //nolint:gosec // the GUID is defined as an MD5, clients compute it too
	"encoding/binary"
	"encoding/hex"
	"hash"
	"maps"
	"slices"
	"strings"

	"milena/registry/store"
)

// GUID identifies a schema by content: canonical text, references, metadata and
// rule set. It is the same in every context and registry. An MD5 can be forged,
// so two schemas of one GUID are compared in full before they count as one.
type GUID [16]byte

// String returns the GUID as a UUID.
func (g GUID) String() string {
	h := hex.EncodeToString(g[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// ParseGUID reads a GUID in any case, with or without its hyphens.
func ParseGUID(s string) (GUID, bool) {
	var g GUID
	if len(s) == 36 && s[8] == '-' && s[13] == '-' && s[18] == '-' && s[23] == '-' {
		s = s[:8] + s[9:13] + s[14:18] + s[19:23] + s[24:]
	}
	if len(s) != 32 {
		return g, false
	}
	_, err := hex.Decode(g[:], []byte(strings.ToLower(s)))
	return g, err == nil
}

// GUIDOf returns the GUID of s. The order of what is hashed is the reference's:
// a schema has the same GUID everywhere.
func GUIDOf(s *store.Schema) GUID {
	h := hasher{md5.New()} //nolint:gosec // see above
	h.text(s.Text)
	for _, r := range s.References {
		h.text(r.Name)
		h.text(r.Subject)
		var version [4]byte
		binary.BigEndian.PutUint32(version[:], uint32(r.Version))
		h.Write(version[:])
	}
	if m := s.Metadata; m != nil {
		h.mark()
		for _, path := range slices.Sorted(maps.Keys(m.Tags)) {
			h.text(path)
			h.texts(m.Tags[path])
		}
		h.pairs(m.Properties)
		h.texts(m.Sensitive)
	}
	if rs := s.RuleSet; rs != nil {
		h.mark()
		for _, rules := range [][]store.Rule{rs.MigrationRules, rs.DomainRules, rs.EncodingRules} {
			for i := range rules {
				h.rule(&rules[i])
			}
		}
		h.text(rs.EnableAt)
	}
	return GUID(h.Sum(nil))
}

type hasher struct{ hash.Hash }

// mark is the byte that tells an empty part from none.
func (h hasher) mark() { h.Write([]byte{1}) }

func (h hasher) text(s string) { h.Write([]byte(s)) }

func (h hasher) texts(list []string) {
	for _, s := range list {
		h.text(s)
	}
}

func (h hasher) pairs(m map[string]string) {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		h.text(k)
		h.text(m[k])
	}
}

func (h hasher) rule(r *store.Rule) {
	h.texts([]string{r.Name, r.Doc, r.Kind, r.Mode, r.Type})
	h.texts(r.Tags)
	h.pairs(r.Params)
	h.texts([]string{r.Expr, r.OnSuccess, r.OnFailure})
	if r.Disabled {
		h.mark()
	}
}
