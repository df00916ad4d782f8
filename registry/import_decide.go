package registry

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"milena/evolution"
	"milena/registry/errcode"
	"milena/registry/state"
	"milena/registry/store"
	"milena/registry/transfer"
)

// decide says what a line changes. It runs in the writer too, so it parses
// nothing.
func (im *importer) decide(v *state.View, l *transfer.Line) verdict {
	switch {
	case l.Context != nil:
		return im.decideContext(v, l.Context)
	case l.Schema != nil:
		return im.decideSchema(v, l.Schema)
	case l.Config != nil:
		return im.decideConfig(v, l.Config)
	case l.Mode != nil:
		return im.decideMode(v, l.Mode)
	case l.Association != nil:
		return im.decideAssociation(v, l.Association, l.CreateMillis)
	case l.Kek != nil:
		return im.decideKek(v, l.Kek)
	case l.Dek != nil:
		return im.decideDek(v, l.Dek)
	default:
		return refuse(errcode.BadRequest.Text("Nothing that a registry holds"))
	}
}

func refuse(err error) verdict {
	return verdict{outcome: ImportRefused, err: errcode.Of(err)}
}

func conflict(format string, args ...any) verdict {
	return verdict{outcome: ImportConflict, err: errcode.OperationNotPermitted.New(fmt.Sprintf(format, args...))}
}

func change(records ...*store.Record) verdict { return verdict{records: records} }

// replace returns what follows from whether something of the kind is there, and
// whether it is the same.
func (im *importer) replace(there, same bool, what string, record *store.Record) verdict {
	switch {
	case there && same:
		return verdict{}
	case there && !im.o.Overwrite:
		return conflict("%s is different here", what)
	default:
		return change(record)
	}
}

// highestIDName is a subject that takes an id out of use: it is written and
// removed in one append, and was never there to a reader.
const highestIDName = "milena.highest-id"

// decideContext makes a context, and raises the highest id that it has given
// out by what leaves no other trace: a version that was written and removed.
func (im *importer) decideContext(v *state.View, c *transfer.Context) verdict {
	if !strings.HasPrefix(c.Name, ".") || strings.Contains(c.Name, ":") || c.Name == state.GlobalContext ||
		c.MaxID < 0 || c.MaxID > math.MaxInt32 {
		return refuse(errcode.BadRequest.Text("Invalid context"))
	}
	if err := checkSettingName(state.Name{Context: c.Name}); err != nil {
		return refuse(err)
	}
	var records []*store.Record
	known := v.Context(c.Name)
	if c.Name != state.DefaultContext && !known.Declared() {
		records = append(records, &store.Record{Kind: store.ContextKind, Context: c.Name, Exists: true})
	}
	if c.MaxID > known.MaxID() {
		n := state.Name{Context: c.Name, Local: highestIDName}
		for v.Subject(n) != nil {
			n.Local += "-"
		}
		s := &store.Schema{Subject: n.String(), Version: 1, ID: c.MaxID, Type: "AVRO", Text: `"null"`, Deleted: true}
		records = append(records,
			&store.Record{Kind: store.SchemaKind, Subject: s.Subject, Version: 1, Schema: s},
			&store.Record{Kind: store.SchemaKind, Subject: s.Subject, Version: 1})
	}
	if len(records) > 0 && readOnly(im.r.effectiveMode(v, state.Name{Context: c.Name})) {
		return refuse(forbidden("", state.Name{Context: c.Name}.Prefix(), "in read-only mode"))
	}
	return change(records...)
}

// decideSchema takes a version over with its id.
func (im *importer) decideSchema(v *state.View, s *store.Schema) verdict {
	n := parseSubject(s.Subject)
	if err := im.checkSchema(n, s); err != nil {
		return refuse(err)
	}
	context := v.Context(n.Context)
	old := v.Subject(n).Version(s.Version)
	if old != nil {
		switch {
		case old.Schema.ID != s.ID:
			return conflict("%s has the id %d here, not %d", describeSchema(n, s.Version), old.Schema.ID, s.ID)
		case !sameSchema(old.Schema, s):
			return conflict("%s is another schema here", describeSchema(n, s.Version))
		case old.Deleted == s.Deleted:
			return verdict{}
		case !im.o.Overwrite && old.Deleted:
			return conflict("%s is soft deleted here", describeSchema(n, s.Version))
		case !im.o.Overwrite:
			return conflict("%s is not soft deleted here", describeSchema(n, s.Version))
		}
	} else if user := context.First(s.ID); user != nil && !sameSchema(user.Schema, s) {
		return conflict("The id %d is of another schema here: %s", s.ID, describeSchema(user.Name, user.Schema.Version))
	}
	if readOnly(im.r.effectiveMode(v, n)) {
		return refuse(forbidden(n.String(), n.Prefix(), "in read-only mode"))
	}
	var records []*store.Record
	if n.Context != state.DefaultContext && !context.Declared() {
		records = append(records, &store.Record{Kind: store.ContextKind, Context: n.Context, Exists: true})
	}
	next := *s
	next.Subject = n.String()
	return change(append(records, &store.Record{Kind: store.SchemaKind, Subject: next.Subject, Version: next.Version, Schema: &next})...)
}

