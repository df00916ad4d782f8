package schema

// Parsed is what a format's parser returns. Registry and evolution pass it on
// and switch on the concrete type in one function each; nobody parses twice.
// A Parsed is immutable and safe for concurrent use.
type Parsed interface {
	// Type returns the format.
	Type() Type
	// Canonical returns the text as the reference stores and returns it.
	Canonical() string
	// Normalized returns the text that ?normalize=true stores, or "" if the
	// schema can't be normalized (some that are accepted can't).
	Normalized() string
	// Resolved returns what was parsed, with the canonical text in place of
	// the sent one.
	Resolved() Resolved
	// Name returns the full name of the top-level type, or "" if it has none.
	Name() string
}

// Parser parses one format. Errors are of type *ParseError. A Parser is safe
// for concurrent use and bounded by its Limits.
type Parser interface {
	Parse(Resolved) (Parsed, error)
}

// Limits bound what a parser takes from a peer. The zero value means the
// defaults.
type Limits struct {
	TextBytesMax int // bytes of one text; default 4 MiB
	DepthMax     int // nesting of types; default 512
	NamesMax     int // named types in one schema; default 100,000
}

// WithDefaults returns l with zero fields replaced by the defaults.
func (l Limits) WithDefaults() Limits {
	if l.TextBytesMax == 0 {
		l.TextBytesMax = 4 << 20
	}
	if l.DepthMax == 0 {
		l.DepthMax = 512
	}
	if l.NamesMax == 0 {
		l.NamesMax = 100_000
	}
	return l
}
