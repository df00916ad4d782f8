package registry

import (
	"context"
	"fmt"
	"strings"

	"milena/registry/api"
	"milena/registry/errcode"
	"milena/registry/state"
	"milena/registry/store"
)

// The modes. READONLY_OVERRIDE overrides nothing: a subject's own mode wins.
const (
	modeReadWrite        = "READWRITE"
	modeReadOnly         = "READONLY"
	modeReadOnlyOverride = "READONLY_OVERRIDE"
	modeImport           = "IMPORT"
	modeForward          = "FORWARD"
)

// effectiveMode returns the first mode in scope of n.
func (r *Registry) effectiveMode(v *state.View, n state.Name) string {
	for _, name := range scope(n) {
		if m := v.Mode(name); m != nil {
			return m.Mode
		}
	}
	return modeReadWrite
}

func readOnly(mode string) bool { return mode == modeReadOnly || mode == modeReadOnlyOverride }

func forbidden(subject, prefix, why string) error {
	return errcode.OperationNotPermitted.New(fmt.Sprintf("Subject %s in context %s is %s", subject, prefix, why))
}

// checkRegister refuses registrations that the mode forbids.
func checkRegister(n state.Name, mode string, withID bool) error {
	importing := mode == modeImport || mode == modeForward
	switch {
	case readOnly(mode):
		return forbidden(n.String(), n.Prefix(), "in read-only mode")
	case withID && !importing:
		return forbidden(n.String(), n.Prefix(), "not in import mode")
	case !withID && importing:
		return forbidden(n.String(), n.Prefix(), "not in read-write mode")
	}
	return nil
}

// checkChange refuses deletions and changes of config that the mode forbids.
// The default context itself has no name in the reference's message.
func checkChange(n state.Name, subject, mode string) error {
	if !readOnly(mode) {
		return nil
	}
	name := n.String()
	if subject == "" {
		name = "null"
	}
	return forbidden(name, n.Prefix(), "in read-only mode")
}

// Mode returns the own mode of a subject or context ("" is the default one), or
// with defaultToGlobal the one that applies to it.
func (r *Registry) Mode(ctx context.Context, subject string, defaultToGlobal bool) (api.Mode, error) {
	if err := ctx.Err(); err != nil {
		return api.Mode{}, err
	}
	v, n := r.view.Load(), parseSubject(subject)
	if defaultToGlobal {
		return api.Mode{Mode: r.effectiveMode(v, n)}, nil
	}
	if own := v.Mode(n); own != nil {
		return api.Mode{Mode: own.Mode}, nil
	}
	if alwaysSet(n) {
		return api.Mode{Mode: modeReadWrite}, nil
	}
	return api.Mode{}, errcode.ModeNotSet.New(n)
}

// SetMode sets or, with null, clears the own mode of a subject or context. The
// answer is the request. Entering IMPORT needs a scope without live versions
// and purges the soft deleted ones, unless forced.
func (r *Registry) SetMode(ctx context.Context, subject string, req api.ModeRequest, force bool) (api.ModeRequest, error) {
	n := parseSubject(subject)
	if !req.Mode.Present {
		return api.ModeRequest{}, errcode.InvalidMode.New()
	}
	mode, err := parseMode(req.Mode.Value, n)
	if err != nil {
		return api.ModeRequest{}, err
	}
	if err := checkSettingName(n); err != nil {
		return api.ModeRequest{}, err
	}
	if r.opt.FixedModes {
		return api.ModeRequest{}, errcode.OperationNotPermitted.New("Mode changes are not allowed")
	}
	record := &store.Record{Kind: store.ModeKind, Subject: n.String()}
	if mode != "" {
		record.Mode = &store.Mode{Subject: n.String(), Mode: mode}
	}
	err = r.write(ctx, n, func(v *state.View) (*plan, error) {
		if mode == "" && v.Mode(n) == nil {
			return nil, nil
		}
		if mode != modeImport || force || r.effectiveMode(v, n) == modeImport {
			return settingsPlan(v, n, record), nil
		}
		return &plan{
			relied: func(*state.View) bool { return true }, // records looks for itself
			records: func(now *state.View) ([]*store.Record, error) {
				if err := checkImport(now, n); err != nil {
					return nil, err
				}
				return []*store.Record{{Kind: store.ClearSubject, Subject: n.String(), Exists: true}, record}, nil
			},
		}, nil
	})
	return req, err
}

// parseMode returns the mode as it is stored, "" for null. FORWARD in capitals
// is for the global context only; the reference looks at the spelling.
func parseMode(given *string, n state.Name) (string, error) {
	if given == nil {
		return "", nil
	}
	global := n.IsContext() && n.Context == state.GlobalContext
	if *given == modeForward && !global {
		return "", errcode.InvalidMode.Text("Forward mode only supported on global level")
	}
	switch mode := strings.ToUpper(*given); mode {
	case modeReadWrite, modeReadOnly, modeReadOnlyOverride, modeImport, modeForward:
		return mode, nil
	default:
		return "", errcode.InvalidMode.New()
	}
}

// checkImport refuses IMPORT where there are live versions, or soft deleted
// ones that something refers to and that so can't be purged.
func checkImport(v *state.View, n state.Name) error {
	for s := range v.Scope(n) {
		if s.Live() > 0 {
			return errcode.OperationNotPermitted.New("Cannot import since found existing subjects")
		}
	}
	for s := range v.Scope(n) {
		for version := range s.Versions() {
			if hasReferrer(v, version, func(*state.Version) bool { return true }) {
				return errcode.ReferenceExists.New(s.Name, version.Schema.Version)
			}
		}
	}
	return nil
}

// DeleteMode removes the own mode of a subject or context and returns it. With
// recursive, the modes of all subjects of a context go too, and it is no error
// if the context itself has none.
func (r *Registry) DeleteMode(ctx context.Context, subject string, recursive bool) (api.Mode, error) {
	n := parseSubject(subject)
	recursive = recursive && n.IsContext()
	if r.opt.FixedModes {
		return api.Mode{}, errcode.OperationNotPermitted.New("Mode changes are not allowed")
	}
	var old api.Mode
	err := r.write(ctx, n, func(v *state.View) (*plan, error) {
		own := v.Mode(n)
		old = api.Mode{}
		switch {
		case own != nil:
			old.Mode = own.Mode
		case alwaysSet(n):
			old.Mode = modeReadWrite
		case !recursive:
			return nil, errcode.SubjectNotFound.New(n)
		}
		return &plan{
			relied: func(now *state.View) bool { return now.Mode(n) == own },
			records: func(now *state.View) ([]*store.Record, error) {
				var records []*store.Record
				if own != nil {
					records = append(records, &store.Record{Kind: store.ModeKind, Subject: n.String()})
				}
				if recursive {
					for name := range now.ModesIn(n.Context) {
						if name != n {
							records = append(records, &store.Record{Kind: store.ModeKind, Subject: name.String()})
						}
					}
				}
				return records, nil
			},
		}, nil
	})
	if err != nil {
		return api.Mode{}, err
	}
	return old, nil
}