// checkSchema refuses what no registry could hold.
func (im *importer) checkSchema(n state.Name, s *store.Schema) error {
	if err := im.r.checkName(n); err != nil {
		return err
	}
	switch {
	case s.Version < 1 || s.Version > math.MaxInt32:
		return errcode.InvalidVersion.New(fmt.Sprint(s.Version))
	case s.ID < 0 || s.ID > math.MaxInt32:
		return errcode.InvalidSchema.New(fmt.Sprintf("Invalid id %d", s.ID))
	case len(s.Text) > im.r.opt.Limits.SchemaBytesMax:
		return errcode.SchemaTooLarge.New()
	case len(s.References) > im.r.opt.Limits.ReferencesMax:
		return errcode.InvalidSchema.New(fmt.Sprintf("Schema has more than %d references", im.r.opt.Limits.ReferencesMax))
	}
	return nil
}

func (im *importer) decideConfig(v *state.View, c *store.Config) verdict {
	n := parseSubject(c.Subject)
	if err := checkSettingName(n); err != nil {
		return refuse(err)
	}
	next := *c
	next.Subject = n.String()
	if next.CompatibilityLevel != "" {
		if _, ok := evolution.ParseLevel(next.CompatibilityLevel); !ok {
			return refuse(errcode.InvalidCompatibility.New())
		}
		next.CompatibilityLevel = strings.ToUpper(next.CompatibilityLevel)
	}
	old := v.Config(n)
	d := im.replace(old != nil, old != nil && sameConfig(*old, next), describeSetting("config", n),
		&store.Record{Kind: store.ConfigKind, Subject: next.Subject, Config: &next})
	if len(d.records) > 0 && readOnly(im.r.effectiveMode(v, n)) {
		return refuse(forbidden(n.String(), n.Prefix(), "in read-only mode"))
	}
	return d
}

func sameConfig(a, b store.Config) bool {
	a.Subject, b.Subject = "", ""
	return reflect.DeepEqual(a, b)
}

// decideMode takes a mode over. Unlike a request, an import enters IMPORT
// without purging anything.
func (im *importer) decideMode(v *state.View, m *store.Mode) verdict {
	n := parseSubject(m.Subject)
	if err := checkSettingName(n); err != nil {
		return refuse(err)
	}
	mode := strings.ToUpper(m.Mode)
	known := []string{modeReadWrite, modeReadOnly, modeReadOnlyOverride, modeImport, modeForward}
	if !slices.Contains(known, mode) {
		return refuse(errcode.InvalidMode.New())
	}
	old := v.Mode(n)
	d := im.replace(old != nil, old != nil && old.Mode == mode, describeSetting("mode", n),
		&store.Record{Kind: store.ModeKind, Subject: n.String(), Mode: &store.Mode{Subject: n.String(), Mode: mode}})
	if len(d.records) > 0 && im.r.opt.FixedModes {
		return refuse(errcode.OperationNotPermitted.New("Mode changes are not allowed"))
	}
	return d
}

