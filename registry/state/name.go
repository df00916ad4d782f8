package state

import "strings"

// DefaultContext is the name of the default context.
const DefaultContext = "."

// GlobalContext is the name of the context that holds config and mode for all
// others, and no schemas.
const GlobalContext = ".__GLOBAL"

// Name is the name of a subject: the context it lives in and the rest. An empty
// Local is the subject with the empty name, and stands for the context itself
// in config and mode.
type Name struct {
	Context string // with its leading dot
	Local   string
}

// ParseName splits a subject as it is written: ":.ctx:name" is in a named
// context, everything else in the default one. ":.ctx" is the empty name.
func ParseName(subject string) Name {
	if !strings.HasPrefix(subject, ":.") {
		return Name{DefaultContext, subject}
	}
	context, local, _ := strings.Cut(subject[1:], ":")
	return Name{context, local}
}

// String returns the name as it is shown and stored: qualified outside the
// default context.
func (n Name) String() string { return n.Prefix() + n.Local }

// Prefix returns how names of the context begin: ":.ctx:", and "" for the
// default context.
func (n Name) Prefix() string {
	if n.Context == DefaultContext {
		return ""
	}
	return ":" + n.Context + ":"
}

// IsContext reports whether the name stands for a whole context.
func (n Name) IsContext() bool { return n.Local == "" }

// In returns the subject of a reference as seen from a schema in context n:
// unqualified subjects are in the same context.
func (n Name) In(subject string) Name {
	if strings.HasPrefix(subject, ":.") {
		return ParseName(subject)
	}
	return Name{n.Context, subject}
}

// Canonical returns subject in the form in which it is stored.
func Canonical(subject string) string { return ParseName(subject).String() }
