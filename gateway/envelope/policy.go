package envelope

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"milena/serde/schema"
)

// Mode says what happens to keys or values that are no valid envelope.
type Mode uint8

// The modes. The zero value means the engine's default.
const (
	modeUnset Mode = iota
	// Off: nothing is looked at, everything is stored as it is.
	Off
	// Permissive: envelopes are decoded, everything else is stored as it is and
	// counted.
	Permissive
	// Mark: as Permissive, and consumers can tell.
	Mark
	// Quarantine: what doesn't decode goes to another topic.
	Quarantine
	// Strict: what doesn't decode refuses the batch with INVALID_RECORD.
	Strict
)

// modeRow is one mode: whether envelopes are decoded, whether a payload that
// isn't one refuses the batch, and whether this build does all it promises.
type modeRow struct {
	mode    Mode
	name    string
	decodes bool
	rejects bool
	served  bool
	doc     string
}

func modes() []modeRow {
	return []modeRow{
		{Off, "off", false, false, true, "store everything as it comes"},
		{Permissive, "permissive", true, false, true, "decode envelopes, store what can't be decoded as it comes"},
		{Mark, "mark", true, false, false, "as permissive, and mark what can't be decoded for consumers"},
		{Quarantine, "quarantine", true, false, false, "move records that can't be decoded to another topic"},
		{Strict, "strict", true, true, true, "refuse batches with a record that isn't a valid envelope"},
	}
}

// row returns the mode's row; an unset mode has the row of Permissive.
func (m Mode) row() modeRow {
	for _, r := range modes() {
		if r.mode == m {
			return r
		}
	}
	return modes()[Permissive-1]
}

// String returns the mode's name in topic configs.
func (m Mode) String() string { return m.row().name }

// ErrMode says that a text names no mode that can be used.
var ErrMode = errors.New("unknown validation mode")

// ModeNames returns the names that ParseMode takes, for documentation.
func ModeNames() []string {
	var names []string
	for _, r := range modes() {
		if r.served {
			names = append(names, r.name)
		}
	}
	return names
}

// ParseMode returns the mode of that name. Names that don't exist, and modes
// that this build doesn't serve, are ErrMode: a mode never silently means
// another one.
func ParseMode(name string) (Mode, error) {
	for _, r := range modes() {
		if r.name == name && r.served {
			return r.mode, nil
		}
	}
	return modeUnset, fmt.Errorf("%w: %q is not one of %s", ErrMode, name, strings.Join(ModeNames(), ", "))
}

// Names of the topic configs that belong to envelopes.
const (
	ConfigValueValidation = "milena.value.validation"
	ConfigKeyValidation   = "milena.key.validation"
	ConfigSchemaContext   = "milena.schema.context"
)

// CheckConfig reports whether value can be set for the topic config name, one
// of the three above. The error is fit for clients.
func CheckConfig(name, value string) error {
	switch name {
	case ConfigValueValidation, ConfigKeyValidation:
		_, err := ParseMode(value)
		return err
	case ConfigSchemaContext:
		return checkContext(value)
	}
	return fmt.Errorf("unknown config %q", name)
}

// contextBytesMax bounds the name of a registry context.
const contextBytesMax = 256

// checkContext takes "." and names like ".team": a dot, then anything but the
// colon that ends a context in a subject, and control characters.
func checkContext(name string) error {
	switch {
	case name == "":
		return errors.New("a schema context is not empty: the default one is \".\"")
	case name[0] != '.':
		return fmt.Errorf("schema context %q must begin with a dot", name)
	case len(name) > contextBytesMax:
		return fmt.Errorf("schema context of %d bytes, at most %d", len(name), contextBytesMax)
	case strings.ContainsFunc(name, func(r rune) bool { return r == ':' || r < ' ' || r == 0x7f }):
		return fmt.Errorf("schema context %q contains a colon or control character", name)
	}
	return nil
}

// Policy is what a topic asks of its records.
type Policy struct {
	// Key and Value say what happens to each side; unset is the engine's
	// default.
	Key, Value Mode
	// Context is the registry context in which ids resolve, never others; empty
	// is the default context.
	Context string
	// KeyRequired refuses records without key (compacted topics).
	KeyRequired bool
	// LogAppendTime gives records the time of the append. The producer's
	// timestamps are then not checked.
	LogAppendTime bool
	// TimestampAfterMax and TimestampBeforeMax bound how far a record's
	// timestamp may lie in the future and in the past (KIP-937); 0 is no bound.
	TimestampAfterMax, TimestampBeforeMax time.Duration
}

// PolicyOf reads the topic configs that belong to envelopes; the other fields
// are the caller's. Unset ones stay zero. The error wraps ErrMode or says what
// is wrong with the context; topics get such configs only from outside, as
// CheckConfig stands before them.
func PolicyOf(configs map[string]string) (Policy, error) {
	var p Policy
	var err error
	if v, ok := configs[ConfigKeyValidation]; ok {
		if p.Key, err = ParseMode(v); err != nil {
			return p, fmt.Errorf("%s: %w", ConfigKeyValidation, err)
		}
	}
	if v, ok := configs[ConfigValueValidation]; ok {
		if p.Value, err = ParseMode(v); err != nil {
			return p, fmt.Errorf("%s: %w", ConfigValueValidation, err)
		}
	}
	if v, ok := configs[ConfigSchemaContext]; ok {
		if err = checkContext(v); err != nil {
			return p, fmt.Errorf("%s: %w", ConfigSchemaContext, err)
		}
		p.Context = v
	}
	return p, nil
}

// withDefaults fills unset fields.
func (p Policy) withDefaults(key, value Mode) Policy {
	if p.Key == modeUnset {
		p.Key = key
	}
	if p.Value == modeUnset {
		p.Value = value
	}
	if p.Context == "" {
		p.Context = schema.DefaultContext
	}
	return p
}

// ConfigNames returns the topic configs that belong to envelopes, sorted.
func ConfigNames() []string {
	names := []string{ConfigValueValidation, ConfigKeyValidation, ConfigSchemaContext}
	slices.Sort(names)
	return names
}