// decideAssociation takes an association over. The time at which it was made is
// that of its first record, so it may come with two.
func (im *importer) decideAssociation(v *state.View, a *store.Association, createMillis int64) verdict {
	n := parseSubject(a.Subject)
	if err := im.r.checkName(n); err != nil {
		return refuse(err)
	}
	for _, f := range []struct{ name, value string }{
		{"guid", a.GUID}, {"resourceName", a.ResourceName}, {"resourceNamespace", a.ResourceNamespace}, {"resourceId", a.ResourceID},
		{"resourceType", a.ResourceType}, {"associationType", a.AssociationType}, {"lifecycle", a.Lifecycle},
	} {
		if f.value == "" {
			return refuse(errcode.InvalidAssociation.New(f.name, "cannot be null or empty"))
		}
	}
	next := *a
	next.Subject = n.String()
	record := store.NewAssociation(next)
	for old := range v.AssociationsByID(a.ResourceID) {
		if old.ResourceType == a.ResourceType && old.AssociationType == a.AssociationType && old.Name != n {
			return verdict{outcome: ImportConflict, err: errcode.AssociationOfTypeExists.New(a.AssociationType, a.ResourceID)}
		}
	}
	for old := range v.AssociationsOf(n) {
		if old.Resource() == record.Resource {
			here := old.Association
			here.Tenant = record.Association.Tenant
			return im.replace(true, here == *record.Association, describeAssociation(a), record)
		}
	}
	if readOnly(im.r.effectiveMode(v, n)) {
		return refuse(forbidden(n.String(), n.Prefix(), "in read-only mode"))
	}
	if createMillis > 0 {
		first := *record
		first.TimestampMillis = createMillis
		return change(&first, record)
	}
	return change(record)
}

func (im *importer) decideKek(v *state.View, k *store.Kek) verdict {
	if k.Name == "" || k.KmsType == "" || k.KmsKeyID == "" {
		return refuse(errcode.InvalidKey.New("name, kmsType or kmsKeyId"))
	}
	old := v.Kek(k.Name)
	if old == nil && v.KeyCount() >= im.r.opt.Limits.KeysMax {
		return refuse(errcode.KeysTooMany.New(im.r.opt.Limits.KeysMax))
	}
	return im.replace(old != nil, old != nil && equalKek(&old.Kek, k), "key "+k.Name, store.KekRecord(k.Name, k))
}

func equalKek(a, b *store.Kek) bool {
	return a.Name == b.Name && a.KmsType == b.KmsType && a.KmsKeyID == b.KmsKeyID && a.Doc == b.Doc &&
		a.Shared == b.Shared && a.Deleted == b.Deleted && maps.Equal(a.KmsProps, b.KmsProps)
}

func (im *importer) decideDek(v *state.View, d *store.Dek) verdict {
	n := parseSubject(d.Subject)
	if d.KekName == "" || n.Local == "" || d.Algorithm == "" || d.Version > math.MaxInt32 || d.Version < math.MinInt32 {
		return refuse(errcode.InvalidKey.New("kekName, subject, algorithm or version"))
	}
	if v.Kek(d.KekName) == nil {
		return refuse(errcode.KeyNotFound.New(d.KekName))
	}
	next := *d
	next.Subject = n.String()
	old := v.Dek(d.KekName, n, d.Algorithm, d.Version)
	if old == nil && v.KeyCount() >= im.r.opt.Limits.KeysMax {
		return refuse(errcode.KeysTooMany.New(im.r.opt.Limits.KeysMax))
	}
	return im.replace(old != nil, old != nil && equalDek(old.Dek, next), describeDek(d), store.DekRecord(&next))
}

// equalDek compares keys. The subject of a stored one may be written otherwise.
func equalDek(a, b store.Dek) bool {
	a.Subject, b.Subject = state.Canonical(a.Subject), state.Canonical(b.Subject)
	return a == b
}

// describeLine says what a line is about, for people.
func describeLine(l *transfer.Line) string {
	switch {
	case l.Context != nil:
		return "context " + l.Context.Name
	case l.Schema != nil:
		return describeSchema(parseSubject(l.Schema.Subject), l.Schema.Version)
	case l.Config != nil:
		return describeSetting("config", parseSubject(l.Config.Subject))
	case l.Mode != nil:
		return describeSetting("mode", parseSubject(l.Mode.Subject))
	case l.Association != nil:
		return describeAssociation(l.Association)
	case l.Kek != nil:
		return "key " + l.Kek.Name
	case l.Dek != nil:
		return describeDek(l.Dek)
	default:
		return ""
	}
}

func describeSchema(n state.Name, version int) string {
	return fmt.Sprintf("schema %s version %d", n, version)
}

func describeSetting(kind string, n state.Name) string {
	if n == (state.Name{Context: state.DefaultContext}) {
		return "default " + kind
	}
	return kind + " of " + n.String()
}

func describeAssociation(a *store.Association) string {
	return fmt.Sprintf("association of %s %s/%s (%s)", a.ResourceType, a.ResourceNamespace, a.ResourceName, a.AssociationType)
}

func describeDek(d *store.Dek) string {
	return fmt.Sprintf("key %s of %s (%s) version %d", d.KekName, d.Subject, d.Algorithm, d.Version)
}
